"""What can be handed in, and one clear sentence for everything that cannot be graded."""

import contextlib
import os
import pwd
import tempfile
from pathlib import Path

import pytest

from grader.errors import SubmissionError
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.submission import MAX_BYTES, Missing, find, read
from grader.tests.conftest import LAB_TOML

KERNEL = "__global__ void k() {}\n"


@pytest.fixture
def small_course(tmp_path):
    root = tmp_path / "course"
    for name in ("01-naive-kernel", "02-tiled-kernel"):
        folder = root / "labs" / name
        folder.mkdir(parents=True)
        (folder / "lab.toml").write_text(LAB_TOML)
        (folder / "matmul.cu").write_text(KERNEL)
    return Course(root, root / "build")


@pytest.fixture
def lab02(small_course):
    return load_lab(small_course.labs / "02-tiled-kernel")


@pytest.fixture
def tree(tmp_path):
    """A student's tree with lab 02 only."""
    folder = tmp_path / "handed-in" / "02-tiled-kernel"
    folder.mkdir(parents=True)
    (folder / "matmul.cu").write_text(KERNEL)
    return folder.parent


def test_default_is_the_working_copy(small_course, lab02):
    path = find(small_course, lab02, None, explicit_lab=True)
    assert path == small_course.labs / "02-tiled-kernel" / "matmul.cu"


def test_file_folder_and_tree(small_course, lab02, tree):
    file = tree / "02-tiled-kernel" / "matmul.cu"
    for given in (file, file.parent, tree):
        assert find(small_course, lab02, given, explicit_lab=True) == file
    assert find(small_course, lab02, tree, explicit_lab=False) == file


def test_tree_without_a_lab_is_not_started_unless_asked_for(small_course, tree):
    lab01 = load_lab(small_course.labs / "01-naive-kernel")
    assert isinstance(find(small_course, lab01, tree, explicit_lab=False), Missing)
    with pytest.raises(SubmissionError, match="holds no 01-naive-kernel/matmul.cu"):
        find(small_course, lab01, tree, explicit_lab=True)


def test_one_file_needs_a_lab(small_course, lab02, tree):
    file = tree / "02-tiled-kernel" / "matmul.cu"
    with pytest.raises(SubmissionError, match="say which lab it is for"):
        find(small_course, lab02, file, explicit_lab=False)


def test_folder_with_neither(small_course, lab02, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SubmissionError, match="holds neither"):
        find(small_course, lab02, tmp_path / "empty", explicit_lab=False)


def test_missing_path(small_course, lab02, tmp_path):
    with pytest.raises(SubmissionError, match="There is no .*gone"):
        find(small_course, lab02, tmp_path / "gone", explicit_lab=True)


def test_reads_text(tmp_path):
    path = tmp_path / "matmul.cu"
    path.write_bytes(KERNEL.encode() + b"// Gr\xfc\xdfe\n")  # Latin-1 is no reason to refuse
    assert read(path).text.startswith(KERNEL)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x7fELF\x02\x01\x00\x00", "is a binary file"),
        (bytes(range(1, 9)) * 50, "is a binary file"),
        (b"/" * (MAX_BYTES + 1), "is larger than 1 MiB"),
    ],
)
def test_unusable_content(tmp_path, content, message):
    path = tmp_path / "matmul.cu"
    path.write_bytes(content)
    with pytest.raises(SubmissionError, match=message) as error:
        read(path)
    assert "\n" not in str(error.value)


def test_folder_link_and_pipe(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(SubmissionError, match="is a folder"):
        read(tmp_path / "folder")
    (tmp_path / "real.cu").write_text(KERNEL)
    (tmp_path / "link.cu").symlink_to("real.cu")
    with pytest.raises(SubmissionError, match="is a symbolic link"):
        read(tmp_path / "link.cu")
    os.mkfifo(tmp_path / "pipe.cu")
    with pytest.raises(SubmissionError, match="is not a regular file"):
        read(tmp_path / "pipe.cu")
    with pytest.raises(SubmissionError, match="There is no"):
        read(tmp_path / "gone.cu")


@contextlib.contextmanager
def somebody_who_is_not_root():
    """root may read everything: for a while, this process is nobody."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(before)


def test_unreadable():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are open to one user only
        path = Path(folder) / "matmul.cu"
        path.write_text(KERNEL)
        Path(folder).chmod(0o755)
        path.chmod(0o644)
        with somebody_who_is_not_root():
            assert read(path).text == KERNEL
        path.chmod(0)
        with (
            somebody_who_is_not_root(),
            pytest.raises(SubmissionError, match="cannot be read: permission denied"),
        ):
            read(path)
