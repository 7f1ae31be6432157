#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh SDK: builds the sample operator's package, installs it into SDK, builds the sample program
# and runs it. Only the program writes to the terminal; the rest is in build/demo.log.
set -euo pipefail

here=$(CDPATH='' cd "$(dirname "$0")/.." && pwd -P)
sample=examples/04_custom_ops_p2p
log=$here/build/demo.log
cd "$here"
mkdir -p build
unset ASCEND_CUSTOM_OPP_PATH MAKEFLAGS MAKELEVEL
# shellcheck disable=SC1091
. "$1/set_env.sh"
vendor=$ASCEND_OPP_PATH/vendors/cust

prepare() {
    bash build.sh --vendor=cust --ops=p2p --custom_ops_path=./$sample
    "build_out/cann-hccl_custom_p2p_linux-$(uname -m).run" --install --quiet
    make -C $sample/testcase clean all
}

# Nothing to prepare when the program is newer than all that it was made of.
is_current() {
    [ -f "$vendor/lib64/libhccl_custom_p2p.so" ] && [ -f $sample/testcase/p2p_test ] &&
        cmp -s build/demo.sdk <(echo "$ASCEND_HOME_PATH") &&
        [ -z "$(find $sample build.sh scripts/custom "$ASCEND_HOME_PATH/lib64" \
            "$ASCEND_HOME_PATH/include" -type f -newer $sample/testcase/p2p_test -print -quit)" ]
}

if ! is_current; then
    prepare >"$log" 2>&1 || {
        cat "$log" >&2
        echo "demo: the sample could not be built; the output is above and in build/demo.log" >&2
        exit 1
    }
    echo "$ASCEND_HOME_PATH" >build/demo.sdk
fi
exec make -s --no-print-directory -C $sample/testcase test
