#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# perf_test.sh HCOMM BUILD PART [FAULT]: `hcomm perf`, as people use and misuse it. Each function is a
# claim. PART is "arguments" (no rank is started), "ranks" or "collectives"; FAULT is a library that, when
# preloaded, makes sums of floats wrong.
set -uo pipefail
hcomm=$1
build=$2
part=$3
fault=${4:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset "${!HCOMM_@}" "${!HCCL_@}" "${!ASCEND_@}"
export HCCL_SOCKET_IFNAME="=lo" # tests talk to this machine's loopback only

claim=
fail() {
    echo "FAILED: $claim: $*" >&2
    head -c 2000 out | sed 's/^/    out: /' >&2
    head -c 2000 err | sed 's/^/    err: /' >&2
    exit 1
}

# perf STATUS ARGUMENT...: what it prints is in out and err
perf() {
    local want=$1 status=0
    shift
    timeout 120 "$hcomm" perf "$@" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$want" ] || fail "status $status, expected $want: hcomm perf $*"
}
says() { # TEXT: one line on stderr
    grep -qF -- "$1" err || fail "no word of: $1"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than one line is said"
}
quiet() { # but for progress
    ! grep -vE '^hcomm perf: [0-9]+ of [0-9]+ rows' err || fail "something is said"
}
rows() { # OP: how many rows the JSON in out has
    grep -c "\"op\":\"$1\"" out
}
gone() { # PID: it is not there any more, or soon is not
    local tries=0
    while [ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1000 ] || fail "process $1 is still there"
        sleep 0.01
    done
}

# ---- arguments ----

every_misuse_is_one_line() {
    perf 2 fly; says "there is no operation \"fly\""
    perf 2 put --nonsense; says "there is no option \"--nonsense\""
    perf 2 --min 8 --max 4 put; says "--min (8 B) is more than --max (4 B)"
    perf 2 --min; says "--min needs a size"
    perf 2 --min eight; says "--min is \"eight\""
    perf 2 --min=-8; says "--min is \"-8\""
    perf 2 --max 8X; says "--max is \"8X\""
    perf 2 --max 8iB; says "--max is \"8iB\""
    perf 2 --max 8MM; says "--max is \"8MM\""
    perf 2 --max ''; says "--max is \"\""
    perf 2 --max 0; says "it must be from 1 to 1T"
    perf 2 --max 2T; says "it must be from 1 to 1T"
    perf 2 --max 18446744073709551616; says "it must be from 1 to 1T"
    perf 2 --max 18014398509481985K; says "it must be from 1 to 1T"
    perf 2 --iters 0; says "--iters is \"0\": it must be a number from 1"
    perf 2 --iters 1e6; says "--iters is \"1e6\""
    perf 2 --iters 99999999999999999999; says "--iters is"
    perf 2 --ranks 3; says "--ranks is 3: ranks come in pairs"
    perf 2 --ranks 258; says "it must be a number from 1 to 256"
    perf 2 --mode fast; says "--mode is \"fast\": it must be inline, stream or both"
    perf 2 --mode; says "--mode needs a value"
    perf 2 --pattern stale; says "--pattern is \"stale\": it must be static, fresh or both"
    perf 2 --memory disk; says "--memory is \"disk\": it must be device, pinned or malloc"
    perf 2 accumulate --min 3 --max 3; says "nothing is left to measure"
    perf 2 routes put; says "routes takes no \"put\""
    perf 2 routes --max 8; says "there is no option \"--max\""
    perf 2 routes --type fp32; says "there is no option \"--type\""
    perf 2 put --plot; says "--plot needs a file"
    HCOMM_JOB_PROCESS=0 HCOMM_JOB_PROCESSES=3 HCOMM_JOB_LOCAL_PROCESS=0 HCOMM_JOB_LOCAL_PROCESSES=3 \
        HCOMM_JOB_ID=$$ perf 2 put
    says "this job has 3 ranks: start an even number"
    HCOMM_JOB_PROCESS=x perf 2 put; says "HCOMM_JOB_PROCESS"
}

collectives=(all-reduce all-gather all-gather-v reduce-scatter reduce-scatter-v broadcast reduce scatter
    all-to-all all-to-all-v all-to-all-vc barrier)

every_misuse_of_collectives_is_one_line() {
    local op
    perf 2 all-reduces; says "there is no operation \"all-reduces\""
    perf 2 all-reduce put; says "put is point to point, others are collectives"
    perf 2 put --type fp32; says "--type is for collectives"
    perf 2 --in-place; says "--in-place is for collectives"
    perf 2 all-reduce --pattern fresh; says "--pattern is for point to point"
    perf 2 all-reduce --memory=malloc; says "--memory=malloc is for point to point"
    perf 2 all-reduce --type; says "--type is \"\""
    perf 2 all-reduce --type float; says "--type is \"float\": it must be one of int8, int16"
    perf 2 all-reduce --op avg; says "--op is \"avg\": it must be sum, prod, max or min"
    perf 2 all-reduce --op; says "--op is \"\""
    perf 2 broadcast --root 2; says "--root is 2, and there are 2 ranks: it must be from 0 to 1"
    perf 2 broadcast --root 7 --ranks 7; says "--root is 7, and there are 7 ranks"
    perf 2 broadcast --root -1; says "--root is \"-1\""
    perf 2 broadcast --root 4294967296; says "--root is \"4294967296\""
    perf 2 broadcast --root; says "--root is \"\""
    perf 2 all-reduce --engine gpu; says "--engine is \"gpu\": it must be one of auto|aicpu|cpu_ts"
    perf 2 all-reduce --engine; says "--engine is \"\""
    perf 2 all-reduce --algo; says "--algo is \"\""
    perf 2 all-reduce --algo rin; says "--algo is \"rin\": it must be one of auto|"
    for op in hif8 fp8e8m0; do
        perf 2 reduce-scatter --type $op; says "reduce-scatter cannot reduce $op"
        perf 2 collectives --type $op; says "all-reduce cannot reduce $op"
    done
    for op in all-gather-v reduce-scatter-v broadcast all-to-all all-to-all-v all-to-all-vc barrier; do
        perf 2 all-reduce $op --in-place; says "$op has no second form, in place"
    done
    perf 2 all-reduce --min 6; says "--min is 6 B, and an element of fp32 has 4 B"
    perf 2 all-reduce --max 6; says "--min is 6 B, and an element of fp32 has 4 B"
    perf 2 broadcast --type int128 --min 8; says "--min is 8 B, and an element of int128 has 16 B"
    perf 2 all-gather --ranks 16 --max 32; says "for 16 ranks, --max must be 64 B or more"
    perf 2 all-gather --ranks 3 --max 12; says "for 3 ranks, --max must be 16 B or more"
    perf 2 all-reduce --ranks 257; says "it must be a number from 1 to 256"
    HCOMM_JOB_PROCESS=0 HCOMM_JOB_PROCESSES=3 HCOMM_JOB_LOCAL_PROCESS=0 HCOMM_JOB_LOCAL_PROCESSES=3 \
        HCOMM_JOB_ID=$$ perf 2 reduce --root 3
    says "--root is 3, and there are 3 ranks"
}

the_help_names_every_operation() {
    local op
    perf 0 --help
    for op in send put get accumulate fetch-op put-notify notify copy custom-op "${collectives[@]}"; do
        grep -qE "^  $op +" out || fail "no $op"
    done
}

row='{"op":"put","bytes":8,"mode":"inline","pattern":"static","us_median":0.5,"mb_s":16}'

rows_become_a_picture() {
    printf '%s\n' "$row" "${row/:8,/:16,}" >lines.json
    printf '[%s,\n%s]\n' "$row" "${row/put/get}" >array.json
    perf 0 plot lines.json -o out.svg
    [ "$(grep -c '<polyline' out.svg)" -eq 1 ] || fail "not one line"
    [ "$(grep -c '<circle' out.svg)" -eq 2 ] || fail "not two points"
    perf 0 plot lines.json array.json -o=out.svg --x bytes --y mb_s
    [ "$(grep -c '<polyline' out.svg)" -eq 3 ] || fail "not three lines"
    grep -q 'put inline static: lines.json' out.svg || fail "files are not told apart"
    printf '%s' '{"op":"<&>\u0001ä","bytes":1e-300,"mode":"","pattern":"","us_median":1e300}' >odd.json
    perf 0 plot odd.json -o out.svg
    ! grep -qP '[^\x20-\x7e]|<&' out.svg || fail "the picture is no XML"
    perf 0 plot lines.json -o /dev/stdout
    grep -q '^</svg>$' out || fail "no picture"
}

collectives_become_a_picture() {
    local coll='{"op":"reduce","bytes":8,"mode":"stream","pattern":"static","type":"int8","redop":"max",'
    coll+='"in_place":false,"engine":"","algo":"ring","us_median":0.5,"mb_s":16,"algbw":0.016,"busbw":0.032}'
    printf '%s\n' "$coll" "${coll/false/true}" "${coll/int8/int16}" "${coll/ring/tree}" >coll.json
    for y in us mb_s algbw busbw; do
        perf 0 plot coll.json -o out.svg --y $y
        [ "$(grep -c '<polyline' out.svg)" -eq 4 ] || fail "not four lines"
    done
    grep -q 'bus bandwidth, GB/s' out.svg || fail "no title"
    grep -q '>reduce stream int8 max ring in place<' out.svg || fail "another legend"
    printf '%s\n' "$row" >lines.json
    perf 2 plot lines.json -o y --y busbw; says "lines.json:1: the row has no number \"busbw\""
}

garbage_is_refused_with_its_line() {
    printf '%s\n' "$row" "$row" '{"op":"put",' >x; perf 2 plot x -o y; says "x:4: "
    printf '%s\n\n%s\n' "$row" 'garbage' >x; perf 2 plot x -o y; says "x:3: "
    printf '[%s\n%s]' "$row" "$row" >x; perf 2 plot x -o y; says "x:2: the array goes on without"
    printf '[%s,\n' "$row" >x; perf 2 plot x -o y; says "x:2: "
    printf '[\n[]]' >x; perf 2 plot x -o y; says "x:2: a row must be an object"
    printf '\n%s' '{"op":"put","bytes":8}' >x; perf 2 plot x -o y; says "x:2: the row has no text \"mode\""
    printf '%s' "${row/8,/\"8\",}" >x; perf 2 plot x -o y; says "x:1: the row has no number \"bytes\""
    printf '%s' "${row/us_median/us}" >x; perf 2 plot x -o y; says "no number \"us_median\""
    printf '%s' "${row/0.5/1e999}" >x; perf 2 plot x -o y; says "x:1: "
    printf '%s' "${row/8,/0,}" >x; perf 2 plot x -o y; says "nothing to draw"
    printf '[]' >x; perf 2 plot x -o y; says "nothing to draw"
    : >x; perf 2 plot x -o y; says "x:1: there is nothing in it"
    head -c 3000 /bin/sh >x; perf 2 plot x -o y; says "x:"
    printf '\0\0' >x; perf 2 plot x -o y; says "x:1: "
    head -c 100000 /dev/zero | tr '\0' '[' >x; perf 2 plot x -o y; says "x:1: "
    local i; for i in $(seq 65); do echo "${row/put/put$i}"; done >x; perf 2 plot x -o y; says "more than 64 lines"
    [ ! -e y ] || fail "a picture was made"
    perf 2 plot nothing.json -o y; says "cannot open nothing.json: No such file"
    perf 2 plot . -o y; says "cannot read .: Is a directory"
    perf 2 plot lines.json -o no/y; says "cannot write no/y: No such file or directory"
    perf 2 plot lines.json -o /dev/full; says "cannot write /dev/full: No space left"
    perf 2 plot lines.json; says "-o out.svg"
    perf 2 plot lines.json -o; says "-o out.svg"
    perf 2 plot -o y; says "plot what?"
    perf 2 plot lines.json -o y --y kg; says "--y is \"kg\": it must be us, mb_s, algbw or busbw"
    perf 2 plot lines.json -o y --x y; says "--x is \"y\": it must be bytes"
    perf 2 plot lines.json -o y --z; says "plot has no option \"--z\""
}

# ---- ranks ----

two_processes_measure_every_operation() {
    local op
    perf 0 --min 1K --max=2KiB --iters 3 --json --mode both --pattern both
    quiet
    for op in send put get accumulate put-notify; do
        [ "$(rows $op)" -eq 8 ] || fail "$(rows $op) rows of $op"
    done
    for op in fetch-op notify copy custom-op; do
        [ "$(rows $op)" -eq 4 ] || fail "$(rows $op) rows of $op"
    done
    ! grep -vqE '^\{"op":"[a-z-]+","bytes":[0-9]+,"mode":"(inline|stream)","pattern":"(static|fresh)","us_min":[0-9.]+,"us_median":[0-9.]+,"us_p99":[0-9.]+,"mb_s":[0-9.]+,"msg_s":[0-9]+,"memory":"device","ranks":2,"samples":3\}$' out ||
        fail "a row looks different"
    cp out rows.json
    perf 0 plot rows.json -o out.svg
}

the_table_has_a_head() {
    perf 0 put --max 8 --iters 3
    quiet
    grep -q '^# machine ' out || fail "no machine"
    grep -qE '^# library +hcomm [0-9.]+, transports loop shm' out || fail "no version"
    grep -qE '^# ranks +2, in 2 processes, pinned; device memory$' out || fail "no ranks"
    grep -qE '^put +8 inline static( +[0-9.]+){5}$' out || fail "no row"
}

threads_and_several_pairs_measure_too() {
    perf 0 --threads --max 64 --min 64 --iters 3 --check --json
    quiet
    [ "$(wc -l <out)" -eq 9 ] || fail "not a row for each operation"
    perf 0 --ranks 4 --max 64 --min 64 --iters 3 --check --json
    quiet
    [ "$(grep -c '"ranks":4,' out)" -eq 9 ] || fail "not a row for each operation"
    perf 0 --threads --ranks 12 --max 64 --min 64 --iters 3 --no-pin put send custom-op
    quiet
}

any_memory_will_do() {
    local memory
    for memory in pinned malloc; do
        perf 0 --memory $memory --min 3 --max 12 --iters 3 --check --json --pattern both send put get accumulate put-notify
        quiet
        [ "$(grep -c "\"memory\":\"$memory\"" out)" -eq 26 ] || fail "not every size" # 3 and 6 B are no floats
        perf 0 --memory $memory --min 1000003 --max 1000003 --iters 3 --check --json put get send
        quiet
    done
    perf 0 --memory pinned --max 8 --iters 3 put custom-op
    says "custom-op is left out: it takes device memory only"
}

routes_are_compared() {
    perf 0 routes --iters 10
    quiet
    [ "$(grep -cE '^\([abcd]\) ' out)" -eq 7 ] || fail "not seven routes"
    perf 0 routes --iters 10 --mode inline --json
    quiet
    [ "$(grep -c '"route":' out)" -eq 8 ] || fail "not four routes, two patterns"
    [ "$(grep -c '"relative":1.000}' out)" -ge 2 ] || fail "not relative to the first"
}

ranks_of_a_launcher_are_taken() {
    local each=2
    # Threads of one process that meet by way of another one: the thread sanitizer does not see it.
    case "$(ldd "$hcomm")" in *libtsan*) each=1 ;; esac
    timeout 120 "$hcomm" run -n 4 --devices-per-process "$each" --no-prefix -- "$hcomm" perf --json --max 8 --iters 3 >out 2>err ||
        fail "status $?"
    [ "$(grep -c '"ranks":4,' out)" -eq 9 ] || fail "not a row for each operation"
    local status=0
    timeout 120 "$hcomm" run -n 2 --no-prefix -- "$hcomm" perf --ranks 4 >out 2>err || status=$?
    [ "$status" -eq 2 ] || fail "status $status"
    grep -q -- "--ranks is 4, but hcomm run started 2" err || fail "no word of it"
}

