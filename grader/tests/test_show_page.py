"""The file that `grader show` writes: one page that needs nothing else."""

import re

import pytest

from grader.show import bundle, page

FOLDER = page._FOLDER


def test_every_module_is_on_the_page_once():
    text = page._script()
    modules = {path.stem for path in FOLDER.glob("*.js")}
    assert {found for found in re.findall(r"^const module_(\w+) =", text, re.MULTILINE)} == modules
    assert not re.search(r"^\s*(?:import|export)\b", text, re.MULTILINE)


def test_modules_come_before_those_that_need_them(tmp_path):
    (tmp_path / "main.js").write_text(
        'import * as low from "./low.js";\nimport { one as first } from "./middle.js";\nrun(low, first);\n'
    )
    (tmp_path / "middle.js").write_text(
        'import { two } from "./low.js";\nexport function one() {}\nexport class Two {}\n'
    )
    (tmp_path / "low.js").write_text("export const two = 2;\nexport async function three() {}\n")
    text = bundle.script(tmp_path)
    order = re.findall(r"const module_(\w+)", text)
    assert order == ["low", "middle", "main"]
    assert "const low = module_low;" in text
    assert "const { one: first } = module_middle;" in text
    assert "return { one, Two };" in text and "return { two, three };" in text


@pytest.mark.parametrize(
    "line",
    ['import main from "./low.js";', 'import "./low.js";', "export default 1;", "export { two };",
     'import { two } from "https://example.com/low.js";'],
)  # fmt: skip
def test_what_is_not_understood_is_refused(tmp_path, line):
    (tmp_path / "main.js").write_text(f"{line}\n")
    (tmp_path / "low.js").write_text("export const two = 2;\n")
    with pytest.raises(ValueError, match="main.js"):
        bundle.script(tmp_path)


def test_a_circle_is_refused(tmp_path):
    (tmp_path / "main.js").write_text('import { two } from "./low.js";\nexport const one = 1;\n')
    (tmp_path / "low.js").write_text('import { one } from "./main.js";\nexport const two = 2;\n')
    with pytest.raises(ValueError, match="main low main"):
        bundle.script(tmp_path)


def test_the_page_names_no_address():
    text = page.render([], eyebrow="Lab 02", heading="<script>alert(1)</script>")
    assert not re.search(r"https?:|//[a-z]+\.|src=|url\(|@import", text)
    assert "<script>alert" not in text
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.split("; ")[0] == "default-src 'none'"
    assert re.fullmatch(r"script-src 'sha256-\S{44}'", policy.split("; ")[1])
    assert re.fullmatch(r"style-src 'sha256-\S{44}'", policy.split("; ")[2])
    assert len(text) < 150_000
