"""docs/cuda-support.md says what the tables in the source say."""

import importlib.util
import re
from types import ModuleType

import pytest

from grader.tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def support() -> ModuleType:
    path = REPOSITORY / "common" / "cudart" / "support_page.py"
    spec = importlib.util.spec_from_file_location("support_page", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_tables_say(support: ModuleType) -> None:
    assert support.PAGE.read_text() == support.page(), "run common/cudart/support_page.py"


def test_a_difference_is_noticed(support, tmp_path, monkeypatch, capsys) -> None:
    page = tmp_path / "cuda-support.md"
    page.write_text(support.page().replace("`bmsk`, ", ""))
    monkeypatch.setattr(support, "PAGE", page)
    monkeypatch.setattr("sys.argv", ["support_page.py", "--check"])
    assert support.main() == 1
    assert "run common/cudart/support_page.py" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["support_page.py"])
    assert support.main() == 0
    monkeypatch.setattr("sys.argv", ["support_page.py", "--check"])
    assert support.main() == 0


def test_every_opcode_is_in_the_list_of_the_isa(support: ModuleType) -> None:
    listed = {name for _, _, names, _ in support.isa_families() for name in names}
    for row in support.opcode_rows():
        assert any(row == name or row.startswith(name + ".") for name in listed), row


def test_forms_belong_to_modelled_instructions(support: ModuleType) -> None:
    rows = support.opcode_rows()
    for _, _, _, forms in support.isa_families():
        for name in forms:
            assert support.is_modelled(name, rows), name


def test_every_new_function_is_called_by_a_program(support: ModuleType) -> None:
    """never_called.txt has those that no program calls yet: it may only get shorter."""
    tests = REPOSITORY / "common" / "tests"
    sources = [*tests.rglob("*.cu"), *(tests / "cudart").rglob("*.cpp")]
    sources += [
        path for folder in ("solutions", "labs") for path in (REPOSITORY / folder).rglob("*.cu")
    ]
    called = set(re.findall(r"\bcuda\w+", "\n".join(path.read_text() for path in sources)))
    names = {name for name in support.provided() if not name.startswith("__")}
    never = {name for name in names if not {name, re.sub(r"_v\d$", "", name)} & called}
    listed = (tests / "cudart" / "never_called.txt").read_text().split()
    assert listed == sorted(listed)
    assert never == set(listed)


def test_every_function_of_a_source_is_exported(support: ModuleType) -> None:
    exported = set(support.runtime_functions(12)) | set(support.runtime_functions(13))
    assert support.provided() <= exported
