# SPDX-License-Identifier: BSD-3-Clause
# collective_samples.sh: the samples of examples/07_collectives, how they are built, and what they must
# print. Sourced after sdk.sh, whose variables it uses.
# shellcheck shell=bash disable=SC2034,SC2154
samples=(all_gather all_gather_v all_reduce all_to_all all_to_all_v all_to_all_vc barrier
    batch_send_recv broadcast graph group reduce reduce_scatter reduce_scatter_v scatter send_recv
    sub_communicator)

build_collective_samples() { # the programs are then in $samples_dir
    mkdir collectives
    cp -r "$source_dir/examples/07_collectives" "$source_dir/examples/common" collectives
    samples_dir=$scratch/collectives/build
    must cmake -S collectives/07_collectives -B "$samples_dir" -DCMAKE_C_FLAGS=-Werror
    must cmake --build "$samples_dir"
}

multiples() { # COUNT FACTOR: of 0, 1, .. COUNT - 1
    local i
    for ((i = 0; i < $1; i++)); do printf '%d ' $((i * $2)); done
}

# What rank RANK of RANKS puts out; fails if that is nothing.
values_of() { # NAME RANK RANKS
    local rank=$2 ranks=$3 part=0
    # Of parts with different sizes, the even ranks have two elements, a last one has one.
    ((rank % 2 == 1)) || part=$((rank + 1 < ranks ? 2 : 1))
    case $1 in
    all_gather | all_gather_v | all_to_all | all_to_all_v | all_to_all_vc | barrier | group)
        multiples "$ranks" 1
        ;;
    all_reduce) multiples 8 "$ranks" ;;
    batch_send_recv) printf '%d ' $(((rank + ranks - 1) % ranks)) ;;
    broadcast) multiples 8 1 ;;
    graph) multiples 8 $((ranks * ranks * ranks)) ;;
    reduce) multiples 8 $((rank == 0 ? ranks : 0)) ;;
    reduce_scatter) printf '%d ' $((rank * ranks)) ;;
    reduce_scatter_v)
        ((part < 1)) || printf '%d ' $((rank * ranks))
        ((part < 2)) || printf '%d ' $(((rank + 1) * ranks))
        ;;
    scatter) printf '%d ' "$rank" ;;
    send_recv)
        ((rank % 2 == 1)) || return 1
        printf "$((rank - 1)) %.0s" 1 2 3 4 5 6 7 8
        ;;
    sub_communicator)
        local member
        for ((member = rank % 2; member < ranks; member += 2)); do printf '%d ' "$member"; done
        ;;
    *) fail "nobody knows what $1 prints" ;;
    esac
}

text_of() { # NAME RANKS DEVICES
    local rank values
    echo "Found $3 NPU device(s) available"
    for ((rank = 0; rank < $2; rank++)); do
        ! values=$(values_of "$1" "$rank" "$2") || echo "rankId: $rank, output: [ $values]"
    done
}

# The last `must` printed this and nothing else, in order or (with `sort`) in any order.
printed_text_of() { # NAME RANKS DEVICES [sort]
    if [ $# -gt 3 ]; then
        text_of "$1" "$2" "$3" | sort | cmp -s - <(sort out) || fail "$1 prints something else"
    else
        text_of "$1" "$2" "$3" | cmp -s - out || fail "$1 prints something else"
    fi
    [ ! -s err ] || fail "$1 says something on stderr"
}
