#!/usr/bin/env python3
"""How fast is the page of `grader show`? In headless Chromium, by its own clocks.

    show_speed.py PAGE.html ...

For each page: its size; when it is first painted; and of 120 steps, by instruction and by line, the
processor time that one takes: of the page's own thread, which must not need more than a frame, and of
all processes of the browser, which also draw (there is no GPU here). The first is an ordinary clock,
which other work on the machine makes slower; the others hardly. Needs chromium.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.tests import browser, show_pages  # noqa: E402

STEPS = 120
WALK = """(async () => {
  const viewer = tilewise.viewer;
  viewer.by = "UNIT";
  viewer.to(0);
  for (let step = 0; step < STEPS; step++) {
    if (!viewer.move(1)) viewer.to(0);
    await new Promise(done => requestAnimationFrame(done));
  }
})()""".replace("STEPS", str(STEPS))
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def processor(opened: browser.Page) -> float:
    """Seconds that all processes of the browser have taken so far."""
    session, opened._session = opened._session, ""  # the browser's own command, not the page's
    found = opened.command("SystemInfo.getProcessInfo")["processInfo"]
    opened._session = session
    return sum(one["cpuTime"] for one in found)


def own_thread(opened: browser.Page) -> float:
    found = opened.command("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in found if one["name"] == "TaskDuration")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="+", type=Path)
    for path in parser.parse_args().pages:
        with browser.Page(browser.find()) as opened:
            opened.command("Performance.enable", timeDomain="threadTicks")
            time.sleep(1)
            before = processor(opened), own_thread(opened)
            show_pages.open_page(opened, path)
            opened.deadline = time.monotonic() + 600
            both = processor(opened) - before[0], own_thread(opened) - before[1]
            while (paint := opened.value(PAINT)) is None:
                time.sleep(0.05)
            steps = opened.value("tilewise.viewer.film.steps.length")
            print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {steps} instructions")
            print(f"  first painted after {paint:.0f} ms; until its first step is drawn"
                  f" {both[1] * 1e3:.0f} ms of its thread, {both[0] * 1e3:.0f} ms of all")  # fmt: skip
            for unit in ("instruction", "line"):
                before = processor(opened), own_thread(opened)
                opened.value(WALK.replace("UNIT", unit))
                each = [
                    (processor(opened) - before[0]) / STEPS,
                    (own_thread(opened) - before[1]) / STEPS,
                ]
                print(
                    f"  a step by {unit}: {each[1] * 1e3:.1f} ms of its thread, {each[0] * 1e3:.1f} ms of all"
                )


if __name__ == "__main__":
    main()