ranks_of_mpirun_are_taken() {
    local loopback=(--mca btl "self,sm" --prtemca if_include lo)
    if command -v mpirun.openmpi >/dev/null; then
        ! mpirun.openmpi --version | grep -q ' 4\.' || loopback=(--mca btl "self,vader" --mca oob_tcp_if_include lo)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun.openmpi --oversubscribe \
            "${loopback[@]}" -n 4 "$hcomm" perf --json --max 8 --iters 3 put send >out 2>err || fail "status $?"
        [ "$(grep -c '"ranks":4,' out)" -eq 2 ] || fail "not a row for each operation"
    fi
    if command -v mpirun.mpich >/dev/null; then
        timeout 120 mpirun.mpich -iface lo -n 2 "$hcomm" perf --max 8 --iters 3 put send >out 2>err || fail "status $?"
        grep -qE '^# ranks +2, in 2 processes of MPICH, pinned' out || fail "another launcher"
    fi
}

an_installation_brings_the_kernel() {
    cmake --install "$build" --prefix "$scratch/sdk" >/dev/null || fail "no installation"
    local there=$hcomm
    hcomm=$scratch/sdk/bin/hcomm
    perf 0 custom-op --max 8 --iters 3 --json
    quiet
    [ "$(rows custom-op)" -eq 1 ] || fail "no row"
    rm -r "$scratch/sdk/share/hcomm/perf"
    perf 0 custom-op put --max 8 --iters 3 --json
    says "custom-op is left out: its kernel is not in"
    [ "$(rows put)" -eq 1 ] || fail "no row of put"
    perf 0 routes --iters 10
    says "custom-op is left out: its kernel is not in"
    [ "$(grep -cE '^\([bcd]\) .* -$' out)" -eq 6 ] || fail "not six routes"
    hcomm=$there
}

