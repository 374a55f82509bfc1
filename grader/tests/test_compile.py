"""Compiling: the cache, and compiler errors as one line and one sentence."""

import pytest

from grader.errors import StepError
from grader.labs.course import Course
from grader.machine.toolchain import architecture_for, architectures, find_toolchain
from grader.running import compile as compiling
from grader.running.compile import (
    Compiled,
    CompileError,
    Warned,
    compile_submission,
    first_error,
    warnings_in,
)
from grader.sandbox.limits import StepLimits
from grader.tests.selection import first_of

NVCC = """matmul.cu(21): error: identifier "Mds" is undefined
    Mds[ty][tx] = 0;
    ^

matmul.cu(22): error: identifier "Nds" is undefined

2 errors detected in the compilation of "matmul.cu".
"""
HOST = """matmul.cu:4:10: fatal error: nothing.h: No such file or directory
    4 | #include "nothing.h"
compilation terminated.
"""
HEADER = """In file included from matmul.cu:7:
/opt/cuda/include/cub/x.h:12:3: error: #error needs C++20
"""
STEPS = (
    "PATH=/opt/cuda/bin",
    'gcc -E -D__CUDACC__ "matmul.cu" -o "matmul.cpp4.ii"',
    'cudafe++ --orig_src_path_name "/matmul.cu" --gen_module_id_file --module_id_file_name'
    ' "matmul.module_id" "matmul.cpp4.ii"',
    'gcc -E -D__CUDA_ARCH__=900 "matmul.cu" -o "matmul.cpp1.ii"',
    '"$CICC_PATH/cicc" --orig_src_path_name "/matmul.cu" "matmul.cpp1.ii" -o "matmul.ptx"',
    "ptxas matmul.ptx",
    "fatbinary matmul.ptx",
    "rm matmul.fatbin",
    'gcc -D__CUDA_ARCH__=900 -c "matmul.cudafe1.cpp" -o "matmul.o"',
)


def _ptx(shared_object) -> str:
    """The embedded PTX, without the path of the source."""
    text = shared_object.read_bytes().decode("latin-1")
    start = text.index(".version")
    return text[start : text.index("\n.file", start)]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (NVCC, CompileError(21, 'identifier "Mds" is undefined', 1)),
        (HOST, CompileError(4, "nothing.h: No such file or directory", 0)),
        (HEADER, CompileError(7, "x.h:12: #error needs C++20", 0)),
        ('matmul.cu(3): catastrophic error: #error directive: "no"', CompileError(3, '#error directive: "no"', 0)),
        ("ptxas error   : Entry function uses too much shared data", CompileError(0, "Entry function uses too much shared data", 0)),
        ('At end of source: error: expected a ";"', CompileError(0, 'at the end of the file: expected a ";"', 0)),
        ("/x/ccITqC3y.s:7: Error: file not found: /etc/x", CompileError(0, "the assembler says: file not found: /etc/x", 0)),
        ("matmul.cu(1): error: \x1b[2Jgone", CompileError(1, "?[2Jgone", 0)),
        ("ld: matmul.o: undefined reference to `f()'", CompileError(0, "f() is used but nowhere defined", 0)),
    ],
)  # fmt: skip
def test_first_error(output, expected):
    assert first_error(output) == expected


@pytest.mark.parametrize("output", ["", "nvcc fatal   : Could not open output file", "Killed"])
def test_a_compiler_that_fails_without_an_error_is_our_failure(output):
    with pytest.raises(StepError, match="The compiler itself failed"):
        first_error(output)


def test_warnings_are_told_once():
    text = 'matmul.cu(9): warning #549-D: variable "sum" is used before its value is set\n'
    assert warnings_in(text * 2) == [Warned(9, 'variable "sum" is used before its value is set')]


@pytest.mark.parametrize(
    ("capability", "supported", "chosen"),
    [(90, (75, 80, 90, 100), 90), (70, (75, 80), 75), (89, (75, 90), 90), (130, (75, 121), 121)],
)
def test_architecture(capability, supported, chosen):
    assert architecture_for(capability, supported) == chosen


