"""Zips that try to break out, to fill the disk or to confuse; each is refused with a sentence."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from grader.batch.unpack import UnpackLimits, is_zip, unpack
from grader.errors import SubmissionError

SOURCE = "void solve() {}\n"


def make(path: Path, entries, method=zipfile.ZIP_DEFLATED) -> Path:
    """A zip of (name or ZipInfo, content) pairs, in that order; names are not cleaned."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in entries:
            info = name
            if isinstance(name, str):
                info = zipfile.ZipInfo("x")
                info.filename = name  # past the constructor, which would mend it
                info.compress_type = method
            file.writestr(info, content)
    return path


def special(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    return info


def patched(path: Path, old: bytes, new: bytes) -> Path:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    return path


def overlapping(path: Path) -> Path:
    """One compressed megabyte that many entries of the table point to."""
    count, name = 200, "f000"
    make(path, [(name, bytes(1 << 20))])
    data = path.read_bytes()
    start = data.index(b"PK\1\2")
    end = data.index(b"PK\5\6")
    record = data[start:end]
    table = b"".join(record.replace(b"f000", b"f%03d" % i) for i in range(count))
    tail = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, count, count, len(table), start, 0)
    path.write_bytes(data[:start] + table + tail)
    return path


def lying_header(path: Path) -> Path:
    """Claims 10 bytes where 8 MiB come out."""
    make(path, [("a", b"\1\2\3" * (8 << 20))])
    size = struct.pack("<L", 24 << 20)
    return patched(path, size, struct.pack("<L", 10))


