"""A program that prints: its words stand in the report as its own, and tell nothing of the machine."""

import dataclasses
import json

import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.pipeline.grade import grade
from grader.results.hidden import for_students
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import first_of
from grader.writers import Style, render

PRINTING = """
#include <cstdio>
#include <iostream>
#include <fstream>
#include <stdexcept>
#include <string>
__global__ void k(float* P, int n) {
  if (threadIdx.x == 0) printf("kernel \\x1b[31m%d\\n", n);
  P[threadIdx.x] = 1;
}
void solve(const float* M, const float* N, float* P, int width) {
  printf("host %d\\n", width);
  std::cout << "stream\\n";
  for (int i = 0; i < 3000; ++i) std::cerr << "flood " << i << "\\n";
  BODY
  k<<<1, 1>>>(P, width);
}
"""


@pytest.mark.parametrize(
    "body",
    first_of(
        [
            "",
            "*(volatile int*)0 = 1;",
            'throw std::runtime_error("thrown");',
            'std::ifstream f("/proc/self/cmdline"); std::string s; std::getline(f, s);'
            ' throw std::runtime_error("cmdline [" + s + "]");',
            'std::ifstream f("/proc/self/maps"); std::string s, t; while (std::getline(f, t))'
            ' if (t.find("tilewise-record") != s.npos) s = t; throw std::runtime_error("maps " + s);',
        ]
    ),
)
def test_a_program_that_prints(built, body):
    text = PRINTING.replace("BODY", body)
    lab = load_lab(built.labs / "02-tiled-kernel")
    file = Submission(REPOSITORY / "matmul.cu", "matmul.cu", text, text.encode())
    result = grade(built, lab, file, Options("sim", seed=7))
    said = [case.printed for case in result.cases if case.printed]
    assert said
    assert said[0][0].startswith("host ")
    assert said[0][1:3] == ("stream", "flood 0")
    assert len(said[0]) <= 21
    for name in ("text", "html", "gradescope"):
        shown = render(name, [result], one=True, style=Style())
        assert "Your program printed in" in shown
        assert str(REPOSITORY) not in shown
        assert "\x1b" not in shown
    assert "--submission" not in json.dumps(dataclasses.asdict(for_students(result)))
