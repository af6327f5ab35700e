"""What stands between a mistake and a damaged heap: the JVM's verifier, the own one, and the way back."""

import random
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.jvm.classes import UPDATER, ClassBuilder, Holder, caller_class, holder_class, zip_bytes
from tests.jvm.conftest import JAVA, Compile, make_jar, run_java

from unjank.jvm import (
    ArchiveError,
    Decision,
    OptimizeOptions,
    Outcome,
    Reason,
    VerificationError,
    optimize_archive,
    scan_archive,
)
from unjank.jvm.analysis.hierarchy import Hierarchy
from unjank.jvm.analysis.summary import Producer
from unjank.jvm.classfile import ClassFile, MemberRef, parse_class, write_class
from unjank.jvm.rewrite import owner
from unjank.jvm.rewrite.calls import Patches, call_patches
from unjank.jvm.rewrite.changes import UnitChange

GETTER = MemberRef("p/Held", "access$FU", f"()L{UPDATER};")


@pytest.fixture(scope="module")
def counter(compile_java: Compile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with calls that must not be made direct."""
    classes = compile_java({"p/Counter.java": (JAVA / "Counter.java").read_text()})
    return make_jar(tmp_path_factory.mktemp("counter") / "counter.jar", classes)


@pytest.mark.parametrize("target", ["unsafe", "varhandle"])
def test_a_false_proof_is_a_verify_error(
    counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """If the analysis took every object for a holder, the JVM would refuse the class."""
    monkeypatch.setattr(Hierarchy, "assignable", lambda *_: True)
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle")
    result = optimize_archive(counter, tmp_path / "out.jar", options)
    falsely = {site.method.partition("(")[0] for site in result.sites if site.decision is Decision.DIRECT}
    assert {"any", "wrong"} <= falsely
    ran = run_java(tmp_path / "out.jar", "p.Counter")
    assert "java.lang.VerifyError" in ran.stderr


@pytest.mark.parametrize("target", ["unsafe", "varhandle"])
def test_checked_helpers_check(
    counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """With --checked even falsely proven calls throw what the updaters throw, and damage nothing."""
    monkeypatch.setattr(Hierarchy, "assignable", lambda *_: True)
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle", checked=True)
    optimize_archive(counter, tmp_path / "out.jar", options)
    before, after = run_java(counter, "p.Counter"), run_java(tmp_path / "out.jar", "p.Counter")
    assert before.stdout.endswith("no Thread\nno Counter\n")
    assert (after.stdout, after.returncode) == (before.stdout, 0), after.stderr


def test_a_missed_escape_is_noticed(counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the analysis overlooked that an updater is passed on, the output would be refused."""

    def harmless(*values: Any, **named: Any) -> Producer:
        return replace(Producer(*values, **named), escapes=False)

    monkeypatch.setattr("unjank.jvm.analysis.summary.Producer", harmless)
    with pytest.raises(
        VerificationError, match=r"an updater that is gone is used at \d+; nothing was written"
    ):
        optimize_archive(counter, tmp_path / "out.jar", OptimizeOptions())
    assert list(tmp_path.iterdir()) == []


def test_a_forgotten_reader_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an instruction still read an updater that is gone, the own verification would refuse the output."""
    jar = tmp_path / "in.jar"
    jar.write_bytes(zip_bytes({"p/Held.class": holder_class(Holder())}))

    def forgetful(cls: ClassFile, change: UnitChange) -> Patches:
        return call_patches(cls, replace(change, nulls=[]))

    monkeypatch.setattr(owner, "call_patches", forgetful)
    with pytest.raises(VerificationError, match=r"p/Held still reads p\.Held\.FU"):
        optimize_archive(jar, tmp_path / "out.jar", OptimizeOptions())


def test_a_helper_that_is_not_there_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of it would only fail when they run."""
    jar = tmp_path / "in.jar"
    jar.write_bytes(zip_bytes({"p/Held.class": holder_class(Holder())}))
    monkeypatch.setattr(owner, "add_helper", lambda *_: None)
    with pytest.raises(VerificationError, match=r"unjank\$FU\$incrementAndGet.* is not there"):
        optimize_archive(jar, tmp_path / "out.jar", OptimizeOptions())


@pytest.mark.parametrize(
    ("target", "method"), [("unsafe", "objectFieldOffset"), ("varhandle", "findVarHandle")]
)
def test_without_an_offset_the_updater_is_used(
    compile_java: Compile, tmp_path: Path, target: str, method: str
) -> None:
    """Where Unsafe or VarHandle fails at class initialisation, the program still does the same."""
    program = make_jar(tmp_path / "in.jar", compile_java({"p/Main.java": (JAVA / "Main.java").read_text()}))
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle")
    optimize_archive(program, tmp_path / "out.jar", options)
    broken = tmp_path / "broken.jar"
    with zipfile.ZipFile(tmp_path / "out.jar") as out, zipfile.ZipFile(broken, "w") as written:
        for name in out.namelist():
            data = out.read(name)
            if name.endswith(".class"):
                assert method.encode() in data or name not in ("p/Main.class", "p/Main$UnjankAtomics.class")
            written.writestr(name, data.replace(method.encode(), method[:-1].encode() + b"X"))
    before, after = run_java(program, "p.Main"), run_java(broken, "p.Main")
    assert (after.stdout, after.returncode) == (before.stdout, 0), after.stderr


def test_code_with_subroutines_is_left_with_the_reason(tmp_path: Path) -> None:
    """The method is skipped, its calls stay, and the updater that it reads as well."""
    builder_bytes = holder_class(Holder(major=49))
    cls = parse_class(builder_bytes)
    method = cls.find(cls.methods, "next", "(Lp/Held;)I")
    assert method is not None
    code = cls.code(method)
    assert code is not None
    code.code += b"\xa8\x00\x03"
    cls.replace_code(method, code)
    (tmp_path / "in.jar").write_bytes(zip_bytes({"p/Held.class": write_class(cls)}))
    result = optimize_archive(tmp_path / "in.jar", tmp_path / "out.jar", OptimizeOptions())
    assert [(site.decision, site.reason) for site in result.sites] == [(Decision.KEPT, Reason.NOT_FOLLOWED)]
    assert "jsr at 8: subroutines" in result.skipped[0].reason
    assert result.classes_changed == []


def test_a_call_that_is_never_reached_stays(tmp_path: Path) -> None:
    """And keeps its updater alive: the verifier looks at it as well."""
    cls = parse_class(holder_class(Holder()))
    method = cls.find(cls.methods, "next", "(Lp/Held;)I")
    assert method is not None
    code = cls.code(method)
    assert code is not None
    code.code = b"\x03\xac" + code.code  # iconst_0, ireturn before what was there
    cls.replace_code(method, code)
    (tmp_path / "in.jar").write_bytes(zip_bytes({"p/Held.class": write_class(cls)}))
    result = scan_archive(tmp_path / "in.jar")
    assert [site.reason for site in result.sites] == [Reason.NEVER_REACHED]
    assert [updater.outcome for updater in result.updaters] == [Outcome.KEPT]


def test_damaged_classes_never_do_harm(tmp_path: Path) -> None:
    """Whatever byte is wrong: skipped, refused with a reason, or an output that passed verification."""
    held = holder_class(Holder(accessor=True, interfaces=("q/Unknown",)))
    caller = caller_class("p/Caller", "p/Held", GETTER)
    source = random.Random(11)
    outcomes, refusals = set(), []
    for _ in range(400):
        damaged = bytearray(held)
        damaged[source.randrange(8, len(held))] = source.randrange(256)
        (tmp_path / "in.jar").write_bytes(
            zip_bytes({"p/Held.class": bytes(damaged), "p/Caller.class": caller})
        )
        try:
            result = optimize_archive(tmp_path / "in.jar", tmp_path / "out.jar", OptimizeOptions())
            outcomes.add("skipped" if result.skipped else "written")
        except ArchiveError as error:
            refusals.append(str(error))
    assert outcomes == {"skipped", "written"}
    assert all("p/Held.class" in refusal for refusal in refusals)


def _fill_pool(data: bytes, free: int) -> bytes:
    cls = parse_class(data)
    number = 0
    while len(cls.pool) < 0xFFFF - free:
        cls.pool.add_utf8(f"filler {number}")
        number += 1
    return write_class(cls)


def test_a_full_pool_keeps_its_calls(tmp_path: Path) -> None:
    """Not even a helper can be named."""
    (tmp_path / "in.jar").write_bytes(zip_bytes({"p/Held.class": _fill_pool(holder_class(Holder()), 2)}))
    result = optimize_archive(tmp_path / "in.jar", tmp_path / "out.jar", OptimizeOptions())
    assert [(site.decision, site.reason) for site in result.sites] == [(Decision.KEPT, Reason.POOL_FULL)]
    assert result.classes_changed == []


def test_a_nearly_full_pool_gets_a_companion(tmp_path: Path) -> None:
    """There is room to name a helper, but not for the helper."""
    (tmp_path / "in.jar").write_bytes(zip_bytes({"p/Held.class": _fill_pool(holder_class(Holder()), 30)}))
    result = optimize_archive(tmp_path / "in.jar", tmp_path / "out.jar", OptimizeOptions())
    assert [updater.outcome for updater in result.updaters] == [Outcome.COMPANION]
    assert result.classes_added == ["p/Held$UnjankAtomics.class"]


def test_what_helpers_cost_is_not_more_than_reckoned(compile_java: Compile, tmp_path: Path) -> None:
    """The bound that keeps pools from overflowing holds for a class with every operation."""
    program = make_jar(tmp_path / "in.jar", compile_java({"p/Main.java": (JAVA / "Main.java").read_text()}))
    for target in ("unsafe", "varhandle"):
        options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle")
        result = optimize_archive(program, tmp_path / "out.jar", options)
        with zipfile.ZipFile(tmp_path / "out.jar") as out, zipfile.ZipFile(program) as source:
            grown = len(parse_class(out.read("p/Main.class")).pool)
            grown -= len(parse_class(source.read("p/Main.class")).pool)
        own = [updater for updater in result.updaters if updater.entry == "p/Main.class"]
        bound = sum(60 + 40 * updater.direct for updater in own if updater.outcome is Outcome.REMOVED)
        assert 0 < grown < bound + 60 + 6 * len(result.sites)


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        (Holder(target="other"), Reason.FIELD_MISSING),
        (Holder(target="FU"), Reason.FIELD_TYPE),
        (Holder(field_access=0), Reason.FIELD_NOT_VOLATILE),
        (Holder(field_access=0x0048), Reason.FIELD_STATIC),
        (Holder(tclass="p/Other"), Reason.OTHER_HOLDER),
        (Holder(updater_access=0x000A), Reason.NOT_STATIC_FINAL),
    ],
)
def test_updaters_that_do_not_count(tmp_path: Path, about: Holder, reason: Reason) -> None:
    """Each rule for updaters, broken alone, keeps the call, with its reason."""
    (tmp_path / "in.jar").write_bytes(zip_bytes({"p/Held.class": holder_class(about)}))
    result = scan_archive(tmp_path / "in.jar")
    assert [(site.decision, site.reason) for site in result.sites] == [(Decision.KEPT, reason)]
    assert [updater.refusal for updater in result.updaters] == [reason]


def test_a_subclass_whose_interface_is_missing_does_not_count(tmp_path: Path) -> None:
    """The verifier would have to load it, where it had not to before; with the interface it counts."""
    sub = holder_class(Holder(name="p/Sub", super_name="p/Held", interfaces=("q/Gone",)))
    caller = caller_class("p/Caller", "p/Held", GETTER, parameter="Lp/Sub;")
    entries = {
        "p/Held.class": holder_class(Holder(accessor=True)),
        "p/Sub.class": sub,
        "p/Caller.class": caller,
    }
    jar = tmp_path / "in.jar"
    jar.write_bytes(zip_bytes(entries))
    reasons = {site.class_name: site.reason for site in scan_archive(jar).sites}
    assert reasons["p.Caller"] == Reason.HOLDER_NOT_PROVEN
    jar.write_bytes(zip_bytes(entries | {"q/Gone.class": ClassBuilder("q/Gone", access=0x0601).build()}))
    reasons = {site.class_name: site.reason for site in scan_archive(jar).sites}
    assert reasons["p.Caller"] == Reason.PROVEN