ATTACKS = {
    "parent": (lambda p: make(p, [("../escaped", "x")]), "leads out"),
    "parent-inside": (lambda p: make(p, [("a/../../escaped", "x")]), "leads out"),
    "parent-windows": (lambda p: make(p, [("a\\..\\..\\escaped", "x")]), "leads out"),
    "absolute": (lambda p: make(p, [("/tmp/escaped", "x")]), "absolute"),
    "absolute-windows": (lambda p: make(p, [("\\escaped", "x")]), "absolute"),
    "drive": (lambda p: make(p, [("C:\\escaped", "x")]), "absolute"),
    "link": (lambda p: make(p, [(special("matmul.cu", stat.S_IFLNK), "/etc/passwd")]), "a link"),
    "link-then-through": (
        lambda p: make(p, [(special("d", stat.S_IFLNK), "/tmp"), ("d/escaped", "x")]),
        "a link",
    ),
    "device": (lambda p: make(p, [(special("d", stat.S_IFCHR), "")]), "no ordinary file"),
    "pipe": (lambda p: make(p, [(special("d", stat.S_IFIFO), "")]), "no ordinary file"),
    "set-uid": (lambda p: make(p, [(special("d", stat.S_IFSOCK | 0o4000), "")]), "no ordinary"),
    "bomb": (lambda p: make(p, [("matmul.cu", bytes(100 << 20))]), "grows more than"),
    "bomb-of-many": (lambda p: make(p, [(f"f{i}", bytes(1 << 20)) for i in range(80)]), "64 MiB"),
    "bomb-overlapping": (overlapping, "64 MiB|damaged"),
    "lying-header": (lying_header, "damaged"),
    "many-files": (lambda p: make(p, [(f"f{i}", "") for i in range(2001)]), "more than 2000"),
    "deep": (lambda p: make(p, [("a/" * 13 + "f", "")]), "deeper"),
    "twice": (lambda p: make(p, [("a", "1"), ("./a", "2")]), "twice"),
    "file-and-folder": (lambda p: make(p, [("a", "1"), ("a/b", "2")]), "both a file"),
    "long-name": (lambda p: make(p, [("a" * 300, "")]), "too long"),
    "control-characters": (lambda p: make(p, [("a\x1b[2J", "")]), "unprintable"),
    "text-direction": (lambda p: make(p, [("a\u202euc.", "")]), "unprintable"),
    "lzma": (lambda p: make(p, [("a", "x")], zipfile.ZIP_LZMA), "unusual method"),
    "password": (
        lambda p: patched(make(p, [("a", "x")]), b"PK\1\2\x14\x03\x14\0\0\0", b"PK\1\2\x14\x03\x14\0\1\0"),
        "password",
    ),
    "cut-short": (lambda p: p.write_bytes(make(p, [("a", SOURCE)]).read_bytes()[:-30]), "damaged"),
    "no-zip": (lambda p: p.write_text("PK\3\4 and nothing else"), "damaged"),
    "empty": (lambda p: p.write_text(""), "damaged"),
    "wrong-checksum": (
        lambda p: patched(make(p, [("a", "AAAA")], zipfile.ZIP_STORED), b"AAAA", b"AAAB"),
        "damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_is_refused_and_leaves_nothing(name, tmp_path):
    build, said = ATTACKS[name]
    archive = tmp_path / "in" / "student.zip"
    archive.parent.mkdir()
    build(archive)
    before = sorted(Path("/tmp").glob("escaped*"))
    with pytest.raises(SubmissionError, match=said) as raised:
        unpack(archive, tmp_path / "in" / "out")
    assert str(raised.value).startswith("student.zip ")
    assert "\x1b" not in str(raised.value)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "in", archive]
    assert sorted(Path("/tmp").glob("escaped*")) == before


def test_a_link_to_a_zip_is_refused(tmp_path):
    real = make(tmp_path / "real.zip", [("a", "x")])
    (tmp_path / "link.zip").symlink_to(real)
    assert not is_zip(tmp_path / "link.zip")
    with pytest.raises(SubmissionError, match="a link"):
        unpack(tmp_path / "link.zip", tmp_path / "out")


def test_a_table_that_would_fill_the_memory_is_not_read(tmp_path):
    archive = make(tmp_path / "a.zip", [(f"file-{i:060}", "") for i in range(300)])
    with pytest.raises(SubmissionError, match="table of contents"):
        unpack(archive, tmp_path / "out", UnpackLimits(directory_bytes=1000))


def test_an_archive_may_be_too_large(tmp_path):
    archive = make(tmp_path / "a.zip", [("a", bytes(1000))], zipfile.ZIP_STORED)
    with pytest.raises(SubmissionError, match="larger than"):
        unpack(archive, tmp_path / "out", UnpackLimits(archive_bytes=500))


def test_ordinary_zips_come_out_whole(tmp_path):
    entries = [
        ("02-tiled-kernel/", ""),
        ("02-tiled-kernel/matmul.cu", SOURCE),
        ("03-boundary-checks\\matmul.cu", SOURCE * 2),
        ("./notes/Übung 1.txt", "long\n" * 10_000),
        ("__MACOSX/02-tiled-kernel/._matmul.cu", "junk"),
        (".git/config", "junk"),
        ("empty", ""),
    ]
    archive = make(tmp_path / "a.zip", entries)
    assert is_zip(archive)
    found = unpack(archive, tmp_path / "deep" / "out")
    assert [str(path) for path in found] == [
        "02-tiled-kernel/matmul.cu", "03-boundary-checks/matmul.cu", "empty",
        "notes/Übung 1.txt",
    ]  # fmt: skip
    out = tmp_path / "deep" / "out"
    assert (out / "02-tiled-kernel" / "matmul.cu").read_text() == SOURCE
    assert (out / "03-boundary-checks" / "matmul.cu").read_text() == SOURCE * 2
    written = [path for path in out.rglob("*") if path.is_file()]
    assert len(written) == len(found)
    assert not any(path.stat().st_mode & 0o111 for path in written)


def test_an_empty_zip_holds_no_files(tmp_path):
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    (tmp_path / "a.zip").write_bytes(buffer.getvalue())
    assert unpack(tmp_path / "a.zip", tmp_path / "out") == []
