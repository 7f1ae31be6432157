#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_test.sh SOURCE BUILD openmpi|mpich: ranks that an MPI started, with MPI in the program and
# without. Leaves with 77 when that MPI is not installed.
set -euo pipefail
mpi=$3
if ! command -v "mpirun.$mpi" >/dev/null || ! command -v "mpicc.$mpi" >/dev/null; then
    echo "skipped: mpirun.$mpi or mpicc.$mpi is not installed"
    exit 77
fi
# shellcheck source=tests/support/sdk.sh
. "$1/tests/support/sdk.sh" "$1" "$2"

# Version 4 and version 5 say it in different words.
loopback=(--mca btl self,sm --prtemca if_include lo)
if [ "$mpi" = openmpi ] && mpirun.openmpi --version | grep -q ' 4\.'; then
    loopback=(--mca btl self,vader --mca oob_tcp_if_include lo)
fi

# start N COMMAND...: under mpirun, which talks over loopback only
start() {
    local num=$1
    shift
    case $mpi in
    openmpi)
        must env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi \
            --oversubscribe --mca pml ob1 "${loopback[@]}" -n "$num" "$@"
        ;;
    mpich) must mpirun.mpich -iface lo -n "$num" "$@" ;;
    esac
}

the_sample_runs_one_rank_a_process() {
    start 2 "$sample"
    sample_prints 2
    start 4 "$sample"
    sample_prints 4
}

the_sample_runs_four_ranks_a_process() {
    HCOMM_JOB_RANKS_PER_PROCESS=4 start 2 "$sample"
    sample_prints 8
}

a_wrapper_between_mpirun_and_the_program_does_no_harm() {
    # shellcheck disable=SC2016
    start 2 sh -c 'sh -c "$0; :"; :' "$sample"
    sample_prints 2
}

jobs_of_the_same_user_do_not_meet() {
    local i
    for i in 1 2 3; do
        (
            mkdir "job$i"
            cd "job$i"
            start 2 "$sample"
            sample_prints 2
        ) &
    done
    for i in 1 2 3; do wait -n || fail "one of three jobs at once failed"; done
}

a_program_that_broadcasts_its_root_info_runs() {
    must "mpicc.$mpi" -std=c11 -O2 -Wall -I"$ASCEND_HOME_PATH/include" \
        "$source_dir/tests/mpi/ring.c" -o ring -L"$ASCEND_HOME_PATH/lib64" -lhcomm
    local num
    for num in 2 4; do
        start "$num" ./ring
        [ "$(cat out)" = "$num ranks, 0 words wrong" ] || fail "it prints something else"
    done
}

# shellcheck source=tests/support/collective_samples.sh
. "$source_dir/tests/support/collective_samples.sh"

the_samples_of_collectives_print_the_right_text() {
    local name
    build_collective_samples
    for name in "${samples[@]}"; do
        start 3 "$samples_dir/$name"
        printed_text_of "$name" 3 8 sort
    done
    for name in all_reduce all_to_all_v sub_communicator; do
        start 8 "$samples_dir/$name"
        printed_text_of "$name" 8 8 sort
        HCOMM_JOB_RANKS_PER_PROCESS=3 start 2 "$samples_dir/$name"
        printed_text_of "$name" 6 8 sort
    done
}

# bench RANKS LINES ARGUMENT...: the table has so many lines, and all are right
bench() {
    local ranks=$1 lines=$2
    shift 2
    start "$ranks" ./mpi_bench -n 2 -w 1 "$@"
    grep -q '^data_size(Bytes) *| avg_time(us) *| alg_bandwidth(GB/s) *| check_result$' out ||
        fail "it has no head: $*"
    [ "$(grep -c '^[0-9]* *| [0-9.]* *| [0-9.]* *| success$' out)" -eq "$lines" ] ||
        fail "not $lines lines are right: $*"
    [ "$(wc -l <out)" -eq $((lines + 1)) ] || fail "it prints more: $*"
}

a_benchmark_finds_every_collective_right() {
    local name type op
    must "mpicxx.$mpi" -std=c++14 -O2 -Wall -Werror "$source_dir"/tests/programs/mpi_bench/*.cc \
        -o mpi_bench -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" -lhccl -lascendcl
    for name in all_reduce reduce broadcast reduce_scatter reduce_scatter_v scatter all_gather \
        all_gather_v all_to_all all_to_all_v all_to_all_vc; do
        bench 4 3 -o "$name" -b 1024 -e 4194304 -f 64 -s 2
        bench 3 1 -o "$name" -b 40000 -e 40000 -d int8 -s 1
    done
    for type in int8 int16 int32 int64 uint64 fp16 fp32 fp64 bfp16; do
        bench 2 1 -o all_reduce -b 65536 -e 65536 -d "$type"
    done
    for op in prod max min; do bench 3 1 -o reduce_scatter -b 65536 -e 65536 -r "$op"; done
    bench 2 1 -o all_gather -b 65536 -e 65536 -d uint16
    bench 8 2 -o all_reduce -b 8 -e 1024 -f 128 -p 8
}

it_finds_operations_that_do_nothing_wrong() {
    must cc -std=c11 -fPIC -shared "$source_dir/tests/programs/idle/idle.c" -o idle.so
    if (start 2 env LD_PRELOAD="$scratch/idle.so" ./mpi_bench -b 64 -e 64) 2>/dev/null; then
        fail "it leaves with 0"
    fi
    grep -q '| failed$' out || fail "its table says nothing is wrong"
}

a_benchmark_uses_mapped_memory_and_the_profiler() {
    bench 2 2 -o all_reduce -b 4096 -e 1048576 -f 256 -z
    bench 2 1 -o all_to_all -b 4096 -e 4096 -t
}

claims a_program_that_broadcasts_its_root_info_runs \
    the_samples_of_collectives_print_the_right_text a_benchmark_finds_every_collective_right \
    it_finds_operations_that_do_nothing_wrong a_benchmark_uses_mapped_memory_and_the_profiler
install_sample
claims the_sample_runs_one_rank_a_process the_sample_runs_four_ranks_a_process \
    a_wrapper_between_mpirun_and_the_program_does_no_harm jobs_of_the_same_user_do_not_meet
