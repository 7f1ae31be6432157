#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""text.py: small rules that every source file keeps."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST_FILE = 600   # lines; tests and headers of the public interface may be longer
LONGEST_LINE = 100
CODE = {".c", ".h", ".py", ".sh", ".cmake"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE = re.compile(r"(?<![\w$}])/(work|root|home)/")


def main():
    wrong = []
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True,
                           check=True, capture_output=True).stdout.split()
    for name in files:
        path = ROOT / name
        if path.suffix not in CODE or not path.exists():
            continue
        lines = path.read_text().splitlines()
        if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in lines[:3]):
            wrong.append(f"{name}: has no SPDX line on top")
        if path.suffix in {".c", ".h"} and not name.startswith(("include/", "tests/")) \
                and not name.endswith("_test.c"):
            if len(lines) > LONGEST_FILE:
                wrong.append(f"{name}: {len(lines)} lines; split it")
        is_table = False  # one row a line, whatever its length
        for number, line in enumerate(lines, 1):
            where = f"{name}:{number}"
            if "clang-format off" in line or "clang-format on" in line:
                is_table = "off" in line
            if name == "scripts/lint/text.py":
                continue
            if UNFINISHED.search(line):
                wrong.append(f"{where}: unfinished: {line.strip()[:60]}")
            if MACHINE.search(line):
                wrong.append(f"{where}: a path of somebody's machine")
            if path.suffix in {".c", ".h"} and len(line) > LONGEST_LINE \
                    and not is_table:
                wrong.append(f"{where}: {len(line)} columns")
            if line != line.rstrip():
                wrong.append(f"{where}: trailing blank")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
