#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh BUILD: runs the benchmarks; tables on stdout, JSON beside the build.
set -eu
build=$1
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -p "$home/conf"
# The benchmark's kernel is a bare file: an installation of its own, with verification off.
export ASCEND_HOME_PATH="$home"
for what in enable mode; do
    value=1
    [ "$what" = mode ] && value=0
    "$build/tools/npu-smi" set -t "custom-op-secverify-$what" -i 0 -d "$value" >/dev/null
done
"$build/bench/runtime_bench"
"$build/bench/runtime_bench" --json >"$build/bench.json"
"$build/bench/process_bench"
"$build/bench/process_bench" --json >"$build/process_bench.json"
echo "JSON: $build/bench.json, $build/process_bench.json"
