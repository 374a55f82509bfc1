"""Packages for other platforms: what an instructor uploads, made from this checkout.

    gradescope   setup.sh and run_autograder (templates/gradescope) beside tilewise/, which holds
                 what grading on the simulator needs: the C++ and Python sources, the chosen labs'
                 lab.toml, the toy data. No solutions, no tests, no skeletons.
    classroom50  the folder of an assignment: autograder.py beside the same sources.
    class        a repository for students: the skeletons, the grader, pipelines that grade on push.

The C++ programs are built on the platform, by setup.sh, or come in a wheel (`make wheel`), which a
package may carry or name (grader.packaging.wheels).
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grader.errors import UsageError
from grader.labs import source
from grader.labs.course import Course
from grader.labs.options import DEFAULT_DEVICE, DEFAULT_SEED
from grader.labs.reference import FILE as REFERENCE
from grader.labs.submission import FILE_NAME
from grader.labs.term import FILE_NAME as FILE_NAME_OF_TERM
from grader.labs.term import Term, for_students
from grader.packaging import release, wheels

SCHEMA = "tilewise.settings/1"
FOLDER = "tilewise"
# Folders whose files go in, and those below them that stay out.
_FOLDERS = ("common", "grader", "datasets")
_LEFT_OUT = (
    "common/tests",
    "common/measure",
    "common/setup/tests",
    "common/wheel",
    "grader/tests",
    "docs/book/tests",
)
_FILES = (
    "pyproject.toml", "README.md", "LICENSE", "LICENSE-texts.md", "docs/result.schema.json",
)  # fmt: skip
_PAGES = (
    "README.md",
    "by-hand.md",
    "cpp-crib.md",
    "glossary.md",
    "machine.md",
    "quiz.md",
    "reading-a-report.md",
    "reasoning.md",
    "show.md",
    "time-model.md",
    "watch-session.md",
)
_PAGE_FOLDERS = ("docs/experiments", "docs/figures", "docs/book")
_NOT_FOR_STUDENTS = re.compile(r"<!-- for instructors -->.*?<!-- for everybody -->\n*", re.DOTALL)
_GENERATED = ("__pycache__", ".pytest_cache", ".ruff_cache")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(?:#[^)\s]*)?\)")  # of Markdown: text, target
_TIME = (2020, 1, 1, 0, 0, 0)  # of every file in a zip, so that equal packages are equal files


@dataclass(frozen=True)
class Settings:
    """How a package grades; settings.json in it."""

    labs: tuple[str, ...]  # folder names
    weights: dict[str, float] = field(default_factory=dict)  # points by lab; others have 100
    seed: int = DEFAULT_SEED
    device: str = DEFAULT_DEVICE
    seconds: float = 540  # for all labs together; the platform stops after its own limit
    schema: str = SCHEMA


def chosen_labs(course: Course, text: str) -> tuple[str, ...]:
    """Folder names for "01,03,reduction" or "all" (labs, no exercises), in the course's order."""
    if text == "all":
        return tuple(course.lab_names())
    names = {course.lab_folder(part.strip()).name for part in text.split(",") if part.strip()}
    if not names:
        raise UsageError("No lab was chosen: write for example --labs 01,02, or --labs all.")
    return tuple(name for name in course.all_names() if name in names)


