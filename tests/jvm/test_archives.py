"""Archives: copied bit for bit but for what changes; traps are refused; signatures, layers, nesting."""

import os
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from tests.jvm.classes import (
    UPDATER,
    ClassBuilder,
    Holder,
    caller_class,
    holder_builder,
    holder_class,
    zip_bytes,
)

from unjank.jvm import (
    ArchiveError,
    Decision,
    OptimizeOptions,
    OptimizeResult,
    Outcome,
    Reason,
    optimize_archive,
    scan_archive,
)
from unjank.jvm.archive import ZipReader
from unjank.jvm.archive.manifest import without_digests
from unjank.jvm.bytecode import Assembler
from unjank.jvm.classfile import Access, MemberRef, parse_class

HELD = holder_class(Holder())
TEXT = b"some text that stays " * 50


def optimize(jar: bytes, folder: Path, name: str = "in.jar", **options: object) -> OptimizeResult:
    """Writes a jar and optimises it to `out.jar` beside it."""
    (folder / name).write_bytes(jar)
    return optimize_archive(folder / name, folder / "out.jar", OptimizeOptions(**options))  # type: ignore[arg-type]


def _raw(path: Path, name: str) -> bytes:
    """An entry's bytes in the file, its local record included."""
    with ZipReader.open(path) as reader:
        entry = next(entry for entry in reader.entries if entry.name == name)
        return b"".join(reader.chunks(*reader.region(entry)))


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    """What is no regular file is refused as output and stays as it is: /dev/null is one."""
    os.mkfifo(tmp_path / "out.jar")
    with pytest.raises(ArchiveError, match="is no regular file, and would be replaced by one"):
        optimize(zip_bytes({"p/Held.class": HELD}), tmp_path)
    assert (tmp_path / "out.jar").is_fifo()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file it leads to gets the output."""
    (tmp_path / "kept.jar").write_bytes(b"old")
    (tmp_path / "out.jar").symlink_to("kept.jar")
    optimize(zip_bytes({"p/Held.class": HELD}), tmp_path)
    assert (tmp_path / "out.jar").is_symlink()
    assert (tmp_path / "kept.jar").read_bytes().startswith(b"PK")


def test_unchanged_entries_are_copied_bit_for_bit(tmp_path: Path) -> None:
    """Packed bytes, local record, time and extra fields; also of an entry that was written to a pipe."""
    jar = zip_bytes(
        {"a.txt": TEXT, "p/Held.class": HELD, "b/": b"", "z.bin": os.urandom(999)}, stored=("z.bin",)
    )
    result = optimize(jar, tmp_path)
    assert result.classes_changed == ["p/Held.class"]
    for name in ("a.txt", "b/", "z.bin"):
        assert _raw(tmp_path / "out.jar", name) == _raw(tmp_path / "in.jar", name)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert out.testzip() is None
        assert out.namelist()[:4] == ["a.txt", "p/Held.class", "b/", "z.bin"]
        assert out.getinfo("p/Held.class").date_time == (2020, 2, 2, 2, 2, 2)


def test_entries_with_a_descriptor_after_them_are_copied(tmp_path: Path) -> None:
    """Jars that were written as a stream keep sizes after the content."""
    with (tmp_path / "pipe").open("wb") as file:

        class Stream:
            def write(self, data: bytes) -> int:
                return file.write(data)

            def flush(self) -> None:
                file.flush()

        with zipfile.ZipFile(Stream(), "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
            archive.writestr("a.txt", TEXT)
            archive.writestr("p/Held.class", HELD)
            archive.writestr("b.txt", TEXT)
    result = optimize((tmp_path / "pipe").read_bytes(), tmp_path)
    assert result.classes_changed == ["p/Held.class"]
    assert _raw(tmp_path / "out.jar", "a.txt") == _raw(tmp_path / "in.jar", "a.txt")
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert out.testzip() is None


def test_without_anything_to_change_it_is_a_copy(tmp_path: Path) -> None:
    """Byte for byte, whatever it is."""
    jar = zip_bytes({"a.txt": TEXT}) + b""
    optimize(jar, tmp_path)
    assert (tmp_path / "out.jar").read_bytes() == jar


def test_the_output_is_reproducible_and_stable(tmp_path: Path) -> None:
    """The same input gives the same bytes; optimising the output again changes nothing."""
    jar = zip_bytes({"p/Held.class": HELD})
    optimize(jar, tmp_path)
    first = (tmp_path / "out.jar").read_bytes()
    optimize(jar, tmp_path)
    assert (tmp_path / "out.jar").read_bytes() == first
    again = optimize(first, tmp_path)
    assert again.classes_changed == []
    assert (tmp_path / "out.jar").read_bytes() == first


def test_a_script_before_the_archive_stays(tmp_path: Path) -> None:
    """Executable jars begin with a script that their offsets may or may not count."""
    jar = zip_bytes({"p/Held.class": HELD, "a.txt": TEXT})
    optimize(b"#!/bin/sh\nexec java -jar $0\n" + jar, tmp_path)
    written = (tmp_path / "out.jar").read_bytes()
    assert written.startswith(b"#!/bin/sh\nexec java -jar $0\nPK\x03\x04")
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert out.testzip() is None


def test_the_comment_stays(tmp_path: Path) -> None:
    """What stands at the end of the archive."""
    path = tmp_path / "commented.jar"
    path.write_bytes(zip_bytes({"p/Held.class": HELD}))
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"kept"
    optimize(path.read_bytes(), tmp_path)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert out.comment == b"kept"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_double_entries_are_kept_and_not_trusted(tmp_path: Path) -> None:
    """Of a class that is there twice both stay; calls from others are left: which counts is open."""
    path = tmp_path / "double.jar"
    getter = MemberRef("p/Held", "access$FU", f"()L{UPDATER};")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/Held.class", holder_class(Holder(accessor=True)))
        archive.writestr("p/Held.class", holder_class(Holder(accessor=True)))
        archive.writestr("p/Caller.class", caller_class("p/Caller", "p/Held", getter))
        archive.writestr("a.txt", b"one")
        archive.writestr("a.txt", b"two")
    result = optimize(path.read_bytes(), tmp_path)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        names = [name for name in out.namelist() if not name.startswith("META-INF")]
        assert names == ["p/Held.class", "p/Held.class", "p/Caller.class", "a.txt", "a.txt"]
        texts = [out.read(info) for info in out.infolist() if info.filename == "a.txt"]
        assert texts == [b"one", b"two"]
    reasons = {site.class_name: site.reason for site in result.sites}
    assert reasons["p.Caller"] == Reason.RECEIVER_AMBIGUOUS


def _listed_twice(jar: bytes, name: str) -> bytes:
    """The same local record, listed twice in the directory: as some build tools leave it."""
    end = jar.rindex(b"PK\x05\x06")
    count, size, offset = struct.unpack_from("<HII", jar, end + 10)
    record_at = jar.index(name.encode(), offset) - 46
    lengths = struct.unpack_from("<HHH", jar, record_at + 28)
    record = jar[record_at : record_at + 46 + sum(lengths)]
    new_end = struct.pack(
        "<4s4H2IH", b"PK\x05\x06", 0, 0, count + 1, count + 1, size + len(record), offset, 0
    )
    return jar[:end] + record + new_end


def test_an_entry_that_is_listed_twice_is_one_file(tmp_path: Path) -> None:
    """It is changed once, and still listed twice."""
    optimize(_listed_twice(zip_bytes({"p/Held.class": HELD, "a.txt": TEXT}), "p/Held.class"), tmp_path)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        held = [info for info in out.infolist() if info.filename == "p/Held.class"]
        assert len(held) == 2
        assert held[0].header_offset == held[1].header_offset
        assert b"unjank$" in out.read(held[1])


def test_each_layer_of_a_multi_release_jar_is_whole(tmp_path: Path) -> None:
    """A class that is in two layers is changed in both, each with its own helpers; calls across are left."""
    getter = MemberRef("p/Held", "access$FU", f"()L{UPDATER};")
    held = holder_class(Holder(accessor=True))
    jar = zip_bytes(
        {
            "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n",
            "p/Held.class": held,
            "p/Caller.class": caller_class("p/Caller", "p/Held", getter),
            "META-INF/versions/9/p/Held.class": held,
        }
    )
    result = optimize(jar, tmp_path)
    assert result.classes_changed == ["p/Held.class", "META-INF/versions/9/p/Held.class"]
    decisions = {site.entry: (site.decision, site.reason) for site in result.sites}
    assert decisions["META-INF/versions/9/p/Held.class"] == (Decision.DIRECT, Reason.PROVEN)
    assert decisions["p/Caller.class"] == (Decision.KEPT, Reason.RECEIVER_AMBIGUOUS)


def test_calls_through_an_accessor_in_another_class_are_direct(tmp_path: Path) -> None:
    """The helper is as visible as it has to be, and the serialVersionUID is written down for it."""
    getter = MemberRef("p/Held", "access$FU", f"()L{UPDATER};")
    jar = zip_bytes(
        {
            "p/Held.class": holder_class(Holder(accessor=True, interfaces=("q/Unknown",))),
            "p/Caller.class": caller_class("p/Caller", "p/Held", getter),
        }
    )
    result = optimize(jar, tmp_path)
    assert {site.decision for site in result.sites} == {Decision.DIRECT}
    assert [updater.outcome for updater in result.updaters] == [Outcome.REMOVED]
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        held = parse_class(out.read("p/Held.class"))
    keys = {held.key(method)[0]: method.access for method in held.methods}
    assert not keys["unjank$FU$incrementAndGet"] & (Access.PRIVATE | Access.PUBLIC)
    assert held.find(held.fields, "serialVersionUID", "J") is not None
    assert held.find(held.fields, "FU", f"L{UPDATER};") is None


def test_chains_of_accessors_are_followed(tmp_path: Path) -> None:
    """As atomicfu and Kotlin make them: an accessor of an accessor."""
    about = Holder()
    builder = holder_builder(about)
    kind = f"L{UPDATER};"

    def chain(name: str, opcode: str, source: MemberRef) -> None:
        def body(asm: Assembler) -> None:
            asm.field(opcode, source) if opcode == "getstatic" else asm.invoke(opcode, source)
            asm.give_back(kind)

        builder.method(name, f"(){kind}", (), body)

    chain("getCount$FU", "getstatic", MemberRef("p/Held", "FU", kind))
    chain("access$getCount$FU", "invokestatic", MemberRef("p/Held", "getCount$FU", f"(){kind}"))
    outer = MemberRef("p/Held", "access$getCount$FU", f"(){kind}")
    jar = zip_bytes(
        {"p/Held.class": builder.build(), "p/Caller.class": caller_class("p/Caller", "p/Held", outer)}
    )
    result = optimize(jar, tmp_path)
    assert {(site.class_name, site.reason) for site in result.sites} == {
        ("p.Held", Reason.PROVEN),
        ("p.Caller", Reason.PROVEN),
    }
    assert [updater.outcome for updater in result.updaters] == [Outcome.REMOVED]


def test_updaters_that_others_may_use_stay(tmp_path: Path) -> None:
    """One that is not private gets a companion, in its package, and keeps its field."""
    open_updater = Holder(updater_access=Access.STATIC | Access.FINAL)
    result = optimize(zip_bytes({"p/Held.class": holder_class(open_updater)}), tmp_path)
    assert result.classes_added == ["p/Held$UnjankAtomics.class"]
    assert [updater.outcome for updater in result.updaters] == [Outcome.COMPANION]
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        held = parse_class(out.read("p/Held.class"))
        companion = parse_class(out.read("p/Held$UnjankAtomics.class"))
    assert held.find(held.fields, "FU", f"L{UPDATER};") is not None
    assert not companion.access & Access.PUBLIC


def test_a_companion_does_not_replace_a_class_of_that_name(tmp_path: Path) -> None:
    """Another name is taken."""
    open_updater = Holder(updater_access=Access.STATIC | Access.FINAL)
    taken = ClassBuilder("p/Held$UnjankAtomics").build()
    jar = zip_bytes({"p/Held.class": holder_class(open_updater), "p/Held$UnjankAtomics.class": taken})
    assert optimize(jar, tmp_path).classes_added == ["p/Held$UnjankAtomics2.class"]


def test_nested_archives_are_done_as_well(tmp_path: Path) -> None:
    """A stored jar in a jar stays stored, its classes are changed, and their places name both."""
    inner = zip_bytes({"p/Held.class": HELD, "a.txt": TEXT})
    jar = zip_bytes(
        {"BOOT-INF/lib/inner.jar": inner, "p/Held.class": HELD}, stored=("BOOT-INF/lib/inner.jar",)
    )
    result = optimize(jar, tmp_path)
    assert sorted(result.classes_changed) == ["BOOT-INF/lib/inner.jar!/p/Held.class", "p/Held.class"]
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        info = out.getinfo("BOOT-INF/lib/inner.jar")
        assert info.compress_type == zipfile.ZIP_STORED
        (tmp_path / "inner.jar").write_bytes(out.read(info))
    with zipfile.ZipFile(tmp_path / "inner.jar") as nested:
        assert b"unjank$" in nested.read("p/Held.class")
        assert nested.read("a.txt") == TEXT


def test_an_aar_uses_unsafe_and_has_its_rules_in_one_file(tmp_path: Path) -> None:
    """`classes.jar` and `libs/*.jar` are done; the rules of all are added to proguard.txt."""
    lib = zip_bytes({"q/Other.class": holder_class(Holder(name="q/Other"))})
    aar = zip_bytes(
        {
            "AndroidManifest.xml": b"<manifest/>",
            "classes.jar": zip_bytes({"p/Held.class": HELD}),
            "libs/lib.jar": lib,
            "proguard.txt": b"-keep class p.Kept",
        }
    )
    result = optimize(aar, tmp_path, "in.aar")
    assert result.target == "unsafe"
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        rules = out.read("proguard.txt").decode().splitlines()
        classes = out.read("classes.jar")
    assert rules[0] == "-keep class p.Kept"
    assert "-keepclassmembers class p.Held { volatile int count; }" in rules
    assert "-keepclassmembers class q.Other { volatile int count; }" in rules
    assert "-dontwarn sun.misc.Unsafe" in rules
    assert b"META-INF/proguard" not in classes


def test_a_jar_has_its_rules_where_r8_looks(tmp_path: Path) -> None:
    """Below META-INF/proguard."""
    optimize(zip_bytes({"p/Held.class": HELD}), tmp_path, target="unsafe")
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        rules = out.read("META-INF/proguard/unjank-atomics.pro").decode()
    assert "-keepclassmembers class p.Held { volatile int count; }\n-dontwarn sun.misc.Unsafe\n" in rules


def test_rules_for_versions_of_r8_are_added_to(tmp_path: Path) -> None:
    """Where a library has such, R8 reads no others."""
    folder = "META-INF/com.android.tools"
    jar = {
        "p/Held.class": HELD,
        f"{folder}/r8-from-1.6.0/lib.pro": b"-keep class q.A",
        f"{folder}/r8-upto-1.6.0/lib.pro": b"-keep class q.B",
        f"{folder}/r8-upto-1.6.0/unjank-atomics.pro": b"-keep class q.C",
    }
    optimize(zip_bytes(jar), tmp_path)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        for version in ("from", "upto"):
            rules = out.read(f"{folder}/r8-{version}-1.6.0/unjank-atomics.pro").decode()
            assert "-keepclassmembers class p.Held { volatile int count; }" in rules
        assert rules.startswith("-keep class q.C\n")
        assert out.read(f"{folder}/r8-from-1.6.0/lib.pro") == b"-keep class q.A"


SIGNED = {
    "META-INF/MANIFEST.MF": (
        b"Manifest-Version: 1.0\r\n\r\nName: p/Held.class\r\nSHA-256-Digest: abc=\r\n\r\n"
        b"Name: a.txt\r\nSHA-256-Digest: def=\r\nContent-Type: text/plain\r\n\r\n"
    ),
    "META-INF/KEY.SF": b"Signature-Version: 1.0\r\n",
    "META-INF/KEY.RSA": b"signature",
    "p/Held.class": HELD,
    "a.txt": TEXT,
}


def test_a_signed_jar_is_refused(tmp_path: Path) -> None:
    """With the way out; nothing is written."""
    with pytest.raises(ArchiveError, match=r"is signed.*--signatures remove"):
        optimize(zip_bytes(SIGNED), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jar"]


def test_a_signature_is_removed_on_request(tmp_path: Path) -> None:
    """Its files and the digests go, other attributes of the manifest stay."""
    optimize(zip_bytes(SIGNED), tmp_path, signatures="remove")
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert not {"META-INF/KEY.SF", "META-INF/KEY.RSA"} & set(out.namelist())
        assert out.read("META-INF/MANIFEST.MF") == (
            b"Manifest-Version: 1.0\r\n\r\nName: a.txt\r\nContent-Type: text/plain\r\n\r\n"
        )


def test_a_signed_jar_without_changes_keeps_its_signature(tmp_path: Path) -> None:
    """There is nothing to refuse."""
    signed = {name: content for name, content in SIGNED.items() if not name.endswith(".class")}
    jar = zip_bytes(signed)
    optimize(jar, tmp_path)
    assert (tmp_path / "out.jar").read_bytes() == jar


def test_long_lines_of_a_manifest_stay_folded() -> None:
    """Lines have at most 72 bytes; what was folded is recognised."""
    name = b"Name: " + b"d/" * 60 + b"A.class"
    folded = name[:72] + b"\r\n " + name[72:]
    manifest = b"Manifest-Version: 1.0\n\n" + folded + b"\nSHA-256-Digest: x\nSealed: true\n\n"
    cleaned = without_digests(manifest)
    assert b"Digest" not in cleaned
    assert max(map(len, cleaned.split(b"\r\n"))) <= 72
    assert folded in cleaned
    assert b"Sealed: true" in cleaned


@pytest.mark.parametrize("name", ["../evil.class", "a/../../b", "/etc/x", "C:/x", "a\\..\\..\\b"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    """Whoever unpacked the output would write elsewhere."""
    with pytest.raises(ArchiveError, match="leads out of the archive"):
        optimize(zip_bytes({name: b"x"}), tmp_path)


def test_a_class_that_explodes_is_skipped(tmp_path: Path) -> None:
    """A class file of a gigabyte of zeros is not unpacked."""
    bomb = zip_bytes({"p/Bomb.class": bytes(100 << 20), "p/Held.class": HELD})
    (tmp_path / "bomb.jar").write_bytes(bomb)
    result = scan_archive(tmp_path / "bomb.jar")
    (skipped,) = result.skipped
    assert skipped.entry == "p/Bomb.class"
    assert "unpacks to 100 MiB, more than the 32" in skipped.reason
    assert len(result.sites) == 1


def test_many_small_bombs_are_one_as_well(tmp_path: Path) -> None:
    """What all classes together unpack to has a limit, too."""
    one = zip_bytes({"p/A.class": bytes(30 << 20)})
    many = zip_bytes({f"{number}.jar": one for number in range(60)})
    (tmp_path / "bombs.jar").write_bytes(many)
    with pytest.raises(ArchiveError, match="more than the whole archive may: taken for a zip bomb"):
        scan_archive(tmp_path / "bombs.jar")


def test_a_size_that_lies_is_noticed(tmp_path: Path) -> None:
    """Unpacking stops at the promised size."""
    jar = bytearray(zip_bytes({"p/Held.class": HELD}))
    central = jar.index(b"PK\x01\x02")
    jar[central + 24 : central + 28] = struct.pack("<I", 10)
    (tmp_path / "lie.jar").write_bytes(jar)
    (skipped,) = scan_archive(tmp_path / "lie.jar").skipped
    assert "is damaged" in skipped.reason


def test_entries_that_overlap_are_refused(tmp_path: Path) -> None:
    """Many entries with the same content are how small files explode."""
    jar = bytearray(zip_bytes({"p/Held.class": HELD, "q.class": HELD}))
    second = jar.rindex(b"PK\x01\x02")
    jar[second + 42 : second + 46] = struct.pack("<I", 0)
    with pytest.raises(ArchiveError, match="share their content: taken for a zip bomb"):
        optimize(bytes(jar), tmp_path)


def test_archives_within_archives_have_an_end(tmp_path: Path) -> None:
    """Deeper ones are skipped with the reason."""
    jar = zip_bytes({"p/Held.class": HELD})
    for level in range(9):
        jar = zip_bytes({f"level{level}.jar": jar})
    (tmp_path / "deep.jar").write_bytes(jar)
    (skipped,) = scan_archive(tmp_path / "deep.jar").skipped
    assert "nested more than 6 deep" in skipped.reason


def test_cut_archives_are_refused(tmp_path: Path) -> None:
    """Wherever the end is missing: an error, or skipped entries, but no crash."""
    jar = zip_bytes({"a.txt": TEXT, "p/Held.class": HELD})
    for length in range(0, len(jar), 7):
        (tmp_path / "cut.jar").write_bytes(jar[:length])
        with pytest.raises(ArchiveError):
            scan_archive(tmp_path / "cut.jar")


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a half-written output nor a temporary file; what stood there before stays."""
    (tmp_path / "out.jar").write_bytes(b"before")

    def broken(*_arguments: object) -> bytes:
        raise zlib.error("no")

    monkeypatch.setattr("unjank.jvm.archive_optimizer.changed_bytes", broken)
    with pytest.raises(zlib.error):
        optimize(zip_bytes({"p/Held.class": HELD}), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jar", "out.jar"]
    assert (tmp_path / "out.jar").read_bytes() == b"before"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The output cannot be written: one line, with the way out."""
    (tmp_path / "in.jar").write_bytes(zip_bytes({"p/Held.class": HELD}))
    with pytest.raises(ArchiveError, match=r"cannot write .*; name another place with -o"):
        optimize_archive(tmp_path / "in.jar", tmp_path / "no" / "out.jar", OptimizeOptions())


def test_many_entries_need_zip64(tmp_path: Path) -> None:
    """Beyond 65,535 entries the directory's end has another form."""
    path = tmp_path / "many.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/Held.class", HELD)
        for number in range(65_600):
            archive.writestr(zipfile.ZipInfo(f"{number}"), b"")
    optimize(path.read_bytes(), tmp_path)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert len(out.namelist()) == 65_602
        assert b"unjank$" in out.read("p/Held.class")
