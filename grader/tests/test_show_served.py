"""What `grader watch` serves: to its own address and token, and nothing but what was rendered."""

import http.client
import time

import pytest

pytest.importorskip("uvicorn", reason="serving needs the extra `serve` (common/setup/extra.sh)")

from grader.show.serve import HOST, Server  # noqa: E402
from grader.tests import browser  # noqa: E402


@pytest.fixture(scope="module")
def server():
    server = Server()
    server.publish(report="<p>a report</p>", show="<p>a page</p>")
    yield server
    server.close()


def ask(server, path, **headers):
    """Status, headers and text of one request; the path is sent as it stands."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


def test_it_serves_the_loopback_address_only(server):
    assert server._socket.getsockname()[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.port}/{server.token}/"
    assert len(server.token) >= 32


def test_report_page_and_version(server):
    assert ask(server, f"/{server.token}/report")[2] == "<p>a report</p>"
    assert ask(server, f"/{server.token}/show")[2] == "<p>a page</p>"
    status, headers, text = ask(server, f"/{server.token}/version")
    assert status == 200 and text == '{"version":1,"pages":["report","show"]}'
    assert headers["cache-control"] == "no-store"
    status, headers, text = ask(server, f"/{server.token}/")
    assert status == 200 and "<iframe" in text
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'sha256-")


def test_a_result_without_a_page(server):
    other = Server()
    other.publish(report="<p>another</p>", show=None)
    assert ask(other, f"/{other.token}/version")[2] == '{"version":1,"pages":["report"]}'
    assert ask(other, f"/{other.token}/show")[0] == 404
    other.close()


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"]
)
@pytest.mark.parametrize("path", ["", "report", "show", "version"])
def test_another_origin_is_refused(server, origin, path):
    status, headers, text = ask(server, f"/{server.token}/{path}", Origin=origin)
    assert status == 403 and "a report" not in text
    assert "access-control-allow-origin" not in headers
    assert ask(server, f"/{server.token}/{path}", Sec_Fetch_Site="cross-site")[0] == 403


def test_the_own_origin_is_not(server):
    own = f"http://{HOST}:{server.port}"
    assert (
        ask(server, f"/{server.token}/report", Origin=own, Sec_Fetch_Site="same-origin")[0] == 200
    )


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_name_for_this_machine_is_refused(server, host):
    status, _, text = ask(server, f"/{server.token}/report", Host=host)
    assert status in (400, 421) and "a report" not in text


def test_a_guessed_token_is_refused(server):
    token = server.token
    for guess in ("", "x", token[:-1], token + "x", token.swapcase(), "a" * len(token)):
        for path in ("", "report", "version"):
            status, _, text = ask(server, f"/{guess}/{path}")
            assert status == 404 and "a report" not in text, guess
    assert ask(server, "/")[0] == 404
    assert token not in ask(server, "/x/")[2]


CLIMBING = [
    "../report", "..%2freport", "%2e%2e/%2e%2e/etc/passwd", "....//etc/passwd", "/etc/passwd",
    "report/../../etc/passwd", "report%00", "..\\..\\etc\\passwd", "matmul.cu", "lab.toml", ".tilewise",
]  # fmt: skip


@pytest.mark.parametrize("path", CLIMBING)
def test_no_request_names_a_file(server, path):
    status, _, text = ask(server, f"/{server.token}/{path}")
    assert status == 404 and "root:" not in text


def test_a_symbolic_link_in_the_lab_is_not_followed(server, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "report.html").symlink_to("/etc/passwd")
    monkeypatch.chdir(tmp_path)
    for path in ("link", "report.html", "report.html/"):
        assert ask(server, f"/{server.token}/{path}")[0] == 404


def test_two_servers_have_two_tokens(server):
    other = Server()
    try:
        assert other.token != server.token
        assert ask(other, f"/{server.token}/report")[0] == 404
    finally:
        other.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_sent(server, method):
    connection = http.client.HTTPConnection(HOST, server.port, timeout=10)
    connection.request(method, f"/{server.token}/report", body=b"x")
    assert connection.getresponse().status == 405
    connection.close()


def test_a_browser_shows_the_newest_version_where_the_reader_was():
    path = browser.find()
    if path is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    server = Server()
    inside = "document.getElementById('show').contentDocument"
    try:
        server.publish(report="<title>r</title>1", show="<title>p</title><p>one</p>")
        with browser.Page(path) as page:

            def wait_for(words):
                while page.value(f"{inside}?.body?.textContent") != words:
                    time.sleep(0.05)  # the page's own limit of time ends it

            page.open(server.address, width=1000)
            wait_for("one")
            page.value("document.getElementById('show').contentWindow.location.hash = 'step=7'")
            server.publish(report="<title>r</title>2", show="<title>p</title><p>two</p>")
            wait_for("two")
            assert (
                page.value("document.getElementById('show').contentWindow.location.hash")
                == "#step=7"
            )
            page.value("document.getElementById('to-report').click()")
            assert page.value("document.getElementById('show').hidden")
            assert page.said == []
            own = f"http://{HOST}:{server.port}/{server.token}/"
            assert all(address.startswith(own) for address in page.asked)
    finally:
        server.close()
