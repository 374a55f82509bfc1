"""Writes docs/measurements/cuda-programs.md from what programs.py has left: page.py RESULTS.jsonl ... > PAGE

Of a program that is in several files the last runs count. verdicts.toml says what a person found about the findings."""

import collections
import json
import re
import statistics
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUITES = {
    "hecbench": "HeCBench",
    "polybench": "PolyBench/GPU",
    "rodinia": "Rodinia",
    "samples": "NVIDIA's cuda-samples",
}
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS_OF_A_RATIO = 0.2  # of processor time without checks: shorter runs are start-up


def stops(row: dict) -> str:
    """Why the program does not run to its end as on the GPU; "" if it does."""
    run = row["checks"]
    refused = [
        one.split(". The program")[0].split(" (line")[0].rstrip(".")
        for one in run.get("unsupported", [])
    ]
    if refused:
        return refused[0]
    if run.get("status") == 3:
        return run["err"].strip().split(": ")[-1].split("\n")[0]
    if run.get("status") is None or run["status"] in (-9, -24, 152):
        return "not done in time"
    waived = re.search(r"Waiving execution as device.* does not support (.*)", run["out"])
    if waived and row.get("native", {}).get("status") == 0:
        return f"waives the run: no {waived[1].lower()}"
    if (
        any(one["code"] == "deadlock" for one in run["findings"])
        and row.get("native", {}).get("status") == 0
    ):
        return "the kernel waits for the host"
    return ""


def ends(row: dict) -> bool:
    return "checks" in row and not stops(row)


def own_check(run: dict) -> str:
    text = run.get("out", "") + run.get("err", "").split("warpsim:")[0]
    non_matching = re.search(r"Error Threshold of [0-9.]+ Percent: (\d+)", text)
    if non_matching:
        return "fails" if int(non_matching[1]) else "passes"
    if re.search(r"\bFAIL|\bfailed\b|\bERROR\b|[Mm]ismatch(?! *(:|=)? *0)", text):
        return "fails"
    if re.search(r"\bPASS|[Pp]assed|\bOK\b|[Ss]uccess|[Cc]orrect\b", text):
        return "passes"
    return "has none" if run.get("status") == 0 else f"status {run.get('status')}"


def sanitizer(row: dict) -> str:
    said = []
    for tool in TOOLS:
        text = row.get(tool, {}).get("out", "")
        errors = re.search(r"ERROR SUMMARY: (\d+) error", text)
        hazards = re.search(r"RACECHECK SUMMARY: (\d+) hazard", text)
        count = int((errors or hazards or [0, 0])[1])
        if count:
            said.append(f"{tool} {count}")
    return ", ".join(said) or ("nothing" if any(tool in row for tool in TOOLS) else "")


def findings(row: dict, verdicts: dict) -> str:
    codes = collections.Counter(
        one["code"] for one in row["checks"].get("findings", []) if one["code"] != "unsupported"
    )
    if not codes:
        return "none"
    verdict, why = verdicts.get(row["suite"], {}).get(row["name"], ("", ""))
    if not verdict:
        verdict, why = ("true", "leak") if set(codes) == {"memory-leak"} else ("not examined", "")
    row["verdict"] = verdict
    listed = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
    return f"{listed}: {verdict}" + (f", {why}" if why and why != "leak" else "")


NEEDS_NO_WRITER = ("never-written-copy", "uninitialised", "out-of-bounds", "race", "wrong-mask")


def why_different(row: dict, verdicts: dict) -> str:
    """The class of reason, as far as it can be told from what was measured or was read in the source."""
    known = verdicts.get("bits", {}).get(row["suite"], {}).get(row["name"])
    if known:
        return known
    difference = row.get("difference", {})
    if difference.get("same_apart"):
        return "contracted products"
    codes = sorted({one["code"] for one in row["checks"].get("findings", [])})
    found = [code for code in codes if code.startswith(NEEDS_NO_WRITER)]
    if found:
        return found[0]
    if difference.get("approximate"):
        names = ", ".join(name.split(".")[0] for name in difference["approximate"])
        steps = difference.get("f32", {}).get("median")
        return names + (f": {steps:.0f} steps" if steps else "")
    return "not traced"


def bits(row: dict, verdicts: dict) -> str:
    ours, theirs = row.get("none", {}).get("copies"), row.get("native", {}).get("copies")
    stopped = row.get("none", {}).get("status") in (None, -9, -24, 152)
    if not theirs or stopped:
        return ""
    if ours == theirs:
        return "same"
    if row.get("again", {}).get("copies", theirs) != theirs:
        return "GPU: not the same twice"
    return f"differ: {why_different(row, verdicts)}"