too_little_memory_is_said_once_a_rank() {
    perf 1 put --threads --min 100G --max 100G
    grep -qE '^hcomm perf: rank [01]: no device memory for two buffers of 100 GiB' err || fail "no word of it"
    [ "$(grep -c '^hcomm perf' err)" -le 2 ] || fail "more than a line for each rank"
}

output_that_cannot_be_written_is_a_failure() {
    local status=0
    timeout 120 "$hcomm" perf put --threads --max 8 --iters 3 >/dev/full 2>err || status=$?
    [ "$status" -eq 1 ] || fail "status $status"
    grep -q "cannot write the output: No space left" err || fail "no word of it"
}

# Starts a long measurement in the background; its process is in `job`, those of its ranks in `ranks`.
start_long() {
    "$hcomm" perf send --min 8 --max 8 --iters 1000000 --pattern fresh >out 2>err </dev/null &
    job=$!
    local tries=0
    until grep -q '^op ' out 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 3000 ] || fail "it does not start"
        sleep 0.01
    done
    # Its children, but not the guard, which is no `hcomm`.
    mapfile -t ranks < <(tr " " "\n" <"/proc/$job/task/$job/children" | while read -r pid; do
        grep -qx 'hcomm' "/proc/$pid/comm" && echo "$pid"; done)
    [ "${#ranks[@]}" -eq 2 ] || fail "${#ranks[@]} ranks were found"
}

