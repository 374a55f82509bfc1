"""A learning platform's side of LTI 1.3, strict, for tests: it counts, checks and fails as told.

Rules of LTI Security Framework 1.0 (tokens), AGS 2.0 (line items, scores, results) and NRPS 2.0
(members); a score that is not later than the last is refused with 409, to the second, as Moodle
does it. What a request did wrong is in `wrong`, beside the status that the platform answers with.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
CLIENT = "10000000000042"
COURSE = "/api/course/7"
_PAGE = 7  # entries of a page
_PROGRESS = {"Initialized", "Started", "InProgress", "Submitted", "Completed"}
_GRADING = {"FullyGraded", "Pending", "PendingManual", "Failed", "NotReady"}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class Fault:
    """What a hook wants: to answer so without doing it, or to do it and not answer."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


class LtiPlatform:
    """Use as a context manager; `url` is where it listens."""

    def __init__(self, public_key: dict, members: list[dict]) -> None:
        self.public_key = public_key
        self.members = members
        self.items: dict[str, dict] = {}  # path -> line item
        self.scores: dict[str, dict[str, list[dict]]] = {}  # path -> user -> scores that were taken
        self.received = 0  # scores that arrived, taken or not
        self.wrong: list[str] = []
        self.tokens: dict[str, set[str]] = {}
        self.given = 0
        self.scope_of_tokens: set[str] | None = None  # only these are granted
        # Called with ("before" | "after", number of the score): may return a Fault.
        self.hook: Callable[[str, int], Fault | None] = lambda phase, number: None
        self._jtis: set[str] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> LtiPlatform:
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else every answer waits for 40 ms

            def log_message(self, *args) -> None:
                pass

            def do_GET(self) -> None:
                platform._answer(self, "GET", b"")

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                platform._answer(self, "POST", self.rfile.read(length))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    # --- requests

    def _answer(self, handler: BaseHTTPRequestHandler, method: str, body: bytes) -> None:
        try:
            with self._lock:
                status, kind, value, more = self._route(handler, method, body)
        except Refused as refusal:
            self.wrong.append(f"{method} {handler.path}: {refusal.status} {refusal}")
            status, kind, value, more = refusal.status, "text/plain", str(refusal), {}
        if value is Fault:
            handler.close_connection = True
            return
        text = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        handler.send_response(status)
        for name, content in {"Content-Type": kind, **more}.items():
            handler.send_header(name, content)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _route(self, handler, method: str, body: bytes):
        parts = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        kind = handler.headers.get("Content-Type", "")
        accept = handler.headers.get("Accept", "")
        if (method, parts.path) == ("POST", "/token"):
            return 200, "application/json", self._token(body, kind), {}
        bearer = handler.headers.get("Authorization", "")
        scopes = self.tokens.get(bearer.removeprefix("Bearer "))
        if not bearer.startswith("Bearer ") or scopes is None:
            raise Refused(401, "no token, or one that is not ours")
        if (method, parts.path) == ("GET", f"{COURSE}/members"):
            _need(scopes, MEMBERS)
            form = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
            _accepts(accept, form)
            page, more = self._page(self.members, parts, query)
            return 200, form, {"id": self.url, "context": {"id": "7"}, "members": page}, more
        if parts.path == f"{COURSE}/items":
            if method == "GET":
                _need(scopes, f"{AGS}/lineitem", f"{AGS}/lineitem.readonly")
                form = "application/vnd.ims.lis.v2.lineitemcontainer+json"
                _accepts(accept, form)
                page, more = self._page(list(self.items.values()), parts, query)
                return 200, form, page, more
            _need(scopes, f"{AGS}/lineitem")
            return 201, "application/vnd.ims.lis.v2.lineitem+json", self._add(body, kind), {}
        path = parts.path
        for name in ("scores", "results", ""):
            item = path.removesuffix(f"/{name}") if name else path
            if item in self.items and (not name or path.endswith(f"/{name}")):
                break
        else:
            raise Refused(404, "there is no such place")
        if query.get("type") != "3":
            raise Refused(404, "the line item's address goes on with ?type=3")
        if name == "" and method == "GET":
            _need(scopes, f"{AGS}/lineitem", f"{AGS}/lineitem.readonly")
            return 200, "application/vnd.ims.lis.v2.lineitem+json", self.items[item], {}
        if name == "results" and method == "GET":
            _need(scopes, f"{AGS}/result.readonly")
            form = "application/vnd.ims.lis.v2.resultcontainer+json"
            _accepts(accept, form)
            page, more = self._page(self._results(item, query.get("user_id")), parts, query)
            return 200, form, page, more
        if name == "scores" and method == "POST":
            _need(scopes, f"{AGS}/score")
            return self._score(item, body, kind)
        raise Refused(405, "not that here")

    def _page(self, everything: list, parts, query: dict[str, str]):
        """One page, and where the next one is."""
        start = int(query.get("page", "0"))
        more = {}
        if start + _PAGE < len(everything):
            rest = "".join(f"&{k}={v}" for k, v in query.items() if k != "page")
            address = f"{self.url}{parts.path}?page={start + _PAGE}{rest}"
            more = {"Link": f'<{self.url}/other>; rel="first", <{address}>; rel="next"'}
        return everything[start : start + _PAGE], more

    # --- tokens

    def _token(self, body: bytes, kind: str) -> dict:
        import jwt
        from jwt.algorithms import RSAAlgorithm

        if kind != "application/x-www-form-urlencoded":
            raise Refused(400, f"a form is expected, not {kind}")
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if form.get("grant_type") != "client_credentials":
            raise Refused(400, "grant_type")
        if form.get("client_assertion_type") != (
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        ):
            raise Refused(400, "client_assertion_type")
        signed = form.get("client_assertion", "")
        try:
            if jwt.get_unverified_header(signed).get("kid") != self.public_key["kid"]:
                raise Refused(400, "the key is not known")
            claims = jwt.decode(
                signed, RSAAlgorithm.from_jwk(self.public_key), algorithms=["RS256"],
                audience=f"{self.url}/token",
                options={"require": ["iss", "sub", "aud", "iat", "exp", "jti"]},
            )  # fmt: skip
        except jwt.PyJWTError as error:
            raise Refused(400, f"invalid_client: {error}") from None
        if not claims["iss"] == claims["sub"] == CLIENT:
            raise Refused(400, "invalid_client: iss and sub")
        if claims["exp"] - claims["iat"] > 3600 or claims["jti"] in self._jtis:
            raise Refused(400, "invalid_client: too long, or used before")
        self._jtis.add(claims["jti"])
        asked = set(form.get("scope", "").split())
        known = {
            f"{AGS}/{x}" for x in ("lineitem", "lineitem.readonly", "result.readonly", "score")
        }
        if not asked or asked - known - {MEMBERS}:
            raise Refused(400, "invalid_scope")
        granted = asked & (self.scope_of_tokens or asked)
        self.given += 1
        token = f"token-{self.given}"
        self.tokens[token] = granted
        return {
            "access_token": token, "token_type": "Bearer", "expires_in": 3600,
            "scope": " ".join(sorted(granted)),
        }  # fmt: skip

    # --- line items, results, scores

    def add(self, label: str, most: float, resource: str = "") -> str:
        """A column made on the platform; its address."""
        path = f"{COURSE}/items/{len(self.items) + 1}"
        address = f"{self.url}{path}?type=3"
        item = {"id": address, "label": label, "scoreMaximum": most}
        self.items[path] = item | ({"resourceId": resource} if resource else {})
        self.scores[path] = {}
        return address

    def _add(self, body: bytes, kind: str) -> dict:
        if kind != "application/vnd.ims.lis.v2.lineitem+json":
            raise Refused(415, f"no line item, but {kind}")
        fields = json.loads(body)
        if not _is_number(fields.get("scoreMaximum")) or fields["scoreMaximum"] <= 0:
            raise Refused(400, "scoreMaximum")
        if not isinstance(fields.get("label"), str) or not fields["label"].strip():
            raise Refused(400, "label")
        if "id" in fields:
            raise Refused(400, "the platform chooses the id")
        address = self.add(fields["label"], fields["scoreMaximum"], fields.get("resourceId", ""))
        return next(item for item in self.items.values() if item["id"] == address)

    def _results(self, item: str, user: str | None) -> list[dict]:
        most = self.items[item]["scoreMaximum"]
        found = []
        for who, taken in self.scores[item].items():
            if user not in (None, who) or not taken:
                continue
            last = taken[-1]
            result = {"id": f"{self.url}{item}/results/{who}", "scoreOf": self.items[item]["id"]}
            if last["scoreGiven"]:  # as Moodle: a zero is not shown
                score = last["scoreGiven"] * most / last["scoreMaximum"]
                result |= {"resultScore": round(score, 5), "resultMaximum": most}
            found.append(result | {"userId": who})
        return found

    def _score(self, item: str, body: bytes, kind: str):
        self.received += 1
        number = self.received
        fault = self.hook("before", number)
        if fault and fault.status:
            return fault.status, "text/plain", "told to", fault.headers
        if fault and fault.cut:
            return 0, "", Fault, {}
        if kind != "application/vnd.ims.lis.v1.score+json":
            raise Refused(415, f"no score, but {kind}")
        fields = json.loads(body)
        self._check(fields)
        taken = self.scores[item].setdefault(fields["userId"], [])
        if taken and _seconds(taken[-1]) >= _seconds(fields):
            raise Refused(409, "Refusing score with an earlier timestamp")
        taken.append(fields)
        fault = self.hook("after", number)
        if fault and fault.cut:
            return 0, "", Fault, {}
        return 200, "application/json", {}, {}

    def _check(self, fields: dict) -> None:
        if not isinstance(fields.get("userId"), str):
            raise Refused(400, "userId is a text")
        students = {
            member["user_id"]
            for member in self.members
            if any(role.endswith("#Learner") for role in member["roles"])
        }
        if fields["userId"] not in students:
            raise Refused(422, "no student of this course")
        for name in ("scoreGiven", "scoreMaximum"):
            if not _is_number(fields.get(name)):
                raise Refused(400, name)
        if fields["scoreGiven"] < 0 or fields["scoreMaximum"] <= 0:
            raise Refused(422, "points")
        if not _TIME.fullmatch(str(fields.get("timestamp"))):
            raise Refused(400, "timestamp is no ISO 8601 with its zone")
        if fields.get("activityProgress") not in _PROGRESS:
            raise Refused(400, "activityProgress")
        if fields.get("gradingProgress") not in _GRADING:
            raise Refused(400, "gradingProgress")
        if not isinstance(fields.get("comment", ""), str):
            raise Refused(400, "comment is a text")

    # --- what tests look at

    def enter(self, item: str, user: str, points: float, when: str) -> None:
        """Somebody enters a grade by hand."""
        path = urlsplit(item).path
        self.scores[path].setdefault(user, []).append(
            {"scoreGiven": points, "scoreMaximum": self.items[path]["scoreMaximum"],
             "timestamp": when, "by hand": True}
        )  # fmt: skip

    def taken(self) -> dict[tuple[str, str], list[float]]:
        """(label of the column, user) -> all scores that were taken, in order."""
        return {
            (self.items[path]["label"], user): [score["scoreGiven"] for score in scores]
            for path, users in self.scores.items()
            for user, scores in users.items()
        }


def _need(scopes: set[str], *any_of: str) -> None:
    if not scopes & set(any_of):
        raise Refused(403, f"insufficient_scope: {any_of[0]}")


def _accepts(accept: str, form: str) -> None:
    if form not in accept and "*/*" not in accept:
        raise Refused(406, f"only {form}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _seconds(score: dict) -> int:
    return int(datetime.fromisoformat(score["timestamp"].replace("Z", "+00:00")).timestamp())


def learner(number: int, **fields) -> dict:
    """A student of the course."""
    return {
        "user_id": f"Lti-{number}", "email": f"S{number}@example.edu", "status": "Active",
        "roles": ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"],
    } | fields  # fmt: skip
