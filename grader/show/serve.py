"""Report and page served to this machine's browser, under an address that cannot be guessed.

Whatever is served is text that the grader rendered, held in memory under a fixed name; no request
names a file. Requests are answered only for the loopback address by which the server was told to be
called (so that no other name can be made to mean it), only below the random token, and not at all
for a page of another origin. The pages themselves may load nothing; the frame around them asks for
the number of the newest version and shows it, at the moment that was looked at before.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

HOST = "127.0.0.1"
_START_SECONDS = 10
_FRAME = Path(__file__).parent / "frame"


class Server:
    """Serves from a thread until close(). publish() replaces what is shown."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.version = 0
        self.pages: dict[str, str] = {}
        self._socket = socket.create_server((HOST, 0))
        self.port = self._socket.getsockname()[1]
        config = uvicorn.Config(
            self._application(), log_level="critical", access_log=False, lifespan="off",
            server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._server.install_signal_handlers = lambda: None  # the terminal's keys are the command's
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def publish(self, *, report: str, show: str | None) -> None:
        """Shows another version: the report, and the page where there is one."""
        self.pages = {"report": report, **({} if show is None else {"show": show})}
        self.version += 1

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(_START_SECONDS)
        self._socket.close()

    # ---- answers ----

    def _application(self) -> Starlette:
        # The token is compared by _guard; here it only has to be there.
        application = Starlette(
            routes=[
                Route("/{token}/", self._frame),
                Route("/{token}/version", self._version),
                Route("/{token}/{page:str}", self._page),
            ],
            middleware=[Middleware(BaseHTTPMiddleware, dispatch=self._guard)],
        )
        application.router.redirect_slashes = False
        return application

    async def _guard(
        self, request: Request, answer: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        own = f"{HOST}:{self.port}"
        headers = request.headers
        if headers.get("host") != own:
            return PlainTextResponse("This address is not served.\n", 421)
        origin = headers.get("origin", f"http://{own}")
        if origin != f"http://{own}" or headers.get("sec-fetch-site") in (
            "cross-site",
            "same-site",
        ):
            return PlainTextResponse("Other pages may not look in here.\n", 403)
        token = request.url.path.split("/")[1]
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return PlainTextResponse("There is nothing here.\n", 404)
        response = await answer(request)
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    async def _frame(self, request: Request) -> Response:
        page, policy = frame()
        return HTMLResponse(page, headers={"Content-Security-Policy": policy})

    async def _version(self, request: Request) -> Response:
        return JSONResponse({"version": self.version, "pages": sorted(self.pages)})

    async def _page(self, request: Request) -> Response:
        text = self.pages.get(request.path_params["page"])
        if text is None:
            return PlainTextResponse("There is nothing here.\n", 404)
        return HTMLResponse(text)


def frame() -> tuple[str, str]:
    """The page around the pages, and its policy."""
    style = (_FRAME / "frame.css").read_text(encoding="utf-8")
    script = (_FRAME / "frame.js").read_text(encoding="utf-8")
    text = (_FRAME / "frame.html").read_text(encoding="utf-8")
    hashes = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in (script, style)
    ]
    policy = (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}';"
        " connect-src 'self'; frame-src 'self'; frame-ancestors 'none'"
    )
    return text.replace("/*style*/", style).replace("/*script*/", script), policy
