#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# samples_test.sh SOURCE BUILD: the samples of the collectives, built as users build them, run as
# threads and as processes, and compared with what they must print. So are programs in the way that
# others write them. (mpi_test.sh runs all of them under mpirun.)
set -euo pipefail
# shellcheck source=tests/support/sdk.sh
. "$1/tests/support/sdk.sh" "$1" "$2"
# shellcheck source=tests/support/collective_samples.sh
. "$1/tests/support/collective_samples.sh"

users_build_the_samples_with_cmake() {
    build_collective_samples
}

every_sample_is_tested_and_on_the_page() {
    local name
    for name in "$source_dir"/examples/07_collectives/*.c; do
        name=$(basename "$name" .c)
        [ "$name" != sample ] || continue
        [[ " ${samples[*]} " == *" $name "* ]] || fail "$name is not tested"
        grep -qF "[$name.c]($name.c)" "$source_dir/examples/07_collectives/README.md" ||
            fail "$name is not on the page"
    done
}

as_threads() { # RANKS
    local name
    for name in "${samples[@]}"; do
        must env HCOMM_DEVICE_COUNT="$1" "$samples_dir/$name"
        printed_text_of "$name" "$1" "$1"
    done
}
as_processes() { # RANKS [OPTION...]
    local name ranks=$1
    shift
    for name in "${samples[@]}"; do
        must hcomm run -n "$ranks" --no-prefix "$@" -- "$samples_dir/$name"
        printed_text_of "$name" "$ranks" 8 sort
    done
}

eight_three_and_one_threads_print_the_right_text() {
    as_threads 8
    as_threads 3
    as_threads 1
}

eight_three_and_one_processes_print_the_right_text() {
    as_processes 8
    as_processes 3
    as_processes 1
}

processes_of_several_threads_print_the_right_text() {
    as_processes 6 --devices-per-process 3
}

the_text_is_the_same_with_every_engine_and_algorithm() {
    local engine algo
    for engine in aicpu cpu_ts; do
        export HCOMM_COLL_ENGINE=$engine
        for algo in mesh ring hd tree two-phase; do
            HCOMM_COLL_ALGO=$algo as_threads 5
            HCOMM_COLL_ALGO=$algo as_processes 4
        done
    done
    unset HCOMM_COLL_ENGINE
}

# Preloaded, it takes the place of the operations.
every_sample_notices_operations_that_do_nothing() {
    local name status
    must cc -std=c11 -Wall -Wextra -Werror -fPIC -shared "$source_dir/tests/programs/idle/idle.c" \
        -o idle.so
    must cc -std=c11 -Wall -Wextra -Werror -fPIC -shared "$source_dir/tests/programs/idle/idle.c" \
        -DBARRIER_ONLY -o idle_barrier.so
    for name in "${samples[@]}"; do
        local library=idle.so
        [ "$name" != barrier ] || library=idle_barrier.so
        status=0
        LD_PRELOAD="$scratch/$library" timeout 60 "$samples_dir/$name" >out 2>err || status=$?
        [ "$status" -eq 1 ] || fail "$name leaves with $status"
        grep -q "where it should have" err || fail "$name does not say what is wrong"
    done
}

# The flags of programs for the original stack.
# shellcheck disable=SC2054
program_flags=(-std=c++14 -D_GLIBCXX_USE_CXX11_ABI=0 -Wall -Wextra -Werror -O2
    -fstack-protector-strong -fPIE -pie -Wl,-z,relro -Wl,-z,now)

programs_with_a_thread_a_device_print_the_right_text() {
    local name how devices
    must g++ "${program_flags[@]}" "$source_dir/tests/programs/threaded/main.cc" -o threaded \
        -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" -lhccl -lascendcl -lpthread
    for devices in 8 3 1; do
        for name in all_reduce broadcast reduce all_gather reduce_scatter scatter all_to_all \
            all_to_all_v all_to_all_vc send_recv batch_send_recv; do
            must env HCOMM_DEVICE_COUNT=$devices ./threaded $name root
            printed_text_of $name $devices $devices sort
        done
        for how in all config; do
            must env HCOMM_DEVICE_COUNT=$devices ./threaded all_reduce $how
            printed_text_of all_reduce $devices $devices sort
        done
    done
}

claims users_build_the_samples_with_cmake every_sample_is_tested_and_on_the_page \
    eight_three_and_one_threads_print_the_right_text \
    eight_three_and_one_processes_print_the_right_text \
    processes_of_several_threads_print_the_right_text \
    the_text_is_the_same_with_every_engine_and_algorithm \
    every_sample_notices_operations_that_do_nothing \
    programs_with_a_thread_a_device_print_the_right_text
