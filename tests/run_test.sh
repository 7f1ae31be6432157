#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run_test.sh HCOMM: `hcomm run`, as people use and misuse it. Each function is a claim.
set -uo pipefail
hcomm=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset "${!HCOMM_JOB_@}"

claim=
fail() {
    echo "FAILED: $claim: $*" >&2
    head -c 2000 out | sed 's/^/    out: /' >&2
    head -c 2000 err | sed 's/^/    err: /' >&2
    exit 1
}

# run STATUS ARGUMENT...: what it prints is in out and err
run() {
    local want=$1 status=0
    shift
    timeout 60 "$hcomm" run "$@" >out 2>err || status=$?
    [ "$status" -eq "$want" ] || fail "status $status, expected $want: hcomm run $*"
}
says() { # TEXT: one line on stderr
    grep -qF -- "$1" err || fail "no word of: $1"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than one line is said"
}
prints() { # LINE...: in any order
    printf '%s\n' "$@" | sort | cmp -s - <(sort out) || fail "it prints something else"
}
# Waits until FILE has COUNT lines.
await_lines() {
    local tries=0
    until [ -f "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 3000 ] || fail "$1 has not $2 lines"
        sleep 0.01
    done
}
# All processes whose numbers are in FILE are gone, or soon are.
all_gone() {
    local pid tries
    while read -r pid; do
        tries=0
        while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
            tries=$((tries + 1))
            [ "$tries" -lt 1000 ] || fail "process $pid is still there"
            sleep 0.01
        done
    done <"$1"
}

# The processes in pids are in state STATE.
await_states() {
    local pid tries=0
    while read -r pid; do
        until grep -q "^State:.$1" "/proc/$pid/status"; do
            tries=$((tries + 1))
            [ "$tries" -lt 1000 ] || fail "process $pid is not in state $1"
            sleep 0.01
        done
    done <pids
}

each_process_learns_who_it_is() {
    # shellcheck disable=SC2016
    run 0 -n 6 --devices-per-process 2 -- sh -c \
        'echo $HCOMM_JOB_PROCESS/$HCOMM_JOB_PROCESSES $HCOMM_JOB_LOCAL_PROCESS/$HCOMM_JOB_LOCAL_PROCESSES $HCOMM_JOB_RANKS_PER_PROCESS'
    prints "[0-1] 0/3 0/3 2" "[2-3] 1/3 1/3 2" "[4-5] 2/3 2/3 2"
    # shellcheck disable=SC2016
    run 0 -n 3 --no-prefix sh -c 'echo $HCOMM_JOB_ID'
    [ "$(sort -u out | wc -l)" -eq 1 ] || fail "the processes have different ids"
    [ "$(head -1 out | tr -d '\n' | wc -c)" -eq 32 ] || fail "the id is short"
    cp out before
    # shellcheck disable=SC2016
    run 0 -n 1 --no-prefix -- sh -c 'echo $HCOMM_JOB_ID'
    ! grep -qxFf before out || fail "two jobs have the same id"
}

arguments_arrive_unchanged() {
    run 0 -n=1 --devices-per-process=1 --timeout=60 -- printf '%s|' 'a b' '' '-n' '--' '*'
    prints "[0] a b||-n|--|*|"
}

every_misuse_is_one_line() {
    run 2; says "how many ranks"
    run 2 -n; says "-n needs a number"
    run 2 -n 0 true; says "-n is \"0\": it must be a number from 1"
    run 2 -n -1 true; says "-n is \"-1\""
    run 2 -n 1x true; says "-n is \"1x\""
    run 2 -n 65537 true; says "-n is \"65537\""
    run 2 -n 99999999999999999999 true; says "-n is"
    run 2 -n 4; says "which program"
    run 2 -n 4 --; says "which program"
    run 2 -n 4 ''; says "which program"
    run 2 -n 4 --devices-per-process 3 true; says "--devices-per-process must divide -n"
    run 2 -n 4 --devices-per-process 8 true; says "--devices-per-process must divide -n"
    run 2 -n 4 --devices-per-process; says "--devices-per-process needs a number"
    run 2 -n 4 --timeout 0 true; says "--timeout is \"0\""
    run 2 -n 4 --nonsense true; says "there is no option \"--nonsense\""
    run 127 -n 4 ./nothing; says "there is no program \"./nothing\""
    run 127 -n 4 no-such-program; says "in the directories of PATH"
    echo text >text
    run 126 -n 4 ./text; says "cannot execute \"./text\": Permission denied"
    run 126 -n 4 /; says "cannot execute \"/\""
    run 0 --help
    grep -q -- --devices-per-process out || fail "no help"
}

a_failure_ends_the_rest_and_is_named() {
    # shellcheck disable=SC2016
    run 7 -n 4 -- sh -c 'echo $$ >>pids; [ $HCOMM_JOB_PROCESS = 2 ] && exit 7; exec sleep 300'
    grep -qE '^hcomm run: rank 2 \(process [0-9]+\) exited with status 7; ' err || fail "another word"
    all_gone pids
    rm pids
    # shellcheck disable=SC2016
    run 137 -n 8 -- sh -c 'sleep 300 & echo $! >>pids; echo $$ >>pids
        while [ $(wc -l <pids) -lt 16 ]; do sleep 0.01; done
        [ $HCOMM_JOB_PROCESS != 3 ] || kill -9 $$; wait'
    grep -qE '^hcomm run: rank 3 \(process [0-9]+\) was killed by signal 9 \(Killed\); the other 7 were ended$' err ||
        fail "another word"
    all_gone pids
    rm pids
    # shellcheck disable=SC2016
    run 1 -n 4 --devices-per-process 2 -- sh -c '[ $HCOMM_JOB_PROCESS = 0 ] || exec sleep 300; exit 1'
    grep -qE '^hcomm run: ranks 0-1 \(process [0-9]+\) exited with status 1; the other was ended$' err ||
        fail "another word"
    run 3 -n 1 -- sh -c 'exit 3'
    grep -qE '^hcomm run: rank 0 \(process [0-9]+\) exited with status 3$' err || fail "another word"
}

who_does_not_heed_is_killed() {
    # shellcheck disable=SC2016
    run 5 -n 3 -- sh -c 'trap "" TERM; (trap "" TERM; echo ready >>ready; exec sleep 300) & echo $! >>pids
        while [ $(cat ready | wc -l) -lt 3 ]; do sleep 0.01; done
        [ $HCOMM_JOB_PROCESS != 1 ] || exit 5; wait; sleep 300' 2>/dev/null
    all_gone pids
    rm pids ready
}

what_processes_leave_behind_is_ended_too() {
    run 0 -n 2 -- sh -c 'sleep 300 >/dev/null 2>&1 & echo $! >>pids'
    all_gone pids
    run 0 -n 2 -- sh -c 'sleep 300 & echo $! >>pids' # it has the pipe
    all_gone pids
    rm pids
    run 0 -n 2 -- sh -c 'setsid sleep 300 & echo $! >>pids' # that one has left: not waited for
    while read -r pid; do kill "$pid" 2>/dev/null; done <pids
    rm pids
}

lines_stay_whole_and_none_is_lost() {
    run 0 -n 64 --timeout 55 -- seq -f 'a line of one rank, number %.0f' 1 29000 # 1 MB each
    awk '{ rank = $1; if ($NF != ++count[rank] || NF != 8) bad = 1 }
         END { for (rank in count) { ranks++; if (count[rank] != 29000) bad = 1 }
               exit !(ranks == 64 && !bad) }' out || fail "lines are lost, torn or out of order"
    run 0 -n 64 /bin/true
    [ ! -s out ] || fail "something is printed"
    [ ! -s err ] || fail "something is said"
}

standard_output_and_error_do_not_tear_each_other() {
    status=0
    "$hcomm" run -n 8 -- sh -c 'seq -f "out %.0f line" 20000 & seq -f "err %.0f line" 20000 >&2; wait' \
        >both 2>&1 || status=$?
    [ "$status" -eq 0 ] || fail "status $status"
    [ "$(grep -cE '^\[[0-7]\] (out|err) [0-9]+ line$' both)" -eq 320000 ] || fail "lines are torn"
    [ "$(wc -l <both)" -eq 320000 ] || fail "lines are lost"
    run 0 -n 2 -- sh -c 'echo out; echo err >&2'
    prints "[0] out" "[1] out"
    printf '[0] err\n[1] err\n' | cmp -s - <(sort err) || fail "standard error is elsewhere"
}

a_last_line_without_an_end_and_a_very_long_one_arrive() {
    run 0 -n 2 -- printf 'no end'
    prints "[0] no end" "[1] no end"
    run 0 -n 2 --no-prefix -- sh -c 'head -c 3000000 /dev/zero | tr "\0" x; echo; echo end'
    [ "$(wc -lc <out | tr -s ' ')" = " 4 6000010" ] || fail "a long line is torn"
    run 0 -n 2 --no-prefix -- sh -c 'head -c 30000000 /dev/zero | tr "\0" x'
    [ "$(tr -d '\n' <out | wc -c)" -eq 60000000 ] || fail "part of a line without an end is lost"
    run 0 -n 1 -- printf 'a\n\nb\0c\n'
    printf '[0] a\n[0] \n[0] b\0c\n' | cmp -s - out || fail "empty lines or zero bytes are changed"
}

a_slow_reader_loses_nothing_and_one_that_leaves_ends_the_job() {
    "$hcomm" run -n 4 -- seq 200000 | { sleep 1; cat; } | wc -l >count
    [ "$(cat count)" -eq 800000 ] || fail "lines are lost"
    status=0
    "$hcomm" run -n 4 -- yes 2>err | head -1 >out || status=$?
    [ "$status" -eq 141 ] || fail "status $status when nobody reads"
    if [ -w /dev/full ]; then
        status=0
        "$hcomm" run -n 2 -- echo text >/dev/full 2>err || status=$?
        [ "$status" -eq 1 ] || fail "status $status when the disk is full"
        says "cannot write the output"
    fi
}

process_0_gets_standard_input_and_the_others_none() {
    # shellcheck disable=SC2016
    printf 'one\ntwo\n' | "$hcomm" run -n 3 -- sh -c 'cat; echo end' >out 2>err || fail "status $?"
    prints "[0] one" "[0] two" "[0] end" "[1] end" "[2] end"
    "$hcomm" run -n 2 -- cat >out 2>err <&- || fail "status $? without standard input"
    "$hcomm" run -n 2 -- echo text >&- 2>err || fail "status $? without standard output"
}

# signal STATUS NUMBER PROGRAM: sends it to the launcher when all 3 ranks are ready
signal() {
    local status=0
    rm -f ready pids
    "$hcomm" run -n 3 -- sh -c "$3" >out 2>err &
    launcher=$!
    await_lines ready 3
    kill "-$2" "$launcher"
    wait "$launcher" || status=$?
    [ "$status" -eq "$1" ] || fail "status $status, expected $1, after signal $2"
}

signals_are_passed_on() {
    for number in TERM HUP USR1 USR2; do
        # shellcheck disable=SC2016
        signal 0 "$number" "trap 'echo got; exit 0' $number"'; echo >>ready; while :; do sleep 0.01; done'
        prints "[0] got" "[1] got" "[2] got"
        ! grep -q "hcomm run" err || fail "something is said"
    done
    signal 143 TERM 'echo >>ready; exec sleep 300'
    grep -q 'was killed by signal 15' err || fail "the signal is not told"
    signal 0 HUP 'trap "" HUP; echo >>ready; sleep 0.5'
}

# A shell starts what is in the background with SIGINT ignored: python sets it back.
interrupt() { # PROGRAM TIMES STATUS
    rm -f ready pids
    python3 - "$hcomm" "$@" >out 2>err <<'PYTHON' || fail "not so"
import os, signal, subprocess, sys, time
hcomm, program, times, status = sys.argv[1:]
job = subprocess.Popen([hcomm, "run", "-n", "3", "--", "sh", "-c", program],
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while not os.path.exists("ready") or os.path.getsize("ready") < 3:
    time.sleep(0.01)
job.send_signal(signal.SIGINT)
for _ in range(1, int(times)):
    time.sleep(0.3)
    assert job.poll() is None, "one interrupt is enough"
    job.send_signal(signal.SIGINT)
assert job.wait(30) == int(status), job.returncode
PYTHON
}

a_second_interrupt_kills_at_once() {
    interrupt 'trap "echo got; exit 0" INT; echo >>ready; while :; do sleep 0.01; done' 1 0
    prints "[0] got" "[1] got" "[2] got"
    # shellcheck disable=SC2016
    interrupt 'trap "" INT TERM; echo $$ >>pids; echo >>ready; while :; do sleep 0.05; done' 2 130
    says "interrupted twice: 3 processes were killed"
    all_gone pids
}

a_killed_launcher_leaves_nothing() {
    rm -f pids
    # shellcheck disable=SC2016
    "$hcomm" run -n 4 -- sh -c 'sleep 300 & echo $! >>pids; echo $$ >>pids; wait' >out 2>err &
    launcher=$!
    await_lines pids 8
    # The guard too.
    grep -l "^PPid:[[:space:]]*$launcher\$" /proc/[0-9]*/status 2>/dev/null | cut -d/ -f3 >>pids
    [ "$(sort -u pids | wc -l)" -eq 9 ] || fail "there is no guard"
    kill -9 "$launcher"
    wait "$launcher" 2>/dev/null
    all_gone pids
}

a_job_that_takes_too_long_is_ended() {
    rm -f pids
    # shellcheck disable=SC2016
    run 124 -n 2 --timeout 1 -- sh -c 'echo $$ >>pids; exec sleep 300'
    says "not done within 1 s (--timeout): 2 processes were ended"
    all_gone pids
}

limits_are_named() {
    (
        ulimit -n 24
        run 1 -n 64 -- true
        says "raise the limit of open files"
    ) || exit 1
    (
        ulimit -Sn 24 # that much it raises by itself, and gives back to the program
        # shellcheck disable=SC2016
        run 0 -n 32 --no-prefix -- sh -c 'ulimit -n'
        [ "$(sort -u out)" = 24 ] || fail "the processes have another limit"
    ) || exit 1
}

# As another user, since root has no limit; where he can execute hcomm.
a_lack_of_processes_is_named() {
    local as_nobody=(setpriv --reuid=65534 --clear-groups)
    [ "$(id -u)" -eq 0 ] && "${as_nobody[@]}" "$hcomm" version >out 2>err || return 0
    status=0
    # shellcheck disable=SC2016
    "${as_nobody[@]}" bash -c 'ulimit -u 20; exec "$0" run -n 64 -- sleep 300' "$hcomm" \
        >out 2>err || status=$?
    [ "$status" -eq 1 ] || fail "status $status"
    says "raise the limit of processes"
}

stop_and_continue_are_for_all() {
    rm -f pids
    # shellcheck disable=SC2016
    "$hcomm" run -n 2 -- sh -c 'echo $$ >>pids; exec sleep 300' >out 2>err &
    launcher=$!
    await_lines pids 2
    echo "$launcher" >>pids
    kill -TSTP "$launcher"
    await_states T
    kill -CONT "$launcher"
    await_states S
    kill -TERM "$launcher"
    wait "$launcher" 2>/dev/null
    all_gone pids
}

# A container may have no terminals to give (no /dev/pts).
a_terminal_works() {
    python3 -c 'import os; os.openpty()' 2>err || {
        echo "skipped: $(tail -1 err)"
        return
    }
    python3 - "$hcomm" >out 2>err <<'PYTHON' || fail "not so"
import os, pty, sys

def session(program, typed):
    """What comes to the terminal, and the status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1], "run", "-n", "2", "--", "sh", "-c", program])
    seen = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
        if typed and seen.count(b"ready") == 2:
            os.write(terminal, typed)
            typed = b""
    return seen, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

seen, status = session("echo ready; cat; echo end", b"typed text\n\x04")
assert b"[0] typed text" in seen and b"[1] end" in seen and status == 0, (seen, status)
seen, status = session("echo ready; exec sleep 300", b"\x03")
assert b"signal 2" in seen and status == 130, (seen, status)
PYTHON
}

for claim_function in $(declare -F | awk '{print $3}'); do
    case $claim_function in
    fail | run | says | prints | await_lines | all_gone | await_states | signal | interrupt) continue ;;
    esac
    claim=${claim_function//_/ }
    started=$SECONDS
    "$claim_function" || exit 1
    echo "ok: $claim ($((SECONDS - started)) s)"
done
