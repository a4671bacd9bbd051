#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""--json: keys and types as in docs/json-output.md, and figures of models that can be checked by hand."""
import json
import pathlib
import re
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, ProgramTest, needs_earlier

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "json-output.md"

WIDE = 16 * 32 * 32 * 4  # a, b and c of small_models.small
NARROW = 16 * 16 * 16 * 4  # d
SEARCHED = "id,lower,upper,size,alignment\na,0,1,3,4\nb,0,1,3,4\nc,0,1,2,2\n"


def documented_keys(command):
    """The keys in the first column of the tables: 'bytes.arena', 'peak[].holders[].kind'."""
    keys = set()
    for title in ("Shared keys", f"`{command}`"):
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL).group(1)
        keys |= set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))
    return keys


def keys_of(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_of(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from keys_of(inner, path + "[]")
    else:
        yield path


class JsonOutput(ProgramTest):
    def expect_documented(self, command, report):
        self.assertEqual(report["schema_version"], 1)
        self.assertEqual(report["command"], command)
        undocumented = set(keys_of(report)) - documented_keys(command)
        self.assertFalse(undocumented, f"not in {DOCUMENT}")
        for key in keys_of(report):
            if "bytes" in key or key in ("bound", "height"):
                self.assertRegex(str(self.values(report, key)), r"^[\[\]0-9, None]*$", key)

    def values(self, value, path):
        """All values under a path; integers print without a point."""
        key, _, rest = path.partition(".")
        name = key.removesuffix("[]")
        inner = value.get(name)  # a refused baseline has no figures
        if key.endswith("[]"):
            return [self.values(item, rest) if rest else item for item in inner]
        return self.values(inner, rest) if rest else inner

    def test_plan(self):
        report = self.json(DONE, "plan", "model.onnx")
        self.expect_documented("plan", report)
        self.assertEqual(report["bytes"]["inputs"], WIDE)
        self.assertEqual(report["bytes"]["outputs"], NARROW)
        self.assertEqual(report["bytes"]["constants"], 0)
        self.assertEqual(report["bytes"]["temporaries_sum"], 3 * WIDE + NARROW)
        self.assertEqual(report["bytes"]["load_as_given"], 3 * WIDE)  # a, b and c at the Add
        self.assertEqual(report["bytes"]["load"], 2 * WIDE)  # c is written over a
        self.assertEqual(report["bytes"]["bound"], 2 * WIDE)
        self.assertEqual(report["bytes"]["arena"], 2 * WIDE)
        self.assertEqual(report["gap"], 0)
        self.assertIs(report["schedule"]["proven_optimal"], True)
        self.assertIs(report["allocate"]["proven_optimal"], True)
        self.assertIs(report["verified"], True)
        self.assertEqual((report["model"]["nodes"], report["model"]["tensors"]), (4, 5))
        self.assertRegex(report["model"]["sha256"], r"^[0-9a-f]{64}$")
        self.assertEqual(report["model"]["path"], "model.onnx")
        self.assertTrue(all(isinstance(report["seconds"][key], float) for key in ("import", "plan", "verify")))

    def test_reads_of_a_dead_branch_inside_a_body_cost_nothing(self):
        reports = []
        for where in ("nowhere", "inside"):
            self.write(f"{where}.onnx", small_models.dead_branch(where))
            reports.append(self.json(DONE, "plan", f"{where}.onnx")["bytes"])
        # s, s2 and q have 4, 4 and 12 KiB. big (16 KiB) is no longer live; otherwise it would be 16 KiB more.
        self.assertEqual([report["load_as_given"] for report in reports], [20 * 1024, 20 * 1024])
        for key in ("load", "bound", "arena"):
            self.assertEqual(reports[0][key], reports[1][key], key)

    def test_streams(self):
        self.write("parallel.onnx", small_models.parallel())
        report = self.json(DONE, "plan", "parallel.onnx", "--streams", "2", "--stream-memory", "40", "--trade-offs")
        self.expect_documented("plan", report)
        self.assertEqual(report["streams"], 2)
        one, chosen = report["points"][0], next(point for point in report["points"] if point["chosen"])
        # Live on one stream: a | a c | c b | c b d | c d e. On two streams, a b c d are live at once.
        self.assertEqual((one["streams"], one["arena_bytes"], chosen["arena_bytes"]), (1, 3 * 4096, 4 * 4096))
        self.assertEqual(report["bytes"]["arena"], chosen["arena_bytes"])
        # 1 us to start and 0.1 ns per byte: 2 x 4 KiB for a to d; 3 x 4 KiB for e, and 0.04 ns per product (32^3).
        # Five kernels in a row, or three.
        self.assertEqual(one["estimated_picoseconds"], 4 * 1_819_200 + 3_539_520)
        self.assertEqual(chosen["estimated_picoseconds"], 2 * 1_819_200 + 3_539_520)

        self.assertEqual((report["run"], one["run"], chosen["run"]), ("streams", "sequence", "streams"))
        self.assertEqual({point["run"] for point in report["points"]}, {"sequence", "streams", "waves"})

    def test_waves_and_dataflow(self):
        self.write("parallel.onnx", small_models.parallel())
        waves = self.json(DONE, "plan", "parallel.onnx", "--streams", "2", "--stream-memory", "40", "--run", "waves")
        dataflow = self.json(DONE, "plan", "parallel.onnx", "--run", "dataflow")
        for report, run, told in ((waves, "waves", 3), (dataflow, "dataflow", None)):
            self.expect_documented("plan", report)
            chosen = next(point for point in report["points"] if point["chosen"])
            # a and b, then c and d beside them: 4 x 4 KiB. In dataflow, all four may be live at once as well.
            self.assertEqual((report["run"], chosen["run"], chosen["arena_bytes"]), (run, run, 4 * 4096))
            self.assertEqual(chosen["waves"], told)
            self.assertEqual(chosen["estimated_picoseconds"], 2 * 1_819_200 + 3_539_520)
        self.assertEqual(self.json(DONE, "plan", "parallel.onnx")["run"], "sequence")

    def test_in_place_and_views_can_be_switched_off(self):
        report = self.json(DONE, "plan", "model.onnx", "--no-in-place")
        self.assertEqual(report["bytes"]["arena"], 3 * WIDE)

    def test_plan_that_does_not_fit(self):
        report = self.json(NO, "plan", "model.onnx", "--budget", str(3 * WIDE - 64))
        self.expect_documented("plan", report)
        self.assertEqual(report["budget"].pop("recomputation")["outcome"], "infeasible")
        self.assertEqual(report["budget"], {
            "capacity": 3 * WIDE - 64, "counted": 3 * WIDE, "fits": False, "shortfall": 64, "proven_infeasible": True,
            "counted_on_cpu": 147_456, "region_proof": None})
        self.assertEqual(report["peak"][0]["bytes"], 2 * WIDE)
        self.assertEqual(sorted(holder["bytes"] for holder in report["peak"][0]["holders"]), [WIDE, WIDE])

    def test_work_on_constants_is_done_once(self):
        self.write("weights.onnx", small_models.weights_from_weights())
        report = self.json(DONE, "plan", "weights.onnx", "-o", "plan.json")
        self.expect_documented("plan", report)
        # A run executes only the Add: its result y, besides the input x and the constant w. The Neg of 256 bytes may be
        # written over the result of the Concat.
        self.assertEqual(report["steps"], 1)
        self.assertEqual({key: report["bytes"][key] for key in ("constants", "inputs", "arena", "ram")},
                         {"constants": 256, "inputs": 256, "arena": 256, "ram": 512})
        self.assertEqual(report["model"]["load_time"], {"nodes": 2, "result_bytes": 256, "peak_bytes": 256})
        self.assertEqual(json.loads((self.folder / "plan.json").read_text())["provenance"]["lowering"], ["load_time"])
        self.expect(DONE, "verify", "weights.onnx", "plan.json")
        every_run = self.json(DONE, "plan", "weights.onnx", "--no-load-time")
        self.assertEqual((every_run["steps"], every_run["model"]["load_time"]), (3, None))
        self.assertEqual((every_run["bytes"]["constants"], every_run["bytes"]["arena"]), (128, 256))

    def test_buffers_of_a_plan_can_be_packed_again(self):
        self.expect(DONE, "plan", "model.onnx", "--csv", "buffers.csv")
        header, *rows = (self.folder / "buffers.csv").read_text().splitlines()
        self.assertEqual(header, "id,lower,upper,size,alignment")
        # c, which is written over a, then b, and the output d.
        self.assertEqual(sorted(row.split(":")[1] for row in rows),
                         [f"b,1,3,{WIDE},64", f"c,0,4,{WIDE},64", f"d,3,4,{NARROW},64"])
        self.assertEqual(self.json(DONE, "pack", "buffers.csv")["height"], 2 * WIDE)

    def test_inputs_may_be_in_the_arena(self):
        report = self.json(DONE, "plan", "model.onnx", "--inputs", "arena", "-o", "plan.json")
        self.expect_documented("plan", report)
        # x is dead when the Relu has written a over it, so a and b are the peak as before.
        self.assertEqual((report["bytes"]["inputs"], report["bytes"]["arena"], report["bytes"]["ram"]),
                         (0, 2 * WIDE, 2 * WIDE))
        self.expect(DONE, "verify", "model.onnx", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual(plan["provenance"]["lowering"], ["inputs_in_arena"])
        plan["provenance"]["lowering"] = ["fuse"]
        self.write("other.json", json.dumps(plan))
        self.assertIn("'fuse'", self.expect(BAD_INPUT, "verify", "model.onnx", "other.json").stderr)

    def test_outputs_may_be_in_memory_of_the_caller(self):
        self.write("wide.onnx", small_models.chain(3))
        placed = self.json(DONE, "plan", "wide.onnx")["bytes"]
        report = self.json(DONE, "plan", "wide.onnx", "--outputs", "caller", "-o", "plan.json", "--html", "map.html")
        self.expect_documented("plan", report)
        self.assertEqual(report["bytes"]["outputs"], placed["outputs"])
        self.assertEqual(report["bytes"]["ram"], report["bytes"]["arena"] + placed["inputs"] + placed["outputs"])
        self.assertLessEqual(report["bytes"]["arena"], placed["arena"])
        self.assertTrue(report["proven_optimal"])
        self.assertIn("arena, inputs and outputs",
                      self.expect(DONE, "plan", "wide.onnx", "--outputs", "caller").stdout)
        self.expect(DONE, "verify", "wide.onnx", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual(plan["provenance"]["lowering"], ["outputs_at_caller"])
        self.assertEqual(plan["outputs"], [])

    def test_inspect(self):
        report = self.json(DONE, "inspect", "model.onnx")
        self.expect_documented("inspect", report)
        self.assertEqual(report["bytes"]["load_as_given"], 3 * WIDE)
        self.assertEqual(report["bytes"]["bound"], 2 * WIDE)
        self.assertEqual([op["op"] for op in report["operators"]], ["Add", "Relu", "Sigmoid", "MaxPool"])
        peak = report["peak"][0]
        self.assertEqual((peak["step"], peak["node"]["op"]), (2, "Add"))
        holder = peak["holders"][0]
        self.assertEqual(holder["tensor"]["name"], "a")
        self.assertEqual(holder["tensor"]["shape"], [1, 16, 32, 32])
        self.assertEqual(holder["producer"], {"name": "relu", "op": "Relu"})
        self.assertEqual(holder["last_reader"], {"name": "add", "op": "Add"})
        self.assertEqual(holder["steps"], {"begin": 0, "end": 3})

    def test_explain(self):
        report = self.json(DONE, "explain", "model.onnx")
        self.expect_documented("explain", report)
        self.assertEqual(report["bytes"], {"constants": 0, "inputs": WIDE, "arena": 2 * WIDE})
        level, = report["levels"]
        self.assertEqual((level["load_bytes"], level["bound_bytes"], level["must_bytes"]), (2 * WIDE,) * 3)
        self.assertIs(level["proven_optimal"], True)
        # a and b at the Sigmoid; b and a, with c written over it, at the Add. Then c and d: 80 KiB.
        self.assertEqual(level["peaks"], [{"begin": 1, "end": 3}])
        self.assertEqual(level["highest_other_bytes"], WIDE + NARROW)
        self.assertEqual(level["witness"]["tensors"], [{"name": "a", "bytes": WIDE}, {"name": "b", "bytes": WIDE}])
        self.assertEqual(sum(buffer["bytes"] for buffer in level["buffers"]), 2 * WIDE)
        self.assertEqual(level["largest_touched_bytes"], 2 * WIDE)
        # Without results in place, c needs its own bytes beside a and b, and the bound is for such plans.
        level = self.json(DONE, "explain", "model.onnx", "--no-in-place")["levels"][0]
        self.assertEqual((level["load_bytes"], level["bound_bytes"]), (3 * WIDE, 3 * WIDE))
        self.assertEqual([(one["input"], one["output"], one["reason"]) for one in level["not_in_place"]],
                         [("a", "c", "switched_off"), ("b", "c", "switched_off")])
        for name, model in (("branches", small_models.branches()), ("nothing", small_models.without_nodes())):
            self.write(f"{name}.onnx", model)
            self.expect_documented("explain", self.json(DONE, "explain", f"{name}.onnx"))

    @needs_earlier
    def test_compare(self):
        report = self.json(DONE, "compare", "model.onnx")
        self.expect_documented("compare", report)
        self.assertEqual(report["bytes"]["arena"], 2 * WIDE)
        baselines = {baseline["baseline"]: baseline for baseline in report["baselines"]}
        self.assertEqual(baselines["caffe2_simple"]["bytes"], 3 * WIDE + NARROW)  # a, b and c live at the Add, and d
        self.assertEqual(baselines["caffe2_simple"]["shared_buffers"], 3)
        self.assertEqual(baselines["static_runtime_groups"]["bytes"], 3 * WIDE + NARROW)
        # x, a, b, c side by side, and d. With sharing, x has the bytes of b or c. a, b and c are live at the Add.
        self.assertEqual(baselines["aitemplate_naive"]["bytes"], 4 * WIDE + NARROW)
        self.assertEqual(baselines["aitemplate_greedy_by_size"]["bytes"], 3 * WIDE)
        self.assertEqual(baselines["tflite_micro_greedy"]["bytes"], 3 * WIDE)
        self.assertEqual(baselines["executorch_greedy"]["bytes"], 3 * WIDE)
        self.assertEqual(baselines["executorch_naive"]["bytes"], 4 * WIDE + NARROW)
        self.assertEqual([one["discontinued"] for one in report["baselines"]], [False] * 6 + [True] * 10)
        for name in ("grappler", "caffe2_gradients", "caffe2_gradients_sized"):
            self.assertIn("does not apply", baselines.pop(name)["refusal"])
        for baseline in baselines.values():
            self.assertGreaterEqual(baseline["bytes"], report["bytes"]["arena"])
            self.assertIs(baseline["verified"], True)
        same = self.json(DONE, "compare", "model.onnx", "--same-order")["baselines"]
        self.assertEqual(same, report["baselines"])  # a model with one order

    def test_top_limits_the_tables_and_nothing_else(self):
        report = self.json(DONE, "inspect", "model.onnx", "--top", "1")
        self.assertEqual(len(report["peak"][0]["holders"]), 1)
        self.assertEqual(report["peak"][0]["holders_total"], 3)
        self.assertEqual(report["bytes"]["load_as_given"], 3 * WIDE)

    def test_top_0_prints_counts_instead_of_tables(self):
        for command, lines in (("inspect", ["3 buffers", "4 operators"]), ("plan", ["2 buffers"]),
                               ("explain", ["2 buffers"])):
            said = self.expect(DONE, command, "model.onnx", "--top", "0").stdout
            for line in lines:
                self.assertIn(f"\n  {line}, none listed\n", said, command)
            self.assertNotIn("bytes  share", said, command)

    def test_verify(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        report = self.json(DONE, "verify", "model.onnx", "plan.json")
        self.expect_documented("verify", report)
        self.assertIs(report["verified"], True)
        self.assertEqual(report["violations"], [])
        self.write("other.onnx", small_models.chain(3))
        report = self.json(NO, "verify", "other.onnx", "plan.json")
        self.expect_documented("verify", report)
        self.assertEqual([violation["kind"] for violation in report["violations"]], ["wrong_model"])

    def test_bindings_travel_with_the_plan(self):
        self.write("dynamic.onnx", small_models.small("batch"))
        report = self.json(DONE, "plan", "dynamic.onnx", "--dim", "batch=3", "-o", "plan.json")
        self.assertEqual(report["bytes"]["arena"], 3 * 2 * WIDE)
        self.assertEqual(report["dims"], ["batch=3"])
        self.expect(DONE, "verify", "dynamic.onnx", "plan.json")
        self.json(DONE, "plan", "dynamic.onnx", "--shape", "x=3x16x32x32", "-o", "shaped.json")
        self.expect(DONE, "verify", "dynamic.onnx", "shaped.json")

    def test_pack(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,3,64\nb,2,10,128\nc,3,12,32\n")
        report = self.json(DONE, "pack", "buffers.csv", "-o", "packed.csv")
        self.expect_documented("pack", report)
        self.assertEqual((report["buffers"], report["bound"], report["height"], report["gap"]), (3, 192, 192, 0))
        self.assertIs(report["feasible"], True)
        self.assertEqual((self.folder / "packed.csv").read_text().splitlines()[0], "id,lower,upper,size,offset")

    def test_pack_that_does_not_fit(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,3,64\nb,2,10,128\n")
        report = self.json(NO, "pack", "buffers.csv", "--capacity", "191", "-o", "packed.csv")
        self.expect_documented("pack", report)
        self.assertIs(report["feasible"], False)
        self.assertEqual(report["outcome"], "infeasible")
        self.assertEqual(report["witness_time"], 2)
        self.assertNotIn("packed.csv", self.listing())

    def test_pack_shows_a_witness(self):
        # At time 2: a and b, 64 + 128 bytes. c begins when a has ended.
        self.write("buffers.csv", "id,lower,upper,size\na,0,3,64\nb,2,10,128\nc,3,12,32\n")
        witness = {"time": 2, "bytes": 192, "proven_bytes": 192, "alone": None, "buffers": ["b", "a"],
                   "buffers_total": 2}
        for code, words in ((DONE, []), (DONE, ["--capacity", "192"]), (NO, ["--capacity", "191"])):
            report = self.json(code, "pack", "buffers.csv", *words)
            self.assertEqual(report["witness"], witness)
            self.assertEqual((report["bound_by"], report["bound_verified"]), ("load", True))
            self.assertIs(report["interrupted"], False)

    def test_a_witness_counts_padding_and_fixed_buffers(self):
        # Two buffers of 10 bytes at multiples of 64: the second begins at 64, so 74.
        self.write("aligned.csv", "id,lower,upper,size,alignment\na,0,1,10,64\nb,0,1,10,64\n")
        report = self.json(NO, "pack", "aligned.csv", "--capacity", "73")
        self.assertEqual((report["witness"]["bytes"], report["witness"]["proven_bytes"]), (20, 74))
        self.assertIs(report["bound_verified"], True)
        self.write("fixed.csv", "id,lower,upper,size,offset\na,0,1,10,\nb,0,1,10,100\n")
        report = self.json(NO, "pack", "fixed.csv", "--capacity", "109")
        self.expect_documented("pack", report)
        self.assertEqual(report["witness"]["alone"], "b")
        self.assertEqual(report["witness"]["proven_bytes"], 110)

    def test_a_witness_lists_a_thousand_and_counts_all(self):
        self.write("many.csv", "id,lower,upper,size\n" + "".join(f"b{at},0,1,1\n" for at in range(1500)))
        witness = self.json(NO, "pack", "many.csv", "--capacity", "1499")["witness"]
        self.assertEqual((len(witness["buffers"]), witness["buffers_total"], witness["bytes"]), (1000, 1500, 1500))

    def test_a_bound_found_by_search_says_so(self):
        # Two buffers of 3 bytes at multiples of 4, and one of 2 bytes at a multiple of 2. The padding proves 4 + 4 + 2
        # - 1 = 9, because the topmost buffer needs none. But the least possible height is 10.
        self.write("searched.csv", SEARCHED)
        report = self.json(NO, "pack", "searched.csv", "--capacity", "9")
        self.expect_documented("pack", report)
        self.assertEqual((report["bound_by"], report["bound_verified"]), ("search", "search"))
        self.assertEqual((report["outcome"], report["bound"], report["witness"]["proven_bytes"]), ("infeasible", 10, 9))
        self.assertGreater(report["decisions"], 0)

    def test_threads_change_nothing(self):
        self.write("searched.csv", SEARCHED)
        reports = [self.json(NO, "pack", "searched.csv", "--capacity", "9", "--threads", str(count))
                   for count in (1, 2, 7, 256)]
        for report in reports:
            del report["seconds"]
            self.assertEqual(report, reports[0])

    def test_order(self):
        # Two branches of 100 bytes and then 1 byte. One after another they need 100 + 1 + 1, both at once 201.
        self.write("graph.json", """{"nodes": [{"bytes": 100}, {"bytes": 100}, {"bytes": 1}, {"bytes": 1},
                                               {"bytes": 1}],
                                     "edges": [[0, 2], [1, 3], [2, 4], [3, 4]]}""")
        report = self.json(DONE, "order", "graph.json")
        self.expect_documented("order", report)
        self.assertEqual([report[key] for key in ("nodes", "load_as_given", "load", "bound")], [5, 201, 102, 102])
        self.assertEqual((report["gap"], report["proven_optimal"]), (0, True))
        self.assertEqual(sorted(report["order"]), [0, 1, 2, 3, 4])
        piped = self.json(DONE, "order", "-", stdin=(self.folder / "graph.json").read_bytes())
        self.assertEqual((piped["path"], piped["order"]), ("-", report["order"]))
        said = self.expect(BAD_INPUT, "order", "-", stdin=b"[]").stderr
        self.assertIn("stdin:1:1: expected an object", said)
        given = self.json(DONE, "order", "graph.json", "--order", "as_given")
        self.assertEqual((given["load"], given["proven_optimal"], given["order"]), (201, False, [0, 1, 2, 3, 4]))
        self.write("cycle.json", """{"nodes": [{"bytes": 1}, {"bytes": 1}], "edges": [[0, 1], [1, 0]]}""")
        self.assertIn("cycle", self.expect(BAD_INPUT, "order", "cycle.json").stderr)

    def test_pack_of_nothing(self):
        self.write("empty.csv", "id,lower,upper,size\n")
        report = self.json(DONE, "pack", "empty.csv")
        self.expect_documented("pack", report)
        self.assertEqual((report["height"], report["witness"], report["bound_verified"]), (0, None, True))
        self.assertEqual(self.json(DONE, "pack", "empty.csv", "--slots")["total"], 0)

    def test_slots(self):
        # c goes to the slot of a: 8 + 4 = 12 bytes in two slots.
        self.write("buffers.csv", "id,lower,upper,size\na,0,4,8\nb,2,6,4\nc,4,8,6\n")
        report = self.json(DONE, "pack", "buffers.csv", "--slots", "-o", "slots.csv")
        self.expect_documented("pack", report)
        self.assertEqual((report["kind"], report["slots"], report["slot_bytes"]), ("slots", 2, [8, 4]))
        self.assertEqual((report["total"], report["bound"], report["gap"]), (12, 12, 0))
        self.assertIs(report["proven_optimal"], True)
        self.assertEqual((self.folder / "slots.csv").read_text(),
                         "id,lower,upper,size,slot\na,0,4,8,0\nb,2,6,4,1\nc,4,8,6,0\n")
        self.assertEqual(self.json(DONE, "pack", "buffers.csv")["kind"], "offsets")

    def test_slots_that_do_not_fit(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,4,8\nb,2,6,4\nc,4,8,6\n")
        report = self.json(NO, "pack", "buffers.csv", "--slots", "--capacity", "11", "-o", "slots.csv")
        self.expect_documented("pack", report)
        self.assertEqual((report["outcome"], report["feasible"], report["capacity"]), ("infeasible", False, 11))
        self.assertNotIn("slots.csv", self.listing())

    def test_names_that_json_cannot_hold_are_escaped(self):
        self.write("hostile.onnx", small_models.hostile_names())
        report = self.json(DONE, "inspect", "hostile.onnx")
        self.assertEqual(report["model"]["outputs"][0]["name"], r"\\\xfe")  # the backslash twice, the byte as \xfe
        # 2 x 256 bytes at the second node: what it reads and what it writes.
        names = [holder["tensor"]["name"] for holder in report["peak"][0]["holders"]]
        self.assertEqual(names, ["\x1b[31mred\x1b[0m", "a\nerror: false"])


if __name__ == "__main__":
    unittest.main()
