"""Which kernels store into P: however they come to its elements."""

from __future__ import annotations

import pytest

from grader.judging.kernel_text import Kernel
from grader.judging.never_stored import _may_store, _stores
from grader.labs.statements import listing


def _kernel(body: str, parameters: str = "float* P, int l") -> Kernel:
    text = listing(f"__global__ void k({parameters}) {{\n  {body}\n}}\n")
    function = text.functions()[0]
    return Kernel(text, function, text.parameters(function))


@pytest.mark.parametrize(
    "body",
    [
        "P[l] = 1.0f;",
        "float* const to = P + l; to[0] += 1.0f;",
        "float* __restrict__ to = P; *to = 1.0f;",
        "float* to; to = P + l; *to++ = 1.0f;",
        "auto* four = reinterpret_cast<float4*>(P); four[l] = make_float4(0, 0, 0, 0);",
        "float& one = P[l]; one = 1.0f;",
        "atomicAdd(&P[l], 1.0f);",
        "store(P, l, 1.0f);",
        "write<true>(P, l, 1.0f);",
        "LOOP(o) P[o] = 1.0f;",
        "for (int k{l}; k > 0; --k) { l += k; } P[l] = 1.0f;",
        "View out{P, l}; out(0, 0) = 1.0f;",
        "for (float* p = P; l > 0; --l) *p = 0.0f;",
    ],
)
def test_a_store_is_seen(body: str) -> None:
    assert _stores(_kernel(body), "P")


@pytest.mark.parametrize(
    "body", ["float sum = 0; sum += l;", "float* to = P + l;", "if (P != nullptr) return;"]
)
def test_a_kernel_without_one_has_none(body: str) -> None:
    assert not _stores(_kernel(body), "P")


@pytest.mark.parametrize(
    ("body", "may"),
    [
        ("args.p[l] = 1.0f;", True),
        ("*args.p = 1.0f;", True),
        ("put(args, 1.0f);", True),
        ('asm volatile("st.global.f32 [%0], %1;" :: "l"(p), "f"(x));', True),
        ("__shared__ float s[4]; s[l] = 1.0f; __syncthreads(); float a = s[0]; a += 1;", False),
        ("float r[4] = {}; for (int i = 0; i < 4; ++i) r[i] += 1.0f;", False),
    ],
)
def test_where_no_parameter_is_known_as_p(body: str, may: bool) -> None:
    assert _may_store(_kernel(body, "Args args, int l")) is may
