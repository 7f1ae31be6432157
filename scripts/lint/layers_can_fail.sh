#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shows that layers.py finds each kind of violation in a small tree made for it.
set -eu
here=$(dirname "$0")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/base" "$tree/left" "$tree/right" "$tree/top"
printf 'base\nleft right\ntop\n' >"$tree/layers.txt"
for header in base/any left/left left/inner right/right top/top; do : >"$tree/$header.h"; done

expect() { # expect STATUS WHAT LAYER INCLUDE
    echo "#include \"$4\"" >"$tree/$3/try.c"
    status=0
    "$here/layers.py" "$tree" >/dev/null || status=$?
    rm "$tree/$3/try.c"
    [ "$status" -eq "$1" ] && return
    echo "layers.py returned $status for: $2"
    exit 1
}
expect 0 "the door of a lower layer" top left/left.h
expect 0 "any header of base" left base/any.h
expect 0 "its own layer" left left/inner.h
expect 1 "a layer above" left top/top.h
expect 1 "a sibling" left right/right.h
expect 1 "another header than the door" top left/inner.h
expect 1 "a relative path" top ../left/left.h
