#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# programs_test.sh SOURCE BUILD: programs written for the original stack, compiled with its flags
# against an installed prefix, and run.
set -euo pipefail

programs=$(realpath "$1/tests/programs")
build_dir=$(realpath "$2")
unset "${!ASCEND_@}" "${!HCCL_@}" "${!HCOMM_@}"
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH MAKEFLAGS MAKELEVEL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sdk=$scratch/sdk
cmake --install "$build_dir" --prefix "$sdk" >/dev/null
# shellcheck disable=SC1091
. "$sdk/set_env.sh"
cd "$scratch"

# The flags of the original's test programs, and of a library that is stricter.
# shellcheck disable=SC2054
sample=(-std=c++14 -Werror -fstack-protector-strong -fPIE -pie -O2 -s -Wl,-z,relro -Wl,-z,now
    -Wl,-z,noexecstack -Wl,--copy-dt-needed-entries)
strict=(-std=c++17 -Wall -Wextra -Wfloat-equal -Werror -O2)
host=(-D_GLIBCXX_USE_CXX11_ABI=0 -I"$sdk/include" -I"$sdk/include/hccl" -L"$sdk/lib64")

claim=
fail() {
    echo "FAILED: $claim: $*" >&2
    [ ! -s out ] || sed 's/^/    /' out >&2
    exit 1
}
must() {
    timeout 120 "$@" >out 2>&1 </dev/null || fail "$* failed"
}
count() { # how many lines of the output have this
    grep -cF -- "$1" out || true
}

build_mesh() {
    must g++ -std=c++17 -Wall -Wextra -Werror -g -O0 -fPIC -shared "$programs/mesh/kernel.cc" \
        -o libmesh_kernel.so -I"$sdk/include" -I"$sdk/include/hccl" -L"$sdk/devlib/device" \
        -lccl_kernel
    must hcomm package sign "$scratch/libmesh_kernel.so"
    cp "$programs/mesh/libmesh_kernel.json" .
    must g++ "${sample[@]}" "${host[@]}" -Wall -Wextra "$programs/mesh/main.cc" -o mesh -lascendcl \
        -lhcomm
}

a_kernel_finds_its_arguments_its_threads_and_its_own_variables() {
    build_mesh
    for soc in Ascend910B3 Ascend910_9391 Ascend950PR_9599; do
        must env HCOMM_SOC_NAME=$soc ./mesh "$scratch/libmesh_kernel.json"
        [ ! -s out ] || fail "$soc: not silent"
    done
    must env HCOMM_DEVICE_COUNT=16 ./mesh libmesh_kernel.json
}

uninitialised_handles_fail_the_kernel_and_nothing_else() {
    must env HCOMM_DEVICE_COUNT=2 ./mesh libmesh_kernel.json garbage
    [ "$(count "thread handle 0xcdcdcdcdcdcdcdcd is not a live thread")" -eq 2 ] ||
        fail "not one line a rank"
}

two_sides_write_read_and_notify_without_a_communicator() {
    must g++ "${strict[@]}" "${host[@]}" "$programs/one_sided/main.cc" -o one_sided -lacl_rt -lhcomm
    must ./one_sided
    [ "$(count "are not inside")" -eq 8 ] || fail "what leaves a region is not said once"
    [ "$(wc -l <out)" -eq 8 ] || fail "something else is said"
}

a_vendors_libhccl_works_on_libhcomm() {
    mkdir vendor
    must g++ "${strict[@]}" "${host[@]}" -I"$sdk/pkg_inc/base" -fPIC -shared \
        "$programs/vendor/reduce_scatter.cc" -o vendor/libhccl.so -lhcomm -lunified_dlog
    for position in "-fPIE -pie" "-fno-pie -no-pie"; do
        # shellcheck disable=SC2086
        must g++ "${strict[@]}" $position -Lvendor "${host[@]}" "$programs/vendor/main.cc" \
            -o vendor_main -lhccl -lacl_rt -ldl
        must env LD_LIBRARY_PATH="$scratch/vendor:$LD_LIBRARY_PATH" ./vendor_main
        [ "$(count "[WARN]")" -eq 1 ] || fail "a notify recorded twice is not said once"
        [ "$(wc -l <out)" -eq 1 ] || fail "something else is said"
    done
}

run() {
    claim=${1//_/ }
    "$1"
    echo "ok: $claim ($SECONDS s)"
}

run a_kernel_finds_its_arguments_its_threads_and_its_own_variables
run uninitialised_handles_fail_the_kernel_and_nothing_else
run two_sides_write_read_and_notify_without_a_communicator
run a_vendors_libhccl_works_on_libhcomm