def table(rows: list[dict], verdicts: dict) -> list[str]:
    lines = [
        "| program | ends | own check | bits | findings and verdict | compute-sanitizer | s | s, no checks |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "checks" not in row:
            lines.append(
                f"| {row['name']} | not compiled: {row.get('without', 'errors of nvcc')} | | | | | | |"
            )
            continue
        run, none, native = row["checks"], row.get("none", {}), row.get("native", {})
        if not ends(row):
            lines.append(
                f"| {row['name']} | no: {stops(row)} | | | | | {run.get('cpu', '')} | {none.get('cpu', '')} |"
            )
            continue
        check = own_check(run)
        if native and own_check(native) != check:
            check += f" (GPU: {own_check(native)})"
        lines.append(
            f"| {row['name']} | yes | {check} | {bits(row, verdicts)} | {findings(row, verdicts)} | {sanitizer(row)} "
            f"| {run['cpu']} | {none.get('cpu', '')} |"
        )
    return lines


def summary(name: str, rows: list[dict], verdicts_of: dict) -> str:
    compiled = [row for row in rows if "checks" in row]
    ended = [row for row in compiled if ends(row)]
    verdicts = collections.Counter(row["verdict"] for row in ended if "verdict" in row)
    told = [bits(row, verdicts_of) for row in ended]
    compared = [text for text in told if text and not text.startswith("GPU")]
    said = [row for row in ended if own_check(row["checks"]) in ("passes", "fails")]
    agree = sum(own_check(row["checks"]) == own_check(row.get("native", {})) for row in said)
    long = [
        row["checks"]["cpu"] / row["none"]["cpu"]
        for row in ended
        if row.get("none", {}).get("status") == row["checks"]["status"]
        and row["none"]["cpu"] >= SECONDS_OF_A_RATIO
    ]
    ratio = f"{statistics.median(long):.2f} ({len(long)})" if long else ""
    return (
        f"| {name} | {len(rows)} | {len(compiled)} | {len(ended)} | {agree} of {len(said)} "
        f"| {compared.count('same')} of {len(compared)} "
        f"| {verdicts['true']} | {verdicts['harmless']} | {verdicts['limit'] + verdicts['false']} | {verdicts['not examined']} | {ratio} |"
    )


def what_stops(rows: list[dict]) -> str:
    """Reasons, by how many programs of all suites."""
    reasons = collections.defaultdict(list)
    for row in rows:
        if "checks" in row and not ends(row):
            reasons[stops(row)].append(row["name"])
    lines = ["| why | programs | which |", "|---|---|---|"]
    for reason, names in sorted(reasons.items(), key=lambda one: (-len(one[1]), one[0])):
        lines.append(f"| {reason} | {len(names)} | {', '.join(names)} |")
    return "\n".join(lines)


def main() -> None:
    latest: dict[tuple[str, str], dict] = {}
    for path in sys.argv[1:]:
        for line in Path(path).read_text().splitlines():
            row = json.loads(line)
            known = latest.setdefault((row["suite"], row["name"]), {})
            known |= row
    verdicts = tomllib.loads((HERE / "verdicts.toml").read_text())
    tables, summaries, everything = [], [], []
    for suite, title in SUITES.items():
        order = tomllib.loads((HERE / f"{suite}.toml").read_text())["programs"]
        rows = [
            {"suite": suite, "name": name, "without": entry["without"]}
            if "without" in entry
            else latest[suite, name]
            for name, entry in order.items()
            if "without" in entry or (suite, name) in latest
        ]
        if rows:
            tables += [f"## {title}", "", *table(rows, verdicts), ""]
            summaries.append(summary(title, rows, verdicts))
            everything += rows
    summaries.append(summary("all", everything, verdicts))
    reasons = collections.Counter(
        bits(row, verdicts).removeprefix("differ: ").split(": ")[0]
        for row in everything
        if ends(row) and bits(row, verdicts).startswith("differ")
    )
    parts = {
        "reasons": "; ".join(f"{reason} {count}" for reason, count in reasons.most_common()),
        "summary": "\n".join(summaries),
        "stops": what_stops(everything),
        "tables": "\n".join(tables).rstrip(),
        "seconds": str(SECONDS_OF_A_RATIO),
    }
    text = (HERE / "page.md").read_text()
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    print(text, end="")


if __name__ == "__main__":
    main()
