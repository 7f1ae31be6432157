#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the arithmetic of the tables."""
import json
import pathlib
import tempfile
import unittest

import coll_table
import p2p_table
import results as res
import table

MIB = res.MIB
SEND = res.Key("send", MIB, "fresh", "device")
REDUCE = res.Key("all_reduce", MIB, "fresh", "device", 4)


def results(own, peer_library, peer_malloc):
    return {
        "own": {SEND: own},
        "ucx": {SEND._replace(memory="library"): peer_library,
                SEND._replace(memory="malloc"): peer_malloc},
    }


def send_row(memory="device"):
    return next(r for r in p2p_table.rows() if r.own == SEND._replace(memory=memory))


class TableTest(unittest.TestCase):
    def test_a_value_is_the_median_of_the_rounds(self):
        got = p2p_table.evaluate(results([1, 90, 3], [10, 10, 99], [50, 50, 50]), send_row())
        self.assertEqual((got["own_us"], got["best_us"], got["to_best"]), (3, 10, 0.3))

    def test_a_goal_is_met_up_to_its_number(self):
        at = p2p_table.evaluate(results([40], [100], [100]), send_row())
        above = p2p_table.evaluate(results([41], [100], [100]), send_row())
        self.assertEqual(res.verdict(at["goals"]), "met")
        self.assertEqual(res.verdict(above["goals"]), "MISSED")

    def test_a_peer_counts_with_its_better_memory_except_against_malloc(self):
        both = {**results([1], [10], [20])}
        both["own"][SEND._replace(memory="malloc")] = [1]
        self.assertEqual(p2p_table.evaluate(both, send_row())["best_us"], 10)
        self.assertEqual(p2p_table.evaluate(both, send_row("malloc"))["best_us"], 20)

    def test_tuned_contenders_do_not_decide_a_goal(self):
        more = results([40], [100], [100])
        more["ucx-tuned"] = {SEND._replace(memory="malloc"): [20]}
        got = p2p_table.evaluate(more, send_row())
        self.assertEqual((got["to_best"], got["to_tuned_best"]), (0.4, 2.0))
        self.assertEqual(res.verdict(got["goals"]), "met")

    def test_what_was_not_measured_has_no_verdict(self):
        got = p2p_table.evaluate({"own": {SEND: [1]}}, send_row())
        self.assertEqual(res.verdict(got["goals"]), "-")
        self.assertEqual(len(p2p_table.cells(got)), len(p2p_table.HEAD))

    def test_two_goals_must_both_be_met(self):
        row = next(r for r in p2p_table.rows() if r.own[0] == "queued")
        for queued, want in ((0.3, "met"), (0.5, "MISSED"), (1.1, "MISSED")):
            got = p2p_table.evaluate({"own": {row.own: [queued], res.Key("send", 8, "static", "device"): [0.1]}},
                                 row)
            self.assertEqual(res.verdict(got["goals"]), want, queued)

    def test_files_of_all_rounds_are_read(self):
        with tempfile.TemporaryDirectory() as home:
            for number in (1, 2):
                item = {"row": "send", "bytes": MIB, "pattern": "fresh", "memory": "device", "ranks": 2,
                        "us_median": float(number), "flag_us_before": 0.06, "flag_us_after": 0.05}
                text = json.dumps({"about": "x"}) + "\n" + json.dumps(item) + "\n"
                pathlib.Path(home, f"{number}.own.p2p.jsonl").write_text(text)
            records, abouts = res.load(home)
        self.assertEqual(records, [("own", SEND, 1.0, 0.05, 0.06), ("own", SEND, 2.0, 0.05, 0.06)])
        self.assertEqual(res.gather(records), {"own": {SEND: [1.0, 2.0]}})
        self.assertEqual(abouts, {"own": "x"})

    def test_results_are_kept_apart_by_the_place_of_the_processors(self):
        def record(who, us, least, most):
            return (who, SEND, us, least, most)

        records = [record("own", 1, 0.05, 0.06), record("own", 2, 0.05, 0.27),
                   record("own", 3, 0.27, 0.28), record("own", 4, 0.26, 0.3),
                   record("ucx", 5, 0.25, 0.25), record("ucx", 6, 0.28, 0.28)]
        best, other = res.places(records)
        self.assertEqual(best, (2, {"own": {SEND: [4, 3]}, "ucx": {SEND: [5, 6]}}))
        self.assertEqual(other, (0, {"own": {SEND: [1]}}))

    def test_results_during_which_the_processors_moved_make_no_table(self):
        self.assertEqual(res.places([("own", SEND, 1, 0.05, 0.27)]), [])


