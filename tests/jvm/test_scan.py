"""What a scan says of calls and updaters: direct where all is proven, else the reason."""

from pathlib import Path

import pytest
from tests.jvm.classes import Holder, holder_class, zip_bytes
from tests.jvm.conftest import JAVA, Compile, make_jar

from unjank.jvm import Decision, Outcome, Reason, ScanResult, scan_archive


@pytest.fixture(scope="module")
def counter(compile_java: Compile, tmp_path_factory: pytest.TempPathFactory) -> ScanResult:
    """A class with one call per question."""
    classes = compile_java({"p/Counter.java": (JAVA / "Counter.java").read_text()})
    return scan_archive(make_jar(tmp_path_factory.mktemp("jar") / "counter.jar", classes))


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("next", Reason.PROVEN),
        ("swap", Reason.PROVEN),
        ("task", Reason.CHECKED_VALUE),
        ("thread", Reason.PROVEN),
        ("viaLocal", Reason.PROVEN),
        ("open", Reason.PROVEN),
        ("sub", Reason.PROVEN),
        ("named", Reason.NOT_CONSTANT),
        ("chosen", Reason.ASSIGNED_ELSEWHERE),
        ("changing", Reason.NOT_STATIC_FINAL),
        ("own", Reason.RECEIVER_NOT_STATIC),
        ("given", Reason.RECEIVER_UNKNOWN),
        ("leaked", Reason.PROVEN),
        ("either", Reason.RECEIVER_MIXED),
        ("any", Reason.HOLDER_NOT_PROVEN),
        ("wrong", Reason.VALUE_NOT_PROVEN),
    ],
)
def test_each_call_has_its_decision(counter: ScanResult, method: str, reason: Reason) -> None:
    """Direct if updater, holder and value are proven; otherwise kept, with the reason."""
    found = [site for site in counter.sites if site.method.partition("(")[0] == method]
    assert {site.reason for site in found} == {reason}
    direct = reason in (Reason.PROVEN, Reason.CHECKED_VALUE)
    assert {site.decision for site in found} == {Decision.DIRECT if direct else Decision.KEPT}


def test_what_is_not_proven_is_told_with_its_type(counter: ScanResult) -> None:
    """Whoever reads the proof log sees what to cast."""
    details = {site.reason: site.detail for site in counter.sites}
    assert details[Reason.HOLDER_NOT_PROVEN].endswith("As far as is known it is a java.lang.Object.")
    assert details[Reason.VALUE_NOT_PROVEN].endswith("As far as is known it is a java.lang.Object.")


def test_updaters_have_their_outcome(counter: ScanResult) -> None:
    """Gone only if private and served by direct calls alone; what is read otherwise stays."""
    outcomes = {updater.name.rpartition(".")[2]: updater.outcome for updater in counter.updaters}
    assert outcomes == {
        "COUNT": Outcome.COMPANION,  # `either` and `any` still need it
        "STATE": Outcome.REMOVED,
        "TASK": Outcome.REMOVED,
        "THREAD": Outcome.COMPANION,  # `wrong` needs it
        "OPEN": Outcome.COMPANION,  # not private
        "NAMED": Outcome.KEPT,
        "LEAKED": Outcome.COMPANION,  # passed on
        "CHOSEN": Outcome.KEPT,
        "changing": Outcome.KEPT,
        "own": Outcome.KEPT,
    }


def test_a_folder_is_scanned_like_a_jar(compile_java: Compile, counter: ScanResult) -> None:
    """Class files below a folder are one program."""
    found = scan_archive(compile_java({"p/Counter.java": (JAVA / "Counter.java").read_text()}))
    assert [(s.method, s.offset, s.reason) for s in found.sites] == [
        (s.method, s.offset, s.reason) for s in counter.sites
    ]


def test_an_archive_of_a_folder_counts_once(tmp_path: Path) -> None:
    """Also where there are links to it, as Debian has them beside each jar with a version."""
    (tmp_path / "held-1.0.jar").write_bytes(zip_bytes({"p/Held.class": holder_class(Holder())}))
    (tmp_path / "api.jar").symlink_to("held-1.0.jar")
    (site,) = scan_archive(tmp_path).sites
    assert site.entry == "held-1.0.jar!/p/Held.class"


def test_an_archive_that_is_none_is_named(tmp_path: Path) -> None:
    """One line: which file, and what it is not."""
    path = tmp_path / "not.jar"
    path.write_bytes(b"hello")
    with pytest.raises(Exception, match=r"not\.jar: this is no zip archive"):
        scan_archive(path)