class TestWithNvcc:
    """Real compilations, in a cache of their own."""

    @pytest.fixture
    def compile_text(self, built, tmp_path, monkeypatch):
        monkeypatch.setattr(Course, "cache", property(lambda course: tmp_path / "cache"))
        toolchain = find_toolchain(built)
        arch = architecture_for(90, architectures(toolchain, built))
        return lambda text, limits=None: compile_submission(
            built, toolchain, text.encode(), arch, limits
        )

    def test_compiles_once(self, compile_text, monkeypatch):
        text = "__global__ void k(float* p) { *p = 1; }\nvoid solve(float* p) { k<<<1, 1>>>(p); }\n"
        first = compile_text(text)
        assert isinstance(first, Compiled)
        assert first.shared_object.is_file()
        monkeypatch.setattr(compiling, "_step", lambda *_: pytest.fail("compiled again"))
        assert compile_text(text) == first

    def test_error_in_kernel_and_host_code(self, compile_text):
        assert compile_text("__global__ void k() {\n  int x = y;\n}\n") == CompileError(
            2, 'identifier "y" is undefined', 0
        )
        assert compile_text('#include "gone.h"\n').line == 1

    def test_course_headers_are_found(self, compile_text):
        assert isinstance(compile_text('#include "check.h"\nvoid solve() {}\n'), Compiled)

    def test_an_endless_template_ends(self, compile_text):
        text = (
            "template <int N> struct A { static const int v = A<N + 1>::v; };\nint x = A<0>::v;\n"
        )
        assert isinstance(compile_text(text), CompileError)

    @pytest.mark.slow
    def test_a_file_that_breaks_the_compiler_is_told_from_a_broken_compiler(
        self, compile_text, monkeypatch
    ):
        broken = compiling.sandbox.Ended(1, "", "nvcc fatal   : no idea", 0.1)
        step = compiling._step

        def fails(build, command):
            content = (build.scratch / "matmul.cu").read_text()
            return broken if "evil" in content else step(build, command)

        monkeypatch.setattr(compiling, "_step", fails)
        error = compile_text("void evil() {}\n")
        assert error.message.startswith("the compiler fails on this file alone")
        for failing in ("-shared", "-c"):  # the linker, the compiler: whatever they are given
            monkeypatch.setattr(
                compiling,
                "_step",
                lambda build, command, failing=failing: (
                    broken if failing in " ".join(map(str, command)) else step(build, command)
                ),
            )
            with pytest.raises(StepError, match="no idea"):
                compile_text(f"void evil(int) {{}} // {failing}\n")

    @pytest.mark.slow
    def test_passes_side_by_side_make_what_nvcc_makes(self, compile_text, monkeypatch):
        text = (
            "__global__ void f(float* p) { *p += 1; }\nvoid solve(float* p) { f<<<1, 1>>>(p); }\n"
        )
        together = compile_text(text)
        monkeypatch.setattr(compiling.passes, "script", lambda *_: None)
        monkeypatch.setattr(compiling, "_VERSION", "one after the other")
        apart = compile_text(text)
        names = ["compile.json", "matmul.cu", "submission.so"]
        assert sorted(path.name for path in together.folder.iterdir()) == names
        ptx = [_ptx(one.shared_object) for one in (together, apart)]
        assert ".entry" in ptx[0] and ptx[0] == ptx[1]

    @pytest.mark.parametrize(
        "text",
        first_of(
            [
                "__global__ void f() { int i = nothing; }\n",
                "void f() { int unused; }\nint y = x;\n",
                '__global__ void f() { asm("nonsense;"); }\n',
                "template <class T> void g(T t) { t.x(); }\nvoid f() { g(1); }\n",
            ]
        ),
    )
    def test_errors_are_those_of_nvcc(self, compile_text, monkeypatch, text):
        together = compile_text(text)
        monkeypatch.setattr(compiling.passes, "script", lambda *_: None)
        monkeypatch.setattr(compiling, "_VERSION", "one after the other")
        assert compile_text(text) == together
        assert isinstance(together, CompileError)

    def test_an_nvcc_of_other_steps_is_called_as_it_is(self):
        known = "\n".join(f"#$ {line}" for line in STEPS)
        assert compiling.passes.read(known) is not None
        assert compiling.passes.read(known + "\n#$ something_new matmul.ptx") is None
        assert compiling.passes.read(known.replace("cicc", "newcc")) is None
        assert compiling.passes.read("\n".join(known.splitlines()[:-1])) is None

    @pytest.mark.slow
    def test_a_compiler_that_runs_out_of_room_is_not_remembered(self, compile_text):
        text = 'asm(".section .bomb\\n.rept 300000000\\n.byte 1\\n.endr\\n.previous");\n'
        error = compile_text(text)
        assert error.stopped and "room" in error.message, error

    def test_a_stalled_machine_is_no_fault_of_the_file(self, compile_text, monkeypatch):
        stalled = compiling.sandbox.Ended(-9, "", "", 300.0, "stall")
        monkeypatch.setattr(compiling, "_step", lambda build, command: stalled)
        with pytest.raises(StepError, match="overloaded"):
            compile_text("void stalled() {}\n")

    def test_a_compiler_that_hangs_is_stopped_and_not_remembered(self, compile_text):
        error = compile_text("void f() {}\n", StepLimits(compile_seconds=0.05))
        assert error.stopped and "stopped after 0.05 seconds" in error.message