a_dead_rank_ends_the_run() {
    local status=0
    start_long
    kill -9 "${ranks[1]}"
    wait "$job" || status=$?
    [ "$status" -eq 137 ] || fail "status $status"
    grep -q 'rank 1 (process .*was killed by signal 9' err || fail "it is not named"
    gone "${ranks[0]}"
}

each_process_has_its_processor() {
    local rank cpus=
    start_long
    for rank in "${ranks[@]}"; do
        cpus+="$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$rank/status") "
    done
    kill "$job"
    wait "$job" 2>/dev/null
    [[ $cpus =~ ^([0-9]+)\ ([0-9]+)\ $ ]] || fail "ranks may run on: $cpus"
    [ "$(nproc)" -lt 2 ] || [ "${BASH_REMATCH[1]}" != "${BASH_REMATCH[2]}" ] || fail "both on: $cpus"
}

ranks_die_with_their_launcher() {
    start_long
    kill -9 "$job"
    wait "$job" 2>/dev/null
    gone "${ranks[0]}"
    gone "${ranks[1]}"
}

# ---- collectives ----

all_right() { # ROWS: so many in out, and no wrong values in them
    [ "$(wc -l <out)" -eq "$1" ] || fail "$(wc -l <out) rows, not $1"
    ! grep -qv '"wrong":0,' out || fail "a row has wrong values"
}

