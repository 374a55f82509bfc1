"""The predicted time of a kernel as one sentence, for every writer of text."""

from __future__ import annotations

from typing import Any

from grader.results.result import Kernel

NAMES = {
    "issue": "instruction issue",
    "fma": "multiply-adds",
    "integer": "integer arithmetic",
    "tensor": "tensor cores",
    "shared": "shared wavefronts",
    "l1": "requests to L1",
    "l2": "L2 traffic",
    "memory": "memory traffic",
}


def sentence(kernel: Kernel) -> str:
    """The time, how far to trust it, what binds; or why there is none, if one was asked for."""
    basis = kernel.prediction
    if kernel.predicted_ms is None or basis is None:
        return f"No predicted time: {kernel.no_prediction}" if kernel.no_prediction else ""
    terms = {term["name"]: term["ms"] for term in basis["terms"]}
    bound = kernel.bound or ""
    if bound in terms:
        what = f"{NAMES[bound]} bind ({terms[bound]:.3g} of {kernel.predicted_ms:.3g} ms)"
    else:
        what = {"latency": "waiting binds", "launch": "the launch itself binds"}.get(bound, bound)
    return (
        f"Predicted {kernel.predicted_ms:.3g} ms ({_trust(basis)}); {what}. "
        f"To relieve: {basis['relief']}."
    )


def _trust(basis: dict[str, Any]) -> str:
    """Where the device's speeds come from, how far off predictions were, what else to know."""
    if basis["calibrated"]:
        words = [basis["error"] or "error not measured"]
    else:
        words = ["uncalibrated: from published rates", basis["error"]]
    return "; ".join(word for word in [*words, basis.get("note", "")] if word)
