#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exports.py BUILD [--write]: the public prototypes, the version maps and the libraries agree.

Functions declared in include/hccl/hccl.h belong to libhccl, all others to libhcomm. --write makes
the maps from the prototypes.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"

# Functions of C++ headers are known by their mangled names (base/err_msg.h declares them).
CPP_SYMBOLS = {
    "_ZN13error_message17ReportInnerErrMsgEPKcS1_jS1_S1_z",
    "_ZN13error_message22ReportPredefinedErrMsgEPKc",
    "_ZN13error_message22ReportPredefinedErrMsgEPKcRKSt6vectorIS1_SaIS1_EES6_",
    "_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z",
    "_ZN13error_message26RegisterFormatErrorMessageEPKcm",
}


def prototypes():
    """Name -> header (relative to include/) of every extern function of the C headers."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for header in sorted(INCLUDE.rglob("*.h")):
            name = header.relative_to(INCLUDE)
            info = pathlib.Path(scratch) / "info"
            result = subprocess.run(
                ["gcc", "-std=c11", "-I", str(INCLUDE), "-aux-info", str(info), "-x", "c",
                 "-o", "/dev/null", "-S", "-"],
                input=f'#include "{name}"\n', text=True, capture_output=True)
            if result.returncode != 0:
                continue  # a C++ header; headers.sh checks those
            for line in info.read_text().splitlines():
                match = re.match(r"/\* (\S+?):\d+:\S+ \*/ extern .*?\b(\w+) \(", line)
                if not match:
                    continue
                where = pathlib.Path(match.group(1))
                if where.is_absolute() and INCLUDE in where.parents:
                    found.setdefault(match.group(2), str(where.relative_to(INCLUDE)))
    return found


def map_names(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    body = text[text.index("global:") + 7:text.index("local:")]
    return {name.strip() for name in body.split(";") if name.strip()}


def library_names(path):
    out = subprocess.run(["nm", "-D", "--defined-only", str(path)], text=True, check=True,
                         capture_output=True).stdout
    return {line.split()[2].split("@")[0] for line in out.splitlines() if line.split()[1] in "TWVi"}


def write_map(path, names):
    lines = "\n".join(f"        {name};" for name in sorted(names))
    path.write_text("/* SPDX-License-Identifier: BSD-3-Clause */\n"
                    "/* What the library exports: the functions of the public headers. No version is\n"
                    " * attached: programs expect the original stack's plain symbols. */\n"
                    f"{{\n    global:\n{lines}\n    local:\n        *;\n}};\n")


def main():
    build = pathlib.Path(sys.argv[1])
    found = prototypes()
    want = {
        "hccl": {name for name, where in found.items() if where == "hccl/hccl.h"},
        "hcomm": {name for name, where in found.items() if where != "hccl/hccl.h"} | CPP_SYMBOLS,
    }
    wrong = 0
    for library, names in want.items():
        path = ROOT / "src" / f"lib{library}.map"
        if "--write" in sys.argv:
            write_map(path, names)
        for label, have in (("src/" + path.name, map_names(path)),
                            (f"lib{library}.so", None if "--write" in sys.argv else
                             library_names(build / "src" / f"lib{library}.so"))):
            if have is None:
                continue
            for name in sorted(names - have):
                print(f"{label}: {name} is missing ({found.get(name, 'C++ header')} declares it)")
            for name in sorted(have - names):
                print(f"{label}: {name} is there, but no public header declares it")
            wrong += len(names ^ have)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
