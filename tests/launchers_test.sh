#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# launchers_test.sh SOURCE BUILD: the sample in one process and spread over several, however they are
# started. MPI has a test of its own.
set -euo pipefail
# shellcheck source=tests/support/sdk.sh
. "$1/tests/support/sdk.sh" "$1" "$2"

the_sample_runs_in_one_process() {
    must "$sample"
    sample_prints 8
    head -1 out | grep -q '^Found' || fail "the order is another"
}

hcomm_run_spreads_the_sample_in_any_mix() {
    local k
    for k in 1 2 4 8; do
        must hcomm run -n 8 --devices-per-process "$k" --no-prefix -- "$sample" 1
        sample_prints 8
    done
    must hcomm run -n 3 --no-prefix -- "$sample" # the last has no partner
    sample_prints 2
    HCOMM_DEVICE_COUNT=3 must "$sample"
    sed 's/^Found 3/Found 8/' out >sorted && mv sorted out
    sample_prints 2
}

# By hand: each process is told by variables of its own.
two_processes_may_be_started_by_hand() {
    local i
    export HCOMM_JOB_PROCESSES=2 HCOMM_JOB_LOCAL_PROCESSES=2 HCOMM_JOB_ID="by hand $$"
    for i in 1 0; do
        HCOMM_JOB_PROCESS=$i HCOMM_JOB_LOCAL_PROCESS=$i timeout 60 "$sample" >"out$i" 2>err &
    done
    for i in 1 2; do wait -n || fail "status $?"; done
    cat out0 out1 >out
    sample_prints 2
    unset "${!HCOMM_JOB_@}"
}

# What torchrun and srun set, without them.
workers_of_torchrun_and_tasks_of_slurm_are_recognised() {
    local i
    for i in 1 0; do
        env TORCHELASTIC_RUN_ID=none MASTER_PORT=$((20000 + $$ % 10000)) RANK=$i WORLD_SIZE=2 \
            LOCAL_RANK=$i LOCAL_WORLD_SIZE=2 timeout 60 "$sample" >"out$i" 2>err &
    done
    for i in 1 2; do wait -n || fail "status $?"; done
    cat out0 out1 >out
    sample_prints 2
    for i in 1 0; do
        env SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_PROCID=$i SLURM_NTASKS=2 SLURM_LOCALID=$i \
            SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=2 timeout 60 "$sample" >"out$i" 2>err &
    done
    for i in 1 2; do wait -n || fail "status $?"; done
    cat out0 out1 >out
    sample_prints 2
}

the_program_of_the_page_runs() {
    sed -n '/^```c$/,/^```$/p' "$source_dir/docs/launching.md" | sed '/^```/d' >page.c
    must cc -std=c11 -Wall -Wextra -Werror page.c -I"$ASCEND_HOME_PATH/include" \
        -L"$ASCEND_HOME_PATH/lib64" -lhcomm -o page
    must ./page
    [ "$(cat out)" = "rank 0 of 1, started by none" ] || fail "it prints something else"
    must hcomm run -n 10 --no-prefix -- ./page # more than there are devices
    printf 'rank %d of 10, started by hcomm run\n' 0 1 2 3 4 5 6 7 8 9 | cmp -s - <(sort out) ||
        fail "it prints something else"
}

claims the_program_of_the_page_runs
install_sample
claims the_sample_runs_in_one_process hcomm_run_spreads_the_sample_in_any_mix \
    two_processes_may_be_started_by_hand workers_of_torchrun_and_tasks_of_slurm_are_recognised
