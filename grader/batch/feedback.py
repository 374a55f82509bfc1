"""Feedback as the platforms take it back: one zip, its files named as the platform finds students.

    Canvas   "Upload Submissions" of the assignment: files named like those that were downloaded,
             of which it reads the user's and the file's number; the page becomes a comment
    Moodle   "Upload multiple feedback files in a zip": the folders of the download, of which it
             reads the participant's number and the kind of submission

Pages in which kernels run (runs.py) go with them; a link leads to the file beside.

Gradescope and GitHub take no files back: their students read the page of their own run.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from grader.batch.names import Student, canvas, moodle
from grader.text import lab_number

_TIME = (2020, 1, 1, 0, 0, 0)  # of every file, so that equal feedback is an equal zip
PAGE = "feedback.html"


def name_of(student: Student, source: str) -> str:
    """Where in the zip the student's page goes; "" if the platform could not tell whose it is."""
    entries = source.split(", ")
    if student.platform == "canvas":
        for entry in entries:
            if canvas(entry):
                return f"{re.sub(r'[.][^.]*$', '', entry)}.html"
    if student.platform == "moodle":
        for entry in entries:
            found = moodle(entry)
            if found:
                # Moodle splits at underscores: one in the name would shift the number.
                name = found.student.name.replace("_", " ")
                return f"{name}_{student.ids['user']}_assignsubmission_file_/{PAGE}"
    return ""


def of_student(
    name: str, folder: Path, key: str, links: Mapping[str, str]
) -> list[tuple[str, bytes]]:
    """The files of one student, by their names in the zip: the page, and those it leads to.

    They lie side by side there, under names that lead to the same student.
    """
    page = (folder / f"{key}.html").read_bytes()
    found = []
    for lab, link in sorted(links.items()):
        beside = f"run-{lab_number(lab)}.html"
        if not name.endswith(f"/{PAGE}"):
            beside = f"{name.removesuffix('.html')}-{beside}"
        page = page.replace(
            f'href="{link}"'.encode(), f'href="{quote(Path(beside).name)}"'.encode()
        )
        target = beside if "/" not in name else f"{name.rpartition('/')[0]}/{beside}"
        found.append((target, (folder / link).read_bytes()))
    return [(name, page), *found]


def packed(pages: Iterable[tuple[str, bytes]]) -> bytes:
    """The zip of pages by name, in the order of the names."""
    found: Mapping[str, bytes] = {name: page for name, page in pages if name}
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(found):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, found[name])
    return text.getvalue()
