"""The platform's side of LTI 1.3: tokens, members, line items, results, scores.

LTI Assignment and Grade Services 2.0 and Names and Role Provisioning Services 2.0. A token goes to
the addresses of the platform's own host alone: no redirect is followed, no page elsewhere is read.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from grader.batch.gradebook import one_line
from grader.errors import GraderError, ToolchainError, UsageError
from grader.labs.term import Lti
from grader.publish.journal import Score

_AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
SCOPES = (
    f"{_AGS}/lineitem",
    f"{_AGS}/result.readonly",
    f"{_AGS}/score",
    "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly",
)
_LINE_ITEM = "application/vnd.ims.lis.v2.lineitem+json"
_LINE_ITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
_RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
_SCORE = "application/vnd.ims.lis.v1.score+json"
_MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
_CANVAS = "https://canvas.instructure.com/lti/submission"
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_TIMEOUT = (10, 60)  # seconds: to connect, to answer
_TRIES = 5
_LONGEST_PAUSE = 60.0
_NEXT = re.compile(r"<([^>]*)>\s*;[^,]*\brel\s*=\s*\"?next\b", re.IGNORECASE)


class InDoubt(Exception):
    """No answer came: the platform may have the score, or may not."""


@dataclass(frozen=True)
class Answer:
    """To a score."""

    status: int
    said: str

    @property
    def taken(self) -> bool:
        return self.status < 300

    @property
    def stale(self) -> bool:
        """The platform has one that is as new: 409, or as Canvas says it 400."""
        return self.status == 409 or (self.status == 400 and "timestamp" in self.said.lower())


@dataclass(frozen=True)
class Shown:
    """What the platform shows for a student."""

    points: float | None  # by the line item's maximum
    share: float | None  # of the maximum that stands in the result itself


def require() -> None:
    """Raises ToolchainError, saying how to get them, unless the libraries are installed."""
    try:
        import cryptography  # noqa: F401 - is it there?
        import jwt  # noqa: F401
        import requests  # noqa: F401
    except ImportError:
        raise ToolchainError(
            "`grader publish` needs requests and PyJWT: run `.venv/bin/pip install -e '.[lti]'`."
        ) from None


def public_key(path: Path) -> dict[str, Any]:
    """The public half of a private key, as a platform takes it (JWK). Raises UsageError."""
    import hashlib
    from base64 import urlsafe_b64encode

    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from jwt.algorithms import RSAAlgorithm

    try:
        private = load_pem_private_key(path.read_bytes(), None)
        known = json.loads(RSAAlgorithm.to_jwk(private.public_key()))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {(error.strerror or 'failure').lower()}."
            " `grader course key` makes a key."
        ) from None
    except Exception:  # whatever a file that is no key makes the library say
        raise UsageError(f"{path} is no RSA key (PEM): `grader course key` makes one.") from None
    own = {name: known[name] for name in ("e", "kty", "n")}
    # Its thumbprint, RFC 7638: the key's name wherever it is computed.
    text = json.dumps(own, sort_keys=True, separators=(",", ":")).encode()
    kid = urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    return {**own, "alg": "RS256", "use": "sig", "kid": kid}


class Platform:
    """One course on one platform."""

    def __init__(self, lti: Lti, say: Callable[[str], None] = lambda text: None) -> None:
        import requests

        self._lti = lti
        self._say = say
        self._kid = public_key(lti.key)["kid"]
        self._session = requests.Session()
        self._token = ""
        self._until = 0.0  # by time.monotonic

    # --- tokens

    def _authorized(self, request: Any) -> Any:
        """As requests' `auth`, so that no .netrc puts another one in its place."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _renew(self) -> None:
        """A token, for everything that is done here. Raises GraderError if there is none."""
        import jwt

        now = int(time.time())
        claims = {
            "iss": self._lti.client_id, "sub": self._lti.client_id, "aud": self._lti.audience,
            "iat": now - 5, "exp": now + 300, "jti": str(uuid.uuid4()),
        }  # fmt: skip
        key = self._lti.key.read_text(encoding="utf-8")
        signed = jwt.encode(claims, key, algorithm="RS256", headers={"kid": self._kid})
        form = {
            "grant_type": "client_credentials", "client_assertion_type": _ASSERTION,
            "client_assertion": signed, "scope": " ".join(SCOPES),
        }  # fmt: skip
        answer = self._patiently(
            lambda: self._session.post(
                self._lti.token_url, data=form, timeout=_TIMEOUT, allow_redirects=False
            )
        )
        if answer.status_code != 200:
            raise GraderError(
                f"The platform gives no token: {_said(answer)}. Are client_id, token_url, audience"
                " and the key in course.toml those that it has for this tool?"
            )
        fields = _json(answer, dict, "a token")
        if not isinstance(fields.get("access_token"), str):
            raise GraderError("The platform's answer holds no token.")
        granted = str(fields.get("scope") or " ".join(SCOPES)).split()
        missing = [scope for scope in SCOPES if scope not in granted]
        if missing:
            raise GraderError(
                f"The platform does not allow the tool {', '.join(missing)}: an administrator can."
            )
        self._token = fields["access_token"]
        seconds = fields.get("expires_in")
        known = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        self._until = time.monotonic() + (max(0.0, seconds - 30) if known else 300)

    def _with_token(self, send: Callable[[], Any], patiently: bool = True) -> Any:
        """The answer to a request; with a new token where the old one is not accepted any more."""
        if not self._token or time.monotonic() >= self._until:
            self._renew()
        call = (lambda: self._patiently(send)) if patiently else send
        answer = call()
        if answer.status_code == 401:
            self._renew()
            answer = call()
        return answer

    def _patiently(self, send: Callable[[], Any]) -> Any:
        """Tries again where nothing has come of it: for requests that change nothing."""
        import requests

        for attempt in range(_TRIES):
            try:
                answer = send()
            except requests.RequestException as error:
                if attempt == _TRIES - 1:
                    raise GraderError(_no_answer(error)) from None
                self._wait(attempt, "")
                continue
            if answer.status_code not in (429, 500, 502, 503, 504) or attempt == _TRIES - 1:
                return answer
            self._wait(attempt, answer.headers.get("Retry-After", ""))
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, attempt: int, asked: str) -> None:
        seconds = float(asked) if asked.isdigit() else 0.5 * 2**attempt
        seconds = min(seconds, _LONGEST_PAUSE)
        if seconds >= 5:
            self._say(f"the platform asks to wait: {seconds:g} s")
        time.sleep(seconds)

    # --- reading

    def _own(self, url: str) -> str:
        """The address, if a token may go there. Raises GraderError."""
        ours, theirs = urlsplit(self._lti.lineitems), urlsplit(url)
        if (theirs.scheme, theirs.netloc) not in (
            (ours.scheme, ours.netloc),
            urlsplit(self._lti.members)[:2],
        ):
            raise GraderError(f"The platform leads to another host, {url}: nothing was sent there.")
        return url

    def _get(self, url: str, accept: str) -> Any:
        answer = self._with_token(
            lambda: self._session.get(
                self._own(url),
                headers={"Accept": accept},
                auth=self._authorized,
                timeout=_TIMEOUT,
                allow_redirects=False,
            )
        )
        if answer.status_code != 200:
            raise GraderError(f"The platform does not give {url}: {_said(answer)}.")
        return answer

    def _pages(self, url: str, accept: str) -> Iterator[Any]:
        """What stands on all pages of a list."""
        seen = set()
        while url:
            if url in seen:
                raise GraderError(f"The platform's pages go round in a circle at {url}.")
            seen.add(url)
            answer = self._get(url, accept)
            yield answer
            found = _NEXT.search(answer.headers.get("Link", ""))
            url = urljoin(url, found[1]) if found else ""

    def members(self) -> list[dict[str, Any]]:
        """Everybody in the course."""
        found = []
        for page in self._pages(self._lti.members, _MEMBERS):
            members = _json(page, dict, "a list of members").get("members")
            if not isinstance(members, list):
                raise GraderError("The platform's list of members has none.")
            found += [one for one in members if isinstance(one, dict) and one.get("user_id")]
        return found

    def line_items(self) -> list[dict[str, Any]]:
        """The columns that this tool may see."""
        found = []
        for page in self._pages(self._lti.lineitems, _LINE_ITEMS):
            found += [
                item
                for item in _json(page, list, "a list of line items")
                if isinstance(item, dict) and isinstance(item.get("id"), str)
            ]
        return found

    def line_item(self, url: str) -> dict[str, Any]:
        """One of them. Raises GraderError if there is none."""
        return {**_json(self._get(url, _LINE_ITEM), dict, "a line item"), "id": url}

    def results(self, item: str, user: str = "") -> dict[str, Shown]:
        """What it shows, by user; of one user, if one is named."""
        url = below(item, "results")
        if user:
            url += ("&" if "?" in url else "?") + f"user_id={quote(user, safe='')}"
        found = {}
        for page in self._pages(url, _RESULTS):
            for result in _json(page, list, "a list of results"):
                if isinstance(result, dict) and result.get("userId") is not None:
                    found[str(result["userId"])] = _shown(result)
        return found

    # --- writing

    def add_line_item(self, label: str, most: float, resource: str) -> str:
        """Makes a column; its address. `resource` is our name for it, by which it is found again."""
        fields = {"scoreMaximum": most, "label": label, "resourceId": resource, "tag": "tilewise"}
        import requests

        try:
            answer = self._with_token(
                lambda: self._post(self._lti.lineitems, fields, _LINE_ITEM), patiently=False
            )
        except requests.RequestException as error:
            raise GraderError(_no_answer(error)) from None
        made = _json(answer, dict, "a line item") if answer.status_code < 300 else {}
        if not isinstance(made.get("id"), str):
            raise GraderError(f"The platform does not make a column for {label}: {_said(answer)}.")
        return self._own(urljoin(self._lti.lineitems, made["id"]))

    def put(self, score: Score, comment: str) -> Answer:
        """Sends a score. Raises InDoubt if it is not known what came of it."""
        import requests

        fields: dict[str, Any] = {
            "userId": score.user, "scoreGiven": score.points, "scoreMaximum": score.most,
            "timestamp": score.timestamp, "activityProgress": "Completed",
            "gradingProgress": "FullyGraded",
        }  # fmt: skip
        if comment:
            fields["comment"] = comment
        if "/api/lti/courses/" in score.item:  # Canvas: a grade is not a new submission
            fields[_CANVAS] = {"new_submission": False}
        for attempt in range(_TRIES):
            try:
                answer = self._with_token(
                    lambda: self._post(below(score.item, "scores"), fields, _SCORE),
                    patiently=False,
                )
            except requests.RequestException as error:
                raise InDoubt(_no_answer(error)) from None
            if answer.status_code != 429:
                break
            self._wait(attempt, answer.headers.get("Retry-After", ""))
        if answer.status_code >= 500:
            raise InDoubt(f"The platform fails: {_said(answer)}.")
        return Answer(answer.status_code, _said(answer))

    def _post(self, url: str, fields: dict[str, Any], kind: str) -> Any:
        return self._session.post(
            self._own(url),
            data=json.dumps(fields).encode(),
            headers={"Content-Type": kind},
            auth=self._authorized,
            timeout=_TIMEOUT,
            allow_redirects=False,
        )

    def pause(self, attempt: int) -> None:
        """Before a score is sent once more."""
        self._wait(attempt, "")


def below(item: str, name: str) -> str:
    """A line item's scores or results: its address may go on with a query."""
    parts = urlsplit(item)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def _shown(result: dict[str, Any]) -> Shown:
    points, most = (
        value if isinstance(value, int | float) and not isinstance(value, bool) else None
        for value in (result.get("resultScore"), result.get("resultMaximum"))
    )
    return Shown(points, points / most if points is not None and most else None)


def _json(answer: Any, kind: type, what: str) -> Any:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, kind):
        raise GraderError(f"The platform answers with something that is not {what}.")
    return found


def _said(answer: Any) -> str:
    """ "403 Forbidden: ...", on one line."""
    text = one_line(answer.text[:300]).strip()
    return f"{answer.status_code} {answer.reason}" + (f": {text}" if text else "")


def _no_answer(error: Exception) -> str:
    return (
        f"The platform does not answer ({type(error).__name__}): the same command goes on where it"
        " was."
    )
