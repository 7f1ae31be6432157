#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh BUILD: every lint; prints what is wrong and fails.
set -u
cd "$(dirname "$0")/.."
build=$1
failed=0
run() {
    echo "lint: $1"
    shift
    "$@" || failed=1
}
run "includes point down the layers" scripts/lint/layers.py src
run "the layer lint can fail" scripts/lint/layers_can_fail.sh
run "prototypes, maps and libraries agree" scripts/lint/exports.py "$build"
run "each header compiles alone, as C11 and as C++14" scripts/lint/headers.sh
run "sources are in order" scripts/lint/text.py
run "the tour leads somewhere" scripts/lint/tour.py docs/tour.md
run "docs/coverage.md lists what the code has" scripts/lint/coverage_doc.py
run "docs/knobs.md is what the table says" sh -c "'$build/tools/hcomm' config --markdown | diff docs/knobs.md -"
[ "$failed" -eq 0 ] && echo "lint: all good"
exit "$failed"
