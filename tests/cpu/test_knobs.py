"""Knobs: each on a made-up machine that has it, and on one that lacks it."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cpu.machines import CPUS, ProcThread, RefusingScheduler, phone, ryzen, single, xeon

from unjank import cpu
from unjank.cpu.knobs import (
    FrequencyLimit,
    Governor,
    WakeLatency,
    find_knob,
    list_knobs,
    policies,
    turbo_knobs,
)
from unjank.cpu.knobs.clamps import ThreadClamp

POLICY = f"{CPUS}/cpufreq/policy4"


def test_policies_are_found_by_number(tmp_path: Path) -> None:
    """Each cluster of a phone has one, with its CPUs that are online."""
    machine = phone(tmp_path)
    machine.write(f"{POLICY}/affected_cpus", "4 6")
    assert [(p.number, set(p.cpus)) for p in policies(machine.tree)] == [
        (0, {0, 1, 2, 3}),
        (4, {4, 6}),
        (7, {7}),
    ]
    assert policies(single(tmp_path / "single").tree) == []


def test_the_governor(tmp_path: Path) -> None:
    """Read, written, and refused where the kernel has no such governor."""
    machine = phone(tmp_path)
    knob = Governor(machine.tree, 4)
    assert knob.available().present
    knob.write("performance")
    assert knob.read() == machine.read(f"{POLICY}/scaling_governor") == "performance"
    with pytest.raises(cpu.AbsentError, match="does not know 'turbo'; its kernel has performance, powersave"):
        knob.write("turbo")


@pytest.mark.parametrize(
    ("wanted", "khz"),
    [
        ("max", "2419200"),
        ("min", "710400"),
        ("1800MHz", "1800000"),
        ("1.5 GHz", "1500000"),
        ("9GHz", "2419200"),
        ("1", "710400"),
    ],
)
def test_frequencies_are_kept_within_the_hardwares(tmp_path: Path, wanted: str, khz: str) -> None:
    """Words, units, and figures beyond what there is."""
    assert FrequencyLimit(phone(tmp_path).tree, 4, "min").value_of(wanted) == khz


def test_what_is_no_frequency(tmp_path: Path) -> None:
    """The ways to write one are named; without the hardware's limits `max` means nothing."""
    machine = phone(tmp_path)
    with pytest.raises(cpu.CpuError, match="is not a frequency; write min, max, 1800MHz"):
        FrequencyLimit(machine.tree, 4, "min").value_of("fast")
    (tmp_path / f"{POLICY}/cpuinfo_max_freq").unlink()
    with pytest.raises(cpu.AbsentError, match="give a frequency in MHz"):
        FrequencyLimit(machine.tree, 4, "min").value_of("max")


def test_intels_turbo_is_the_other_way_round(tmp_path: Path) -> None:
    """`no_turbo` 0 reads as turbo 1, and turning turbo off writes 1."""
    machine = xeon(tmp_path)
    (knob,) = turbo_knobs(machine.tree)
    assert (knob.name, knob.read()) == ("intel_pstate/no_turbo", "1")
    knob.write("0")
    assert machine.read(f"{CPUS}/intel_pstate/no_turbo") == "1"
    assert knob.read() == "0"


def test_amds_boost_of_all_and_per_policy(tmp_path: Path) -> None:
    """acpi-cpufreq has one file; amd-pstate one per policy."""
    machine = ryzen(tmp_path)
    assert [knob.name for knob in turbo_knobs(machine.tree)] == ["cpufreq/boost"]
    (tmp_path / f"{CPUS}/cpufreq/boost").unlink()
    machine.write(f"{CPUS}/cpufreq/policy0/boost", 1)
    assert [knob.name for knob in turbo_knobs(machine.tree)] == ["cpufreq/policy0/boost"]


def test_turbo_that_is_not_there(tmp_path: Path) -> None:
    """One knob stands for the absence and says which file is missing."""
    (knob,) = turbo_knobs(single(tmp_path).tree)
    there = knob.available()
    assert not there.present
    assert there.reason == f"there is no /{CPUS}/cpufreq/boost"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.EACCES, "it takes root: sudo unjank cpu boost"),
        (errno.EPERM, "it takes root: sudo unjank cpu boost"),
        (errno.EROFS, "/sys is mounted read-only, as in containers: do it on the host"),
        (errno.EINVAL, "the driver does not take this value, leave that knob out"),
        (errno.ENOENT, "is gone; see `unjank cpu boost --list`"),
    ],
)
def test_refusals_of_a_file_are_told_apart(tmp_path: Path, code: int, message: str) -> None:
    """No rights, a read-only mount, a driver that won't, and a file that went, each with its way out."""

    class Refuses(cpu.KernelTree):
        def write(self, name: str, value: str) -> None:
            raise OSError(code, os.strerror(code))

    ryzen(tmp_path)
    (knob,) = turbo_knobs(Refuses(tmp_path))
    with pytest.raises(cpu.CpuError, match=message):
        knob.write("0")


