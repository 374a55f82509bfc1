"""Input files of the listed programs, made from a fixed seed: the suites keep theirs elsewhere."""

import random
import struct
from collections.abc import Callable, Iterable
from pathlib import Path


def bmp(rng: random.Random, width: str, height: str) -> Iterable[bytes]:
    """24 bits per pixel; the width has to be a multiple of 4."""
    size = 3 * int(width) * int(height)
    yield b"BM" + struct.pack("<IHHI", 54 + size, 0, 0, 54)
    yield struct.pack("<IiiHHIIiiII", 40, int(width), int(height), 1, 24, 0, size, 2835, 2835, 0, 0)
    yield rng.randbytes(size)


def column(rng: random.Random, count: str, low: str, high: str) -> Iterable[bytes]:
    for _ in range(int(count)):
        yield f"{rng.uniform(float(low), float(high)):.5f}\n".encode()


def counted(rng: random.Random, rows: str, columns: str) -> Iterable[bytes]:
    """How many rows, then the rows."""
    yield f"{rows}\n".encode()
    yield from (line.replace(b",", b" ") for line in csv(rng, rows, columns))


def csv(rng: random.Random, rows: str, columns: str) -> Iterable[bytes]:
    for _ in range(int(rows)):
        yield ",".join(f"{rng.uniform(-50, 50):.4f}" for _ in range(int(columns))).encode() + b"\n"


def floats(rng: random.Random, count: str) -> Iterable[bytes]:
    yield struct.pack(f"<{count}f", *(rng.uniform(0, 40) for _ in range(int(count))))


def compressible(rng: random.Random, count: str) -> Iterable[bytes]:
    words = [rng.randbytes(16) for _ in range(40)]
    for _ in range(int(count) // 16):
        yield rng.choice(words)


def words(rng: random.Random, count: str) -> Iterable[bytes]:
    for _ in range(int(count)):
        yield f"w{int(rng.paretovariate(1)) % 500} ".encode()


def proteins(rng: random.Random, count: str, length: str) -> Iterable[bytes]:
    for number in range(int(count)):
        residues = "".join(rng.choice("ARNDCQEGHILKMFPSTWYV") for _ in range(int(length)))
        yield f">{number}\n{residues}\n".encode()


def mesh(rng: random.Random, count: str) -> Iterable[bytes]:
    """A row of tetrahedra: area, and per side a neighbour (counted from 1; -1 and -2 are borders) with its normal."""
    elements = int(count)
    yield f"{elements}\n".encode()
    for number in range(1, elements + 1):
        sides = []
        for neighbour in (number - 1 or -1, number + 1 if number < elements else -2, -1, -2):
            normal = " ".join(f"{rng.uniform(-0.01, 0.01):.6f}" for _ in range(3))
            sides.append(f"{neighbour} {normal}")
        yield f"{rng.uniform(0.5, 1):.5f} {' '.join(sides)}\n".encode()


def graph(rng: random.Random, nodes: str, degree: str) -> Iterable[bytes]:
    """Rodinia's bfs: nodes with first edge and number of edges, source, edges with weight."""
    count, edges = int(nodes), int(degree)
    yield f"{count}\n".encode()
    for node in range(count):
        yield f"{node * edges} {edges}\n".encode()
    yield f"\n0\n\n{count * edges}\n".encode()
    for _ in range(count * edges):
        yield f"{rng.randrange(count)} {rng.randrange(1, 10)}\n".encode()


def integers(rng: random.Random, count: str) -> Iterable[bytes]:
    """How many, then so many numbers."""
    yield f"{count}\n".encode()
    for _ in range(int(count)):
        yield f"{rng.randrange(10 * int(count))}\n".encode()


def rows(rng: random.Random, count: str, columns: str) -> Iterable[bytes]:
    for number in range(int(count)):
        yield f"{number} {' '.join(f'{rng.uniform(0, 100):.3f}' for _ in range(int(columns)))}\n".encode()


def hurricanes(rng: random.Random, count: str) -> Iterable[bytes]:
    """Records of 49 characters, latitude and longitude from the 29th on."""
    for _ in range(int(count)):
        place = f"{rng.uniform(10, 60):5.1f} {rng.uniform(10, 350):5.1f}"
        yield f"{'1992 06 18 00 26 TONY':28}{place}".ljust(48).encode() + b"\n"


def text(_rng: random.Random, *lines: str) -> Iterable[bytes]:
    for line in lines:
        yield line.replace("_", " ").encode() + b"\n"


KINDS: dict[str, Callable[..., Iterable[bytes]]] = {
    "bmp": bmp,
    "bytes": compressible,
    "column": column,
    "counted": counted,
    "csv": csv,
    "floats": floats,
    "graph": graph,
    "hurricanes": hurricanes,
    "integers": integers,
    "mesh": mesh,
    "proteins": proteins,
    "rows": rows,
    "text": text,
    "words": words,
}


def write(path: Path, recipe: str) -> None:
    kind, *arguments = recipe.split()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(KINDS[kind](random.Random(7), *arguments)))
