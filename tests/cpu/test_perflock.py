"""Qualcomm's performance lock, against a class of that name in a real Java machine."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from unjank import cpu
from unjank.cpu.knobs import PerfLock
from unjank.cpu.knobs.perflock import OPCODES

MARK = "system/framework/QPerformance.jar"
SOURCE = Path(__file__).with_name("BoostFramework.java")
ACQUIRE = """
import sys
from pathlib import Path
from unjank import cpu
from unjank.cpu.knobs import PerfLock

root = cpu.KernelTree(Path(sys.argv[1]))
{body}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled class."""
    if find_spec("jnius") is None:  # not imported: that would start a Java machine among the tests
        pytest.skip("pyjnius is not installed: it has no wheels for free-threaded Python")
    if shutil.which("javac") is None:
        pytest.skip("no javac on PATH (Debian: openjdk-17-jdk-headless)")
    folder = tmp_path_factory.mktemp("classes")
    subprocess.run(["javac", "-d", folder, SOURCE], check=True, capture_output=True)
    return folder


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """The root of a device whose framework folder has the jar."""
    (tmp_path / MARK).parent.mkdir(parents=True)
    (tmp_path / MARK).touch()
    return tmp_path


def run(body: str, device: Path, classes: Path | None) -> list[str]:
    """What a program with its own Java machine prints, Java's own lines among it."""
    environment = {**os.environ, "CLASSPATH": str(classes or device)}
    done = subprocess.run(
        [sys.executable, "-c", ACQUIRE.format(body=body), str(device)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_the_lock_gets_pairs_and_a_duration(device: Path, classes: Path) -> None:
    """Keys and values arrive as one array of int, the duration in ms, the handle at the release."""
    body = """
lock = PerfLock(root, {"min_freq_big": 0xFFF, "no_deep_idle": 1}, seconds=2.5)
assert lock.available().present
lock.acquire()
assert lock.read() == "100"
lock.release()
lock.release()
assert lock.read() == ""
"""
    assert run(body, device, classes) == [
        f"acquire 2500 [{0x40800000}, 4095, {0x40400000}, 1]",
        "release 100 held",
    ]


def test_a_boost_holds_everything(device: Path, classes: Path) -> None:
    """The fastest plan takes all eight resources until it is stopped, and gives them back."""
    body = f"""
folder = Path({str(device / "state")!r})
with cpu.boost(tree=root, folder=folder) as boost:
    assert boost.report.held == ["perflock"], boost.report
"""
    acquired, released = run(body, device, classes)
    assert acquired.startswith("acquire 0 [")
    assert {str(key) for key in OPCODES.values()} <= set(acquired.replace("[", "").replace(",", "").split())
    assert released == "release 100 held"


def test_a_hint(device: Path, classes: Path) -> None:
    """Its four arguments arrive, and the answer comes back."""
    body = 'assert PerfLock(root).hint(0x1081, "org.example", 2.0, 1) == 7'
    assert run(body, device, classes) == [f"hint {0x1081} 'org.example' 2000 1"]


def test_a_refusal_is_told(device: Path, classes: Path) -> None:
    """An answer of 0 or below is an error, not a handle."""
    body = """
try:
    PerfLock(root, {"scheduler_boost": 5}).acquire()
except cpu.ForbiddenError as error:
    print(error)
"""
    (said,) = run(body, device, classes)
    assert said.startswith("the device refused the performance lock (-2)")


def test_a_device_without_the_class(device: Path, classes: Path) -> None:
    """A jar without the class is absence with a reason."""
    del classes  # needed for its checks
    assert run("print(PerfLock(root).available().reason)", device, None) == [
        "this device has no class android.util.BoostFramework"
    ]


def test_other_machines_start_no_java(tmp_path: Path) -> None:
    """Without the jar, pyjnius is not even imported."""
    body = "print(PerfLock(root).available().reason); print('jnius' in sys.modules)"
    assert run(body, tmp_path, None) == [
        "False",
        "no Qualcomm device: system/framework has none of QPerformance.jar, QXPerformance.jar",
    ]


def test_without_the_extra(device: Path) -> None:
    """Where pyjnius is missing, the message names the extra."""
    body = "sys.modules['jnius'] = None; print(PerfLock(root).available().reason)"
    (said,) = run(body, device, None)
    assert "pip install unjank[android]" in said


@pytest.mark.parametrize(
    ("resources", "seconds", "message"),
    [
        ({"warp": 1}, 0.0, r"no performance lock for \['warp'\]; it takes no_deep_idle"),
        ({}, 0.0, "no performance lock for nothing"),
        ({"min_freq_big": 4096}, 0.0, "0 to 4095"),
        ({"min_freq_big": 1}, -1.0, "lasts 0 to"),
        ({"min_freq_big": 1}, 1e9, "lasts 0 to"),
    ],
)
def test_wrong_values_are_refused_before_java_sees_them(
    resources: dict[str, int], seconds: float, message: str
) -> None:
    """An unknown resource, a value or a duration out of bounds."""
    with pytest.raises(cpu.CpuError, match=message):
        PerfLock(resources=resources, seconds=seconds)
