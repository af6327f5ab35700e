"""Boost: all knobs or none, and everything put back, whatever happens."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.cpu.machines import CPUS, Machine, ProcThread, RefusingScheduler, phone, ryzen, single

from unjank import cpu

FAST = cpu.BoostPlan(governor="performance", min_frequency="max", turbo=True)
# A process of its own that boosts and then waits; `{how}` is what it does when told to go on.
BOOSTING = """
import os, signal, sys
from pathlib import Path
from unjank import cpu

root, folder = map(Path, sys.argv[1:])
plan = cpu.BoostPlan(governor="performance", min_frequency="max", turbo=False)
with cpu.boost(plan=plan, tree=cpu.KernelTree(root), folder=folder):
    print("boosting", flush=True)
    {how}
"""


class Home:
    """A machine and the folder where its boosts keep their journal."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.folder = folder

    def boost(self, plan: cpu.BoostPlan, seconds: float | None = None) -> cpu.Boost:
        """A boost of this machine."""
        return cpu.boost(
            seconds, plan=plan, tree=self.machine.tree, scheduler=RefusingScheduler(), folder=self.folder
        )

    def knobs(self) -> dict[str, str]:
        """All values of cpufreq."""
        paths = sorted((self.machine.root / CPUS / "cpufreq").rglob("*"))
        return {str(path): path.read_text().strip() for path in paths if path.is_file()}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A machine with all of cpufreq, whose frequency follows its lower limit."""
    return Home(ryzen(tmp_path / "root"), tmp_path / "state")


def test_knobs_are_turned_and_put_back(home: Home) -> None:
    """In the block the knobs have the plan's values, afterwards their own; the journal is gone."""
    before = home.knobs()
    with home.boost(FAST) as boost:
        assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "performance"
        assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_min_freq") == "4400000"
        assert (home.folder / "boost.json").exists()
        home.machine.write(f"{CPUS}/cpufreq/policy0/scaling_cur_freq", 4_400_000)
    assert [turned.knob for turned in boost.report.turned] == [
        "cpufreq/policy0/scaling_governor",
        "cpufreq/policy0/scaling_min_freq",
        "cpufreq/boost",
    ]
    home.machine.write(f"{CPUS}/cpufreq/policy0/scaling_cur_freq", 2_200_000)
    assert home.knobs() == before
    assert not (home.folder / "boost.json").exists()


def test_frequencies_before_during_and_after(home: Home) -> None:
    """Each CPU's current frequency is read three times."""
    boost = home.boost(FAST)
    home.machine.write(f"{CPUS}/cpufreq/policy0/scaling_cur_freq", 4_400_000)
    report = boost.stop()
    assert report.before == dict.fromkeys(range(8), 2_200_000)
    assert report.during == dict.fromkeys(range(8), 4_400_000)
    assert set(report.after) == set(range(8))


def test_an_exception_passes_and_everything_is_put_back(home: Home) -> None:
    """The block's own error is what is seen."""
    before = home.knobs()
    with pytest.raises(ZeroDivisionError), home.boost(FAST):
        raise ZeroDivisionError
    assert home.knobs() == before


def test_all_or_none(home: Home) -> None:
    """If the last knob refuses, those before it are put back and nothing is left in the journal."""
    before = home.knobs()
    turbo = home.machine.root / f"{CPUS}/cpufreq/boost"
    turbo.unlink()
    turbo.symlink_to("/proc/version")  # readable, takes no writes
    with pytest.raises(cpu.CpuError, match="cannot be written"):
        home.boost(FAST)
    turbo.unlink()
    home.machine.write(f"{CPUS}/cpufreq/boost", 1)
    assert home.knobs() == before


def test_a_knob_that_something_else_sets_is_noticed(home: Home) -> None:
    """A value that is not read back ends the boost with an error."""
    plan = cpu.BoostPlan(clamp=100, threads=(_thread(home.machine),))

    class Ignores(RefusingScheduler):
        def set_clamp(self, tid: int, wanted: cpu.Clamp) -> None:
            """Takes it and does nothing."""

    with pytest.raises(cpu.ForbiddenError, match="right after 100 1024 was written: something else sets it"):
        cpu.boost(plan=plan, tree=home.machine.tree, scheduler=Ignores(), folder=home.folder)


