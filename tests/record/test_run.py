"""`unjank run` runs the program as it would run without."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.record.recordings import UNJANK, read_slices, record_command, record_program, write_program


def test_the_programs_exit_code_is_ours(tmp_path: Path) -> None:
    """sys.exit(7) makes `unjank run` exit with 7, and the recording ends in an orderly way."""
    recorded = record_program(tmp_path, "sys.exit(7)")
    assert recorded.exit_code == 7
    (end,) = recorded.named("session end")
    assert end.args["exit"] == "exited"


def test_arguments_streams_and_main_are_the_programs(tmp_path: Path) -> None:
    """The program sees the sys.argv, stdin, __name__, __file__, sys.path[0] and environment it would see."""
    source = """
        import json
        import __main__
        print(json.dumps([sys.argv[1:], sys.stdin.read(), __name__, os.path.basename(__file__),
                          sys.path[0] == os.path.dirname(os.path.realpath(__file__)),
                          "UNJANK_RECORD" in os.environ, __main__.__dict__ is globals(),
                          sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, [])))]))
    """
    recorded = record_program(tmp_path, source, "-o", "x y", "--sched", "-m", stdin="input")
    assert recorded.stdout == (
        '[["-o", "x y", "--sched", "-m"], "input", "__main__", "prog.py", true, false, true, []]\n'
    )


@pytest.mark.parametrize("target", ["prog.py", "./prog.py", "app/../prog.py", "app", "app/"])
def test_paths_are_as_without_us(tmp_path: Path, target: str) -> None:
    """`__file__`, the code's file, loader, sys.path[0], argv and orig_argv's end are plain Python's."""
    shown = (
        "__file__, sys._getframe().f_code.co_filename, type(__loader__), __cached__, __package__, "
        "sys.argv, sys.orig_argv[-2:], sys.path[0]"
    )
    write_program(tmp_path, f"print({shown})")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(f"import sys\nprint({shown})\n")
    plain = subprocess.run(
        [sys.executable, target, "-x"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    recorded = record_command(tmp_path, target, "-x")
    assert recorded.stdout == plain.stdout, recorded.stderr


def test_stdout_holds_nothing_but_the_programs_own(tmp_path: Path) -> None:
    """What unjank says goes to standard error."""
    recorded = record_program(tmp_path, "print('only this')")
    assert recorded.stdout == "only this\n"
    assert "out.pftrace" in recorded.stderr


def test_an_uncaught_exception_looks_as_without_us(tmp_path: Path) -> None:
    """Same exit code and traceback as plain Python's: none of our frames."""
    script = write_program(tmp_path, "def f(): raise ValueError('boom')\nf()")
    plain = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    recorded = record_command(tmp_path, str(script))
    assert recorded.exit_code == plain.returncode == 1
    assert plain.stderr in recorded.stderr


def test_a_syntax_error_looks_as_without_us(tmp_path: Path) -> None:
    """A script that does not compile: Python's own report and exit code 1."""
    script = write_program(tmp_path, "def f(:\n")
    plain = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    recorded = record_command(tmp_path, str(script))
    assert recorded.exit_code == plain.returncode == 1
    assert recorded.stderr == plain.stderr
    assert not (tmp_path / "out.pftrace").exists()


def test_a_module_runs_as_with_python_m(tmp_path: Path) -> None:
    """`-m package` runs its __main__, with the right __package__ and argv."""
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "other.py").write_text("VALUE = 5\n")
    (package / "__main__.py").write_text(
        "import sys\nfrom .other import VALUE\nprint(VALUE, sys.argv[1:], __package__)\n"
    )
    recorded = record_command(tmp_path, "-m", "pack", "--flag", "-o")
    assert (recorded.exit_code, recorded.stdout) == (0, "5 ['--flag', '-o'] pack\n"), recorded.stderr


def test_the_interpreters_options_are_the_programs(tmp_path: Path) -> None:
    """-O, -P and -X dev of the interpreter are the program's, and its sys.path is as without us."""
    script = write_program(
        tmp_path, "print(sys.flags.optimize, sys.flags.safe_path, sys.flags.dev_mode, sys.path)"
    )
    options = ["-O", "-P", "-X", "dev"]
    plain = subprocess.run([sys.executable, *options, script], capture_output=True, text=True, check=True)
    code = "from unjank.cli import main; main()"
    recorded = subprocess.run(
        [sys.executable, *options, "-c", code, "run", "--sched", "off", "-o", tmp_path / "o.pftrace", script],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert recorded.stdout == plain.stdout, recorded.stderr


def test_a_folder_with_a_main_runs(tmp_path: Path) -> None:
    """`unjank run folder` runs folder/__main__.py, as Python does."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("print(__name__, __file__.endswith('__main__.py'))\n")
    recorded = record_command(tmp_path, "app")
    assert (recorded.exit_code, recorded.stdout) == (0, "__main__ True\n"), recorded.stderr


@pytest.mark.parametrize("sched", ["auto", "off"])
@pytest.mark.parametrize("command", [("missing.py",), ("-m", "no_such_module_here")])
def test_what_cannot_be_started_is_said_in_one_line(
    tmp_path: Path, command: tuple[str, ...], sched: str
) -> None:
    """Exit code 3, one line that names it, and no trace file left behind, whoever else wrote into it."""
    recorded = record_command(tmp_path, *command, sched=sched)
    assert recorded.exit_code == 3
    assert len(recorded.stderr.splitlines()) == 1
    assert command[-1] in recorded.stderr
    assert not (tmp_path / "out.pftrace").exists()


def test_a_pipe_as_output_is_not_removed(tmp_path: Path) -> None:
    """Of a program that cannot be started only a trace file goes, not a pipe or device given in its place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR)  # opening the other end then does not wait
    try:
        assert record_command(tmp_path, "missing.py", trace=pipe).exit_code != 0
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_an_output_that_cannot_be_written_is_said_before_the_program_starts(tmp_path: Path) -> None:
    """Exit code 2, one line with the path and the cause; the program did not run."""
    script = write_program(tmp_path, "print('ran')")
    recorded = record_command(tmp_path, str(script), trace=tmp_path / "no" / "such" / "out.pftrace")
    assert recorded.exit_code == 2
    assert recorded.stdout == ""
    assert "No such file or directory" in recorded.stderr
    assert len(recorded.stderr.splitlines()) == 1


@pytest.mark.parametrize("option", [("--json", "."), ("--json", "nowhere/f"), ("--html", "nowhere/f")])
def test_a_report_that_cannot_be_written_is_said_before_the_program_starts(
    tmp_path: Path, option: tuple[str, str]
) -> None:
    """Exit code 2, one line with the file; the program did not run and there is no trace."""
    write_program(tmp_path, "print('ran')")
    recorded = record_command(tmp_path, *option, "prog.py")
    assert (recorded.exit_code, recorded.stdout) == (2, "")
    assert len(recorded.stderr.splitlines()) == 1
    assert f"cannot write {option[1]}: " in recorded.stderr
    assert not (tmp_path / "out.pftrace").exists()


def test_a_full_disk_does_not_disturb_the_program(tmp_path: Path) -> None:
    """The program ends with its own exit code and output; a line tells that the recording ends early."""
    script = write_program(tmp_path, "print('ran'); sys.exit(4)")
    recorded = record_command(tmp_path, str(script), trace=Path("/dev/full"))
    assert (recorded.exit_code, recorded.stdout) == (4, "ran\n")
    assert "No space left on device" in recorded.stderr


def test_os_exit_loses_nothing(tmp_path: Path) -> None:
    """All that was recorded before os._exit is in the trace, and it says how the program ended."""
    source = """
        lock = threading.Lock()
        def holder():
            with lock: until_waited(lock)
        t = threading.Thread(target=holder); t.start()
        while not lock.locked(): time.sleep(0.0005)
        with lock: pass
        os._exit(9)
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 9
    assert len(recorded.contentions_of("lock")) == 1
    assert recorded.named("session end")[0].args["exit"] == "os._exit"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_program_killed_by_a_signal_leaves_a_trace_that_opens(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Exit code 128 + N, a line that names the signal, and all up to the last flush is there."""
    source = f"""
        lock = threading.Lock()
        def holder():
            with lock: until_waited(lock)
        t = threading.Thread(target=holder); t.start()
        while not lock.locked(): time.sleep(0.0005)
        with lock: pass
        t.join()
        _record.flush()
        os.kill(os.getpid(), {int(number)})
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 128 + number
    assert number.name in recorded.stderr
    assert len(recorded.contentions_of("lock")) == 1
    assert recorded.named("session end") == []


@pytest.mark.parametrize(
    "end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)", "os.execv('/bin/true', ['true'])"]
)
def test_a_program_that_ends_at_once_is_told(tmp_path: Path, end: str) -> None:
    """The session is in the file before the program runs, also if that goes without a word or with code 3."""
    script = tmp_path / "prog.py"
    script.write_text(f"import os, signal\n{end}\n")
    recorded = record_command(tmp_path, str(script))
    assert len(recorded.named("session")) >= 1
    assert "nothing is known about locks" not in recorded.stderr


def test_both_sides_of_a_fork_are_recorded(tmp_path: Path) -> None:
    """Parent and child have processes of their own in the one trace."""
    source = """
        def contend(name):
            lock = threading.Lock()
            def holder():
                with lock: until_waited(lock)
            t = threading.Thread(target=holder, name=name); t.start()
            while not lock.locked(): time.sleep(0.0005)
            with lock: pass
            t.join()
        child = os.fork()
        contend("in child" if child == 0 else "in parent")
        if child == 0: os._exit(0)
        print(os.waitpid(child, 0)[1])
    """
    recorded = record_program(tmp_path, source)
    assert recorded.stdout == "0\n", recorded.stderr
    owners = {
        piece.pid: piece.name.partition("owner ")[2].partition(" (")[0]
        for piece in recorded.contentions_of("lock")
    }
    assert len(owners) == 2
    assert set(owners.values()) == {"in child", "in parent"}


def test_a_fork_is_not_warned_of(tmp_path: Path) -> None:
    """Python, which warns of forks in programs with threads, does not count ours; both sides are recorded."""
    script = tmp_path / "prog.py"
    script.write_text(
        "import os, queue, warnings\n"
        "warnings.simplefilter('always')\n"
        "for _ in range(20):\n"
        "    child = os.fork()\n"
        "    try: queue.Queue().get(timeout=0.001)\n"
        "    except queue.Empty: pass\n"
        "    if child == 0: os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    recorded = record_command(tmp_path, str(script))
    assert "multi-threaded" not in recorded.stderr
    assert len(recorded.named("wait Queue.get")) == 40


def test_a_program_that_closes_all_descriptors_is_still_recorded(tmp_path: Path) -> None:
    """Our file is opened anew, and nothing is written into the program's own."""
    source = """
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        mine = open("mine.txt", "w")
        lock = threading.Lock()
        def holder():
            with lock: until_waited(lock)
        t = threading.Thread(target=holder); t.start()
        while not lock.locked(): time.sleep(0.0005)
        with lock: pass
        t.join(); mine.write("text"); mine.close()
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 0
    assert len(recorded.contentions_of("lock")) == 1
    assert (tmp_path / "mine.txt").read_text() == "text"


def test_multiprocessing_works_under_the_recorder(tmp_path: Path) -> None:
    """Pools by fork and by spawn give their results."""
    source = """
        import multiprocessing
        def double(x): return 2 * x
        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(double, [1, 2, 3]))
    """
    recorded = record_program(tmp_path, source)
    assert recorded.stdout == "[2, 4, 6]\n[2, 4, 6]\n", recorded.stderr


def test_same_named_threads_stay_apart_and_renames_are_seen(tmp_path: Path) -> None:
    """Two threads called "worker" have two tracks; a thread that is renamed shows its new name."""
    source = """
        def work(new_name):
            if new_name: threading.current_thread().name = new_name
        threads = [threading.Thread(target=work, args=(n,), name="worker") for n in ("", "", "renamed")]
        for t in threads: t.start()
        for t in threads: t.join()
    """
    recorded = record_program(tmp_path, source)
    facts = recorded.named("thread facts")
    assert len({piece.tid for piece in facts if piece.thread == "worker"}) == 2
    assert "renamed" in {piece.thread for piece in facts}


def test_nice_and_affinity_are_in_the_trace(tmp_path: Path) -> None:
    """Each thread's nice value and CPUs, as its own kernel id has them."""
    source = """
        def work():
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 7)
            os.sched_setaffinity(threading.get_native_id(), {min(os.sched_getaffinity(0))})
            print(min(os.sched_getaffinity(0)))
            with threading.Lock(): pass
            time.sleep(1.3)
        run_threads(work)
    """
    recorded = record_program(tmp_path, source)
    last = [piece for piece in recorded.named("thread facts") if piece.thread == "work"][-1]
    assert (last.args["nice"], last.args["cpus"]) == (7, recorded.stdout.strip())


