#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench_compare.sh BUILD [--only p2p|collectives] [--quick] [--markdown FILE]: this library beside Open
# MPI, MPICH and UCX, in turn in one session; tables on stdout, JSON beside the build. A peer that is not
# installed is left out.
set -eu
cd "$(dirname "$0")/.."
usage() {
    echo "usage: bench_compare.sh BUILD [--only p2p|collectives] [--quick] [--markdown FILE]" >&2
    exit 2
}
[ $# -ge 1 ] || usage
build=$1
shift
quick=
markdown=
only="p2p collectives"
one= # the only part
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --only)
        case ${2-} in
        p2p | collectives)
            only=$2
            one=$2
            ;;
        *) usage ;;
        esac
        shift
        ;;
    --markdown)
        [ $# -ge 2 ] || usage
        markdown=$2
        shift
        ;;
    *) usage ;;
    esac
    shift
done
if [ ! -e "$build/src/libhcomm.so" ]; then
    echo "compare: there is no $build/src/libhcomm.so; run make build" >&2
    exit 1
fi
rounds=${quick:+1}
rounds=${rounds:-5}
here=bench/compare
out=$build/compare
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$out"

# ---- build: the loops once, one driver for each library ----

cc=${CC:-cc}
flags="-std=gnu11 -D_GNU_SOURCE -O3 -Wall -Wextra -Wshadow -I$here"
lib=$(cd "$build/src" && pwd)
own_flags="-Iinclude -L$lib -Wl,-rpath,$lib"
runs= # CONTENDER:PART, in the order of a round
built() { # NAME PROGRAM COMMAND...: a driver, if it can be built
    name=$1
    program=$2
    shift 2
    if ! command -v "$1" >/dev/null; then
        echo "compare: without $name: $1 is not installed" >&2
    elif "$@" -o "$out/$program" 2>"$out/$program.log"; then
        return 0
    else
        echo "compare: without $name: its driver does not build, see $out/$program.log" >&2
    fi
    return 1
}
# shellcheck disable=SC2086
build_p2p() {
    for file in loops pair; do $cc $flags -c $here/$file.c -o "$out/$file.o"; done
    $cc $flags -march=native -c $here/limits.c -o "$out/limits.o"
    objects="$out/ranks.o $out/loops.o $out/pair.o $out/limits.o"
    built "this library" own_driver $cc $flags $here/own_driver.c $objects $own_flags -lhcomm || exit 1
    runs="$runs own:p2p"
    if built "Open MPI" ompi_driver mpicc.openmpi $flags '-DNAME="ompi"' $here/mpi_driver.c $objects; then
        runs="$runs ompi:p2p ompi-tuned:p2p"
    fi
    if built MPICH mpich_driver mpicc.mpich $flags '-DNAME="mpich"' $here/mpi_driver.c $objects; then
        runs="$runs mpich:p2p"
    fi
    if built UCX ucx_driver $cc $flags $here/ucx_driver.c $objects -lucp -lucs; then
        runs="$runs ucx:p2p ucx-tuned:p2p"
    fi
}
# Ranks: 2 and 4; 8 to 64, as threads of one process, for one operation alone.
# shellcheck disable=SC2086
build_collectives() {
    $cc $flags -c $here/coll.c -o "$out/coll.o"
    objects="$out/ranks.o $out/coll.o"
    peers=
    built "this library" own_coll $cc $flags $here/own_coll.c $objects $own_flags -lhccl -lhcomm || exit 1
    if built "Open MPI" ompi_coll mpicc.openmpi $flags '-DNAME="ompi"' $here/mpi_coll.c $objects; then
        peers="$peers ompi ompi-tuned"
    fi
    if built MPICH mpich_coll mpicc.mpich $flags '-DNAME="mpich"' $here/mpi_coll.c $objects; then
        peers="$peers mpich"
    fi
    for ranks in 2 4; do
        for contender in own-ts own-inline own-aicpu $peers; do runs="$runs $contender:$ranks"; done
    done
    for ranks in 8 16 32 64; do runs="$runs own-ts:$ranks"; done
    case $peers in
    *ompi*) runs="$runs ompi:64" ;; # MPICH would take two seconds for each operation
    esac
}
# shellcheck disable=SC2086
$cc $flags -c $here/ranks.c -o "$out/ranks.o"
for part in $only; do "build_$part"; done