def load_settings(path: Path) -> Settings:
    """Reads settings.json. Raises UsageError if it is none."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        if fields.pop("schema") != SCHEMA:
            raise ValueError
        settings = Settings(**fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} is not the settings file of a package.") from None
    return Settings(**{**asdict(settings), "labs": tuple(settings.labs)})


def gradescope(course: Course, settings: Settings, output: Path, wheel: str = "") -> list[str]:
    """Writes the zip; returns the names in it. Raises UsageError if it cannot be written."""
    templates = course.root / "templates" / "gradescope"
    content: dict[str, bytes] = {
        name: (templates / name).read_bytes() for name in ("setup.sh", "run_autograder")
    }
    for path in _sources(course, settings.labs):
        content[f"{FOLDER}/{path.as_posix()}"] = (course.root / path).read_bytes()
    content[f"{FOLDER}/settings.json"] = (json.dumps(asdict(settings), indent=1) + "\n").encode()
    for name, file in wheels.files(wheel).items():
        content[f"{FOLDER}/{name}"] = file.content
    executable = {name for name in content if _is_executable(course.root, name)}
    _write(output, content, executable)
    return sorted(content)


def classroom50(course: Course, settings: Settings, output: Path, wheel: str = "") -> int:
    """Makes the folder of an assignment of Classroom 50; returns the number of files in it."""
    if output.exists():
        raise UsageError(f"{output} exists already: name a folder that does not.")
    script = course.root / "templates" / "classroom50" / "autograder.py"
    files = {"autograder.py": release.File(script.read_bytes(), executable=True)}
    for path in _sources(course, settings.labs):
        original = course.root / path
        is_program = os.access(original, os.X_OK)
        files[f"{FOLDER}/{path.as_posix()}"] = release.File(original.read_bytes(), is_program)
    text = (json.dumps(asdict(settings), indent=1) + "\n").encode()
    files[f"{FOLDER}/settings.json"] = release.File(text)
    files |= {f"{FOLDER}/{name}": file for name, file in wheels.files(wheel).items()}
    _make(output, files)
    return len(files)


def _sources(course: Course, labs: Sequence[str]) -> Iterator[Path]:
    """Relative paths of what grading needs."""
    yield from (Path(name) for name in _FILES)
    for lab in labs:
        needed = (course.folder(lab) / name for name in ("lab.toml", REFERENCE))
        yield from (path.relative_to(course.root) for path in needed if path.is_file())
    yield from _files_below(course.root, _FOLDERS)


def _files_below(root: Path, wanted: Sequence[str]) -> Iterator[Path]:
    """Relative paths of the files in these folders, without tests and what is generated."""
    for folder in wanted:
        for current, folders, files in os.walk(root / folder):
            here = Path(current).relative_to(root)
            folders[:] = [
                name
                for name in sorted(folders)
                if name not in _GENERATED
                and not name.endswith(".egg-info")
                and (here / name).as_posix() not in _LEFT_OUT
            ]
            yield from (here / name for name in sorted(files) if not name.endswith(".pyc"))


def _is_executable(root: Path, name: str) -> bool:
    source = Path(name).relative_to(FOLDER) if "/" in name else Path("templates/gradescope") / name
    return os.access(root / source, os.X_OK)


def _write(output: Path, content: Mapping[str, bytes], executable: set[str]) -> None:
    temporary = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(content):
                entry = zipfile.ZipInfo(name, _TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
                archive.writestr(entry, content[name])
        temporary.replace(output)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def class_repository(
    course: Course, term: Term, labs: Sequence[str], output: Path, wheel: str = ""
) -> release.Done:
    """Makes a folder with what students get, or brings one that was made so up to date.

    The skeletons of the chosen labs, the handouts, the grader, pipelines for GitHub and GitLab; no
    solutions, no tests, no seed. Labs that were handed out before stay. Raises UsageError if
    `output` exists and is no class repository.
    """
    if not output.exists():
        files = _class_files(course, term, tuple(labs), wheel)
        _make(output, files | {release.LIST: release.listed(files, tuple(labs))})
        return release.Done(added=sorted(files))
    if not release.is_repository(output):
        raise UsageError(
            f"{output} exists already, and no class repository is in it: name a folder that does"
            " not exist, or one that this command made."
        )
    together = tuple(sorted({*labs, *release.labs_of(output)}))
    return release.update(output, _class_files(course, term, together, wheel), together)


def _class_files(
    course: Course, term: Term, labs: tuple[str, ...], wheel: str = ""
) -> dict[str, release.File]:
    """Everything that students get, by its path."""
    for lab in labs:
        skeleton = course.folder(lab) / FILE_NAME
        if not skeleton.is_file():
            raise UsageError(f"There is no {skeleton}: the course lacks a lab that was handed out.")
        if not source.is_untouched(source.todo_regions(skeleton.read_text(encoding="utf-8"))):
            raise UsageError(
                f"{skeleton} is no skeleton any more: restore it before handing it out."
            )
    templates = course.root / "templates"
    sources = [*_sources(course, labs), *_for_students(course, labs)]
    copies = {path.as_posix(): course.root / path for path in sources}
    copies |= {
        "README.md": templates / "class" / "README.md",
        "Makefile": templates / "class" / "Makefile",
        "templates/ci/grade.sh": templates / "ci" / "grade.sh",
        ".devcontainer/devcontainer.json": course.root / ".devcontainer" / "devcontainer.json",
        ".gitlab-ci.yml": templates / "gitlab" / ".gitlab-ci.yml",
        ".github/workflows/grade.yml": templates / "github" / "grade.yml",
    }
    files = {}
    for name, original in copies.items():
        content = original.read_bytes()
        if name.endswith(".md"):
            page = _NOT_FOR_STUDENTS.sub("", content.decode("utf-8"))
            content = _with_links_to(copies, name, page).encode("utf-8")
        files[name] = release.File(content, os.access(original, os.X_OK))
    if term.labs:
        files[FILE_NAME_OF_TERM] = release.File(for_students(term, labs).encode("utf-8"))
    return files | wheels.files(wheel)


def _make(output: Path, files: Mapping[str, release.File]) -> None:
    temporary = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        for name, file in files.items():
            release.write(temporary / name, file)
        temporary.rename(output)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _for_students(course: Course, labs: Sequence[str]) -> Iterator[Path]:
    """What grading alone does not need."""
    yield from (Path(name) for name in (".gitignore", ".clang-format"))
    for lab in labs:
        files = sorted(path for path in course.folder(lab).iterdir() if path.is_file())
        yield from (path.relative_to(course.root) for path in files)
    yield from (Path("docs") / name for name in _PAGES)
    yield from _files_below(course.root, _PAGE_FOLDERS)


def _with_links_to(names: Iterable[str], page: str, text: str) -> str:
    """The Markdown of the page of this name; links to files that are not among `names` are text."""
    known = {str(part) for name in names for part in (Path(name), *Path(name).parents)}

    def link(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        return match[0] if "://" in target or path in known else words

    return _LINK.sub(link, text)
