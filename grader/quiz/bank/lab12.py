"""Questions on lab 12: pieces of a float, products of pieces, what tensor cores cut."""

from __future__ import annotations

import math

from grader.quiz.question import THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_LEAST = -133  # exponent of the least bf16
_BITS = 23  # of a float's fraction


def _pairs(pieces: int) -> list[tuple[int, int]]:
    """The products of pieces that matter: whose numbers add up to the last one's at most."""
    return [(s, t) for s in range(pieces) for t in range(pieces) if s + t < pieces]


def _rest(steps: int) -> float:
    """Of 1 + steps / 1024: what the nearest bf16 leaves, looked for among all of them."""
    number = 1 + steps / 1024
    nearest = min((1 + n / 128 for n in range(129)), key=lambda one: abs(one - number))
    return number - nearest


QUESTIONS = (
    Q(
        "12.products",
        "lab 12, which products are needed",
        THREADS,
        {"pieces": (1, 2, 3, 4)},
        "Each factor is split into {pieces} pieces, and products whose numbers add up to less than {pieces} are kept. How many are they?",
        lambda pieces: len(_pairs(pieces)),
        lambda pieces: pieces * (pieces + 1) // 2,
        "1 + ... + {pieces} = {answer}.",
        (
            W(lambda pieces: pieces * pieces, "Not all of them: the small ones are left out."),
            W(lambda pieces: 2 * pieces - 1, "Products such as 11 belong to them."),
        ),
    ),
    Q(
        "12.size-of-a-product",
        "lab 12, which products are needed",
        THREADS,
        {"s": (0, 1, 2), "t": (0, 1, 2)},
        "Of x y: the product of piece {s} of x and piece {t} of y is at most 2^-n of it. Which n, if a piece 1 is at most 2^-8 of its number and a piece 2 at most 2^-17?",
        lambda s, t: [0, 8, 17][s] + [0, 8, 17][t],
        lambda s, t: 8 * (s + t) + s // 2 + t // 2,
        "The exponents add up: {answer}.",
        (
            W(lambda s, t: [0, 8, 17][s] * [0, 8, 17][t], "Exponents are added."),
            W(lambda s, t: max([0, 8, 17][s], [0, 8, 17][t]), "Both are small."),
        ),
    ),
    Q(
        "12.rest",
        "lab 12, TODO(1)",
        THREADS,
        {"steps": (1, 3, 5, 7, 9, 11, 13)},
        "x = 1 + {steps}/1024; between 1 and 2 bf16 lie 1/128 apart. What is 256 times what piece 0 leaves?",
        lambda steps: 256 * _rest(steps),
        lambda steps: ((steps + 4) % 8 - 4) / 4,
        "The nearest bf16 is at most 1/256 away, above or below: {answer}.",
        (
            W(lambda steps: steps % 8 / 4, "To the nearest: the rest may be negative."),
            W(lambda steps: _rest(steps), "256 times."),
        ),
    ),
    Q(
        "12.underflow",
        "lab 12, do the pieces exist",
        THREADS,
        {"exponent": (-90, -100, -109, -110, -111, -120, -126)},
        "The least bf16 is 2^-133, and the last bit of x is 2^-23 of 2^e, the power of two below x. With e = {exponent}: do three pieces hold every such x if they are not magnified?",
        lambda exponent: YES_NO[math.ldexp(1.0, exponent - _BITS) < math.ldexp(1.0, _LEAST)],
        lambda exponent: YES_NO[exponent < _LEAST + _BITS],
        lambda exponent, answer: f"The last bit is 2^{exponent - _BITS}: {answer}.",
        choices=YES_NO,
    ),
    Q(
        "12.bound",
        "lab 12, what is asked for",
        THREADS,
        {"k": (1, 4, 16, 64, 256, 1024)},
        "k = {k}. How many 2^-24 of (|M| |N|) may an element of P be off by?",
        lambda k: 2**-23 * math.sqrt(k) / 2**-24,
        lambda k: 2 * math.isqrt(k),
        "2^-23 sqrt({k}) are {answer} times 2^-24.",
        (
            W(lambda k: math.isqrt(k), "The bound has 2^-23."),
            W(lambda k: 2 * k, "It grows like the square root of k."),
        ),
    ),
    Q(
        "12.instructions-of-a-sum",
        "lab 12, what tensor cores do to a sum",
        THREADS,
        {"steps": (16, 32, 64, 256), "products": (1, 2, 6)},
        "A sum in the tensor core takes {products} of the products of pieces, and is promoted every {steps} steps of k. How many mma.m16n8k16 add to it before?",
        lambda steps, products: len([p for _ in range(0, steps, 16) for p in range(products)]),
        lambda steps, products: steps * products // 16,
        "16 steps each: {answer}.",
        (W(lambda steps, products: steps * products, "An instruction takes 16 steps."),),
        unit="instructions",
    ),
    Q(
        "12.products-of-a-warp",
        "lab 12, TODO(3)",
        THREADS,
        {"wm": (32, 64), "wn": (32, 64), "products": (3, 6, 9)},
        "A warp computes {wm} x {wn} of P with {products} products of pieces. How many mma.m16n8k16 does it start for 16 steps of k?",
        lambda wm, wn, products: len(
            [(r, c) for r in range(0, wm, 16) for c in range(0, wn, 8) for _ in range(products)]
        ),
        lambda wm, wn, products: wm * wn * 16 // 2048 * products,
        "One for each part of 16 x 8 and each product: {answer}.",
        (W(lambda wm, wn: wm * wn // 128, "Each product of pieces is an instruction."),),
        unit="instructions",
    ),
    Q(
        "12.loads-of-a-warp",
        "lab 12, wavefronts of a warp",
        THREADS,
        {"wm": (32, 64, 128), "wn": (32, 64), "pieces": (2, 3)},
        "A warp computes {wm} x {wn} of P from {pieces} pieces of each element. How many ldmatrix.x4 does it need for 16 steps of k, if every fragment is loaded once?",
        lambda wm, wn, pieces: sum(
            1 for _ in range(pieces) for _ in [*range(0, wm, 16), *range(0, wn, 16)]
        ),
        lambda wm, wn, pieces: pieces * (wm + wn) // 16,
        "Each fetches 16 x 16 elements of one piece: {answer}.",
        (
            W(lambda wm, wn: (wm + wn) // 16, "Each piece has fragments of its own."),
            W(
                lambda wm, wn, pieces: pieces * (pieces + 1) // 2 * (wm + wn) // 16,
                "A fragment serves several products.",
            ),
        ),
        unit="loads",
    ),
    Q(
        "12.bytes-of-tiles",
        "lab 12, shared memory",
        THREADS,
        {"bm": (64, 128), "bn": (64, 128), "bk": (16, 32)},
        "Tiles of {bm} x {bk} and {bk} x {bn} bf16, each three times, rows padded by 8 elements. How many bytes?",
        lambda bm, bn, bk: sum(
            2 * width for _ in range(3) for width in [bk + 8] * bm + [bn + 8] * bk
        ),
        lambda bm, bn, bk: 6 * (bm * (bk + 8) + bk * (bn + 8)),
        "Two bytes an element: {answer}.",
        (
            W(lambda bm, bn, bk: 2 * (bm * (bk + 8) + bk * (bn + 8)), "Three pieces of each."),
            W(lambda bm, bn, bk: 6 * (bm * bk + bk * bn), "The padding takes room, too."),
        ),
        unit="bytes",
    ),
    Q(
        "12.rate",
        "lab 12, is it worth it",
        THREADS,
        {"lanes": (128, 64), "tensor": (1024, 2048), "products": (1, 4, 8)},
        "A multiprocessor makes {lanes} multiply-adds per cycle with float lanes and {tensor} with tensor cores. With {products} products of pieces for each: how many times float's rate at most?",
        lambda lanes, tensor, products: tensor / products / lanes,
        lambda lanes, tensor, products: tensor / (lanes * products),
        "{tensor} / {products} / {lanes} = {answer}.",
        (W(lambda lanes, tensor: tensor / lanes, "Each multiply-add takes all of the products."),),
        where=lambda lanes, tensor, products: products > 1 or tensor > lanes,
    ),
)
