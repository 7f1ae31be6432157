#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ratio tables of `make bench-compare`.

    table.py DIR [--markdown FILE] [--json FILE] [--command TEXT]
    table.py DIR --steady      prints how many rounds can be compared so far, in the best place

DIR holds what the drivers printed: ROUND.CONTENDER.PART.jsonl. How values come about: results.py; what
the tables say: p2p_table.py, coll_table.py.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import sys

import coll_table
import p2p_table
from results import (FLAG, MIB, load, markdown_table, measured, places, text_table, time_text,
                     verdict)

SECTIONS = (p2p_table, coll_table)
LEAST_ROUNDS = 2  # for a table of the second place


def read_first(path, prefix=""):
    try:
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[-1].strip() for line in file if line.startswith(prefix)), "")
    except OSError:
        return ""


def machine():
    caches = []
    base = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
    for index in sorted(base.glob("index*")):
        kind, level = read_first(index / "type"), read_first(index / "level")
        if kind != "Instruction":
            caches.append(f"L{level} {read_first(index / 'size')}")
    memory_kib = int(read_first("/proc/meminfo", "MemTotal").split()[0] or 0)
    return [
        ("Processor", f"{read_first('/proc/cpuinfo', 'model name')}, {os.cpu_count()} processors; "
                      + ", ".join(caches)),
        ("Memory", f"{memory_kib / MIB:.0f} GiB"),
        ("System", f"{read_first('/etc/os-release', 'PRETTY_NAME').split('=')[-1].strip(chr(34))}, "
                   f"Linux {platform.release()}, {platform.machine()}"),
        ("Date", datetime.date.today().isoformat()),
    ]


def summary(items, results, rounds):
    told = [verdict(i["goals"]) for i in items if i["goals"]]
    flags = [us for found in results.values() for us in found.get(FLAG, [])]
    flag = time_text(statistics.median(flags)) if flags else "?"
    return (f"A bare flag goes from processor to processor in {flag}; {rounds} or more rounds. "
            f"{told.count('met')} rows met, {told.count('MISSED')} missed, "
            f"{told.count('-')} not measured.")


def tables_of(found):
    """What can be told, for each place of the processors: [(section, items, lines, summary)]"""
    out = []
    for rounds, results in [found[0]] + [f for f in found[1:] if f[0] >= LEAST_ROUNDS]:
        for section in SECTIONS:
            rows = [section.evaluate(results, row) for row in section.rows()]
            rows = [item for item in rows if measured(item)]
            if not rows:
                continue
            lines = [section.HEAD] + [section.cells(item) for item in rows]
            out.append((section, rows, lines, summary(rows, results, rounds)))
    return out


def main():
    parser = argparse.ArgumentParser(description="ratio tables of what the drivers printed")
    parser.add_argument("directory")
    parser.add_argument("--markdown")
    parser.add_argument("--json")
    parser.add_argument("--command", default="make bench-compare")
    parser.add_argument("--steady", action="store_true")
    args = parser.parse_args()
    records, abouts = load(args.directory)
    found = places(records)
    if args.steady:
        print(found[0][0] if found else 0)
        return
    if not found:
        sys.exit(f"compare: no results in {args.directory}")
    names = {**p2p_table.CONTENDERS, **coll_table.CONTENDERS}
    about = machine() + [(names[c], abouts[c]) for c in names if c in abouts]
    tables = tables_of(found)
    for section, _, lines, told in tables:
        print(f"{section.TITLE}\n\n{text_table(lines)}\n{told}\n")
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as file:
            file.write(f"`{args.command}`\n\n| | |\n|---|---|\n")
            file.writelines(f"| {name} | {text} |\n" for name, text in about)
            for section, _, lines, told in tables:
                file.write(f"\n{section.TITLE}: {told}\n\n{markdown_table(lines)}\n")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"about": dict(about), "tables": [
                {"title": section.TITLE, "summary": told, "rows": items}
                for section, items, _, told in tables]}, file, indent=1)


if __name__ == "__main__":
    main()