def test_session_facts_tell_what_was_recorded_and_how(tmp_path: Path) -> None:
    """Version, Python, GIL, arguments and scheduling level are on the process's track."""
    recorded = record_program(tmp_path, "", "a b")
    (session,) = recorded.named("session")[:1]
    assert session.args["sched"] == "off"
    assert session.args["argv"] == f"{tmp_path}/prog.py 'a b'"
    assert session.args["python"] == sys.version.split()[0]
    assert session.process == "prog.py"


def test_the_writers_flushes_are_visible(tmp_path: Path) -> None:
    """What the recorder itself does is on a track of its own."""
    recorded = record_program(tmp_path, "")
    assert {piece.thread for piece in recorded.named("flush")} == {"unjank writer"}


def test_ctrl_c_on_a_hung_program_names_the_deadlock(tmp_path: Path) -> None:
    """Two threads that wait for each other: after Ctrl-C the report has the cycle."""
    source = """
        a = threading.Lock()
        b = threading.Lock()
        has_a, has_b = threading.Event(), threading.Event()
        def one():
            with a:
                has_a.set(); has_b.wait()
                with b: pass
        def two():
            with b:
                has_b.set(); has_a.wait()
                with a: pass
        threads = [threading.Thread(target=f, name=f.__name__, daemon=True) for f in (one, two)]
        for t in threads: t.start()
        until_waited(a); until_waited(b)
        time.sleep(0.05)  # a lock that is being handed over must not look like this
        print("stuck", flush=True)
        threads[0].join()
    """
    script = write_program(tmp_path, source)
    process = subprocess.Popen(
        [UNJANK, "run", "-o", "out.pftrace", "--sched", "off", str(script)],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert "deadlock-cycle" in stderr
    open_waits = [
        p for p in read_slices(tmp_path / "out.pftrace") if p.name.startswith("monitor") and p.dur == -1
    ]
    assert {piece.thread for piece in open_waits} == {"one", "two"}


def test_a_signal_to_unjank_alone_reaches_the_program(tmp_path: Path) -> None:
    """SIGTERM sent to `unjank run` is handled by the program, whose exit code counts."""
    source = """
        signal.signal(signal.SIGTERM, lambda *a: sys.exit(5))
        print("ready", flush=True)
        while True: time.sleep(0.05)  # a pause() would miss a signal that comes just before it
    """
    script = write_program(tmp_path, source)
    process = subprocess.Popen(
        [UNJANK, "run", "--sched", "off", "-o", "o.pftrace", str(script)],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 5


def test_a_default_name_never_replaces_an_earlier_recording(tmp_path: Path) -> None:
    """Without -o the second recording of prog.py is prog-2.pftrace."""
    script = write_program(tmp_path, "")
    for _ in range(2):
        subprocess.run(
            [UNJANK, "run", "--sched", "off", str(script)], cwd=tmp_path, check=True, capture_output=True
        )
    assert sorted(path.name for path in tmp_path.glob("*.pftrace")) == ["prog-2.pftrace", "prog.pftrace"]


def test_two_hundred_threads(tmp_path: Path) -> None:
    """200 threads that contend for one lock are all in the trace."""
    source = """
        lock = threading.Lock()
        def work():
            with lock: pass
        threads = [threading.Thread(target=work, name=f"w{n}") for n in range(200)]
        with lock:
            for t in threads: t.start()
            until_waited(lock, 200)
        for t in threads: t.join()
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 0
    contentions = recorded.contentions_of("lock")
    assert {piece.thread for piece in contentions} == {f"w{n}" for n in range(200)}
    # A waiter counts the others a moment before it is counted itself, so two may see the same number.
    counts = sorted(piece.args["waiters"] for piece in contentions)
    assert counts[0] == 0
    assert all(count <= place for place, count in enumerate(counts))


def test_a_recording_needs_neither_root_nor_a_home(tmp_path: Path) -> None:
    """As nobody, without HOME: the program is recorded, at the level that works."""
    as_nobody = ["setpriv", "--reuid=65534", "--clear-groups", "--"]
    if os.getuid() != 0:
        pytest.skip("needs root to become somebody else")
    starts_itself = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
    if subprocess.run(
        [*as_nobody, sys.executable, "-c", starts_itself], capture_output=True, check=False
    ).returncode:
        pytest.skip("the interpreter lies in a folder that nobody may not enter")
    script = write_program(tmp_path, "print(os.getuid())")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o777)
    done = subprocess.run(
        [*as_nobody, UNJANK, "run", "-o", "o.pftrace", str(script)],
        cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "65534\n"), done.stderr
