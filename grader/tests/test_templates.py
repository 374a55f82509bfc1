"""Templates for class repositories: they fit their schemas, and their steps do what they say.

The schemas are those that check-jsonschema (PyPI) carries; without it that part is skipped.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from grader.tests import rules
from grader.tests.conftest import REPOSITORY
from grader.tests.test_handouts import LINK

TEMPLATES = REPOSITORY / "templates"
SCHEMAS = {
    ".github/workflows/test.yml": "vendor.github-workflows",
    "templates/github/grade.yml": "vendor.github-workflows",
    "templates/github/reusable.yml": "vendor.github-workflows",
    "templates/github/grade-class.yml": "vendor.github-workflows",
    "templates/cuda-repository/.github/workflows/warpsim.yml": "vendor.github-workflows",
    "templates/gitlab/.gitlab-ci.yml": "vendor.gitlab-ci",
}
WORKFLOWS = [name for name, schema in SCHEMAS.items() if "github" in schema]
SCRIPTS = ("ci/grade.sh", "ci/clone_class.sh", "gradescope/setup.sh", "gradescope/run_autograder")


def load(name):
    document = yaml.safe_load((REPOSITORY / name).read_text())
    return {("on" if key is True else key): value for key, value in document.items()}


@pytest.mark.parametrize("name", SCHEMAS)
def test_fits_its_schema(name):
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed (pip install check-jsonschema)")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name]]
    done = subprocess.run([*command, REPOSITORY / name], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_take_little_for_granted(name):
    document = load(name)
    assert document["permissions"]["contents"] == "read"
    assert "write" not in {
        v for k, v in document["permissions"].items() if k not in ("checks", "security-events")
    }
    for job in document["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+(/[\w-]+)+@v\d+", step.get("uses", "a/b@v1"))
            # What somebody may choose (a branch's name) must not be pasted into a shell's text.
            assert "${{" not in step.get("run", "")


def test_the_dev_container_and_the_container_are_what_they_seem():
    settings = json.loads((REPOSITORY / ".devcontainer" / "devcontainer.json").read_text())
    assert settings["onCreateCommand"] == "make setup"
    lines = (REPOSITORY / "Containerfile").read_text().splitlines()
    steps = [line for line in lines if line and not line.startswith(("#", " "))]
    assert [step.split()[0] for step in steps] == [
        "FROM", "RUN", "WORKDIR", "COPY", "ARG", "ENV", "RUN", "ENTRYPOINT"
    ]  # fmt: skip


def test_the_container_grades_what_is_mounted_and_nothing_else(built, tmp_path):
    script = REPOSITORY / "common" / "setup" / "in_container.sh"
    work = tmp_path / "work"
    work.mkdir()

    def run(*words):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TILEWISE_WORK": str(work)}
        env |= {"TILEWISE_ROOT": str(REPOSITORY)}
        return subprocess.run(
            [script, *words], capture_output=True, text=True, timeout=110, env=env
        )

    done = run()
    assert done.returncode == 2 and "Nothing is mounted" in done.stderr
    (work / "02-tiled-kernel").mkdir()
    shutil.copy(REPOSITORY / "solutions/02-tiled-kernel/matmul.cu", work / "02-tiled-kernel")
    done = run("02")
    assert done.returncode == 0, done.stderr
    assert "100 of 100 points" in done.stdout
    assert run("echo", "hello").stdout == "hello\n"


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(name):
    path = TEMPLATES / name
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True, timeout=20)
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", path], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout


@pytest.fixture
def runner(built, tmp_path):
    """A runner's workspace with a student's repository; gives a function that runs a script."""
    labs = tmp_path / "work" / "labs"
    labs.mkdir(parents=True)
    for lab in ("01-naive-kernel", "02-tiled-kernel"):
        shutil.copytree(REPOSITORY / "labs" / lab, labs / lab)
    right = REPOSITORY / "solutions" / "01-naive-kernel" / "matmul.cu"
    shutil.copy(right, labs / "01-naive-kernel" / "matmul.cu")
    (tmp_path / "course").symlink_to(REPOSITORY)

    def run(script, **environment):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=tmp_path, capture_output=True, text=True, timeout=110,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environment},
        )  # fmt: skip
        return done

    run.folder = tmp_path
    return run


@pytest.mark.parametrize("name", ["templates/github/grade.yml"])
def test_what_set_up_made_is_kept_when_points_are_lost(name):
    """actions/cache saves at the end of a job that succeeds, which full marks alone do."""
    (job,) = load(name)["jobs"].values()
    used = [step.get("uses", step.get("run", "")) for step in job["steps"]]
    assert not any(word.startswith("actions/cache@") for word in used)
    restore, make, save, grade = (
        next(number for number, word in enumerate(used) if part in word)
        for part in ("actions/cache/restore@", "setup/setup.sh", "actions/cache/save@", "grade.sh")
    )
    assert restore < make < save < grade
    assert job["steps"][restore]["with"] == job["steps"][save]["with"]
    assert job["steps"][save]["if"] == "steps.cache.outputs.cache-hit != 'true'"


def test_gitlab_keeps_what_set_up_made_when_points_are_lost():
    assert load("templates/gitlab/.gitlab-ci.yml")["grade"]["cache"]["when"] == "always"


def steps(name, job):
    return {step["name"]: step for step in load(name)["jobs"][job]["steps"] if "run" in step}


@pytest.mark.slow
def test_github_grades_and_shows_the_summary(runner):
    found = steps("templates/github/grade.yml", "grade")
    done = runner(found["Grade"]["run"], LAB="01")
    assert done.returncode == 0, done.stderr
    assert "100 / 100" in done.stdout
    report = runner.folder / "report"
    assert {path.name for path in report.iterdir()} == {
        "summary.md", "junit.xml", "report.html"
    }  # fmt: skip
    rules.junit((report / "junit.xml").read_text())
    shown = runner.folder / "shown.md"
    runner(found["Show the result"]["run"], GITHUB_STEP_SUMMARY=str(shown))
    assert shown.read_text().startswith("## ✅ Lab 01")


@pytest.mark.slow
def test_ci_counts_the_labs_of_the_class_alone(runner):
    """Of nine labs the repository has two: 100 of 200, and not 100 of 900."""
    found = steps("templates/github/grade.yml", "grade")
    done = runner(found["Grade"]["run"])
    assert done.returncode == 1, done.stderr
    assert "100 of 200 points" in done.stdout


def test_a_failing_grader_fails_the_job_with_its_status(runner):
    found = steps("templates/github/grade.yml", "grade")
    done = runner(found["Grade"]["run"], LAB="77")
    assert done.returncode == 2
    assert "There is no lab '77'" in done.stderr


def test_classroom_50_gets_result_json(runner):
    """Its runner's part: the folder that the package makes, the student's checkout, the variables."""
    bundle, work = runner.folder / "bundle", runner.folder / "work"
    command = [sys.executable, "-m", "grader", "package", "classroom50", "--labs", "01,02"]
    done = subprocess.run(
        [*command, "--weights", "01=12.5", "--output", bundle],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Set-up would build the programs: this checkout's stand in their place.
    (bundle / "tilewise" / ".venv").symlink_to(REPOSITORY / ".venv")
    asked = {"CLASSROOM": "gpu", "ASSIGNMENT": "labs", "OWNER": "ann"}
    urls = {"COMMIT_URL": "https://x/c", "RELEASE_URL": "https://x/r"}
    done = runner(
        f"cd {work} && python3 {bundle}/autograder.py",
        **asked, **urls, SUBMISSION_TAG="submit/2026-06-01T14-32-05Z-a1b2c3d",
        TILEWISE_BUILD=str(REPOSITORY / "build"), PYTHONPATH=str(REPOSITORY),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    identity = {"classroom": "gpu", "assignment": "labs", "owner": "ann"}
    text = (work / "result.json").read_text()
    assert rules.classroom50(text, identity) == (1250, 11250)
    (work / "result.json").unlink()
    (bundle / "tilewise" / "settings.json").write_text("{}")
    done = runner(
        f"cd {work} && python3 {bundle}/autograder.py", **asked, **urls, SUBMISSION_TAG="submit/x"
    )
    assert done.returncode != 0
    assert not (work / "result.json").exists()


@pytest.mark.slow
def test_gitlab_grades_its_own_clone(runner):
    """The job's own lines, but for the packages; the course is a clone of this repository."""
    job = load("templates/gitlab/.gitlab-ci.yml")["grade"]
    work = runner.folder / "work"
    (work / "course").symlink_to(REPOSITORY)
    script = "cd work\n" + "\n".join(job["script"])
    done = runner(script, LAB="01")
    assert done.returncode == 0, done.stderr
    paths = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
    assert all((work / path).exists() for path in paths)


