# SPDX-License-Identifier: BSD-3-Clause
"""Point to point: "best" is the best peer as the distribution ships it, and goals are against that;
"tuned best" is the best of all contenders, those with other settings included.
"""
from results import (FLAG, KIB, MIB, PEERS, TUNED, Key, goal, least, ratio, ratio_text, size_name,
                     time_text, value, verdict)

TITLE = "Point to point"
OWN = "own"
CONTENDERS = {OWN: "ours", **PEERS, **TUNED}
PEER_MEMORY = {"device": ("library", "malloc"), "pinned": ("library", "malloc"), "malloc": ("malloc",)}
SEND_SIZES = (8, 4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB)
LARGE = SEND_SIZES[2:]


class Row:
    """One line of the table: what to look up, and what is aimed at."""

    def __init__(self, name, own, peers, limit=None, goals=()):
        self.name = name
        self.own = own  # key
        self.peers = peers  # keys of which a peer's best counts
        self.limit = limit  # key among our own results
        self.goals = goals  # (what, at most): what is best, limit, us, or the key of another row


def send_goal(size, pattern, memory):
    if size == 8:
        return 1.0
    if size == 4 * KIB or memory == "malloc":
        return 0.9
    return 0.4 if pattern == "fresh" else 0.6


def rows():
    out = []
    for pattern in ("static", "fresh"):
        for memory in ("device", "pinned", "malloc"):
            for size in SEND_SIZES:
                out.append(Row(
                    f"Send/Recv {size_name(size)}, {pattern}, {memory}",
                    Key("send", size, pattern, memory),
                    [Key("send", size, pattern, m) for m in PEER_MEMORY[memory]],
                    FLAG if size == 8 else None,
                    (("best", send_goal(size, pattern, memory)),)))
    put_rate = Key("put_rate", 8, "static", "library")
    out.append(Row("Put 8 B, time per put", put_rate._replace(memory="device"), [put_rate], None,
                   (("ucx", 1.0),)))
    for what in ("put", "get"):
        for size in LARGE:
            out.append(Row(f"{what.capitalize()} {size_name(size)}",
                           Key(what, size, "static", "device"), [Key(what, size, "static", "library")],
                           Key("memcpy", size, "static", "malloc"), (("limit", 1.05),)))
    out.append(Row("Accumulate 1 MiB FP32 sum", Key("accumulate", MIB, "static", "device"),
                   [Key("accumulate", MIB, "static", "library")], Key("add", MIB, "static", "malloc"),
                   (("limit", 1.1), ("best", 1.0))))
    out.append(Row("Send/Recv 8 B queued on a stream", Key("queued", 8, "static", "device"), [],
                   FLAG, (("us", 1.0), ("inline", 4.0))))
    return out


def evaluate(results, row):
    """All that the table says about one row."""
    own = value(results, OWN, [row.own])
    peers = {p: value(results, p, row.peers) for p in (*PEERS, *TUNED)}
    best = least(peers[p] for p in PEERS)
    tuned = least(peers.values())
    limit = value(results, OWN, [row.limit]) if row.limit else None
    against = {
        "best": best,
        "ucx": peers["ucx"],
        "limit": limit,
        "us": 1.0,
        "inline": value(results, OWN, [row.own._replace(row="send")]),
    }
    return {
        "row": row.name, "own_us": own, "peers_us": peers, "best_us": best,
        "best": next((p for p in PEERS if best is not None and peers[p] == best), None),
        "tuned_best_us": tuned, "limit_us": limit, "to_best": ratio(own, best),
        "to_tuned_best": ratio(own, tuned), "to_limit": ratio(own, limit),
        "goals": [goal(what, most, ratio(own, against[what])) for what, most in row.goals],
        "own_rounds_us": results.get(OWN, {}).get(row.own, []),
    }


GOAL_TEXT = {"best": "{:.2f} best", "ucx": "{:.2f} UCX", "limit": "{:.2f} limit", "us": "{:.0f} us",
             "inline": "{:.0f} x inline"}
HEAD = ["row", "ours", *PEERS.values(), "tuned best", "limit", "ours/best", "ours/tuned",
        "ours/limit", "goal: at most", ""]


def cells(item):
    return [item["row"], time_text(item["own_us"]), *(time_text(item["peers_us"][p]) for p in PEERS),
            time_text(item["tuned_best_us"]), time_text(item["limit_us"]), ratio_text(item["to_best"]),
            ratio_text(item["to_tuned_best"]), ratio_text(item["to_limit"]),
            ", ".join(GOAL_TEXT[g["against"]].format(g["at_most"]) for g in item["goals"]),
            verdict(item["goals"])]
