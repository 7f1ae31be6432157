# SPDX-License-Identifier: BSD-3-Clause
# sdk.sh: for test scripts in bash that run programs in an SDK of their own. Sourced with the arguments
# SOURCE BUILD; leaves the caller in a scratch directory, with the SDK's variables set.
# shellcheck shell=bash
source_dir=$1
build_dir=$2
unset "${!ASCEND_@}" "${!HCCL_@}" "${!HCOMM_@}"
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH MAKEFLAGS MAKELEVEL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

claim="the SDK is made"
fail() {
    echo "FAILED: $claim: $*" >&2
    sed 's/^/    out: /' out >&2
    sed 's/^/    err: /' err >&2
    exit 1
}
must() { # COMMAND...: its output is in out and err
    timeout 120 "$@" >out 2>err </dev/null || fail "status $?: $*"
}
# claims NAME...: runs functions, whose names are what they claim
claims() {
    local name
    for name in "$@"; do
        claim=${name//_/ }
        "$name"
        echo "ok: $claim ($SECONDS s)"
    done
}

must cmake --install "$build_dir" --prefix "$scratch/sdk"
. "$scratch/sdk/set_env.sh"
export HCCL_SOCKET_IFNAME="=lo" # tests talk to this machine's loopback only

# The sample operator and its program, as $sample.
install_sample() {
    claim="the sample is made"
    cp -r "$source_dir/build.sh" "$source_dir/examples" .
    rm -f examples/04_custom_ops_p2p/testcase/p2p_test
    must bash build.sh --vendor=cust --ops=p2p --custom_ops_path=./examples/04_custom_ops_p2p
    must "./build_out/cann-hccl_custom_p2p_linux-$(uname -m).run" --install --quiet
    must make -C examples/04_custom_ops_p2p/testcase
    sample=$scratch/examples/04_custom_ops_p2p/testcase/p2p_test
    export LD_LIBRARY_PATH="$ASCEND_OPP_PATH/vendors/cust/lib64:$LD_LIBRARY_PATH"
}
# What the sample printed is what RANKS ranks print, in any order.
sample_prints() { # RANKS
    local rank
    {
        echo "Found 8 NPU device(s) available"
        for ((rank = 1; rank < $1; rank += 2)); do
            echo "rankId: $rank, output: [$(printf " $((rank - 1))%.0s" 1 2 3 4 5 6 7 8) ]"
        done
    } | sort | cmp -s - <(sort out) || fail "the sample prints something else"
}