def test_gitlab_keeps_what_set_up_made(tmp_path):
    """before_script puts the cached folders into a fresh clone of the course."""
    job = load("templates/gitlab/.gitlab-ci.yml")["grade"]
    origin = tmp_path / "origin"
    origin.mkdir()
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *identity, *command], cwd=origin, check=True, timeout=20)
    work = tmp_path / "work"
    (work / "course" / "build").mkdir(parents=True)
    (work / "course" / "build" / "stamp").touch()
    (work / "course" / "old").touch()
    lines = [line for line in job["before_script"] if not line.startswith("apt-get")]
    env = {"PATH": os.environ["PATH"], "COURSE_URL": origin.as_uri(), "HOME": str(tmp_path)}
    subprocess.run(
        ["bash", "-e", "-c", "\n".join(lines)], cwd=work, env=env, check=True, timeout=30
    )
    assert (work / "course" / "build" / "stamp").exists()
    assert (work / "course" / ".git").exists() and not (work / "course" / "old").exists()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    path = tmp_path_factory.mktemp("class") / "students"
    command = [sys.executable, "-m", "grader", "package", "class", "--labs", "01,02"]
    done = subprocess.run(
        [*command, "--output", path], cwd=REPOSITORY, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return path


class TestClassRepository:
    def test_what_is_in_it(self, repository):
        files = {path.relative_to(repository).as_posix() for path in repository.rglob("*")}
        assert {
            "labs/01-naive-kernel/matmul.cu", "labs/02-tiled-kernel/README.md", "Makefile",
            ".github/workflows/grade.yml", ".gitlab-ci.yml", "templates/ci/grade.sh",
        } <= files  # fmt: skip
        assert not {name for name in files if "solutions" in name or "/tests/" in name}
        assert not (repository / "labs" / "03-boundary-checks").exists()

    def test_no_link_leads_to_what_students_do_not_get(self, repository):
        pages = list(repository.rglob("*.md"))
        assert len(pages) > 5
        for page in pages:
            for target in LINK.findall(page.read_text()):
                if not target.startswith("https://"):
                    assert (page.parent / target).exists(), (page, target)
        contents = (repository / "docs" / "README.md").read_text()
        assert "[01 Naive kernel](../labs/01-naive-kernel/README.md)" in contents
        assert "| 03 Boundary checks |" in contents

    def test_it_grades(self, repository, built):
        env = os.environ | {"TILEWISE_ROOT": str(repository), "PYTHONPATH": str(repository)}
        done = subprocess.run(
            [sys.executable, "-m", "grader", "run"], env=env, cwd=repository, timeout=60,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 1
        assert "Next: lab 01" in done.stdout

    def test_an_existing_repository_is_brought_up_to_date(self, repository):
        """What a student has written there stays."""
        work = repository / "labs" / "02-tiled-kernel" / "matmul.cu"
        before = work.read_text()
        work.write_text(before + "// mine\n")
        command = [sys.executable, "-m", "grader", "package", "class", "--output", repository]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert work.read_text() == before + "// mine\n"
        work.write_text(before)