def _thread(machine: Machine) -> cpu.ThreadRef:
    ProcThread(pid=5, tid=6).put(machine)
    return cpu.find_thread(6, machine.tree)


def test_for_a_duration(home: Home) -> None:
    """It ends by itself; whoever waits is told."""
    before = home.knobs()
    boost = home.boost(FAST, seconds=0.05)
    boost.wait()
    assert home.knobs() == before
    assert boost.stop() is boost.report


def test_until_another_thread_stops_it(home: Home) -> None:
    """`wait` returns when some thread calls `stop`."""
    boost = home.boost(FAST)
    thread = threading.Thread(target=boost.stop)
    thread.start()
    boost.wait()
    thread.join()
    assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "powersave"


def test_absent_knobs_are_reported_and_no_error(tmp_path: Path) -> None:
    """A machine with idle states alone boosts by those, and says what it lacks."""
    machine = single(tmp_path / "root")
    machine.write("dev/cpu_dma_latency", "")
    with cpu.boost(tree=machine.tree, folder=tmp_path / "state") as boost:
        assert boost.report.held == ["cpu_dma_latency"]
    names = [absent.knob for absent in boost.report.absent]
    assert names == ["cpufreq", "cpufreq/boost", "perflock"]
    assert all(absent.reason for absent in boost.report.absent)


def test_a_machine_with_none_of_the_knobs(tmp_path: Path) -> None:
    """Then there is nothing to do, and that is an error with the reasons."""
    with pytest.raises(cpu.AbsentError, match="none of the knobs: there is no cpufreq"):
        cpu.boost(tree=single(tmp_path / "root").tree, folder=tmp_path / "state")
    with pytest.raises(cpu.AbsentError, match="none of the knobs: there is no cpufreq"):
        cpu.boost(tree=cpu.KernelTree(tmp_path / "nothing"), folder=tmp_path / "state")


def test_what_is_no_frequency_is_said_also_without_cpufreq(tmp_path: Path) -> None:
    """A mistake is told as such, not as a machine that lacks something."""
    plan = cpu.BoostPlan(max_frequency="fast")
    with pytest.raises(cpu.CpuError, match="'fast' is not a frequency"):
        cpu.boost(plan=plan, tree=single(tmp_path / "root").tree, folder=tmp_path / "state")


def test_a_reason_that_several_threads_share_is_said_once(tmp_path: Path) -> None:
    """Clamps that the kernel lacks are absent for each thread, and one sentence tells."""
    machine = single(tmp_path / "root")
    threads = []
    for tid in (6, 7):
        ProcThread(pid=6, tid=tid).put(machine)
        threads.append(cpu.find_thread(tid, machine.tree))
    kernel = RefusingScheduler()
    kernel.refuse["clamp"] = errno.EOPNOTSUPP
    plan = cpu.BoostPlan(clamp=512, threads=tuple(threads))
    with pytest.raises(cpu.AbsentError) as raised:
        cpu.boost(plan=plan, tree=machine.tree, scheduler=kernel, folder=tmp_path / "state")
    assert str(raised.value).count("no utilisation clamps") == 1


def test_limits_never_cross(tmp_path: Path) -> None:
    """To go below the old lower limit, the lower limit goes first; back, the upper."""
    home = Home(phone(tmp_path / "root"), tmp_path / "state")
    home.machine.write(f"{CPUS}/cpufreq/policy7/scaling_min_freq", 2_000_000)
    with home.boost(cpu.BoostPlan(min_frequency="min", max_frequency="900MHz")) as boost:
        knobs = [t.knob for t in boost.report.turned if "policy7" in t.knob]
        assert knobs == ["cpufreq/policy7/scaling_min_freq", "cpufreq/policy7/scaling_max_freq"]
    with home.boost(cpu.BoostPlan(min_frequency="max", max_frequency="max")) as boost:
        knobs = [t.knob for t in boost.report.turned if "policy7" in t.knob]
        assert knobs == ["cpufreq/policy7/scaling_max_freq", "cpufreq/policy7/scaling_min_freq"]
    assert home.machine.read(f"{CPUS}/cpufreq/policy7/scaling_min_freq") == "2000000"


