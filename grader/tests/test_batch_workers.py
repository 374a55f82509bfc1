"""A worker that hangs, crashes or floods costs its own unit; what is half written is not done."""

import json
import os
import subprocess
import sys
import time

import pytest

from grader.batch import local, worker
from grader.batch.local import Setting
from grader.batch.store import GradedUnit, Store, write
from grader.batch.units import Fingerprint, Unit
from grader.errors import GraderError, UsageError
from grader.labs.options import Options
from grader.results.result import to_dict
from grader.tests import samples

UNIT = Unit("0123abcd", "02-tiled-kernel", b"x")
RECORD = GradedUnit(json.loads(json.dumps(to_dict(samples.ALL["passed"]))), 1.0)
ERROR = GradedUnit(json.loads(json.dumps(to_dict(samples.ALL["error"]))), 1.0)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "out")
    with store.opened():
        yield store


@pytest.fixture
def attempt(store, course, monkeypatch):
    """One attempt at UNIT with a program in the worker's place."""

    def run(program, seconds=20.0):
        setting = Setting(course, store, Options("sim"), seconds, 1 << 30)
        text = program.replace("UNIT", str(store.unit(UNIT.key)))
        monkeypatch.setattr(worker, "command", lambda job: [sys.executable, "-c", text])
        return local.attempt(setting, UNIT)

    return run


class TestWorkers:
    def test_a_hang_has_no_points_and_a_reason(self, attempt):
        start = time.monotonic()
        outcome = attempt("import time; time.sleep(60)", seconds=0.5)
        assert time.monotonic() - start < 20
        result = outcome.record.result
        assert (result["status"], result["score"]) == ("failed", 0)
        assert [item["code"] for item in result["diagnostics"]] == ["timeout"]
        assert "0.5 seconds" in result["message"]
        assert all(check["score"] == 0 for check in result["checks"])
        assert not outcome.final

    @pytest.mark.parametrize(
        ("program", "words"),
        [
            ("import os; os.kill(os.getpid(), 9)", "signal 9"),
            ("import os; os.abort()", "signal 6"),
            ("import sys; sys.exit('The disk is full.')", "The disk is full."),
            ("print('x' * 10**6)", "said nothing"),
            ("open('UNIT', 'w').write('{\"schema\":')", "said nothing"),
            ("open('UNIT', 'w').write('{}')", "said nothing"),
        ],
    )
    def test_a_crash_is_no_score(self, attempt, program, words):
        outcome = attempt(program)
        assert outcome.record is None
        assert words in outcome.failure
        assert not outcome.final

    @pytest.mark.parametrize(
        ("program", "words"),
        [
            ("while True: print('x' * 10**6)", "too much output"),
            ("import time; x = b'x' * (2 << 30); time.sleep(60)", "more than 1024 MiB"),
        ],
    )
    def test_what_takes_too_much_is_ended(self, attempt, program, words):
        outcome = attempt(program)
        assert (outcome.record.result["status"], outcome.record.result["score"]) == ("failed", 0)
        assert words in outcome.record.result["message"]
        assert outcome.record.seconds < 19
        assert not outcome.final

    def test_nothing_outlives_a_worker(self, attempt, tmp_path):
        mark = tmp_path / "alive"
        code = f"import time; time.sleep(1); open({str(mark)!r}, 'w')"
        attempt(f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {code!r}])")
        time.sleep(1.5)
        assert not mark.exists()

    def test_a_worker_ends_with_the_batch(self, tmp_path, course, monkeypatch):
        """The process that started it is killed: the worker and its children go too."""
        mark = tmp_path / "alive"
        child = f"import time; time.sleep(2); open({str(mark)!r}, 'w')"
        work = (
            "import subprocess, sys, os; os.setpgid(0, 0)\n"
            "from grader.batch import worker; worker._end_with_parent(); print(1, flush=True)\n"
            f"subprocess.run([sys.executable, '-c', {child!r}])"
        )
        parent = (
            "import subprocess, sys, os; os.environ[sys.argv[1]] = str(os.getpid())\n"
            f"subprocess.run([sys.executable, '-c', {work!r}])"
        )
        started = subprocess.Popen(
            [sys.executable, "-c", parent, worker._PARENT],
            stdout=subprocess.PIPE, env=worker.environment(course),
        )  # fmt: skip
        assert started.stdout.read(1) == b"1"
        started.kill()
        started.wait()
        time.sleep(2.5)
        assert not mark.exists()


