#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tour.py TOUR: each stop of the tour, written `path:function`, exists, and each stop names the next.

A stop is a heading "## N. `src/layer/file.c:function`". The function must be defined in the file.
The body of stop N must call, by name, the function of stop N+1, unless the tour says between
them how control passes ("queued", "ops table", "woken").
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSES = re.compile(r"\b(queued|ops table|woken)\b")


def body_of(path, function):
    text = path.read_text()
    match = re.search(rf"^{re.escape(function)}\(", text, flags=re.M)
    if not match:
        return None
    end = re.search(r"^}", text[match.start():], flags=re.M)
    return text[match.start():match.start() + (end.end() if end else 0)]


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    stops = [(m.group(1), m.group(2), m.end()) for m in
             re.finditer(r"^## \d+\. `([^`:]+):(\w+)`", text, flags=re.M)]
    wrong = []
    if not 5 <= len(stops) <= 7:
        wrong.append(f"{len(stops)} stops; from the call to the bytes it must be five to seven")
    for here, (name, function, at) in enumerate(stops):
        path = ROOT / name
        body = body_of(path, function) if path.exists() else None
        if body is None:
            wrong.append(f"stop {here + 1}: {name} does not define {function}")
            continue
        if here + 1 == len(stops):
            continue
        following, until = stops[here + 1][1], stops[here + 1][2]
        if not re.search(rf"\b{following}\b", body) and not PASSES.search(text[at:until]):
            wrong.append(f"stop {here + 1}: {function} does not call {following}")
    for line in wrong:
        print(f"{sys.argv[1]}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
