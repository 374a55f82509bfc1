"""Writes docs/cuda-support.md: what warpsim models of CUDA, from the tables in the source.

common/cudart/support_page.py            writes the page
common/cudart/support_page.py --check    exit status 1 if the page is not what it would write
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cuda-support.md"

# Families of runtime functions, the first that fits; and why those that are refused are.
FAMILIES = (
    ("Start-up code of nvcc", r"__cuda", "not called by programs of this kind"),
    (
        "Graphs and stream capture",
        r"cuda(Graph(?!ics)|StreamBeginCapture|StreamEndCapture|StreamGetCapture"
        r"|StreamUpdateCapture|ThreadExchangeStreamCapture|UserObject|DeviceGraph|DeviceGetGraph"
        r"|DeviceSetGraph|StreamIsCapturing)",
        "graphics and other processes are not modelled",
    ),
    (
        "Arrays, textures, surfaces",
        r"cuda(.*Array|.*Texture|.*Surface|.*ChannelDesc|.*Mipmapped"
        r"|DeviceGetTexture)",
        "mipmapped, sparse and planar arrays, and views of resources, are not modelled",
    ),
    (
        "Other programs' memory",
        r"cuda(GL|EGL|Graphics|VDPAU|D3D|Import|External|Destroy.*External"
        r"|SignalExternal|WaitExternal|Ipc|EventRecordExternal|.*Semaphore)",
        "graphics and other processes are not modelled",
    ),
    (
        "Memory pools",
        r"cuda(MemPool|MallocFromPool|DeviceGet.*MemPool|DeviceSetMemPool|MemGetMemPool"
        r"|MemSetMemPool|MemGetDefaultMemPool)",
        "pools are not shared with other processes",
    ),
    (
        "Several devices",
        r"cuda(.*Peer|DeviceGetP2P|DeviceGetByPCI|DeviceGetNvSci|DeviceFlushGPU)",
        "there is one device",
    ),
    (
        "Modules at run time",
        r"cuda(Library|Kernel|GetDriverEntry|GetExportTable|GetKernel|GetFuncBySymbol)",
        "modules are those that the program has been linked with",
    ),
    ("Memory", r"cuda(Malloc|Free|Mem|Host|GetSymbol|PointerGet)", "this form is not modelled"),
    ("Streams and events", r"cuda(Stream|Event|LaunchHostFunc|Ctx)", "this form is not modelled"),
    (
        "Launches and kernels",
        r"cuda(Launch|Func|Occupancy|Configure|Setup)",
        "this form is not modelled",
    ),
    ("Device, errors, the rest", r"cuda", "this form is not modelled"),
)


def runtime_functions(major: int) -> list[str]:
    """The names that our library exports, without the twins for per-thread default streams."""
    names = (ROOT / f"common/cudart/api/names_{major}.txt").read_text().split()
    return [name for name in names if not re.search(r"_pt[sd][sz]$", name)]


def provided() -> set[str]:
    """Those that a source implements, and does not merely refuse."""
    found = set()
    for source in sorted((ROOT / "common/cudart/api").glob("*.cpp")):
        text = source.read_text()
        for match in re.finditer(r"^WARPSIM_API [\w ]+[ *]+(\w+)\(", text, re.MULTILINE):
            if match[1] == "WITH_DATA":  # the name of CUDA 13, and that of 12 with _v2
                name = text[match.end() :].split(")")[0]
                found |= {name, f"{name}_v2"}
                continue
            body = text[match.end() : match.end() + 400]
            if not re.match(r"[^{;]*\{\s*return not_provided\(", body):
                found.add(match[1])
    return found


def opcode_rows() -> dict[str, bool]:
    """Name -> whether it is modelled, of the opcode table."""
    text = (ROOT / "common/warpsim/ptx/opcode_table.cpp").read_text()
    rows = re.findall(r'^    \{"([\w.]+)",\s*k\w+,\s*"([^"]*)"', text, re.MULTILINE)
    return {name: shape != "*" for name, shape in rows}


def isa_families() -> list[tuple[str, str, list[str], dict[str, str]]]:
    """(family, why some are refused, instructions, refused forms) of the ISA's list."""
    families: list[tuple[str, str, list[str], dict[str, str]]] = []
    for line in (ROOT / "common/warpsim/ptx/isa_9_0.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if head := re.fullmatch(r"\[(.*)\](?:: (.*))?", line):
            families.append((head[1], head[2] or "not modelled", [], {}))
        elif " ! " in line:
            name, forms = line.split(" ! ")
            families[-1][3][name] = forms
        else:
            families[-1][2].extend(line.split())
    return families


def is_modelled(name: str, rows: dict[str, bool]) -> bool:
    return any(good and (row == name or row.startswith(name + ".")) for row, good in rows.items())


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _instructions() -> list[str]:
    rows = opcode_rows()
    lines, modelled, total, known = [], 0, 0, set()
    for family, why, names, forms in isa_families():
        good = [name for name in names if is_modelled(name, rows)]
        bad = [name for name in names if name not in good]
        modelled, total = modelled + len(good), total + len(names)
        known.update(good, forms)
        refused = [f"{_code(bad)}: {why}"] if bad else []
        refused += [f"`{name}` {text}" for name, text in forms.items()]
        lines.append(f"| {family} | {_code(good)} | {'; '.join(refused)} |")
    return [
        f"{modelled} of the {total} instructions of PTX ISA 9.0 are modelled. One that is not, or a form of",
        "one that is not, ends the launch as `unsupported`, with its name and line, when a thread",
        "comes to it; code that no thread reaches does not matter.",
        "",
        "| Family | Modelled | Refused |",
        "|---|---|---|",
        *lines,
    ]


def _functions() -> list[str]:
    names, good = runtime_functions(13), provided()
    older = [name for name in runtime_functions(12) if name not in names]
    families: dict[str, tuple[str, list[str], list[str]]] = {
        family: (why, [], []) for family, _, why in FAMILIES
    }
    for name in names + older:
        family = next(family for family, pattern, _ in FAMILIES if re.match(pattern, name))
        families[family][1 if name in good else 2].append(name)
    lines = []
    for family, (why, yes, no) in families.items():
        refused = f"{len(no)}: {why}<br>{_code(no)}" if no else ""
        lines.append(f"| {family} | {len(yes)}<br>{_code(yes)} | {refused} |")
    count = sum(name in good for name in names)
    return [
        f"{count} of the {len(names)} functions of CUDA 13's runtime library are provided, and"
        f" {sum(name in good for name in older)} of {len(older)} that only CUDA 12's has.",
        "The others return `cudaErrorNotSupported`, are named on standard error, and `warpsim run` ends with status 3 where the",
        "program fails for want of them.",
        "",
        "| Family | Provided | Refused by name, and why |",
        "|---|---|---|",
        *lines,
    ]


def page() -> str:
    return "\n".join(
        [
            "# What warpsim models of CUDA",
            "",
            "`common/cudart/support_page.py` writes this page from the tables in the source: the opcode table of",
            "`common/warpsim/ptx/`, the list of the ISA's instructions beside it, and the names that the runtime",
            "library exports. A test holds it to them.",
            "",
            "## Instructions",
            "",
            *_instructions(),
            "",
            "## How blocks and threads run",
            "",
            "Blocks run one after the other until one waits in a loop for what others will write (a flag, a lock,",
            "a barrier of the grid). From then on as many take turns as the device holds at once, by threads and",
            "shared memory, and so do the lanes of a warp that wait for each other. A wait that no thread can end",
            "is a finding, `deadlock`, which says who waits where. A block that runs very long in a kernel with",
            "atomics or volatile accesses lets the others begin, too, for it may wait in a loop that does other",
            "things as well. The clock counts a warp's instructions, times four; for a warp that only reads the",
            "clock again and again it runs faster and faster. A cooperative launch of more blocks than the",
            "device holds returns `cudaErrorCooperativeLaunchTooLarge`. Under `--trace` blocks never take turns.",
            "",
            "`malloc()`, `new` and `free()` in kernels share a heap of 8 MiB, or what `cudaLimitMallocHeapSize` was set to",
            "before. Used up, it returns `nullptr`, as on a GPU; each allocation takes 16 bytes more than it asks for, which is",
            "not what a GPU's own books need. A use after `free()` is out of bounds, `free()` of anything else ends the launch.",
            "A recursion may go as deep as the stack of a thread allows, of 1,024 bytes or what `cudaLimitStackSize` was set to; ptxas says how many each",
            "call takes, and one too many is a finding, `stack-overflow` ([measured](measurements/stack.md)). For all other calls a GPU sets enough aside by itself, and nothing is counted.",
            "Launches run one after the other, also those that may begin early (programmatic stream serialization):",
            "what such a kernel does before `griddepcontrol.wait` (`cudaGridDependencySynchronize()`) is compared with",
            "what the launch before it does. Events of a launch itself are not provided. On a GPU, the grader's",
            "launches do not begin early.",
            "Work of the host and of kernels does not overlap, so a kernel that waits for the host in mapped memory never ends.",
            '`cudaStreamQuery()` and `cudaEventQuery()` say "not ready" the first time they are asked about work that the host',
            "has not waited for; the next one waits. A function that a stream calls on the host waits until a call has to come after it, or until the program sleeps or computes for a while: what the program does before that is not ordered with the stream's work.",
            "",
            "## Barriers in shared memory and copies in bulk",
            "",
            "Warps that wait at an mbarrier take turns; a wait that nobody can end is a `deadlock` at once, which names",
            "the barrier, its phase, and the arrivals or bytes that lack. `cuda::barrier` and `cuda::pipeline` run as the",
            "CUDA C++ library makes them. What an mbarrier orders, it orders for the race checks, thread by thread: a lane",
            "that arrives for its warp answers for what the others did before the last `__syncwarp()` only. A copy in bulk",
            "is carried out when somebody waits for it, as late as it may be; a use before that is a finding (`phase`), and",
            "so are a write that a copy does not see for want of `fence.proxy.async` (`async-proxy`), and a tile that is",
            "overwritten while others, or a copy, still read it (`race-shared`). What it cannot show: a load that a GPU",
            "has only begun when its thread arrives ([measured](measurements/repeated-products.md)).",
            "",
            "Tensor maps are those of `cuTensorMapEncodeTiled`, which a program under `warpsim run`, and a `solve`, find through",
            "`cudaGetDriverEntryPoint` or in our `libcuda.so.1`; that library has little else of the driver. Elements of",
            "1 to 8 bytes, 1 to 5 dimensions, all swizzles, steps between elements, zeros or NaN for what is outside.",
            "A NaN that fills has all bits set. Not modelled: interleaved layouts, im2col; fences between the copies'",
            "and the threads' accesses to *global* memory are not asked for.",
            "",
            "## Textures and surfaces",
            "",
            "Arrays of one, two and three dimensions, layers, cube maps, linear memory and rows with a pitch; channels of",
            "8, 16 and 32 bits. A fetch follows the formulas of the CUDA C++ Programming Guide: texels by the nearest or",
            "linear filter with fractions of 8 bits, the four address modes, coordinates from 0 to 1, integers read as floats.",
            "**None of it has been held against a GPU**: how the fraction is rounded, in which order the products are added, and",
            "sRGB may differ in the last bits. Each texel is looked at as a load is: unwritten texels, races and freed memory",
            "are found. A fetch past the end of linear memory is a warning (its value is 0), a surface access outside",
            "with the mode trap ends the kernel, as does a handle that is none, none any more, or of another kind. A write to",
            "a surface is seen by fetches at once, where a GPU's texture cache may still have the old texel. Kernels with",
            "textures are interpreted instruction by instruction, and their fetches have no counters. Not modelled: mipmaps, views,",
            "sparse arrays, compressed texels, filtering over the edges of a cube, and textures in a recorded `solve`.",
            "",
            "## Functions of the runtime",
            "",
            *_functions(),
            "",
            "Graphs, made by hand or captured, do what their launches do: nodes without an edge between them are",
            "in no order, as work of two streams. Source files that were compiled with `-rdc=true` are linked, by",
            "their PTX. Clusters of more than one block are not modelled; such a launch ends its kernel, by name.",
            "",
            "Kernels may launch kernels under `warpsim run`, 24 levels deep. What a kernel launches is carried out when it",
            "has ended, in the order of the calls and one after the other, those of the tail stream last, each with what",
            "it launches itself: an order that CUDA allows, and no other one is tried. So two launches that must not run side",
            "by side, and a kernel that changes what its launch reads, are not told. There is no limit on launches that wait.",
            "Bodies of conditional nodes (`if`, `while`, `switch`) are done as kernels have said by",
            "`cudaGraphSetConditional()`. In a recorded `solve` both are refused. `cudaMalloc()` in device code takes of the",
            "heap; copies, events and graphs in device code are refused by name.",
            "",
        ]
    )


def main() -> int:
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text() == page():
            return 0
        print(
            f"{PAGE} is not what the source says: run common/cudart/support_page.py.",
            file=sys.stderr,
        )
        return 1
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
