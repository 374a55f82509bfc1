"""Pages of `grader show` for tests: made once for a submission and a case, opened in a browser."""

from __future__ import annotations

import functools
import time
from pathlib import Path

from grader.tests import browser

READY = "document.documentElement.dataset.ready"
# Sums over all steps by the counters' names, as the page shows them at the last step.
TALLY = "tilewise.viewer.tally.upTo(tilewise.viewer.film.steps.length - 1)"
# The last value of every element of an array, as folding all steps leaves it; null for NaN.
CONTENTS = """(() => {{
  const film = tilewise.viewer.film;
  const array = film.arrays.find(one => one.space === 'global' && one.role === '{}');
  return [...tilewise.viewer.fold.at(film.steps.length - 1)[array.id].values]
    .map(value => Number.isNaN(value) ? null : value);
}})()"""
# What axe-core finds, by name.
VIOLATIONS = "axe.run().then(found => found.violations.map(one => one.id))"


def open_page(page: browser.Page, path: Path, **look) -> None:
    """Opens the file and waits until the film stands; what was said before is forgotten."""
    page.deadline = time.monotonic() + 60
    page.said.clear()
    page.asked.clear()
    page.open(path, **{"width": 1280, "height": 800, **look})
    while page.value(READY) != "yes":
        time.sleep(0.02)


@functools.cache
def axe() -> str | None:
    """axe-core, as its Python package has it; None without the package."""
    try:
        import axe_playwright_python
    except ImportError:
        return None
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
