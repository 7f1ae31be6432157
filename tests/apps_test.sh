#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# apps_test.sh SOURCE BUILD: the applications in examples/, built as users build them and run in any
# mix of processes and threads; and the page on point to point, with its programs.
set -euo pipefail
# shellcheck source=tests/support/sdk.sh
. "$1/tests/support/sdk.sh" "$1" "$2"
page=$source_dir/docs/point-to-point.md
header=$source_dir/include/hcomm/hcomm_p2p.h

says() { # TEXT: in what was printed
    grep -qF -- "$1" out || fail "no word of: $1"
}
prints() { # LINE...: these, and nothing on stderr
    printf '%s\n' "$@" | cmp -s - out || fail "it prints something else"
    [ ! -s err ] || fail "something is said on stderr"
}
# refused TEXT RANKS COMMAND...: status 2 and one line
refused() {
    local want=$1 ranks=$2 status=0
    shift 2
    timeout 60 hcomm run -n "$ranks" --no-prefix -- "$@" >out 2>err </dev/null || status=$?
    [ "$status" -eq 2 ] || fail "status $status: $*"
    [ "$(grep -vc '^hcomm run: ' err)" -eq 1 ] || fail "not one line"
    grep -qF -- "$want" err || fail "no word of: $want"
    [ ! -s out ] || fail "it printed something"
}

# ---- the page ----

# Every block of C on the page is a program; the last name in backquotes before it is its own.
write_the_programs() {
    awk '/^```c$/ { file = name; next }
         /^```$/ { file = ""; next }
         file != "" { print > file; next }
         match($0, /`[a-z_]+\.[ch]`/) { name = substr($0, RSTART + 1, RLENGTH - 2) }' "$page"
}
# What the page says that PROGRAM prints: the indented lines after its block.
printed_on_the_page() { # PROGRAM
    awk -v name="$1.c" 'match($0, /`[a-z_]+\.[ch]`/) { last = substr($0, RSTART + 1, RLENGTH - 2) }
         /^## / || /^```c$/ { after = 0 }
         /^```$/ { after = last == name }
         after && /^    / { print substr($0, 5) }' "$page"
}

the_programs_of_the_page_print_what_it_says() {
    local name
    mkdir page && cd page
    write_the_programs
    [ "$(find . -name '*.[ch]' | wc -l)" -eq "$(grep -c '^```c$' "$page")" ] || fail "some have no name"
    for name in first squares exchange queued; do
        must cc -std=c11 -Wall -Wextra -Werror "$name.c" -I"$ASCEND_HOME_PATH/include" \
            -L"$ASCEND_HOME_PATH/lib64" -lhcomm -o "$name"
        case $name in first | queued) ranks=2 ;; *) ranks=4 ;; esac
        must hcomm run -n "$ranks" -- "./$name"
        cmp -s <(printed_on_the_page "$name") out || fail "$name prints something else"
        [ ! -s err ] || fail "$name says something on stderr"
    done
    must hcomm run -n 5 --no-prefix -- ./squares
    prints "5 squares: 0 1 4 9 16"
    must hcomm run -n 1 --no-prefix -- ./exchange
    prints "after one round: 0" "from everybody: 0"
    cd ..
}

the_table_of_completions_has_every_call() {
    local call
    sed -n '/^## When things are done/,/^## When something/p' "$page" | grep '^|' >table
    for call in $(sed -n 's/^HcclResult \(Hcomm[A-Za-z]*\)(.*/\1/p' "$header"); do
        grep -q "^|[^|]*\`$call\`" table || fail "not $call"
    done
    [ "$(grep -c '^HcclResult ' "$header")" -ge 16 ] || fail "the header is read wrongly"
}

every_name_on_the_page_exists() {
    local name
    hcomm config >knobs
    for name in $(grep -oE '\b(Hcomm[A-Z][A-Za-z]+|Hccl[A-Z][A-Za-z]+|aclrt?[A-Z][A-Za-z]+)\b' "$page" |
        sort -u); do
        grep -rqw "$name" "$ASCEND_HOME_PATH/include" || fail "no $name"
    done
    for name in $(grep -oE '`HC(CL|OMM)_[A-Z0-9_]+`' "$page" | tr -d '`' | sort -u); do
        grep -rqw "$name" "$ASCEND_HOME_PATH/include" knobs || fail "no $name"
    done
}

# ---- the applications ----

users_build_the_applications_with_cmake() {
    cp -r "$source_dir/examples" .
    local app
    for app in 05_parameter_server 06_pipeline; do
        must cmake -S "examples/$app" -B "build/$app" -DCMAKE_C_FLAGS=-Werror
        must cmake --build "build/$app"
    done
    server=$scratch/build/05_parameter_server/parameter_server
    pipeline=$scratch/build/06_pipeline/pipeline
}