# 12 operations of 2 sizes, but for the barrier, which has one; five of them in place too.
every_collective_gives_the_right_values() {
    local ranks op
    for ranks in 1 2 3; do
        perf 0 collectives --ranks $ranks --min 1920 --max 3840 --iters 2 --json --in-place --root $((ranks - 1))
        quiet
        all_right $((11 * 2 + 1 + 5 * 2))
        for op in "${collectives[@]}"; do
            grep -q "\"op\":\"$op\".*\"ranks\":$ranks," out || fail "no row of $op"
        done
    done
    ! grep -vqE '^\{"op":"[a-z-]+","bytes":[0-9]+,"count":[0-9]+,"type":"(fp32|none)","redop":"(sum|none)","root":(-1|2),"mode":"stream","pattern":"static","in_place":(false|true),"engine":"","algo":"","us_min":[0-9.]+,"us_median":[0-9.]+,"us_p99":[0-9.]+,"mb_s":[0-9.]+,"msg_s":[0-9]+,"algbw":[0-9.]+,"busbw":[0-9.]+,"wrong":0,"memory":"device","ranks":3,"samples":2\}$' out ||
        fail "a row looks different"
    perf 0 collectives --threads --ranks 5 --min 64K --max 64K --iters 2 --json --mode both --no-pin
    quiet
    all_right 24
    perf 0 reduce-scatter barrier --threads --ranks 3 --min 12 --max 12 --iters 2 --json --check
    quiet
    all_right 2
}

