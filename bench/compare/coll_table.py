# SPDX-License-Identifier: BSD-3-Clause
"""Collectives: "best" is the better of the peers as the distribution ships them, and goals are against
that; "tuned best" includes those with other settings. Ours: operations queued on a stream and run by
the engine CPU_TS or AICPU, or on the calling thread. Goals hold for CPU_TS; up to 1 KiB for the better
of it and the calling thread. The limit is a copy of the bytes that each rank has to move at least, by
all at once; of 8 bytes to 1 KiB the bare flag.
"""
from results import (FLAG, KIB, MIB, PEERS, TUNED, Key, goal, least, ratio, ratio_text, size_name,
                     time_text, value, verdict)

TITLE = "Collectives"
OWN = {"own-ts": "CPU_TS", "own-aicpu": "AICPU", "own-inline": "inline"}
CONTENDERS = {**{own: f"ours, {name}" for own, name in OWN.items()}, **PEERS, **TUNED}
RIVALS = ("ompi", "mpich")
SMALL = (8, 64, KIB)
LARGE = (64 * KIB, MIB, 16 * MIB, 64 * MIB)
NAMES = {"all_reduce": "All-reduce", "all_gather": "All-gather", "reduce_scatter": "Reduce-scatter",
         "all_to_all": "All-to-all", "broadcast": "Broadcast"}
CROWDS = (8, 16, 32, 64)  # threads


class Row:
    """One line of the table. `goals`: (who, against what, at most)."""

    def __init__(self, name, key, limit, goals):
        self.name = name
        self.key = key  # ours
        self.peer = key._replace(memory="library")
        self.limit = limit  # (key among the results of own-ts, factor); None: none
        self.goals = goals


def moved(op, size, ranks):
    """Bytes that a rank has to move at least; of a broadcast all share the work."""
    others = size // ranks * (ranks - 1)
    return {"all_reduce": 2 * others, "reduce_scatter": others, "broadcast": others}.get(op, size)


def large_row(op, size, pattern, ranks):
    return Row(f"{NAMES[op]} {size_name(size)}, {ranks} ranks, {pattern}",
               Key(op, size, pattern, "device", ranks),
               (Key("copy", moved(op, size, ranks), "static", "malloc", ranks), 1),
               (("own-ts", "best", 0.7), ("own-aicpu", "own-ts", 1.2)))


def crowd_row(ranks):
    key = Key("all_reduce", MIB, "static", "device", ranks)
    goals = []
    if ranks > CROWDS[0]:
        goals.append(("own-ts", "linear", 1.0))
    if ranks == CROWDS[-1]:
        goals.append(("own-ts", "ompi", 0.5))
    return Row(f"All-reduce 1 MiB, {ranks} threads", key,
               (key._replace(ranks=CROWDS[0]), ranks / CROWDS[0]), goals)


def rows():
    out = []
    for ranks in (2, 4):
        for size in SMALL:
            out.append(Row(f"All-reduce {size_name(size)}, {ranks} ranks",
                           Key("all_reduce", size, "static", "device", ranks),
                           (FLAG, 1) if ranks == 2 else None, (("quickest", "best", 1.0),)))
        for op in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            for pattern in ("static", "fresh"):
                out += [large_row(op, size, pattern, ranks) for size in LARGE]
        out += [large_row("broadcast", MIB, pattern, ranks) for pattern in ("static", "fresh")]
    return out + [crowd_row(ranks) for ranks in CROWDS]


def evaluate(results, row):
    """All that the table says about one row."""
    own = {o: value(results, o, [row.key]) for o in OWN}
    peers = {p: value(results, p, [row.peer]) for p in (*RIVALS, *TUNED)}
    times = {**own, **peers, "best": least(peers[p] for p in RIVALS),
             "quickest": least((own["own-ts"], own["own-inline"]))}
    limit = None
    if row.limit is not None:
        limit = value(results, "own-ts", [row.limit[0]])
        limit = None if limit is None else limit * row.limit[1]
    times["linear"] = limit
    who = "quickest" if any(g[0] == "quickest" for g in row.goals) else "own-ts"
    tuned = least(peers.values())
    return {
        "row": row.name, "own_us": own, "peers_us": peers, "best_us": times["best"],
        "tuned_best_us": tuned, "limit_us": limit, "to_best": ratio(times[who], times["best"]),
        "to_tuned_best": ratio(times[who], tuned), "to_limit": ratio(times[who], limit),
        "aicpu_to_ts": ratio(own["own-aicpu"], own["own-ts"]),
        "goals": [goal(against, most, ratio(times[whose], times[against]))
                  for whose, against, most in row.goals],
        "own_rounds_us": {o: results.get(o, {}).get(row.key, []) for o in OWN},
    }


GOAL_TEXT = {"best": "{:.2f} best", "own-ts": "AICPU {:.2f} CPU_TS", "linear": "{:.2f} linear",
             "ompi": "{:.2f} Open MPI"}
HEAD = ["row", *OWN.values(), *(PEERS[r] for r in RIVALS), "tuned best", "limit", "ours/best",
        "ours/tuned", "ours/limit", "AICPU/CPU_TS", "goal: at most", ""]


def told(item):
    """The verdict, and which goals are missed if others are met."""
    missed = [g for g in item["goals"] if g["met"] is False]
    if not missed or len(missed) == len(item["goals"]):
        return verdict(item["goals"])
    return "MISSED: " + ", ".join(GOAL_TEXT[g["against"]].format(g["at_most"]) for g in missed)


def cells(item):
    return [item["row"], *(time_text(item["own_us"][o]) for o in OWN),
            *(time_text(item["peers_us"][r]) for r in RIVALS), time_text(item["tuned_best_us"]),
            time_text(item["limit_us"]), ratio_text(item["to_best"]), ratio_text(item["to_tuned_best"]),
            ratio_text(item["to_limit"]), ratio_text(item["aicpu_to_ts"]),
            ", ".join(GOAL_TEXT[g["against"]].format(g["at_most"]) for g in item["goals"]), told(item)]
