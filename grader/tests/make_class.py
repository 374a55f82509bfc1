"""Makes a class of students for `grader batch`: the same seed, the same bytes.

    python -m grader.tests.make_class FOLDER [--students 500] [--seed 7] [--platform moodle]
                                             [--named 0.8] [--pool 5] [--attacks NAME,NAME]

Most hand in one lab, some all of them: solutions, right and wrong files of the corpus, attacks
(where they exist), untouched skeletons, and garbage: nothing, a PDF, a binary, a wrong name,
damaged zips. Four of five files carry their student's name in a comment, so that they are
different files; the others are copies, as in every class.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.tests import attack_files, corpus_files

REPOSITORY = Path(__file__).resolve().parents[2]
PLATFORMS = ("canvas", "moodle", "gradescope", "github", "plain")
_FIRST = tuple("Ada Bo Chen Dua Eva Finn Gül Hana Ivo José Kim Lea Mia Noor Pia Søren".split())
_LAST = tuple("Abel Berg Costa Diaz Ek Fry Gray Holm Ito Jung Lopez Müller Nagy Silva".split())
# Kind of submission -> how many of a hundred.
_SHARES = {
    "solution": 18, "right": 20, "wrong": 38, "attack": 8, "skeleton": 4, "tree": 4, "garbage": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Student:
    """One made-up student and what they hand in: path in their folder -> content."""

    number: int
    name: str
    kind: str
    files: dict[str, bytes]


def make(
    folder: Path,
    students: int,
    seed: int,
    platform: str,
    labs: tuple[str, ...],
    named: float = 0.8,
    pool: int | None = None,
    attacks: tuple[str, ...] = (),
) -> dict:
    """Writes the class, of attackers alone if `students` is 0; returns what it holds.

    `named`: the share of files that carry their student's name; the others are copies. `pool`: how
    many different files of a kind and lab there are. `attacks`: handed in besides, by one student
    each.
    """
    chance = random.Random(seed)
    made = list(_students(chance, students, labs, named, pool) if students else _attackers())
    for number, name in enumerate(attacks, len(made) + 1):
        lab, content = _all_attacks()[name]
        made.append(Student(number, f"Attack {name}", "attack", {f"{lab}/matmul.cu": content}))
    write = {"plain": _plain, "moodle": _moodle, "canvas": _canvas, "github": _github}
    folder.mkdir(parents=True)
    if platform == "gradescope":
        _gradescope(folder, made)
    else:
        for student in made:
            write[platform](folder, student, chance)
    if platform == "moodle" and made:
        _imitate(folder, made[0])
    kinds = {}
    for student in made:
        kinds[student.kind] = kinds.get(student.kind, 0) + 1
    contents = {
        (path.split("/")[0], content)
        for student in made
        for path, content in student.files.items()
        if path.endswith("matmul.cu")
    }
    return {"students": len(made), "seed": seed, "kinds": kinds, "distinct_files": len(contents)}


def _students(
    chance: random.Random,
    count: int,
    labs: tuple[str, ...],
    named: float,
    pool: int | None,
) -> Iterator[Student]:
    @functools.cache
    def sources(kind: str, lab: str) -> list[bytes]:
        there = _SOURCES[kind](lab)
        return there if pool is None else chance.sample(there, min(pool, len(there)))

    for number in range(1, count + 1):
        name = f"{chance.choice(_FIRST)} {chance.choice(_LAST)}"
        kind = chance.choices(list(_SHARES), weights=_SHARES.values())[0]
        if kind == "attack" and not any(_attacks(lab) for lab in labs):
            kind = "wrong"
        if kind == "garbage":
            files = dict([chance.choice(_GARBAGE)(chance.choice(labs), chance)])
        elif kind == "tree":
            files = {f"{lab}/matmul.cu": _solution(lab) for lab in labs}
        else:
            lab = chance.choice([x for x in labs if kind != "attack" or _attacks(x)])
            content = chance.choice(sources(kind, lab))
            if chance.random() < named:
                content += f"\n// {name}, {number}\n".encode()
            files = {f"{lab}/matmul.cu": content}
        yield Student(number, name, kind, files)


def _solution(lab: str) -> bytes:
    return (REPOSITORY / "solutions" / lab / "matmul.cu").read_bytes()


def _skeleton(lab: str) -> bytes:
    """Of a lab of the ladder, or of an exercise."""
    found = [REPOSITORY / folder / lab / "matmul.cu" for folder in ("labs", "exercises")]
    return next(path for path in found if path.is_file()).read_bytes()


def _corpus(lab: str, kind: str) -> list[bytes]:
    entries = sorted(corpus_files.entries(kind, lab), key=lambda entry: entry.name)
    return [entry.content for entry in entries]


@functools.cache
def _all_attacks() -> dict[str, tuple[str, bytes]]:
    """Lab and content of every attack; what it is after is in the files of any machine."""
    return {
        attack.name: (attack.lab, attack.text("/etc/passwd", lambda *_: "1.0f").encode())
        for attack in attack_files.ALL
    }


def _attacks(lab: str) -> list[bytes]:
    return [content for of, content in _all_attacks().values() if of == lab]


def _attackers() -> Iterator[Student]:
    """One student an attack, called after it."""
    for number, (name, (lab, content)) in enumerate(_all_attacks().items(), 1):
        yield Student(number, f"Attack {name}", "attack", {f"{lab}/matmul.cu": content})


_SOURCES: dict[str, Callable[[str], list[bytes]]] = {
    "solution": lambda lab: [_solution(lab)],
    "right": lambda lab: _corpus(lab, "right"),
    "wrong": lambda lab: _corpus(lab, "wrong"),
    "attack": _attacks,
    "skeleton": lambda lab: [_skeleton(lab)],
}


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return packed.getvalue()


def _bad_name(lab: str) -> bytes:
    """A zip whose entry's name claims to be UTF-8 and is not."""
    return _zip({"matm\u00fcl.cu": _solution(lab)}).replace(b"matm\xc3\xbcl", b"matm\xff\xfel")