every_type_and_operator_gives_the_right_values() {
    local type op
    for type in int8 uint64 bfp16 fp8e4m3; do
        for op in sum prod max min; do
            perf 0 all-reduce reduce-scatter-v --threads --ranks 3 --type $type --op $op --min 48K --max 48K --iters 1 --json
            all_right 2
            [ "$(grep -c "\"type\":\"$type\",\"redop\":\"$op\"" out)" -eq 2 ] || fail "of another type"
        done
    done
    perf 0 broadcast scatter all-gather all-to-all --threads --ranks 3 --type hif8 --max 64 --iters 1 --json
    quiet
}

engines_and_algorithms_can_be_chosen() {
    local engine algo
    for engine in aicpu cpu_ts; do
        for algo in mesh ring hd tree two-phase auto; do
            perf 0 all-reduce all-to-all --threads --ranks 3 --min 96K --max 96K --iters 2 --json --engine $engine --algo=$algo
            quiet
            all_right 2
            [ "$(grep -c "\"engine\":\"$engine\",\"algo\":\"$algo\"" out)" -eq 2 ] || fail "another one is named"
        done
    done
}

the_table_is_the_usual_one() {
    perf 0 reduce --ranks 3 --min 8 --max 16 --iters 2 --root 1 --op max --type int32
    quiet
    grep -qx '# reduce, stream' out || fail "no title"
    grep -qE '^# +size +count +type +redop +root +time +algbw +busbw +#wrong$' out || fail "no head"
    grep -qE '^# +\(B\) +\(elements\) +\(us\) +\(GB/s\) +\(GB/s\)$' out || fail "no units"
    grep -qE '^ +16 +4 +int32 +max +1( +[0-9.]+){3} +0$' out || fail "no row"
    grep -qE '^# wrong values +0$' out || fail "no sum of wrong values"
    grep -qE '^# average bus bandwidth +[0-9.]+ GB/s$' out || fail "no average"
    # 8 B has not an element for each rank, 16 B one, 32 B two.
    perf 0 all-gather --ranks 3 --min 8 --max 32 --iters 2 --in-place --no-check --mode inline
    quiet
    grep -qx '# all-gather, inline' out || fail "no title"
    grep -qE '^# +out-of-place +in-place$' out || fail "no head"
    [ "$(grep -c '^ ' out)" -eq 2 ] || fail "not two rows"
    grep -qE '^ +12 +1 +fp32 +none +-1( +[0-9.]+){3} +N/A( +[0-9.]+){3} +N/A$' out || fail "no row of 12 B"
    grep -qE '^ +24 +2 +fp32 +none +-1 ' out || fail "no row of 24 B"
    perf 0 barrier --ranks 3 --iters 2 --json --no-check
    grep -q '"op":"barrier","bytes":0,"count":0,.*"wrong":null,' out || fail "no row of the barrier"
}

bus_bandwidth_has_the_usual_factors() {
    perf 0 collectives --threads --ranks 4 --min 64K --max 64K --iters 2 --json
    python3 - out <<'END' || fail "another factor"
import json, sys
factors = {"all-reduce": 1.5, "broadcast": 1, "reduce": 1}
for line in open(sys.argv[1]):
    row = json.loads(line)
    alg = row["bytes"] / row["us_median"] / 1e3
    assert abs(row["algbw"] - alg) <= 1e-3 * alg + 1e-5, row
    assert abs(row["busbw"] - alg * factors.get(row["op"], 0.75)) <= 1e-3 * alg + 1e-5, row
END
}

