#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""layers.py SRC: proves that includes point down the layers of SRC/layers.txt.

A file includes headers of its own layer, of base, and of each lower layer only the door
LAYER/LAYER.h. Siblings (one line of layers.txt) do not include each other. No "../".
"""
import pathlib
import re
import sys


def read_layers(src):
    rank = {}
    for level, line in enumerate(
        line for line in (src / "layers.txt").read_text().splitlines() if line and line[0] != "#"
    ):
        for layer in line.split():
            rank[layer] = level
    return rank


def check(src):
    rank = read_layers(src)
    wrong = []
    for folder in sorted(p.name for p in src.iterdir() if p.is_dir()):
        if folder not in rank:
            wrong.append(f"{src}/{folder}: is in no line of layers.txt")
    for path in sorted(src.glob("*/*.[ch]")):
        layer = path.parent.name
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1)
            where = f"{path}:{number}: includes \"{target}\""
            if ".." in target:
                wrong.append(f"{where}: write it from src/ on")
                continue
            other = target.split("/")[0]
            if other not in rank or other == layer or not (src / target).exists():
                continue  # its own layer, or not of src/
            if rank[other] > rank[layer]:
                wrong.append(f"{where}: {other} is above {layer}; take a function pointer")
            elif rank[other] == rank[layer]:
                wrong.append(f"{where}: {other} and {layer} are siblings")
            elif other != "base" and target != f"{other}/{other}.h":
                wrong.append(f"{where}: only the door {other}/{other}.h is open to {layer}")
    return wrong


def main():
    wrong = check(pathlib.Path(sys.argv[1]))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
