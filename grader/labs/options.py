"""How to grade: what the command line decides and every step needs to know."""

from __future__ import annotations

from dataclasses import dataclass

from grader.sandbox.limits import StepLimits

DEFAULT_DEVICE = "h200"
DEFAULT_SEED = 1


@dataclass(frozen=True)
class Options:
    """How to grade."""

    backend: str  # sim | gpu | both
    device: str = DEFAULT_DEVICE  # device file whose limits and rates hold
    seed: int = DEFAULT_SEED
    capability: int = 90  # compute capability to compile for, of the device; on gpu the GPU's
    limits: StepLimits = StepLimits()