rows_are_drawn_on_the_way() {
    perf 0 all-gather scatter --min 1K --max 4K --iters 2 --in-place --plot out.svg
    quiet
    [ "$(grep -c '<polyline' out.svg)" -eq 4 ] || fail "not four lines"
    perf 0 put get --min 8 --max 16 --iters 2 --plot=out.svg --json
    quiet
    [ "$(grep -c '<circle' out.svg)" -eq 4 ] || fail "not four points"
    perf 1 all-gather --threads --max 8 --iters 2 --plot no/out.svg
    grep -q 'cannot write no/out.svg: No such file or directory' err || fail "no word of it"
}

wrong_values_are_counted_and_end_in_failure() {
    [ -n "$fault" ] || return 0
    local status=0
    LD_PRELOAD=$fault timeout 120 "$hcomm" perf all-reduce all-gather --ranks 3 --min 64K --max 64K --iters 2 >out 2>err || status=$?
    [ "$status" -eq 1 ] || fail "status $status"
    grep -qE '^ +65536 +16384 +fp32 +sum +-1( +[0-9.]+){3} +[1-9][0-9]*$' out || fail "not in the table"
    grep -qE '^ +65532 +5461 +fp32 +none +-1( +[0-9.]+){3} +0$' out || fail "what is only moved is wrong"
    grep -qE '^# wrong values +[1-9]' out || fail "not below it"
    grep -qE '^hcomm perf: [1-9][0-9]* wrong values' err || fail "no word of it"
    LD_PRELOAD=$fault perf 1 all-reduce --threads --ranks 3 --min 64K --max 64K --iters 2 --json
    says "wrong values"
    grep -qE '"wrong":[1-9]' out || fail "not in the row"
}

collectives_run_under_launchers() {
    timeout 120 "$hcomm" run -n 3 --no-prefix -- "$hcomm" perf all-reduce --json --max 8 --iters 2 >out 2>err || fail "status $?"
    all_right 1
    if command -v mpirun.openmpi >/dev/null; then
        local loopback=(--mca btl "self,sm" --prtemca if_include lo)
        ! mpirun.openmpi --version | grep -q ' 4\.' || loopback=(--mca btl "self,vader" --mca oob_tcp_if_include lo)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun.openmpi --oversubscribe \
            "${loopback[@]}" -n 3 "$hcomm" perf all-to-all --json --min 12 --max 12 --iters 2 >out 2>err || fail "status $?"
        all_right 1
    fi
    if command -v mpirun.mpich >/dev/null; then
        timeout 120 mpirun.mpich -iface lo -n 3 "$hcomm" perf reduce --json --max 8 --iters 2 >out 2>err || fail "status $?"
        all_right 1
    fi
}

case $part in
arguments)
    claims=(every_misuse_is_one_line every_misuse_of_collectives_is_one_line
            the_help_names_every_operation rows_become_a_picture collectives_become_a_picture
            garbage_is_refused_with_its_line) ;;
ranks)
    claims=(two_processes_measure_every_operation the_table_has_a_head
            threads_and_several_pairs_measure_too any_memory_will_do routes_are_compared
            ranks_of_a_launcher_are_taken ranks_of_mpirun_are_taken
            an_installation_brings_the_kernel
            too_little_memory_is_said_once_a_rank output_that_cannot_be_written_is_a_failure a_dead_rank_ends_the_run
            each_process_has_its_processor ranks_die_with_their_launcher) ;;
collectives)
    claims=(every_collective_gives_the_right_values every_type_and_operator_gives_the_right_values
            engines_and_algorithms_can_be_chosen the_table_is_the_usual_one
            bus_bandwidth_has_the_usual_factors rows_are_drawn_on_the_way
            wrong_values_are_counted_and_end_in_failure collectives_run_under_launchers) ;;
*)  echo "perf_test.sh: no part \"$part\"" >&2; exit 2 ;;
esac
for name in "${claims[@]}"; do
    claim=${name//_/ }
    "$name"
    echo "ok: $claim ($SECONDS s)"
done
