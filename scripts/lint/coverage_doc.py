#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""coverage_doc.py [--list | --write]: docs/coverage.md lists the functions as the code has them.

Without an argument: says where the lists and the code differ. --list prints the functions that
answer "not supported"; --write makes both lists anew and leaves the text around them.
"""
import pathlib
import re
import sys

from exports import prototypes

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "coverage.md"
MACRO = re.compile(r"^UNSUPPORTED(?:_POINTER\([^,]+, *|\()(\w+), *\(", re.M)
CALL = re.compile(r"\b(?:rt|comm)_unsupported\(\"(\w+)\"\)")
START, END = "<!-- {} begin -->\n", "<!-- {} end -->"


def unsupported():
    names = set()
    for path in (ROOT / "src").glob("*/api_*.c"):
        text = path.read_text()
        names |= set(MACRO.findall(text)) | set(CALL.findall(text))
    return names


def by_header(names, where):
    groups = {}
    for name in sorted(names):
        header = re.sub(r"[^/]+/\.\./", "", where.get(name, "no header"))
        groups.setdefault(header, []).append(f"`{name}`")
    return "".join(f"\n`{header}` ({len(group)}): {', '.join(group)}\n"
                   for header, group in sorted(groups.items()))


def split(text, label):
    """What is before, in and after the list called `label`."""
    before, rest = text.split(START.format(label))
    inside, after = rest.split(END.format(label))
    return before + START.format(label), inside, END.format(label) + after


def main():
    missing = unsupported()
    if "--list" in sys.argv:
        print("\n".join(sorted(missing)))
        return 0
    where = prototypes()
    lists = {"not supported": missing, "supported": set(where) - missing}
    text, wrong = PAGE.read_text(), 0
    for label, names in lists.items():
        before, inside, after = split(text, label)
        listed = set(re.findall(r"`(\w+)`", inside))
        if "--write" in sys.argv:
            text = before + by_header(names, where) + "\n" + after
            continue
        for name in sorted(names ^ listed):
            print(f"docs/coverage.md: {name} is {'missing from' if name in names else 'wrongly in'}"
                  f" the list \"{label}\"; run scripts/lint/coverage_doc.py --write")
            wrong = 1
    if "--write" in sys.argv:
        PAGE.write_text(text)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