def _boosting(home: Home, how: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BOOSTING.format(how=how), str(home.machine.root), str(home.folder)]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "boosting\n", child.communicate()
    return child


def test_a_killed_boost_is_put_back_by_the_next(home: Home) -> None:
    """After SIGKILL the knobs are still turned; the next boost puts them back first and says so."""
    before = home.knobs()
    child = _boosting(home, "sys.stdin.read()")
    child.kill()
    child.communicate()
    assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "performance"
    with home.boost(cpu.BoostPlan(turbo=True)) as boost:
        assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "powersave"
        assert [entry.knob for entry in boost.report.left] == [
            "cpufreq/boost",
            "cpufreq/policy0/scaling_min_freq",
            "cpufreq/policy0/scaling_governor",
        ]
    assert home.knobs() == before


def test_a_killed_boost_is_put_back_on_request(home: Home) -> None:
    """`restore_boost` does the same without boosting, and has nothing to do the second time."""
    before = home.knobs()
    child = _boosting(home, "sys.stdin.read()")
    child.kill()
    child.communicate()
    assert len(cpu.restore_boost(tree=home.machine.tree, folder=home.folder)) == 3
    assert home.knobs() == before
    assert cpu.restore_boost(tree=home.machine.tree, folder=home.folder) == ()


def test_ctrl_c_puts_everything_back(home: Home) -> None:
    """Interrupted in the block, it ends with the knobs as they were."""
    before = home.knobs()
    child = _boosting(home, "sys.stdin.read()")
    child.send_signal(signal.SIGINT)
    child.communicate()  # ends its input: a signal that came just before it began to read is then seen
    assert child.returncode == -signal.SIGINT
    assert home.knobs() == before


def test_a_second_ctrl_c_waits_until_all_is_put_back(home: Home) -> None:
    """A signal that arrives while knobs are put back is delivered afterwards."""
    before = home.knobs()
    # Frequencies are read while knobs are put back: let that be the moment.
    interrupt = "lambda *_: os.kill(os.getpid(), signal.SIGINT) or {}"
    hook = f"sys.modules['unjank.cpu.boost'].read_frequencies = {interrupt}"
    child = _boosting(home, hook)
    child.communicate()
    assert child.returncode == -signal.SIGINT
    assert home.knobs() == before