def _large_zip64(lab: str) -> bytes:
    """A zip64 record that claims a far larger table of contents than the plain one does."""
    data = _zip({f"{lab}/matmul.cu": _solution(lab)})
    end = data.rindex(b"PK\5\6")
    record = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1 << 20, 1 << 20, 1 << 28, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    return data[:end] + record + locator + data[end:]


def _says(words: str) -> bytes:
    """A `solve` that prints and throws these words."""
    text = (
        "#include <cstdio>\n#include <stdexcept>\n"
        f'static void say() {{ std::puts("{words}"); throw std::runtime_error("{words}"); }}\n'
    )
    square = "void solve(const float*, const float*, float*, int) { say(); }\n"
    shaped = "void solve(const float*, const float*, float*, int, int, int) { say(); }\n"
    return (text + square + shaped).encode()


_Garbage = Callable[[str, random.Random], tuple[str, bytes]]
_GARBAGE: list[_Garbage] = [
    lambda lab, chance: (f"{lab}/matmul.cu", b""),
    lambda lab, chance: (f"{lab}/matmul.cu", b"\x7fELF" + chance.randbytes(400)),
    lambda lab, chance: (f"{lab}/matmul.cu", b"int main() { this is no CUDA"),
    lambda lab, chance: ("report.pdf", b"%PDF-1.7\n" + chance.randbytes(400)),
    lambda lab, chance: ("matmul.cpp", _solution(lab)),
    lambda lab, chance: ("my kernel.txt", _solution(lab)),
    lambda lab, chance: ("work.zip", _zip({f"{lab}/matmul.cu": _solution(lab)})),
    lambda lab, chance: ("work.zip", _zip({f"{lab}/matmul.cu": _solution(lab)})[:300]),
    lambda lab, chance: ("work.zip", _zip({f"../../{lab}/matmul.cu": _solution(lab)})),
    lambda lab, chance: ("work.rar", b"Rar!\x1a\x07" + chance.randbytes(100)),
    lambda lab, chance: (f"{lab}/notes.md", b"I was ill."),
    lambda lab, chance: ("work.zip", _bad_name(lab)),
    lambda lab, chance: ("work.zip", _large_zip64(lab)),
    lambda lab, chance: (f"{lab}/matmul.cu", b"/*" * 500_000),
    lambda lab, chance: (f"{lab}/matmul.cu", b"__shared__ float a[1" + b"+1" * 400_000 + b"];\n"),
    lambda lab, chance: (f"{lab}/matmul.cu", _says("fine;=HYPERLINK(1)")),
    lambda lab, chance: (f"{lab}/matmul.cu", _says("\\x1b[2J\\x1b[H100 of 100")),
    lambda lab, chance: (f"{lab}/matmul.cu", b"\x0c\xc2\x85\xe2\x80\xa8" + _solution(lab)),
]


