"""What the executor writes, as its stand-in and the tests make it up.

Nothing but the standard library is imported here: the stand-in starts many times in a test.
"""

from __future__ import annotations

import ast
import struct
from array import array
from pathlib import Path

COMPARISON = {
    "schema": "tilewise.comparison/1",
    "case": "w8",
    "rounds": 30,
    "contenders": {
        "submission": {
            "status": "ok",
            "message": "",
            "time_ms": {"median": 2.0, "low": 1.9, "high": 2.1, "repeats": 30},
            "kernels": [{"mangled": "_Z1kv", "time_ms": {"median": 2.0, "low": 1.9, "high": 2.1}}],
            "verified": {"rounds": 5, "wrong": 0, "worst": 0.2, "first_wrong": ""},
        },
        "reference": {"status": "ok", "message": ""},
        "cublas": {"status": "ok", "message": ""},
    },
    "ratios": {
        "reference": {"median": 1.0, "low": 0.99, "high": 1.01},
        "cublas": {"median": 8.0, "low": 7.9, "high": 8.1},
    },
    "floor_ms": 0.5,
    "clocks": {"sm_mhz": {"lowest": 1980, "highest": 1980}},
}


def execution_json(case: str = "w8", **fields) -> dict:
    """A result of the executor for one clean run of one kernel."""
    counters = {
        "global_load_requests": 8,
        "global_load_sectors": 16,
        "global_store_requests": 2,
        "global_store_sectors": 8,
        "bank_conflicts": 0,
        "instructions": 100,
    }
    return {
        "schema": "tilewise.execution/1",
        "case": case,
        "backend": "sim",
        "device": "h200",
        "status": "ok",
        "message": "",
        "diagnostics": [],
        "kernels": [
            {
                "name": "tiled_kernel",
                "mangled": "_Z12tiled_kernelPKfS0_Pfi",
                "grid": [2, 2, 1],
                "block": [4, 4, 1],
                "shared_bytes": 128,
                "registers": 32,
                "occupancy": 1.0,
                "counters": counters,
                "lines": [
                    {"file": "/x/matmul.cu", "line": 30, "counters": {"global_load_sectors": 16}},
                    {"file": "/x/matmul.cu", "line": 41, "counters": {"global_store_requests": 2}},
                ],
                "time_ms": None,
            }
        ],
        "launches": 1,
        "outputs": {"P": {"unwritten": 0, "first_unwritten": -1}},
        "inputs_modified": [],
        "errors": [],
        "seconds": 0.01,
    } | fields


def fault_json(code: str, **fields) -> dict:
    """One fault as the executor reports it. The space follows from the code, unless it is given."""
    space = "global" if "global" in code else "shared" if "shared" in code else ""
    return {
        "code": code,
        "severity": "error",
        "message": "what the executor says",
        "file": "/x/matmul.cu",
        "line": 41,
        "kernel": "tiled_kernel",
        "block": [3, 0, 0],
        "thread": [17, 0, 0],
        "count": 12,
        "space": space,
        "access": "load" if space or code == "misaligned-access" else "",
    } | fields


def party_json(access: str = "store", **fields) -> dict:
    """The other party of a fault."""
    return {
        "access": access,
        "access_bytes": 4,
        "file": "/x/matmul.cu",
        "line": 38,
        "block": [3, 0, 0],
        "thread": [4, 1, 0],
    } | fields


def load_matrix(path: str) -> list[list[float]]:
    """A file of numpy's with floats in rows."""
    content = Path(path).read_bytes()
    size = struct.unpack_from("<H", content, 8)[0]
    header = ast.literal_eval(content[10 : 10 + size].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    rows, columns = header["shape"]
    values = array("f", content[10 + size :])
    return [list(values[i * columns : (i + 1) * columns]) for i in range(rows)]


def save_matrix(path: str, rows: list[list[float]]) -> None:
    shape = (len(rows), len(rows[0]))
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape})
    header = header.ljust(117) + "\n"
    values = array("f", [value for row in rows for value in row])
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    Path(path).write_bytes(start + values.tobytes())


def product(m: list[list[float]], n: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*n, strict=True))
    return [[sum(a * b for a, b in zip(row, col, strict=True)) for col in columns] for row in m]