def coll_row(key):
    return next(r for r in coll_table.rows() if r.key == key)


class CollectivesTest(unittest.TestCase):
    def test_each_engine_has_a_goal_of_its_own(self):
        peer = REDUCE._replace(memory="library")
        for ts, aicpu, want in ((7, 8.4, "met"), (8, 8, "MISSED: 0.70 best"),
                                (7, 9, "MISSED: AICPU 1.20 CPU_TS"), (8, 10, "MISSED")):
            got = coll_table.evaluate({"own-ts": {REDUCE: [ts]}, "own-aicpu": {REDUCE: [aicpu]},
                                       "ompi": {peer: [12]}, "mpich": {peer: [10]}},
                                      coll_row(REDUCE))
            self.assertEqual(coll_table.cells(got)[-1], want)
            self.assertEqual(len(coll_table.cells(got)), len(coll_table.HEAD))

    def test_a_goal_not_measured_is_not_met(self):
        got = coll_table.evaluate({"own-ts": {REDUCE: [1]},
                                   "ompi": {REDUCE._replace(memory="library"): [10]}},
                                  coll_row(REDUCE))
        self.assertEqual(coll_table.cells(got)[-1], "-")

    def test_of_small_ones_the_quicker_of_inline_and_queued_counts(self):
        key = res.Key("all_reduce", 8, "static", "device", 2)
        for ts, inline, want in ((2, 1, 0.5), (1, 4, 0.5)):
            got = coll_table.evaluate({"own-ts": {key: [ts]}, "own-inline": {key: [inline]},
                                       "ompi": {key._replace(memory="library"): [2]}}, coll_row(key))
            self.assertEqual(got["to_best"], want)

    def test_the_limit_is_a_copy_of_what_a_rank_must_move(self):
        self.assertEqual([coll_table.moved(op, 64, 4) for op in
                          ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")],
                         [96, 64, 48, 64, 48])
        copied = res.Key("copy", MIB + MIB // 2, "static", "malloc", 4)
        got = coll_table.evaluate({"own-ts": {REDUCE: [6], copied: [3]}}, coll_row(REDUCE))
        self.assertEqual((got["limit_us"], got["to_limit"]), (3, 2.0))

    def test_threads_are_held_against_eight_of_them(self):
        eight, many = (res.Key("all_reduce", MIB, "static", "device", n) for n in (8, 64))
        for us, want in ((80, "met"), (81, "MISSED: 1.00 linear"), (101, "MISSED")):
            got = coll_table.evaluate({"own-ts": {eight: [10], many: [us]},
                                       "ompi": {many._replace(memory="library"): [200]}},
                                      coll_row(many))
            self.assertEqual(coll_table.cells(got)[-1], want)

    def test_each_part_makes_its_own_table_of_what_was_measured(self):
        made = table.tables_of([(3, results([40], [100], [100]))])
        self.assertEqual([section for section, *_ in made], [p2p_table])
        self.assertEqual([item["row"] for item in made[0][1]],
                         [f"Send/Recv 1 MiB, fresh, {m}" for m in ("device", "pinned", "malloc")])


if __name__ == "__main__":
    unittest.main()