def _put(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _plain(folder: Path, student: Student, chance: random.Random) -> None:
    name = f"{student.name.lower().replace(' ', '.')}.{student.number}"
    if chance.random() < 0.3:
        (folder / f"{name}.zip").write_bytes(_zip(student.files))
    else:
        _put(folder / name, student.files)


def _moodle(folder: Path, student: Student, chance: random.Random) -> None:
    place = folder / f"{student.name}_{4000 + student.number}_assignsubmission_file_"
    if chance.random() < 0.3:
        _put(place, {"matmul.zip": _zip(student.files)})
    else:
        _put(place, student.files)


def _imitate(folder: Path, student: Student) -> None:
    """Two who name a file like the download of another, with nothing in it, and one like a result."""
    mark = "assignsubmission_file"
    other = f"{student.name}_{4000 + student.number}_{mark}_matmul.cu"
    for number, name in ((3001, "Imi Tator"), (3002, student.name)):
        (folder / f"{name}_{number}_{mark}_{other}").write_bytes(b"// nothing\n")


def _canvas(folder: Path, student: Student, chance: random.Random) -> None:
    first, last = student.name.lower().split()
    late = "_LATE" if chance.random() < 0.1 else ""
    start = f"{last}{first}{late}_{70000 + student.number}"
    again = "-1" if chance.random() < 0.1 else ""
    for index, (name, content) in enumerate(student.files.items()):
        if len(student.files) > 1 or not name.endswith("/matmul.cu"):
            name, content = "labs.zip", _zip(student.files)
            index = 0
        else:
            name = f"{name.split('/')[0]}.cu"
        stem, _, suffix = name.rpartition(".")
        file = f"{start}_{900000 + 10 * student.number + index}_{stem}{again}.{suffix}"
        (folder / file).write_bytes(content)


def _github(folder: Path, student: Student, chance: random.Random) -> None:
    user = f"{student.name.lower().replace(' ', '-')}-{student.number}"
    inside = {f"labs/{name}": content for name, content in student.files.items()}
    _put(folder / f"matmul-{user}", {**inside, ".git/HEAD": b"ref: refs/heads/main\n"})


def _gradescope(folder: Path, students: list[Student]) -> None:
    lines = []
    for student in students:
        name = f"submission_{60000 + student.number}"
        _put(folder / name, student.files)
        lines += [
            f"{name}:", "  :submitters:", f"  - :name: {student.name}",
            f"    :sid: '{1000 + student.number}'", f"    :email: s{student.number}@example.edu",
            f"  :created_at: 2026-03-01 10:00:{student.number % 60:02d}.000000000 Z",
            "  :score: 0.0",
        ]  # fmt: skip
    (folder / "submission_metadata.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=500, help="0: one an attack")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--platform", choices=PLATFORMS, default="moodle")
    parser.add_argument("--labs", default="", help="folder names; default: all with a corpus")
    parser.add_argument("--named", type=float, default=0.8, help="share of files with a name")
    parser.add_argument(
        "--pool", type=int, help="different files of each kind and lab; default: all"
    )
    parser.add_argument("--attacks", default="", help="of attacks.toml, handed in besides")
    given = parser.parse_args()
    labs = given.labs.split(",") if given.labs else corpus_files.ladder()
    attacks = tuple(name for name in given.attacks.split(",") if name)
    made = make(
        given.folder,
        given.students,
        given.seed,
        given.platform,
        tuple(labs),
        given.named,
        given.pool,
        attacks,
    )
    print(json.dumps(made))


if __name__ == "__main__":
    main()
