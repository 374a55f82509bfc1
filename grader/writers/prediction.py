"""The predicted time of a kernel as one sentence, for every writer of text."""

from __future__ import annotations

from grader.result import Kernel

NAMES = {
    "issue": "instruction issue",
    "fma": "multiply-adds",
    "integer": "integer arithmetic",
    "shared": "shared wavefronts",
    "l1": "requests to L1",
    "l2": "L2 traffic",
    "memory": "memory traffic",
}


def sentence(kernel: Kernel) -> str:
    """Empty where there is no prediction."""
    basis = kernel.prediction
    if kernel.predicted_ms is None or basis is None:
        return ""
    terms = {term["name"]: term["ms"] for term in basis["terms"]}
    bound = kernel.bound or ""
    if bound in terms:
        what = f"{NAMES[bound]} bind ({terms[bound]:.3g} of {kernel.predicted_ms:.3g} ms)"
    else:
        what = {"latency": "waiting binds", "launch": "the launch itself binds"}.get(bound, bound)
    trust = basis["error"] or ("error not measured" if basis["calibrated"] else "")
    if not basis["calibrated"]:
        trust = "uncalibrated: from published rates"
    return (
        f"Predicted {kernel.predicted_ms:.3g} ms ({trust}); {what}. To relieve: {basis['relief']}."
    )