right_parameters() { # TIMES
    [ "$(grep -c 'equals the serial run' out)" -eq "$1" ] || fail "not right $1 times"
    [ ! -s err ] || fail "something is said on stderr"
}

the_parameter_server_equals_a_serial_run() {
    must hcomm run -n 4 -- "$server" --parameters 100000 --steps 50
    right_parameters 2
    says "window makes"
    for mode in window sendrecv; do
        must hcomm run -n 3 -- "$server" --mode $mode --parameters 3001 --steps 40
        right_parameters 1
        must hcomm run -n 2 -- "$server" --mode $mode --parameters 1 --steps 1
        right_parameters 1
    done
    must hcomm run -n 8 -- "$server" --parameters 20000 --steps 20
    right_parameters 2
}

the_parameter_server_runs_in_any_mix() {
    must hcomm run -n 4 --devices-per-process 4 -- "$server" --parameters 10007 --steps 20
    right_parameters 2
    must hcomm run -n 4 --devices-per-process 2 -- "$server" --parameters 10007 --steps 20
    right_parameters 2
    must env HCOMM_JOB_RANKS_PER_PROCESS=3 "$server" --parameters 10007 --steps 20
    right_parameters 2
}

right_results() {
    says "all results equal those of a serial run"
    [ ! -s err ] || fail "something is said on stderr"
}

the_pipeline_equals_a_serial_run() {
    local mode
    must hcomm run -n 4 -- "$pipeline" --batches 40 --rounds 3
    right_results
    for mode in compute put sendrecv allgather; do says "$mode"; done
    for mode in put sendrecv allgather; do
        must hcomm run -n 3 -- "$pipeline" --mode $mode --elements 3001 --batches 20 --work 3 --rounds 1
        right_results
        must hcomm run -n 2 -- "$pipeline" --mode $mode --elements 1 --batches 1 --rounds 1
        right_results
    done
    must hcomm run -n 8 -- "$pipeline" --elements 5000 --batches 20 --rounds 2
    right_results
}

any_ring_will_do() {
    local ring
    for ring in 1 2 3 100; do
        must hcomm run -n 3 -- "$pipeline" --mode put --ring $ring --elements 4099 --batches 50 \
            --rounds 3
        right_results
    done
}

the_pipeline_runs_in_any_mix() {
    must hcomm run -n 4 --devices-per-process 4 -- "$pipeline" --elements 5000 --batches 20 --rounds 2
    right_results
    must hcomm run -n 4 --devices-per-process 2 -- "$pipeline" --elements 5000 --batches 20 --rounds 2
    right_results
    must env HCOMM_JOB_RANKS_PER_PROCESS=3 "$pipeline" --elements 5000 --batches 20 --rounds 2
    right_results
}

mpirun_starts_them_too() {
    command -v mpirun.mpich >/dev/null || return 0
    must mpirun.mpich -iface lo -n 3 "$pipeline" --elements 5000 --batches 20 --rounds 2
    right_results
    must mpirun.mpich -iface lo -n 3 "$server" --parameters 10007 --steps 20
    right_parameters 2
}

bad_options_are_refused_in_one_line() {
    refused "hcomm run -n 4 -- ./parameter_server" 1 "$server"
    refused '--parameters is "0": it must be a number from 1' 2 "$server" --parameters 0
    refused '--parameters is "1x"' 2 "$server" --parameters 1x
    refused '--steps is "-1"' 2 "$server" --steps -1
    refused '--steps is ""' 2 "$server" --steps
    refused '--steps is "99999999999999999999"' 2 "$server" --steps 99999999999999999999
    refused '--mode is "fast": it must be window, sendrecv or both' 3 "$server" --mode fast
    refused '"--nodes" is not understood: parameter_server' 2 "$server" --nodes 3
    refused "hcomm run -n 4 -- ./pipeline" 1 "$pipeline"
    refused '--elements is "1e6"' 2 "$pipeline" --elements 1e6
    refused '--ring is "0"' 2 "$pipeline" --ring 0
    refused '--mode is "": it must be put, sendrecv, allgather or all' 2 "$pipeline" --mode ""
    refused '"--mode" is not understood: pipeline' 2 "$pipeline" --mode
    HCCL_BUFFSIZE=1 refused "the all-gather needs" 3 "$pipeline" --elements 1000000
}

claims the_table_of_completions_has_every_call every_name_on_the_page_exists \
    the_programs_of_the_page_print_what_it_says users_build_the_applications_with_cmake \
    the_parameter_server_equals_a_serial_run the_parameter_server_runs_in_any_mix \
    the_pipeline_equals_a_serial_run any_ring_will_do the_pipeline_runs_in_any_mix \
    mpirun_starts_them_too bad_options_are_refused_in_one_line