class TestStore:
    def test_a_record_comes_back(self, store):
        store.save(UNIT.key, RECORD)
        assert store.load(UNIT.key, 300) == RECORD

    def test_an_error_is_not_kept_for_good(self, store):
        store.save(UNIT.key, ERROR)
        assert store.load(UNIT.key, 300) is None
        assert store.load(UNIT.key, 300, error=True) == ERROR

    def test_what_ran_into_a_limit_is_tried_under_a_higher_one(self, store):
        store.save(UNIT.key, GradedUnit(RECORD.result, 60.0, limit_seconds=60))
        assert store.load(UNIT.key, 60) is not None
        assert store.load(UNIT.key, 61) is None

    @pytest.mark.parametrize("share", [0, 0.3, 0.99])
    def test_half_a_record_is_none(self, store, share):
        store.save(UNIT.key, RECORD)
        path = store.unit(UNIT.key)
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        assert store.load(UNIT.key, 300) is None

    def test_a_changed_record_is_none(self, store):
        store.save(UNIT.key, ERROR)
        path = store.unit(UNIT.key, error=True)
        fields = json.loads(path.read_text())
        fields["record"]["result"]["score"] = 100
        store.unit(UNIT.key).write_text(json.dumps(fields))
        assert store.load(UNIT.key, 300) is None

    def test_a_record_of_another_unit_is_none(self, store):
        store.save(UNIT.key, RECORD)
        os.rename(store.unit(UNIT.key), store.unit("other"))
        assert store.load("other", 300) is None

    def test_one_batch_at_a_time(self, store):
        with pytest.raises(UsageError, match="Another batch"), Store(store.output).opened():
            pass

    def test_what_a_killed_batch_left_is_removed(self, tmp_path):
        store = Store(tmp_path / "out")
        with store.opened():
            store.save(UNIT.key, RECORD)
        left = [
            store.state / "units" / ".x.json.abc.tmp",
            store.output / ".gradebook.csv.abc.tmp",
            store.cache / "run-xyz" / "plans" / "m.ptx",
            store.cache / "compile-xyz" / "matmul.cu",
            store.state / "errors" / "y.json",
        ]
        for path in left:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        with store.opened():
            assert not any(path.exists() for path in left)
            assert store.load(UNIT.key, 300) == RECORD

    def test_somebody_elses_folder_is_not_filled(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("x")
        with pytest.raises(UsageError, match="holds something else"), Store(tmp_path).opened():
            pass
        with (
            pytest.raises(UsageError, match="is a file"),
            Store(tmp_path / "thesis.tex").opened(),
        ):
            pass

    def test_writing_is_whole_or_not_at_all(self, tmp_path):
        path = tmp_path / "x"
        write(path, b"one")
        before = path.stat().st_mtime_ns
        write(path, b"one")
        assert path.stat().st_mtime_ns == before  # nothing to do
        with pytest.raises(GraderError, match="cannot be written"):
            write(tmp_path / ("n" * 300), b"x")
        assert os.listdir(tmp_path) == ["x"]


class TestFingerprint:
    A = Fingerprint({"the seed": "1", "the grader": "a" * 32}, {"01": "x", "02": "y"})

    def test_the_key_depends_on_each_part(self):
        changed = [
            Fingerprint({"the seed": "2", "the grader": "a" * 32}, {"01": "x"}),
            Fingerprint({"the seed": "1", "the grader": "b" * 32}, {"01": "x"}),
            Fingerprint(self.A.parts, {"01": "z"}),
        ]
        keys = {self.A.key("01", b"f"), self.A.key("01", b"g"), self.A.key("02", b"f")}
        assert len(keys | {other.key("01", b"f") for other in changed}) == 6

    def test_another_lab_does_not_matter(self):
        other = Fingerprint(self.A.parts, {"01": "x", "02": "changed"})
        assert other.key("01", b"f") == self.A.key("01", b"f")

    def test_changes_have_names(self):
        later = Fingerprint({"the seed": "2", "the grader": "b" * 32}, {"01": "x", "02": "z"})
        assert later.changes(self.A) == ["the seed (1 before, now 2)", "the grader", "lab 02"]


def test_jobs_travel_as_text():
    job = worker.Job("out", "key", "02-tiled-kernel", Options("sim", seed=4))
    assert worker.Job.from_json(job.to_json()) == job


def test_times_do_not_stay_in_results():
    result = worker.without_times(samples.ALL["failed"])
    assert result.seconds == 0
    assert all(case.seconds == 0 for case in result.cases)