# ---- run: everything stays on this machine ----

export HCCL_IF_IP=127.0.0.1
export UCX_TLS=shm,self UCX_NET_DEVICES=lo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo PRTE_MCA_prte_if_include=lo
export HYDRA_IFACE=lo HYDRA_LAUNCHER=fork FI_TCP_IFACE=lo

# Ranks pin themselves, alike in all drivers. A driver takes a few seconds.
limit="timeout --foreground -k 5 120"
# shellcheck disable=SC2086
ompi() { $limit mpirun.openmpi --bind-to none "$@" $quick; }
# Large messages through shared memory, as if the kernel could not copy between processes.
ompi_tuned() {
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_smsc=^cma,xpmem ompi "$@"
}
# shellcheck disable=SC2086
mpich() { $limit mpirun.mpich -bind-to none "$@" $quick; }
# shellcheck disable=SC2086
run_p2p() {
    case $1 in
    own) $limit "$out/own_driver" $quick ;;
    ompi) ompi -n 2 "$out/ompi_driver" ;;
    ompi-tuned) ompi_tuned -n 2 "$out/ompi_driver" ;;
    mpich) mpich -n 2 "$out/mpich_driver" ;;
    ucx) $limit "$out/ucx_driver" $quick ;;
    ucx-tuned) UCX_TLS=posix,sysv,self $limit "$out/ucx_driver" $quick ;;
    esac
}
# More ranks than processors: Open MPI is told so, and gives way when idle; MPICH 4.0 has a setting
# for it, which its present device does not heed. Ours need no word.
# shellcheck disable=SC2086
run_coll() { # CONTENDER RANKS
    more=
    crowd=
    [ "$2" -le 2 ] || more=--oversubscribe
    [ "$2" -le 4 ] || crowd=--crowd
    own="$limit $out/own_coll $quick --ranks $2 ${crowd:+$crowd --threads}"
    case $1 in
    own-ts) HCOMM_COLL_ENGINE=cpu_ts $own --limits ;;
    own-aicpu) HCOMM_COLL_ENGINE=aicpu $own ;;
    own-inline) $own --inline ;;
    ompi) ompi $more -n "$2" "$out/ompi_coll" $crowd ;;
    ompi-tuned) ompi_tuned $more -n "$2" "$out/ompi_coll" $crowd ;;
    mpich) MPIR_CVAR_POLLS_BEFORE_YIELD=1 mpich -n "$2" "$out/mpich_coll" $crowd ;;
    esac
}
run_one() { # CONTENDER PART
    case $2 in
    p2p) run_p2p "$1" ;;
    *) run_coll "$1" "$2" ;;
    esac
}

# Rounds until enough can be compared: see results.py.
round=1
steady=0
most_s=0 # no further round starts after that
for part in $only; do
    case $quick$part in
    p2p) most_s=$((most_s + 280)) ;;
    collectives) most_s=$((most_s + 900)) ;;
    *) most_s=$((most_s + 15)) ;;
    esac
done
started=$(date +%s)
while [ "$steady" -lt "$rounds" ] && [ $(($(date +%s) - started)) -lt "$most_s" ]; do
    echo "compare: round $round; $steady of $rounds rounds can be compared" >&2
    left=
    for run in $runs; do
        contender=${run%:*}
        part=${run#*:}
        log=$out/$contender.$part.log
        status=0
        run_one "$contender" "$part" >"$results/$round.$contender.$part.jsonl" 2>"$log" || status=$?
        if [ "$status" -eq 0 ]; then
            left="$left $run"
            continue
        fi
        [ "$status" -eq 124 ] && why="took more than 2 minutes" ||
            why=$(grep -m1 '^compare:' "$log" || tail -1 "$log")
        echo "compare: $run failed in round $round: ${why#compare: }" >&2
        case $contender in own*) exit 1 ;; esac
        echo "compare: without $run from here on" >&2
        rm -f "$results"/*."$contender.$part".jsonl
    done
    runs=$left
    steady=$(python3 -B $here/table.py "$results" --steady)
    round=$((round + 1))
done
python3 -B $here/table.py "$results" --json "$build/compare.json" ${markdown:+--markdown "$markdown"} \
    --command "make bench-compare${one:+ ONLY=$one}${quick:+ (quick: few samples)}"
echo "JSON: $build/compare.json${markdown:+, Markdown: $markdown}"
