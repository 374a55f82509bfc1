"""What key `v` of `grader watch` opens: report and page at an address of this machine."""

from __future__ import annotations

from pathlib import Path

from grader import writers
from grader.commands import grading, show
from grader.errors import GraderError
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.machine.toolchain import write_atomically
from grader.results.result import Result
from grader.writers import Style


class Screen:
    """Nothing is served before it is opened; from then on every new result is."""

    def __init__(self, course: Course, device: str | None) -> None:
        self.course, self.device = course, device
        self.server = None
        self.result: Result | None = None

    def open(self, lab: str) -> str:
        """Where it is seen, in words."""
        try:
            from grader.show.serve import Server
        except ImportError:
            return self._written(lab)
        if self.server is None:
            self.server = Server()
        why = self.follow(lab)
        return f"See it run, in this machine's browser: {self.server.address}{why}"

    def follow(self, lab: str) -> str:
        """Shows the newest version, if it is open; why there is no page, if there is none."""
        if self.server is None:
            return ""
        page, why = self._page(lab)
        report = self._report()
        self.server.publish(report=report, show=page)
        return why

    def close(self) -> None:
        if self.server is not None:
            self.server.close()

    def _page(self, lab: str) -> tuple[str | None, str]:
        try:
            how = grading.options_for(self.course, "sim", self.device, None)
            return show.page(self.course, load_lab(self.course.folder(lab)), None, how), ""
        except GraderError as error:
            return None, f"\nThere is a report, and nothing that runs yet: {error}"

    def _report(self) -> str:
        if self.result is None:
            return "<!DOCTYPE html><title>Tilewise</title><p>There is no report yet.</p>"
        return writers.render("html", [self.result], one=True, style=Style())

    def _written(self, lab: str) -> str:
        """Without the packages that serve: a file, which does not follow."""
        page, why = self._page(lab)
        if page is None:
            return why.strip()
        path: Path = self.course.build / "show" / f"{lab}.html"
        write_atomically(path, page)
        return (
            f"See it run: {path.resolve().as_uri()} (the page follows every save with"
            " common/setup/extra.sh serve starlette uvicorn)"
        )
