#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# npu-smi and hcomm package as scripts use them: npu_smi_test.sh NPU_SMI HCOMM
set -u
smi=$1
hcomm=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export ASCEND_HOME_PATH="$dir"
unset ASCEND_RT_VISIBLE_DEVICES HCOMM_DEVICE_COUNT HCOMM_SOC_NAME
failures=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# claim COMMAND...: it must succeed
good() {
    claim=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err" || fail "$claim: $(cat "$dir/err")"
}

# claim COMMAND...: it must fail, with a message
bad() {
    claim=$1
    shift
    if "$@" >"$dir/out" 2>"$dir/err"; then fail "$claim: it succeeded"; fi
    [ -s "$dir/err" ] || fail "$claim: it said nothing"
}

has() {
    grep -q -e "$1" "$dir/out" || fail "output lacks $1"
}

# The name of the first NPU, the way a parser of the table finds it.
first_name() {
    sed -n '/NPU  *Name/,$p' "$dir/out" | cut -d'|' -f2 | awk '$1 ~ /^[0-9]/ && $2 != "" {print $2; exit}'
}

good "the table is printed" "$smi" info
has '^| npu-smi .*Version: '
[ "$(first_name)" = 910B3 ] || fail "first name is $(first_name)"
[ "$(grep -c '^|.* 0000:[0-9A-F][0-9A-F]:[0-9A-F][0-9A-F]\.0 ' "$dir/out")" = 8 ] || fail "8 bus ids"
HCOMM_SOC_NAME=Ascend910_9391 "$smi" info >"$dir/out"
[ "$(first_name)" = Ascend910 ] || fail "first name on A3 is $(first_name)"
good "NPUs are listed" "$smi" info -l
has 'Total Count  *: 8'
good "the mapping is printed" "$smi" info -m
has 'NPU ID .*Chip ID .*Chip Name'
good "the board tells the SoC" "$smi" info -t board
has 'Ascend910B3'
good "memory is told" "$smi" info -t memory -i 0 -c 0
has 'HBM Capacity(MB)  *: 16384'
good "the topology is printed" "$smi" info -t topo
has 'NPU0 .*NPU7'
bad "an unknown type is refused" "$smi" info -t nothing
bad "an unknown command is refused" "$smi" destroy
bad "no command is refused" "$smi"

for npu in 0 1 2 3 4 5 6 7; do # at once: none of them may be lost
    "$smi" set -t custom-op-secverify-enable -i $npu -d 1 >"$dir/out.$npu" &
done
wait
good "the mode is set" "$smi" set -t custom-op-secverify-mode -i 3 -d 0
has 'OK'
[ "$(grep -c '"enable": 1' "$dir/conf/hcomm-secverify.json")" = 8 ] || fail "a parallel set was lost"
good "hcomm sees it" "$hcomm" info
has 'on for 7 of 8 devices'
bad "an unknown setting is refused" "$smi" set -t custom -i 0 -d 1
bad "the id is needed" "$smi" set -t custom-op-secverify-mode -d 1
bad "the value is needed" "$smi" set -t custom-op-secverify-mode -i 0
bad "the id must be there" "$smi" set -t custom-op-secverify-mode -i 8 -d 1
bad "the id must be a number" "$smi" set -t custom-op-secverify-mode -i one -d 1
bad "the value must be 0 or 1" "$smi" set -t custom-op-secverify-mode -i 0 -d 7

kernel="$dir/opp/vendors/v/aicpu/kernel"
mkdir -p "$kernel" "$dir/aicpu_kernels_device"
echo code >"$dir/aicpu_kernels_device/a.so"
tar -czf "$kernel/k.tar.gz" -C "$dir" aicpu_kernels_device
bad "an unsigned package does not verify" "$hcomm" package verify /none
good "a package is signed" "$hcomm" package sign "$kernel/k.tar.gz"
good "a signed package verifies" "$hcomm" package verify "$kernel/k.tar.gz"
good "a signed package unpacks" tar -xzf "$kernel/k.tar.gz" -C "$dir" --strip-components=1
[ ! -s "$dir/err" ] || fail "unpacking complained: $(cat "$dir/err")"
good "a package is allowed" "$hcomm" package allow "$kernel/k.tar.gz"
good "it is listed" "$hcomm" package list
has 'opp/vendors/v/aicpu/kernel/k.tar.gz: signed'
good "it is forbidden" "$hcomm" package forbid k.tar.gz
bad "but only once" "$hcomm" package forbid k.tar.gz
bad "a file elsewhere needs a path" "$hcomm" package allow /etc/passwd
good "the knobs are listed" "$hcomm" config
has 'HCOMM_DEVICE_COUNT'
good "the knobs are a page" "$hcomm" config --markdown
has '^| DEVICE_COUNT | `HCOMM_DEVICE_COUNT` | number | `8` |'
good "the transports are told" env HCOMM_FOREIGN=bounce "$hcomm" info
has '^transports  *loop shm$'
has '^foreign memory  *a bounce buffer'
good "the version is told" "$hcomm" version
bad "an unknown command is refused" "$hcomm" nothing

[ "$failures" = 0 ] && echo passed
exit $((failures > 0))
