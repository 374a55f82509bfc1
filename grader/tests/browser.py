"""A page in headless Chromium, over its debugging pipe: no driver, no network, no display.

Chromium reads commands from file descriptor 3 and answers on 4, JSON objects with a zero byte
after each (the DevTools protocol).
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find() -> str | None:
    """The browser's path, or None."""
    given = os.environ.get("CHROMIUM")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One page; close it with `with`. Everything the page says to its console is in `said`."""

    def __init__(self, browser: str, seconds: float = 60) -> None:
        self.deadline = time.monotonic() + seconds
        self.said: list[str] = []
        self.asked: list[str] = []  # addresses that were asked for, once Network is enabled
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._rest = b""
        self._number = 0
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # Puts the ends of the pipes where Chromium looks for them; sh knows one-digit numbers only.
        script = f'exec "$@" 3<&{commands} 4>&{answers}'
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--disable-extensions",
            "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", browser, *options],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._session = ""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(OSError, AssertionError):
            self._session = ""
            self.command("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends one command and waits for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        """The next message; what the page says is noted."""
        while b"\0" not in self._rest:
            left = self.deadline - time.monotonic()
            ready = select.select([self._read], [], [], max(0, left))[0]
            assert ready, "Chromium does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "Chromium ended"
            self._rest += data
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        match message.get("method"):
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.said.append(json.dumps(message["params"]))
            case "Network.requestWillBeSent":
                self.asked.append(message["params"]["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.said.append(json.dumps(message["params"]))
                self._number += 1
                dismiss = {
                    "id": self._number, "method": "Page.handleJavaScriptDialog",
                    "params": {"accept": False}, "sessionId": self._session,
                }  # fmt: skip
                os.write(self._write, json.dumps(dismiss).encode() + b"\0")
        return message

    def open(self, place: Path | str, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Shows a file, or an address, in a window of that many CSS pixels."""
        address = place if isinstance(place, str) else place.resolve().as_uri()
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.command("Page.navigate", url=address)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def key(self, key: str, *, shift: bool = False) -> None:
        """Presses a key: a character, or a name such as ArrowRight."""
        text = {"text": key} if len(key) == 1 else {}
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36,
                 "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # fmt: skip
        if key == "Enter":
            text = {"text": "\r"}
        both = {
            "key": key,
            "modifiers": 8 if shift else 0,
            "windowsVirtualKeyCode": codes.get(key, 0),
        }
        self.command("Input.dispatchKeyEvent", type="keyDown", **both, **text)
        self.command("Input.dispatchKeyEvent", type="keyUp", **both)

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression on the page; of a promise, what it comes to."""
        found = self.command(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")
