"""What one submission may use of the machine, step by step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepLimits:
    """Generous for anything a lab asks for; a step that needs more is ended."""

    compile_seconds: float = 60  # of processor time
    compile_memory_bytes: int = 6 << 30  # of all the compiler's processes together
    record_seconds: float = 5  # for each case
    record_memory_bytes: int = 3 << 30
    record_address_bytes: int = 12 << 30  # of each process: stacks of threads count here, unused
    record_processes: int = 32  # threads included
    device_memory_bytes: int = 4 << 30  # what cudaMalloc gives out in all
    execute_seconds: float = 240  # for each case on the simulator; endless kernels end long before
    execute_processor_seconds: float = 300  # for all cases together, on the simulator
    execute_memory_bytes: int = 16 << 30
