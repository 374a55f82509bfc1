"""What the handouts teach to work out by hand, as formulas: the second way of many questions."""

from __future__ import annotations

from math import gcd

LIMITS = {
    # places for blocks, warps; registers, their unit, who is given them; shared bytes, unit;
    # warps of a block round up to; bytes that each block has besides its own
    "c1060": (8, 32, 16384, 512, "block", 16384, 512, 2, 0),
    "c2050": (8, 48, 32768, 64, "warp", 49152, 128, 1, 0),
    "h200": (32, 64, 65536, 256, "warp", 233472, 128, 4, 1024),
}


def ceil_div(whole: int, piece: int) -> int:
    return -(-whole // piece)


def round_up(number: int, unit: int) -> int:
    return ceil_div(number, unit) * unit


def limits(device: str, registers: int, shared: int, threads: int) -> dict[str, int]:
    """Blocks per SM by each limit alone; a limit of which nothing is used is left out."""
    blocks, warps, file, unit, owner, memory, memory_unit, granule, reserved = LIMITS[device]
    used = ceil_div(threads, 32)
    by = {"blocks": blocks, "threads": warps // used}
    if owner == "block":
        by["registers"] = file // round_up(round_up(used, granule) * 32 * registers, unit)
    else:
        warps_with_registers = file // round_up(32 * registers, unit)
        by["registers"] = warps_with_registers // granule * granule // used
    if shared + reserved:
        by["shared memory"] = memory // round_up(shared + reserved, memory_unit)
    return by


def blocks_per_sm(device: str, registers: int, shared: int, threads: int) -> int:
    return min(limits(device, registers, shared, threads).values())


def occupancy(device: str, registers: int, shared: int, threads: int) -> float:
    return (
        blocks_per_sm(device, registers, shared, threads)
        * ceil_div(threads, 32)
        / LIMITS[device][1]
    )


def wavefronts_of_stride(stride: int, banks: int = 32) -> int:
    """As many lanes as banks, stepping by so many words: how many meet in one bank."""
    return gcd(stride, banks) if stride else 1


def fullest_bank(words: list[int], banks: int = 32) -> int:
    """Different words in the bank that has most of them."""
    return max(sum(word % banks == bank for word in set(words)) for bank in range(banks))


def sectors(addresses: list[int], size: int = 4) -> int:
    """Different sectors of 32 bytes."""
    return len({(at + byte) // 32 for at in addresses for byte in range(0, size, 4)})


def half_warp_transactions(addresses: list[int], size: int = 4) -> list[int]:
    """Sizes of the transactions of a warp at compute capability 1.3."""
    found = []
    for first in range(0, len(addresses), 16):
        left = addresses[first : first + 16]
        while left:
            segment = left[0] // 128
            inside = [at for at in left if at // 128 == segment]
            low, high, length = min(inside), max(inside) + size, 128
            while length > 32 and low // (length // 2) == (high - 1) // (length // 2):
                length //= 2
            found.append(length)
            left = [at for at in left if at // 128 != segment]
    return found