def test_a_read_only_sys_changes_nothing(tmp_path: Path) -> None:
    """On a really read-only mount a boost fails with that reason, and no journal is left."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("takes root and unshare(1) to mount")
    root = tmp_path / "root"
    ryzen(root)
    code = (
        "import sys; from pathlib import Path; from unjank import cpu\n"
        "root, folder = map(Path, sys.argv[1:])\n"
        "try: cpu.boost(plan=cpu.BoostPlan(turbo=False), tree=cpu.KernelTree(root), folder=folder)\n"
        "except cpu.ForbiddenError as error: print(error)\n"
    )
    mount = f"mount --bind {root} {root} && mount -o remount,ro,bind {root}"
    command = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    done = subprocess.run(
        [*command, sys.executable, "-c", code, root, tmp_path / "state"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"mount namespaces are not allowed here: {done.stderr.strip()}")
    assert "/sys is mounted read-only" in done.stdout
    assert not (tmp_path / "state/boost.json").exists()


def test_the_clamp_of_a_thread(tmp_path: Path) -> None:
    """Both bounds as one value; gone with its thread."""
    machine, kernel = single(tmp_path), RefusingScheduler()
    ProcThread(pid=5, tid=6).put(machine)
    knob = ThreadClamp(machine.tree, kernel, cpu.find_thread(6, machine.tree))
    assert (knob.read(), knob.available().present) == ("0 1024", True)
    knob.write("300 700")
    assert kernel.clamps[6] == cpu.Clamp(300, 700)
    with pytest.raises(cpu.CpuError, match="write LOW HIGH"):
        knob.write("many")
    ProcThread(pid=5, tid=6, start_ticks=1).put(machine)
    assert "has ended" in knob.available().reason


def test_wake_latency_is_written_and_held(tmp_path: Path) -> None:
    """Four bytes go to the device, once; without a device it is absent."""
    machine = single(tmp_path)
    knob = WakeLatency(machine.tree, 20)
    assert "no CPU idle states" in knob.available().reason
    machine.write("dev/cpu_dma_latency", "")
    knob.acquire()
    knob.acquire()
    assert (tmp_path / "dev/cpu_dma_latency").read_bytes()[:4] == (20).to_bytes(4, "little")
    assert knob.read() == "20"
    knob.release()
    knob.release()


@pytest.mark.parametrize("latency_us", [-1, 2**31])
def test_a_wake_latency_that_the_device_cannot_hold(tmp_path: Path, latency_us: int) -> None:
    """It takes a signed number of 32 bits, and no other reaches it."""
    with pytest.raises(cpu.CpuError, match="a wake-up latency is 0 to 2147483647 µs, not"):
        WakeLatency(single(tmp_path).tree, latency_us)


def test_wake_latency_on_the_running_kernel() -> None:
    """While it is held the kernel shows it; afterwards what it showed before."""
    knob = WakeLatency(cpu.KernelTree(), 7)
    try:
        before = knob.read()
        knob.acquire()
    except cpu.CpuError as error:
        pytest.skip(str(error))
    try:
        assert int(knob.read()) <= 7
    finally:
        knob.release()
    assert knob.read() == before


def test_all_knobs_are_listed(tmp_path: Path) -> None:
    """Those that are there with their values, the others with the reason."""
    machine = ryzen(tmp_path)
    ProcThread(pid=5, tid=6).put(machine)
    thread = cpu.find_thread(6, machine.tree)
    states = {state.name: state for state in list_knobs(machine.tree, RefusingScheduler(), thread)}
    assert states["cpufreq/policy0/scaling_governor"].value == "powersave"
    assert states["cpufreq/boost"].value == "1"
    assert states["clamp"].value == "0 1024"
    absent = {name for name, state in states.items() if not state.present}
    assert absent == {"cpu_dma_latency", "perflock"}
    assert all(states[name].reason for name in absent)


@pytest.mark.parametrize(
    "name",
    [
        "intel_pstate/no_turbo",
        "cpufreq/boost",
        "cpufreq/policy12/boost",
        "cpufreq/policy0/scaling_governor",
        "cpufreq/policy0/scaling_min_freq",
        "cpufreq/policy0/scaling_max_freq",
        "clamp/1/2/3",
    ],
)
def test_knobs_by_name(tmp_path: Path, name: str) -> None:
    """Each persisting knob is found again by the name it gives itself."""
    assert find_knob(name, cpu.KernelTree(tmp_path), RefusingScheduler()).name == name


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "cpufreq/policy0/../../x", "cpu_dma_latency", "clamp/1"]
)
def test_other_names_lead_nowhere(tmp_path: Path, name: str) -> None:
    """A journal cannot name other files."""
    with pytest.raises(cpu.CpuError, match="there is no knob"):
        find_knob(name, cpu.KernelTree(tmp_path), RefusingScheduler())
