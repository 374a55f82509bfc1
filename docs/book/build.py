"""Builds the course book: `make docs`, or `.venv/bin/python docs/book/build.py [--output FOLDER]`.

The site is made beside its place and moved there when it is complete and without a fault; a link
or an anchor that leads nowhere is named with its file and line, and leaves the old site alone.
Exit status: 0 built, 1 faults in the pages, 2 bad usage.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

SETTINGS = Path(__file__).resolve().parent  # the folder of conf.py
ROOT = SETTINGS.parents[1]
FIRST = "index.html"


def build(root: Path, output: Path) -> bool:
    """Builds the site of the pages below `root` into `output`; False if there were faults.

    What stood in `output` is replaced, if it was a site. Faults are written to standard error.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as folder:
        site = Path(folder) / "site"
        options = ["--fail-on-warning", "--quiet", "--fresh-env", "--builder", "html"]
        places = ["--conf-dir", SETTINGS, "--doctree-dir", Path(folder) / "doctrees", root, site]
        if sphinx_build([str(argument) for argument in [*options, *places]]) != 0:
            return False
        if output.exists():
            output.rename(Path(folder) / "old")
        site.rename(output)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the course book as a static site.")
    parser.add_argument("--root", type=Path, default=ROOT, help="whose pages (this checkout's)")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "docs", help="a folder")
    arguments = parser.parse_args()
    output: Path = arguments.output.absolute()
    if output.exists() and not (output / FIRST).is_file():
        print(f"{output} is there already and holds no book: name another one.", file=sys.stderr)
        return 2
    if not build(arguments.root.resolve(), output):
        print("The book was not built: mend what is named above.", file=sys.stderr)
        return 1
    print(f"The course book is built: open {os.path.relpath(output / FIRST)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
