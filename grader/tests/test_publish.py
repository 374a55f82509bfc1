"""`grader publish`: nothing twice, nothing lost, nothing overwritten; against a platform of our own."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import pytest

from grader.batch import gradebook
from grader.batch.credit import Credit
from grader.batch.gradebook import Heading, Row
from grader.batch.names import Student
from grader.errors import UsageError
from grader.publish import journal as journals
from grader.publish import platform as platforms
from grader.tests import samples
from grader.tests.command_line import call
from grader.tests.conftest import REPOSITORY
from grader.tests.lti_platform import AGS, CLIENT, COURSE, Fault, LtiPlatform, learner

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("requests", "jwt", "cryptography")),
    reason="not installed (the extra `lti`)",
)
LAB = "02-tiled-kernel"
LABEL = "Lab 02"


def points_of(number):
    """Different ones, with two zeros among the first ten."""
    return float(number * 7 % 21) if number % 5 else round(number % 9 + 0.25, 2)


def batch_folder(folder, students, most=20.0, change=None):
    """What `grader batch` writes, with these students' points."""
    folder.mkdir(exist_ok=True)
    rows = []
    for number in students:
        score = (change or {}).get(number, points_of(number))
        result = replace(samples.FAILED, lab=LAB, score=score, max_score=most)
        ids = {"user": f"{number}", "email": f"s{number}@example.edu"}
        rows.append(Row(f"s{number}", Student("canvas", f"Student {number}", ids), (result,)))
    text = gradebook.plain(rows, Heading((LAB,), "Lab 2", most))
    (folder / "gradebook.csv").write_bytes(text.encode())
    (folder / "summary.json").write_text(json.dumps({"platform": "canvas", "labs": {}}))
    return folder


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """The key as `grader course key` makes it."""
    path = tmp_path_factory.mktemp("key") / "lti-key.pem"
    done = subprocess.run(
        [sys.executable, "-m", "grader", "course", "key", "--output", path],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert path.stat().st_mode & 0o077 == 0
    (public,) = json.loads(done.stdout)["keys"]
    assert "d" not in public and public == platforms.public_key(path)
    return path


class Place:
    """A folder with course.toml, a batch, and a platform."""

    def __init__(self, folder, key, platform, students):
        self.folder, self.platform, self.students = folder, platform, students
        (folder / "lti-key.pem").write_bytes(key.read_bytes())
        self.configure()
        self.graded = batch_folder(folder / "graded", students)
        self.journal = folder / "publish.jsonl"

    def configure(self, client=CLIENT, lab=""):
        url = self.platform.url
        (self.folder / "course.toml").write_text(
            f'[lti]\nclient_id = "{client}"\ntoken_url = "{url}/token"\nkey = "lti-key.pem"\n'
            f'lineitems = "{url}{COURSE}/items"\nmembers = "{url}{COURSE}/members"\n'
            f'[[labs]]\nlab = "02"\npoints = 20\n{lab}\n'
        )

    def command(self, *more):
        course = self.folder / "course.toml"
        return [
            sys.executable, "-m", "grader", "publish", self.graded, "--course", course, *more
        ]  # fmt: skip

    def run(self, *more):
        """In this process: only what is killed needs one of its own."""
        done = call(*self.command(*more)[3:])
        assert not done.stdout
        return done

    def expected(self):
        return {(LABEL, f"Lti-{number}"): [points_of(number)] for number in self.students}


@pytest.fixture
def place(tmp_path, key):
    """Ten students, whose course has an instructor and somebody else, too."""
    with set_up(tmp_path, key, range(1, 11)) as (made, _):
        yield made


class set_up:
    def __init__(self, folder, key, students):
        teacher = learner(
            900, roles=["http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"]
        )
        members = [teacher, *(learner(number) for number in students), learner(901)]
        self.platform = LtiPlatform(platforms.public_key(key), members)
        self.arguments = folder, key, self.platform, students

    def __enter__(self):
        self.platform.__enter__()
        return Place(*self.arguments), self.platform

    def __exit__(self, *error):
        self.platform.__exit__(*error)


def test_dry_run_first_then_once_and_never_again(place):
    done = place.run()
    assert done.returncode == 0, done.stderr
    assert "10 to send" in done.stderr and "Nothing was sent" in done.stderr
    assert not place.platform.items and not place.platform.received
    assert not place.journal.exists()
    done = place.run("--send")
    assert done.returncode == 0, done.stderr
    assert place.platform.taken() == place.expected()
    (item,) = place.platform.items.values()
    assert (item["scoreMaximum"], item["resourceId"]) == (20, f"tilewise-{LAB}")
    for _ in range(2):
        done = place.run("--send")
        assert "0 to send, 10 there" in done.stderr and "0 grades were sent" in done.stderr
    # Without the journal, too: the platform is read first. It does not show the zeros.
    place.journal.unlink()
    assert place.run("--send").returncode in (0, 3)
    zeros = [n for n in place.students if not points_of(n)]
    assert place.platform.received == 10 + len(zeros)
    assert {k: v[:1] for k, v in place.platform.taken().items()} == place.expected()


def test_what_changed_is_sent_and_nothing_else(place):
    assert place.run("--send").returncode == 0
    batch_folder(place.graded, place.students, change={3: 19.5})
    # In the same second: the platform takes later ones only.
    done = place.run("--send")
    assert done.returncode == 0, done.stderr
    assert place.platform.received == 11
    assert place.platform.taken()[LABEL, "Lti-3"] == [points_of(3), 19.5]
    assert not place.platform.wrong


def test_what_somebody_entered_on_the_platform_is_left_alone(place):
    assert place.run("--send").returncode == 0
    (item,) = (item["id"] for item in place.platform.items.values())
    place.platform.enter(item, "Lti-3", 17, "2020-01-01T00:00:00+00:00")
    done = place.run("--send")
    assert "Student 3, lab 02: 17 there, 0 here" in done.stderr
    assert place.platform.received == 10
    done = place.run("--send", "--overwrite", "--only", "s3")
    assert done.returncode == 0 and place.platform.received == 11, done.stderr
    assert place.platform.taken()[LABEL, "Lti-3"][-1] == points_of(3)


def stop_and_go_on(place, platform, moments):
    """Kills at the n-th score that arrives: before it is taken, or after it, without an answer."""
    left = sorted(moments)
    process = None

    def hook(phase, number):
        if left and left[0] == (number, phase):
            left.pop(0)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return Fault(cut=True)
        return None

    platform.hook = hook
    kills = 0
    while left:
        process = subprocess.Popen(
            place.command("--send"), cwd=REPOSITORY, stderr=subprocess.DEVNULL
        )
        assert process.wait(timeout=100) == -signal.SIGKILL
        kills += 1
    done = place.run("--send")
    assert done.returncode == 0, done.stderr
    return kills


@pytest.mark.parametrize(
    "count", [40, pytest.param(500, marks=[pytest.mark.slow, pytest.mark.timeout(300)])]
)
def test_killed_five_times_nothing_is_twice_and_nothing_lost(tmp_path, key, count):
    """Not once more than needed: what was taken is never sent a second time."""
    share = [(0.1, "before"), (0.3, "after"), (0.35, "after"), (0.6, "before"), (0.999, "after")]
    moments = [(max(1, int(count * part)), phase) for part, phase in share]
    assert len(set(moments)) == 5
    with set_up(tmp_path, key, range(1, count + 1)) as (place, platform):
        assert stop_and_go_on(place, platform, moments) == 5
        assert platform.taken() == place.expected()  # every list of scores has one
        # Those two that were not taken came again, and zeros, which the platform does not show:
        # it refused them.
        zeros = sum("409" in line for line in platform.wrong)
        assert platform.received == count + 2 + zeros and zeros == len(platform.wrong) <= 3
        assert len(platform.items) == 1
        journal = place.journal.read_text().splitlines()
        assert sum('"sent"' in line for line in journal) == count


def test_the_kill_test_would_notice(tmp_path, key, monkeypatch):
    """A sender that forgets what it was about sends a score again."""
    with set_up(tmp_path, key, [1, 3]) as (place, platform):
        place.platform.hook = lambda phase, number: Fault(cut=True) if phase == "after" else None
        from grader.publish import send

        lti = _lti(place)
        with journals.opened(place.journal, lti.lineitems) as journal:
            there = platforms.Platform(lti)
            monkeypatch.setattr(send, "_has", lambda *a, **k: False)
            monkeypatch.setattr(platforms.Platform, "pause", lambda *a: None)
            made = _plan(place, there, journal)
            done = send.carry_out(there, journal, made, lambda name: None)
        assert platform.received > 2 and done.refused


def _lti(place):
    from grader.labs import term
    from grader.labs.course import find_course

    return term.find(find_course(REPOSITORY), place.folder / "course.toml").lti


def _plan(place, there, journal):
    from grader.batch import termtable
    from grader.labs.term import Term
    from grader.publish import grades, send

    entries = termtable.read([place.graded])
    found, _ = grades.of(termtable.people(entries, None), [LAB], Term())
    return send.plan(there, journal, found, Term())


class TestFaults:
    @pytest.mark.parametrize(
        ("phase", "fault"),
        [
            ("before", Fault(503)),
            ("before", Fault(429, {"Retry-After": "0"})),
            ("before", Fault(cut=True)),
            ("after", Fault(cut=True)),
        ],
    )
    def test_a_platform_that_stumbles(self, place, phase, fault):
        platform = place.platform
        platform.hook = lambda now, number: fault if (now, number) == (phase, 4) else None
        done = place.run("--send")
        assert done.returncode == 0, done.stderr
        assert platform.taken() == place.expected()
        assert platform.received == 11  # the fourth has 0 points, which the platform does not show
        assert len(platform.wrong) == (phase == "after")
        platform.hook = lambda now, number: fault if (now, number) == (phase, 12) else None
        batch_folder(place.graded, place.students, change={1: 5})
        assert place.run("--send").returncode == 0
        assert platform.received == (12 if phase == "after" else 13)

    def test_a_platform_that_is_gone_and_comes_back(self, place):
        place.platform.hook = lambda phase, number: Fault(503) if number > 4 else None
        done = place.run("--send")
        assert done.returncode == 3 and "The platform fails: 503" in done.stderr
        place.platform.hook = lambda phase, number: None
        assert place.run("--send").returncode == 0
        assert place.platform.taken() == place.expected()

    def test_a_token_that_ends_on_the_way(self, place):
        platform = place.platform

        def hook(phase, number):
            if (phase, number) == ("after", 4):
                platform.tokens.clear()

        platform.hook = hook
        assert place.run("--send").returncode == 0
        assert platform.taken() == place.expected()
        assert platform.given == 2

    def test_a_refused_grade_is_told_and_costs_nobody_else_theirs(self, place):
        place.platform.hook = lambda phase, number: (
            Fault(422) if (phase, number) == ("before", 2) else None
        )
        done = place.run("--send")
        assert done.returncode == 3 and "The platform refused" in done.stderr
        assert len([1 for scores in place.platform.taken().values() if scores]) == 9
        assert place.run("--send").returncode == 0
        assert place.platform.taken() == place.expected()

    def test_without_a_scope(self, place):
        place.platform.scope_of_tokens = {f"{AGS}/lineitem"}
        done = place.run()
        assert done.returncode == 3 and "does not allow the tool" in done.stderr

    def test_another_client(self, place):
        place.configure(client="7")
        done = place.run()
        assert done.returncode == 3 and "gives no token: 400" in done.stderr

    def test_another_key(self, place):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        (place.folder / "lti-key.pem").write_bytes(
            other.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        assert "gives no token" in place.run().stderr

    def test_a_column_with_other_points(self, place):
        address = place.platform.add("Lab two", 100)
        place.configure(lab=f'line_item = "{address}"')
        done = place.run("--send")
        assert done.returncode == 2
        assert "has 100 points, and the grades have 20" in done.stderr

    def test_a_column_that_is_there_is_taken(self, place):
        address = place.platform.add("Lab two", 20)
        place.configure(lab=f'line_item = "{address}"')
        assert place.run("--send").returncode == 0
        assert len(place.platform.items) == 1
        assert len(place.platform.taken()) == 10

    def test_a_page_elsewhere_gets_no_token(self, place):
        place.platform.url, real = "http://127.0.0.1:9", place.platform.url  # in links alone
        place.platform._token = lambda body, kind: place.platform.tokens.setdefault("t", {
            f"{AGS}/lineitem", f"{AGS}/score", f"{AGS}/result.readonly",
            "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly",
        }) and {"access_token": "t"}  # fmt: skip
        done = place.run()
        place.platform.url = real
        assert done.returncode == 3 and "leads to another host" in done.stderr


class TestStudents:
    def test_whom_the_platform_does_not_know(self, place):
        place.platform.members = [m for m in place.platform.members if m["user_id"] != "Lti-3"]
        place.platform.members[3]["status"] = "Inactive"
        twin = learner(77, email=place.platform.members[5]["email"])
        place.platform.members.append(twin)
        done = place.run("--send")
        assert done.returncode == 3
        assert "nobody in the platform's course has this e-mail address" in done.stderr
        assert "not as an active student" in done.stderr
        assert "several members of the course have this e-mail address" in done.stderr
        assert place.platform.received == 7

    def test_a_list_joins_them(self, place):
        """Ids of the platform, whatever its e-mail addresses are."""
        for member in place.platform.members:
            member["email"] = ""
        lines = [f"s{number}@example.edu,lti-{number}" for number in place.students]
        path = place.folder / "students.csv"
        path.write_text("\n".join(["email,lti", *lines]))
        done = place.run("--send", "--students", path)
        assert done.returncode == 0, done.stderr
        assert place.platform.taken() == place.expected()

    def test_excused_and_absent_have_no_grade(self, place):
        result = replace(samples.FAILED, lab=LAB, score=5.0, max_score=20.0)
        credit = Credit(LAB, 5.0, 20.0, excused=True)
        rows = [
            Row("a", Student("canvas", "Ann", {"email": "s1@example.edu"}), (result,), credits=(credit,)),
            Row("b", Student("canvas", "Bo", {"email": "s2@example.edu"}), ()),
        ]  # fmt: skip
        rows.append(replace(rows[0], key="c", student=Student("canvas", "Cy", {"email": "s3@example.edu"}),
                            credits=(replace(credit, excused=False, deducted=2.0, days_late=1),)))  # fmt: skip
        text = gradebook.plain(rows, Heading((LAB,), "Lab 2", 20))
        (place.graded / "gradebook.csv").write_bytes(text.encode())
        done = place.run("--send")
        assert done.returncode == 0, done.stderr
        assert "Ann, lab 02: excused: enter that on the platform" in done.stderr
        assert "Bo, lab 02: not handed in" in done.stderr
        assert place.platform.taken() == {(LABEL, "Lti-3"): [3.0]}
        (score,) = place.platform.scores[f"{COURSE}/items/1"]["Lti-3"]
        assert "1 day late: -2" in score["comment"]


class TestJournal:
    def open(self, path):
        return journals.opened(path, "https://x/items")

    def score(self, timestamp="2026-01-01T00:00:00.000+00:00"):
        return journals.Score("https://x/items/1", "u", "Ann", 5.0, 10.0, timestamp)

    def test_a_line_that_a_kill_has_cut(self, tmp_path):
        path = tmp_path / "publish.jsonl"
        with self.open(path) as journal:
            journal.send(self.score())
        whole = path.read_bytes()
        path.write_bytes(whole + b'{"what": "sen')
        with self.open(path) as journal:
            assert journal.of("https://x/items/1", "u").doubtful == self.score()
            journal.sent(self.score())
        assert path.read_bytes().startswith(whole)
        assert journals.read(path, "https://x/items").of("https://x/items/1", "u").sent

    def test_damage_in_the_middle_is_no_reason_to_send_twice(self, tmp_path):
        path = tmp_path / "publish.jsonl"
        with self.open(path) as journal:
            journal.send(self.score())
            journal.sent(self.score())
        text = path.read_text().replace('"send"', '"snd"')
        path.write_text(text)
        with pytest.raises(UsageError, match="line 2, is no line"), self.open(path):
            pass

    def test_of_another_course(self, tmp_path):
        path = tmp_path / "publish.jsonl"
        with self.open(path):
            with pytest.raises(UsageError, match="Another `grader publish`"), self.open(path):
                pass
        with pytest.raises(UsageError, match="another course"):
            journals.read(path, "https://y/items")

    def test_timestamps_only_grow(self, tmp_path):
        with self.open(tmp_path / "publish.jsonl") as journal:
            journal.send(self.score("2099-01-01T00:00:00.500+00:00"))
            found = journal.timestamp("https://x/items/1", "u")
            assert found == "2099-01-01T00:00:01.500+00:00"


def test_addresses_without_encryption_are_refused(place):
    path = place.folder / "course.toml"
    path.write_text(path.read_text().replace("http://127.0.0.1", "http://example.edu", 1))
    done = place.run()
    assert done.returncode == 2 and "begins with https://" in done.stderr


def test_another_client_finds_the_platform_to_be_one(tmp_path, key):
    """The platform of these tests is held against PyLTI1p3, which was written for real ones."""
    pytest.importorskip("pylti1p3", reason="not installed (the extra `schemas`)")
    from pylti1p3.assignments_grades import AssignmentsGradesService
    from pylti1p3.grade import Grade
    from pylti1p3.lineitem import LineItem
    from pylti1p3.names_roles import NamesRolesProvisioningService
    from pylti1p3.registration import Registration
    from pylti1p3.service_connector import ServiceConnector

    public = platforms.public_key(key)
    with set_up(tmp_path, key, range(1, 11)) as (place, platform):
        known = Registration()
        known.set_client_id(CLIENT).set_auth_token_url(f"{platform.url}/token")
        known.set_tool_private_key(key.read_text()).set_tool_public_key("")
        known.get_kid = lambda: public["kid"]
        connector = ServiceConnector(known)
        service = AssignmentsGradesService(
            connector,
            {"scope": [f"{AGS}/lineitem", f"{AGS}/score", f"{AGS}/result.readonly"],
             "lineitems": f"{platform.url}{COURSE}/items"},
        )  # fmt: skip
        column = LineItem().set_label("Lab 02").set_score_maximum(20).set_resource_id("r")
        column = service.find_or_create_lineitem(column, find_by="resource_id")
        grade = Grade().set_score_given(7).set_score_maximum(20).set_user_id("Lti-1")
        grade.set_timestamp("2026-01-01T00:00:00+00:00").set_activity_progress("Completed")
        service.put_grade(grade.set_grading_progress("FullyGraded"), column)
        assert [one["resultScore"] for one in service.get_grades(column)] == [7]
        members = NamesRolesProvisioningService(
            connector, {"context_memberships_url": f"{platform.url}{COURSE}/members"}
        ).get_members()
        assert len(members) == 12
        # What it has put there, ours leaves alone.
        assert not platform.wrong