def test_a_program_that_ends_without_stopping(home: Home) -> None:
    """At exit everything is put back, as with os.fork'ed children around, which put back nothing."""
    before = home.knobs()
    code = (
        "import os, sys; from pathlib import Path; from unjank import cpu\n"
        "root, folder = map(Path, sys.argv[1:])\n"
        "boost = cpu.boost(plan=cpu.BoostPlan(turbo=False), tree=cpu.KernelTree(root), folder=folder)\n"
        "pid = os.fork()\n"
        "if not pid: sys.exit()\n"
        "os.waitpid(pid, 0)\n"
        f"print(open(root / '{CPUS}/cpufreq/boost').read().strip())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, home.machine.root, home.folder],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0\n"
    assert home.knobs() == before


def test_one_boost_at_a_time(home: Home) -> None:
    """The second is refused with the first one's id, and disturbs nothing."""
    first = f"another boost, of process {os.getpid()}, is active; stop it"
    with home.boost(FAST):
        with pytest.raises(cpu.CpuError, match=first):
            home.boost(FAST)
        assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "performance"


def test_after_a_restart_of_the_machine_the_journal_is_void(home: Home) -> None:
    """A new boot has new values; the old ones are not written over them."""
    home.machine.write("proc/sys/kernel/random/boot_id", "first")
    child = _boosting(home, "sys.stdin.read()")
    child.kill()
    child.communicate()
    home.machine.write("proc/sys/kernel/random/boot_id", "second")
    assert cpu.restore_boost(tree=home.machine.tree, folder=home.folder) == ()
    assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "performance"


def test_what_cannot_be_put_back_stays_in_the_journal(home: Home) -> None:
    """The others are put back; the journal keeps the one, and the next try succeeds."""
    boost = home.boost(FAST)
    turbo = home.machine.root / f"{CPUS}/cpufreq/boost"
    turbo.unlink()
    turbo.symlink_to("/proc/version")
    with pytest.raises(cpu.CpuError, match=r"not put back: cpufreq/boost.*--restore"):
        boost.stop()
    assert home.machine.read(f"{CPUS}/cpufreq/policy0/scaling_governor") == "powersave"
    turbo.unlink()
    home.machine.write(f"{CPUS}/cpufreq/boost", 0)
    left = cpu.restore_boost(tree=home.machine.tree, folder=home.folder)
    assert [entry.knob for entry in left] == ["cpufreq/boost"]
    assert home.machine.read(f"{CPUS}/cpufreq/boost") == "1"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"boot": "", "root": 1, "entries": 3}', "\0"],
)
def test_a_damaged_journal_is_an_error(home: Home, text: str) -> None:
    """Nothing is written on its word, and the way out is named."""
    home.folder.mkdir()
    (home.folder / "boost.json").write_text(text)
    if text == '{"boot": "", "root": 1, "entries": 3}':
        assert cpu.restore_boost(tree=home.machine.tree, folder=home.folder) == ()
        return
    with pytest.raises(cpu.CpuError, match="is damaged; set the knobs by hand"):
        cpu.restore_boost(tree=home.machine.tree, folder=home.folder)


@pytest.mark.parametrize(
    "entry", [{"knob": "cpufreq/boost", "value": "1\n1"}, {"knob": 3, "value": "1"}, {}, "x"]
)
def test_a_journal_with_wrong_entries_is_damaged(home: Home, entry: object) -> None:
    """Values are words of the kind the kernel writes."""
    home.folder.mkdir()
    content = {"boot": "", "root": str(home.machine.root), "entries": [entry]}
    (home.folder / "boost.json").write_text(json.dumps(content))
    with pytest.raises(cpu.CpuError, match="is damaged"):
        cpu.restore_boost(tree=home.machine.tree, folder=home.folder)


def test_the_state_folder_is_private(home: Home, tmp_path: Path) -> None:
    """Made for this user alone, narrowed if it was open, refused if it is somebody else's or a link."""
    home.folder.mkdir(mode=0o777)
    home.folder.chmod(0o777)
    with home.boost(FAST):
        assert home.folder.stat().st_mode & 0o777 == 0o700
        assert (home.folder / "boost.json").stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link"
    link.symlink_to(home.folder)
    with pytest.raises(cpu.CpuError, match="is not this user's own"):
        cpu.boost(plan=FAST, tree=home.machine.tree, folder=link)


def test_the_state_folder_follows_the_specification(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG_STATE_HOME counts if it is absolute; HOME, which sudo may leave as it was, does not."""
    from unjank.cpu.journal import state_folder

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "unjank"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/elsewhere")
    assert state_folder().is_absolute()
    assert not state_folder().is_relative_to("/elsewhere")


def test_a_user_without_a_home_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """In containers the user may be a mere number: then XDG_STATE_HOME is asked for."""
    from unjank.cpu.journal import state_folder

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(cpu.CpuError, match="has no home folder for the journal; name a folder in XDG_STATE"):
        state_folder()


def test_a_lock_that_cannot_be_opened(home: Home) -> None:
    """The error names the file and what to do."""
    (home.folder / "boost.lock").mkdir(parents=True)
    with pytest.raises(cpu.CpuError, match=r"boost\.lock cannot be opened: Is a directory; remove it"):
        home.boost(FAST)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_duration_that_is_none(home: Home, seconds: float) -> None:
    """It is refused before anything is turned."""
    with pytest.raises(cpu.CpuError, match=f"cannot last {seconds} s"):
        home.boost(FAST, seconds=seconds)
