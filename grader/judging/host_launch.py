"""A launch whose arguments or whose block are not the kernel's, read from the text of both."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.host import Host, Launch, Said, plain_name, roles_of
from grader.judging.kernel_text import Kernel, axes_of, declarations
from grader.labs.source import facts
from grader.labs.statements import Listing, closing, declared, shown, split


def swapped_arguments(text: Listing, host: Host, kernel_name: str = "") -> Said | None:
    """A launch whose arguments have the names of the parameters, in another order."""
    if len(host.launches) != 1:
        return _crossed(text, host, kernel_name)
    launch = host.launches[0]
    kernel = text.named(launch.kernel)
    if kernel is None:
        return None
    wanted = text.parameters(kernel)
    given = [plain_name(part) for part in launch.given]
    roles = roles_of(host)
    real = [roles.get(name, name) for name in given]
    if sorted(wanted) == sorted(given):
        real = given
    if len(wanted) != len(real):
        return None
    apart = [at for at, (a, b) in enumerate(zip(wanted, real, strict=True)) if a != b]
    named = [at for at in apart if real[at] in wanted]
    if len(named) < 2 or sorted(wanted) != sorted(real):
        return None
    first = named[0]
    return Said(
        f"The kernel's parameters are ({', '.join(wanted)}); it is given ({', '.join(given)}): "
        f"{wanted[first]} gets {given[first]}.",
        launch.given_line or launch.line,
        "Arguments go by their order, not by their names.",
    )


def _crossed(text: Listing, host: Host, kernel_name: str) -> Said | None:
    """Of several launches the one of the finding's kernel: an argument that has another one's name."""
    launches = [one for one in host.launches if kernel_name and one.kernel == kernel_name]
    kernel = text.named(kernel_name) if len(launches) == 1 else None
    wanted = text.parameters(kernel) if kernel is not None else []
    given = [plain_name(part) for part in launches[0].given] if launches else []
    if len(wanted) != len(given):
        return None
    for at, name in enumerate(given):
        if not name or name not in wanted or name == wanted[at]:
            continue
        own = wanted.index(name)
        if not given[own] or given[own] == wanted[own] or given[own] == name:
            continue
        if _is_const_pointer(kernel.words, name) is not None:
            continue
        return Said(
            f"The kernel's parameters are ({', '.join(wanted)}): {wanted[at]} gets {name}, and "
            f"{name} gets {given[own]}.",
            launches[0].given_line or launches[0].line,
            "Arguments go by their order, not by their names.",
        )
    return None


def input_for_output(text: Listing, host: Host) -> Said | None:
    """A launch that is given M or N where the kernel writes its result."""
    inputs, result = host.pointers[:2], host.pointers[2:]
    for launch in host.launches:
        kernel = text.named(launch.kernel)
        names = text.parameters(kernel) if kernel is not None else []
        if len(names) != len(launch.given) or not result:
            continue
        for name, part in zip(names, launch.given, strict=True):
            if _is_const_pointer(kernel.words, name) is False and plain_name(part) in inputs:
                return Said(
                    f"The kernel writes to {name}, and the launch gives it {plain_name(part)} for "
                    "that, which is an input.",
                    launch.line,
                    f"Give it {result[0]}.",
                )
    return None


def exchanged_templates(text: Listing, source: str, host: Host) -> Said | None:
    """kernel<BM, BK, BN> of a kernel that is template <int BM, int BN, int BK>."""
    for launch in host.launches:
        wanted = facts(source).templates.get(launch.kernel, [])
        given = [plain_name(part) for part in launch.template]
        if len(wanted) == len(given) and sorted(wanted) == sorted(given) and wanted != given:
            at = next(i for i, (a, b) in enumerate(zip(wanted, given, strict=True)) if a != b)
            return Said(
                f"The kernel's template parameters are <{', '.join(wanted)}>; it is given "
                f"<{', '.join(given)}>: {wanted[at]} gets {given[at]}.",
                launch.line,
                "Template arguments go by their order, not by their names.",
            )
    return None


def other_buffers(text: Listing, host: Host) -> Said | None:
    """The buffer that the kernel writes is not the one that is copied back."""
    if len(host.launches) != 1 or len(host.pointers) != 3:
        return None
    launch = host.launches[0]
    kernel = text.named(launch.kernel)
    names = text.parameters(kernel) if kernel is not None else []
    if len(names) != len(launch.given):
        return None
    copies = [
        (call, call.variable(0), call.variable(1))
        for call in host.of("cudaMemcpy", "cudaMemcpyAsync")
    ]
    filled = {
        to for _, to, source in copies if to in host.allocated and source in host.pointers[:2]
    }
    back = [
        (call, source)
        for call, to, source in copies
        if to == host.pointers[2] and source in host.allocated
    ]
    given = [
        (name, plain_name(part), _is_const_pointer(kernel.words, name))
        for name, part in zip(names, launch.given, strict=True)
    ]
    written = [(name, buffer) for name, buffer, is_const in given if is_const is False]
    if len(written) != 1 or len(back) != 1 or not written[0][1]:
        return None
    (name, buffer), (call, result) = written[0], back[0]
    if buffer == result:
        return None
    read = [buffer for _, buffer, is_const in given if is_const]
    if result in filled:
        return Said(
            f"{result} is copied back, an input; the kernel puts its result into {buffer}.",
            call.line,
            f"Copy {buffer} into {host.pointers[2]}.",
        )
    if buffer in filled and result in read:
        return Said(
            f"The kernel writes to {name}, and is given {buffer} for it, an input; {result}, which "
            "is copied back, is given to it as an input.",
            launch.line,
            f"The parameters are ({', '.join(names)}): {name} is {result}.",
        )
    return None


def _is_const_pointer(words: tuple[str, ...], name: str) -> bool | None:
    """None: no pointer."""
    at = max((i for i, word in enumerate(words) if word == name), default=0)
    start = at
    while start > 0 and words[start - 1] not in ("(", ","):
        start -= 1
    kind = words[start:at]
    return "const" in kind if "*" in kind else None


def block_of(text: Listing, launch: Launch) -> tuple[int, tuple[str, ...]]:
    """(line, words) of what the block's size is, at its declaration or in the launch."""
    words = launch.settings[1] if len(launch.settings) > 1 else ()
    name = plain_name(words)
    known = text.declaration(name, text.statements[launch.number]) if name else None
    return known if known is not None and known[1] else (launch.line, tuple(words))


