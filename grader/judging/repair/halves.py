"""Numbers of 2 bytes (bf16), and words that hold two of them."""

from __future__ import annotations

import numpy as np


def bits(value) -> np.ndarray:
    """Of the nearest bf16, ties to even."""
    whole = np.asarray(value, np.float64).astype(np.float32).view(np.uint32).astype(np.int64)
    rounded = (whole + 0x7FFF + (whole >> 16 & 1)) >> 16
    return np.where(np.isnan(value), 0x7FC0, rounded)


def _value(half) -> np.ndarray:
    return (np.asarray(half, np.int64) << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def _plain(value):
    return value if value.ndim else value.item()


def as_number(value):
    """__bfloat16_as_ushort."""
    return _plain(bits(value))


def of_number(half):
    """__ushort_as_bfloat16."""
    return _plain(_value(np.asarray(half, np.int64) & 0xFFFF))


def cut(value):
    """Towards 0."""
    whole = np.asarray(value, np.float64).astype(np.float32).view(np.uint32).astype(np.int64)
    return _plain(_value(whole >> 16))


def rounded(value):
    return _plain(_value(bits(value)))


def packed(low, high):
    """Both in one word, `low` in its lower half."""
    return _plain(bits(low) | bits(high) << 16)


def unpacked(word):
    pairs = pairs_of(word)
    return _plain(pairs[..., 0]), _plain(pairs[..., 1])


def pairs_of(word) -> np.ndarray:
    """The two of each word, side by side in a last axis."""
    word = np.asarray(word)
    if word.dtype.kind == "f":
        word = np.nan_to_num(word)
    low = word.astype(np.int64).astype("<u4")
    halves = low[..., None].view("<u2").astype(np.uint32) << 16
    return halves.view(np.float32).astype(np.float64)
