#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run_one_test.sh DIRECTORY NAME: runs the test program NAME, or the one TEST() called NAME.
set -eu
dir=$1
name=$2
if [ -x "$dir/$name" ]; then
    exec "$dir/$name"
fi
for program in "$dir"/*_test; do
    if "$program" --list 2>/dev/null | grep -qx "$name"; then
        exec "$program" "$name"
    fi
done
echo "no test is called $name; they are:" >&2
for program in "$dir"/*_test; do
    "$program" --list 2>/dev/null | sed "s|^|  $(basename "$program"): |" >&2
done
exit 1