def comma(text: Listing, host: Host) -> Said | None:
    """dim3 block = (16, 16): the comma operator leaves the last number."""
    for item in host.body:
        if item.kind != "simple" or item.words[:1] != ("dim3",):
            continue
        for part in split(item.words[1:-1], ","):
            left = split(part, "=")
            if len(left) != 2 or left[1][:1] != ("(",):
                continue
            inner = left[1][1 : closing(left[1], 0)]
            if closing(left[1], 0) == len(left[1]) - 1 and len(split(inner, ",")) > 1:
                name = left[0][-1]
                last = shown(split(inner, ",")[-1])
                known = declared(item, name)
                return Said(
                    f"{name} = ({shown(inner)}) is ({last}, 1, 1): of numbers with commas in "
                    "parentheses the last one is left.",
                    known[0] if known else item.line,
                    f"Write dim3 {name}({shown(inner)});",
                )
    return None


_PARTS = (("/",), ("%",), (">>",), ("&",))


def flat_block(text: Listing, kernel: Kernel, host: Host) -> Said | None:
    """A block of two dimensions for a kernel that counts its threads by threadIdx.x alone."""
    launches = [one for one in host.launches if one.kernel in kernel.function.words]
    if len(launches) != 1 or kernel.block[0] < 2 or kernel.block[1] < 2:
        return None
    device = [one for one in text.functions() if {"__global__", "__device__"} & {*one.words}]
    words = [word for one in device for item in text.inside(one) for word in item.words]
    if "y" in axes_of(words, "threadIdx") or "blockDim" in words:
        return None
    flat = {("threadIdx", ".", "x")}
    flat |= {(name,) for name, _, value, _ in declarations(kernel) if tuple(value) in flat}
    divided = {
        item.words[at + len(one)]
        for item in kernel.body
        for at in range(len(item.words))
        for one in flat
        if item.words[at : at + len(one)] == one
        and item.words[at + len(one) : at + len(one) + 1] in _PARTS
    }
    if len(divided) < 2:
        return None
    line, meaning = block_of(text, launches[0])
    return Said(
        f"The kernel takes row and column of a thread from threadIdx.x alone, and the block, "
        f"({shown(meaning)}), has two dimensions: threads that differ in y do the same.",
        line,
        f"Launch a block of one dimension, of {kernel.block[0] * kernel.block[1]} threads.",
    )


def step_of_other_axis(text: Listing, kernel: Kernel, launch: Launch, axis: str) -> Said | None:
    """blockIdx.y * BX + threadIdx.y, where the block is BX wide and BY high."""
    sides = _block_sides(text, launch)
    if len(sides) < 2 or axis not in "xy":
        return None
    here, other = sides["xy".index(axis)], sides["yx".index(axis)]
    if tuple(here) == tuple(other) or len(here) != 1 or len(other) != 1:
        return None
    for name, line, words, item in declarations(kernel):
        if axes_of(kernel.expanded(words, item), "blockIdx") != [axis]:
            continue
        if other[0] in words and here[0] not in words:
            return Said(
                f"{name} = {shown(words)}: along {axis} a block has {here[0]} threads, not "
                f"{other[0]}.",
                line,
                f"Multiply blockIdx.{axis} by {here[0]}.",
            )
    return None


def _block_sides(text: Listing, launch: Launch) -> list[tuple[str, ...]]:
    """The block's sides, as the host writes them."""
    words = launch.settings[1] if len(launch.settings) > 1 else ()
    name = plain_name(words)
    if name:
        known = text.declaration(name, text.statements[launch.number])
        words = known[1] if known is not None else ()
    words = tuple(words)
    if words[:2] == ("dim3", "(") and words[-1:] == (")",):
        words = words[2:-1]
    return [tuple(part) for part in split(words, ",")]


def is_rounded_up(words: Sequence[str]) -> bool:
    """(whole + piece - 1) / piece, and (whole + 15) / 16."""
    at = words.index("/")
    number, by = (words[at - 2] if at > 1 else ""), (words[at + 1] if at + 1 < len(words) else "")
    if words[at - 1] == ")" and words[at - 3 : at - 2] == ("+",) and by.isdigit():
        return number.isdigit() and int(number) >= int(by) - 1
    return words[at - 1] == ")" and words[at - 3 : at - 1] == ("-", "1") and "+" in words[:at]
