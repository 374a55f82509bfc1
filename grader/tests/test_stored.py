"""Results read back from JSON, and `grader write` that shows them in every format."""

import json

import pytest

from grader.errors import UsageError
from grader.results import stored
from grader.results.result import list_to_dict, to_dict
from grader.tests import samples
from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY
from grader.writers import FORMATS, Style, render


def save(folder, document):
    path = folder / "result.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("name", samples.ALL)
def test_what_was_written_is_read_back(name, tmp_path):
    found = stored.load(save(tmp_path, to_dict(samples.ALL[name])))
    assert found == stored.Stored([samples.ALL[name]], one=True)


def test_several_labs(tmp_path):
    labs = list(samples.ALL.values())
    assert stored.load(save(tmp_path, list_to_dict(labs))) == stored.Stored(labs, one=False)


def test_unknown_fields_are_left_out(tmp_path):
    document = to_dict(samples.FAILED) | {"later": 1}
    document["kernels"] = [document["kernels"][0] | {"later": {"a": 1}}]
    assert stored.load(save(tmp_path, document)).results == [samples.FAILED]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", 'no "schema"'),
        ('{"schema": "tilewise.progress/1"}', 'no "schema"'),
        (json.dumps(to_dict(samples.FAILED) | {"status": "great"}), "status: 'great'"),
        (json.dumps(to_dict(samples.FAILED) | {"checks": [{}]}), "checks/0"),
    ],
)
def test_other_files_are_refused(content, words, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="(?s).*" + words.replace("/", ".")):
        stored.load(path)


def run(*arguments):
    return run_here(*arguments, cwd=REPOSITORY)


@pytest.mark.parametrize("format_name", FORMATS)
def test_write_is_what_run_would_have_written(format_name, tmp_path):
    path = save(tmp_path, to_dict(samples.FAILED))
    done = run("write", path, "--format", format_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == render(format_name, [samples.FAILED], one=True, style=Style())


def test_weights_and_output(tmp_path):
    path = save(tmp_path, to_dict(samples.FAILED))
    page = tmp_path / "page.html"
    done = run("write", path, "--format", "html", "--weights", "02=20", "--output", page)
    assert done.returncode == 0
    assert done.stdout == ""
    assert '9<span class="most"> / 20' in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.json"], "cannot be read"),
        (["--weights", "02"], "is not LAB=POINTS"),
        (["--weights", "02=-1"], "is not LAB=POINTS"),
        (["--weights", "77=1"], "There is no lab '77'"),
        (["--output", "no/folder/x.html"], "no/folder"),
    ],
)
def test_mistakes_are_one_sentence(arguments, words, tmp_path):
    path = save(tmp_path, to_dict(samples.FAILED))
    done = run("write", *([path] if arguments[0] != "gone.json" else []), *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
