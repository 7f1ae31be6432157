# SPDX-License-Identifier: BSD-3-Clause
"""What the drivers printed, and what all tables need of it.

The value of a row is the median over the rounds of each round's median. A hypervisor may move the two
processors between one core and two, which changes everything. So each result comes with the time of a
bare flag before and after it. Results between which that time changed are left out; the others make
one table for each place of the processors that was met often enough.
"""
import json
import pathlib
import statistics
import sys
from typing import NamedTuple

PEERS = {"ompi": "Open MPI", "mpich": "MPICH", "ucx": "UCX"}
TUNED = {"ompi-tuned": "Open MPI without CMA", "ucx-tuned": "UCX without CMA"}
KIB = 1024
MIB = 1024 * KIB
SAME = 1.6  # flags that differ less were measured with the processors in the same place


class Key(NamedTuple):
    row: str
    bytes: int
    pattern: str
    memory: str
    ranks: int = 2


FLAG = Key("flag", 4, "static", "shared")


def load(directory):
    """[(contender, key, median in us, shortest flag and longest beside it)], {contender: about}"""
    records, abouts = [], {}
    for path in sorted(pathlib.Path(directory).glob("*.jsonl")):
        contender = path.name.split(".")[1]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                item = json.loads(line)
                if "about" in item:
                    abouts[contender] = item["about"]
                    continue
                key = Key(item["row"], item["bytes"], item["pattern"], item["memory"], item["ranks"])
                flags = sorted((item["flag_us_before"], item["flag_us_after"]))
                records.append((contender, key, item["us_median"], *flags))
            except (ValueError, KeyError, TypeError):
                sys.exit(f"compare: {path}:{number} is not a result: {line[:80]}")
    return records, abouts


def gather(records):
    """{contender: {key: [median of each round, us]}}"""
    results = {}
    for contender, key, us, *_ in records:
        results.setdefault(contender, {}).setdefault(key, []).append(us)
    return results


def coverage(results, records):
    """The fewest rounds that any row of any contender has in `results`."""
    return min((len(results.get(c, {}).get(k, [])) for c, k, *_ in records), default=0)


def places(records):
    """[(rounds, results)]: one for each place of the processors, the best covered first."""
    groups = []
    for record in sorted((r for r in records if r[4] < SAME * r[3]), key=lambda r: r[3]):
        if not groups or record[3] >= SAME * groups[-1][0][3]:
            groups.append([])
        groups[-1].append(record)
    found = [(coverage(gather(g), records), len(g), gather(g)) for g in groups]
    return [(rounds, results) for rounds, _, results in
            sorted(found, key=lambda f: f[:2], reverse=True)]


def value(results, contender, keys):
    """The best of the keys; None: not measured."""
    found = [statistics.median(results[contender][k]) for k in keys if k in results.get(contender, {})]
    return min(found, default=None)


def least(values):
    """The least of what was measured."""
    return min((v for v in values if v is not None), default=None)


def measured(item):
    """Whether anybody has measured that row."""
    own = item["own_us"]
    times = [*(own.values() if isinstance(own, dict) else [own]), *item["peers_us"].values()]
    return least(times) is not None


def ratio(a, b):
    """Rounded to two digits, before it is compared with a goal."""
    return None if a is None or not b else round(a / b, 2)


def goal(against, at_most, got):
    return {"against": against, "at_most": at_most, "ratio": got,
            "met": None if got is None else got <= at_most}


def verdict(goals):
    if not goals or any(g["met"] is None for g in goals):
        return "-"
    return "met" if all(g["met"] for g in goals) else "MISSED"


# ---- text ----

def size_name(count):
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count // unit} {name}"
    return f"{count} B"


def time_text(us):
    if us is None:
        return "-"
    if us < 1:
        return f"{us * 1000:.1f} ns" if us < 0.1 else f"{us * 1000:.0f} ns"
    return f"{us:.2f} us" if us < 10 else f"{us:.1f} us" if us < 100 else f"{us:.0f} us"


def ratio_text(number):
    return "-" if number is None else f"{number:.2f}"


def text_table(lines):
    last = len(lines[0]) - 1
    widths = [max(len(line[i]) for line in lines) for i in range(last + 1)]
    return "\n".join(
        "  ".join(c.ljust(w) if i in (0, last) else c.rjust(w)
                  for i, (c, w) in enumerate(zip(line, widths))).rstrip() for line in lines)


def markdown_table(lines):
    rule = ["---"] + ["---:"] * (len(lines[0]) - 2) + ["---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:]))
