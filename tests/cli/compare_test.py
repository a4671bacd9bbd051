# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What other planners need: for every kind of model, for each device, and in runs of several sizes."""
import unittest

import small_models
from json_output_test import documented_keys, keys_of
from netdef_test import GRAPHDEF, INIT, NET, SIZES
from program import BAD_INPUT, DONE, USAGE, ProgramTest

# Relu runs on a GPU.
GPU = "device_option { device_type: 1 }"
GPU_NET = NET.replace('op { type: "Relu" input: "c1" output: "c1" }',
                      'op { type: "CopyCPUToGPU" input: "c1" output: "g1" ' + GPU + ' }\n'
                      'op { type: "Relu" input: "g1" output: "g1" ' + GPU + ' }').replace(
                          'input: "c1" output: "p1"', 'input: "g1" output: "p1"')


def refusals(compared):
    """Every baseline has a line. Those that do not apply say why."""
    names = [line["baseline"] for line in compared["baselines"]]
    assert len(set(names)) == 16, names
    for line in compared["baselines"]:
        assert (line["refusal"] is None) == ("bytes" in line), line
    return [line["baseline"] for line in compared["baselines"] if line["refusal"]]


class CompareTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.pbtxt", NET)
        self.write("init.pbtxt", INIT)
        self.write("graph.pbtxt", GRAPHDEF)

    def test_every_baseline_says_why_it_does_not_apply(self):
        self.assertEqual(refusals(self.json(DONE, "compare", "model.onnx")),
                         ["grappler", "caffe2_gradients", "caffe2_gradients_sized"])
        compared = self.json(DONE, "compare", "graph.pbtxt", "--shape", "x=1x9x9x3")
        self.assertEqual(compared["onnxruntime"]["refusal"], "does not apply: it does not run graphs of TensorFlow")
        self.assertEqual(refusals(compared), ["grappler", "caffe2_gradients", "caffe2_gradients_sized"])
        compared = self.json(DONE, "compare", "net.pbtxt", *SIZES)
        self.assertEqual(compared["onnxruntime"]["refusal"], "does not apply: it does not run nets of Caffe2")
        self.assertEqual(refusals(compared), ["grappler", "caffe2_gradients", "caffe2_gradients_sized"])
        self.assertIn("use 'lowtide share --rule caffe2_gradients_sized'",
                      self.expect(DONE, "compare", "net.pbtxt", *SIZES).stdout)
        self.write("gpu.pbtxt", GPU_NET)
        refused = refusals(self.json(DONE, "compare", "gpu.pbtxt", *SIZES))
        self.assertEqual(refused, ["tflite_micro_greedy", "executorch_greedy", "executorch_naive",
                                   "static_runtime_side_by_side", "grappler", "caffe2_gradients",
                                   "caffe2_gradients_sized", "aitemplate_naive", "aitemplate_greedy_by_size",
                                   "aitemplate_multistream"])
        self.assertIn("'tflite_micro_greedy' plans one device, but the tensors are on 2",
                      self.expect(DONE, "compare", "gpu.pbtxt", *SIZES).stdout)

    def test_names_are_whole_in_80_columns(self):
        compared = self.json(DONE, "compare", "model.onnx")
        said = self.expect(DONE, "compare", "model.onnx", environment={"COLUMNS": "80"}).stdout
        self.assertLessEqual(max(map(len, said.splitlines())), 80)
        lines = [line.strip() for line in said.splitlines()]
        for name in ("planner", "lowtide", "onnxruntime", *(line["baseline"] for line in compared["baselines"])):
            self.assertIn(name, lines)

    def test_onnxruntime_runs_all_nodes_of_the_file(self):
        """v = Neg(w) depends on constants alone. Lowtide runs it when it loads the model. y is v + x."""
        nodes = [small_models.node("Neg", ["w"], ["v"]), small_models.node("Add", ["v", "x"], ["y"])]
        values = [small_models.value_info(name, [1_024]) for name in ("x", "y")]
        content = small_models.graph(nodes, values[:1], values[1:], [small_models.zeros("w", 1_024)])
        field = small_models.field
        self.write("load.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        compared = self.json(DONE, "compare", "load.onnx")
        self.assertEqual((compared["bytes"]["arena"], compared["onnxruntime"]["live_bytes"]), (4_096, 8_192))
        self.assertIn("other rules for sharing, and nodes that Lowtide runs when it loads the model: 8,192 B",
                      self.expect(DONE, "compare", "load.onnx").stdout)

    def test_onnxruntime_learns_open_extents_from_its_inputs(self):
        """r = Relu(p) is written over p = MaxPool(x) if the session knows the extents of p before the run."""
        pool = [small_models.ints("kernel_shape", [1, 1])]
        nodes = [small_models.node("MaxPool", ["x"], ["p"], attributes=pool), small_models.node("Relu", ["p"], ["r"]),
                 small_models.node("GlobalAveragePool", ["r"], ["y"])]
        result = [small_models.value_info("y", [1, 4, 1, 1])]
        for extents, live in (([1, 4, 16, 16], 4_096 + 16), ([1, 4, "h", "w"], 2 * 4_096)):
            self.write("pool.onnx", small_models.model(nodes, [small_models.value_info("x", extents)], result))
            compared = self.json(DONE, "compare", "pool.onnx", "--shape", "x=1x4x16x16")
            self.assertEqual(compared["onnxruntime"]["live_bytes"], live)

    def test_totals_are_per_device_and_operator(self):
        """c1 on the CPU, and p1, fc, prob; its copy g1 on the GPU, over which Relu writes."""
        self.write("gpu.pbtxt", GPU_NET)
        found = self.json(DONE, "inspect", "gpu.pbtxt", *SIZES)
        self.assertFalse(set(keys_of(found)) - documented_keys("inspect"))
        cpu, gpu = found["devices"]
        self.assertEqual((cpu["name"], cpu["nodes"], cpu["bytes"]), ("cpu", 4, 65_536 + 16_384 + 40 + 40))
        self.assertEqual(cpu["load_as_given"], 65_536)  # p1 and fc, or fc and prob, are less
        self.assertEqual([(row["op"], row["nodes"], row["bytes"]) for row in cpu["operators"]],
                         [("caffe2::Conv", 1, 65_536), ("caffe2::MaxPool", 1, 16_384), ("caffe2::FC", 1, 40),
                          ("caffe2::Softmax", 1, 40)])
        self.assertEqual((gpu["name"], gpu["nodes"], gpu["bytes"], gpu["load_as_given"]),
                         ("cuda:0", 2, 65_536, 65_536))
        self.assertEqual([(row["op"], row["bytes"]) for row in gpu["operators"]],
                         [("caffe2::CopyCPUToGPU", 65_536), ("caffe2::Relu", 0)])
        shown = self.expect(DONE, "inspect", "gpu.pbtxt", *SIZES).stdout
        self.assertRegex(shown, r"65,536 B +65,536 B +cuda:0 +2\n +65,536 B +caffe2::CopyCPUToGPU +1\n")
        # One device needs no table of devices.
        self.assertNotIn("by device", self.expect(DONE, "inspect", "net.pbtxt", *SIZES).stdout)
        only, = self.json(DONE, "inspect", "net.pbtxt", *SIZES)["devices"]
        self.assertEqual((only["name"], only["bytes"]), ("cpu", 65_536 + 16_384 + 40 + 40))
        self.assertNotIn("devices", self.json(DONE, "inspect", "model.onnx"))

    def test_static_runtime_learns_sizes(self):
        """Relu writes c1@1 beside c1. In batch 2 all are twice as large."""
        runs = ("--then", "data=2x3x32x32", "--then", "data=1x3x32x32")
        compared = self.json(DONE, "compare", "net.pbtxt", *SIZES, *runs)
        self.assertFalse(set(keys_of(compared)) - documented_keys("compare"))
        learned = compared["learned"]
        self.assertEqual((learned["managed"], learned["groups"], learned["managed_outputs"]), (4, 2, 0))
        first, second, third = [run["side_by_side"] for run in learned["runs"]]
        dense = 2 * 65_536 + 16_384 + 40 + 40  # c1, c1@1, p1, fc and prob
        self.assertEqual((first["block_bytes"], first["outside_bytes"], first["held_bytes"]), (0, dense, dense))
        # fc has 80 bytes in batch 2, and 64 were learned. prob is never managed.
        block = 2 * 65_536 + 16_384 + 64
        self.assertEqual((second["block_bytes"], second["outside_bytes"], second["grown"]), (block, 2 * dense, 4))
        self.assertEqual((third["block_bytes"], third["outside_bytes"]), (2 * (2 * 65_536 + 16_384) + 128, 40))
        # {c1, p1} and {c1@1, fc}
        groups = [run["groups"]["block_bytes"] for run in learned["runs"]]
        self.assertEqual(groups, [0, 2 * 65_536, 4 * 65_536])
        self.assertEqual([run["arena_bytes"] for run in learned["runs"]], [81_920, 163_840, 81_920])
        self.assertEqual(learned["arena_bytes"], 163_840)
        managed = self.json(DONE, "compare", "net.pbtxt", *SIZES, *runs, "--manage-outputs")["learned"]
        self.assertEqual([run["groups"]["outputs_block_bytes"] for run in managed["runs"]], [0, 64, 128])
        shown = self.expect(DONE, "compare", "net.pbtxt", *SIZES, *runs).stdout
        self.assertIn("One arena of 163,840 B", " ".join(shown.split()))
        self.assertIsNone(self.json(DONE, "compare", "net.pbtxt", *SIZES)["learned"])

    def test_replay_is_the_table_of_learned_sizes_alone(self):
        words = ("net.pbtxt", *SIZES, "--then", "data=2x3x32x32", "--manage-outputs")
        replayed = self.json(DONE, "replay", *words)
        self.assertFalse(set(keys_of(replayed)) - documented_keys("replay"))
        for key, value in self.json(DONE, "compare", *words)["learned"].items():
            self.assertEqual(replayed[key], value)
        shown = self.expect(DONE, "replay", *words).stdout
        self.assertTrue(shown.startswith("Static Runtime learns sizes"))
        self.assertIn(shown, self.expect(DONE, "compare", *words).stdout)
        self.assertIn("--then batch=8", self.expect(USAGE, "replay", "net.pbtxt", *SIZES).stderr)

    def test_reused_tensors_are_counted(self):
        """c1 and p1 are one group of Static Runtime, c1@1 and fc the other; prob is not managed."""
        lines = {line["baseline"]: line for line in self.json(DONE, "compare", "net.pbtxt", *SIZES)["baselines"]}
        self.assertEqual(lines["static_runtime_groups"]["reused"], 4 - 2)
        self.assertEqual(lines["static_runtime_side_by_side"]["reused"], 0)
        self.assertEqual(lines["aitemplate_naive"]["reused"], 0)
        self.assertIn(" reused ", self.expect(DONE, "compare", "net.pbtxt", *SIZES).stdout)

    def test_places_of_a_planner_are_listed(self):
        """In naive order all tensors are back to back, rounded up to 64, and so are the constants."""
        self.write("weighted.onnx", small_models.weighted())
        listed = self.json(DONE, "compare", "weighted.onnx", "--places-of", "aitemplate_naive")
        self.assertFalse(set(keys_of(listed)) - documented_keys("compare"))
        for block in ("arena", "constants"):
            rows = sorted((row["offset"], row["bytes"]) for row in listed["places"]["tensors"] if row["block"] == block)
            self.assertTrue(rows, block)
            for (offset, size), (following, _) in zip(rows, rows[1:]):
                self.assertEqual(following, offset + -(-size // 64) * 64)
        error = self.expect(USAGE, "compare", "model.onnx", "--places-of", "aitemplate_naive").stderr
        self.assertIn("add --json", error)
        error = self.expect(USAGE, "compare", "model.onnx", "--places-of", "naive", "--json").stderr
        self.assertIn("no planner matches 'naive'; there are tflite_micro_greedy", error)
        self.expect(USAGE, "compare", "model.onnx", "--places-of", "caffe2_gradients", "--json")

    def test_times_of_nodes_are_shown(self):
        """a to d of 1, 3, 4 and 2 ms, then e of 1: 11 ms in sequence, and a, c, e or b, d, e take 6 ms in waves."""
        self.write("fork.onnx", small_models.parallel())
        self.write("times.json", '{"a": 1, "b": 3.0, "c": 4e0, "d": 2, "e": 1, "other": 9}')
        words = ("compare", "fork.onnx", "--times", "times.json")
        found = self.json(DONE, *words)
        self.assertFalse(set(keys_of(found)) - documented_keys("compare"))
        rows = {row["node"]: row for row in found["times"]["nodes"]}
        self.assertEqual(rows["e"]["one_stream"], {"start_ms": 10, "end_ms": 11, "order": 5})
        self.assertEqual(rows["e"]["all_streams"], {"start_ms": 5, "end_ms": 6, "order": 2})
        # 1, 1, 2, 3, 4 and 9: indices 4 and 5
        times = found["times"]
        self.assertEqual((times["percentile_70_ms"], times["percentile_90_ms"], times["total_ms"]), (4, 9, 20))
        self.assertIn("5 nodes take 11.0 ms on one stream, and 6.000 ms in 3 waves",
                      " ".join(self.expect(DONE, *words).stdout.split()))
        self.write("bench.json", '{"open_ms": 9, "b": 4, "copies": [{"ms": 3}], "model": {"a": 5}, "x": null, "steps": '
                                 '[{"node": "a", "ms": 1.5}, {"node": "", "ms": 7}, {"node": "a", "ms": 0.5}]}')
        times = self.json(DONE, "compare", "fork.onnx", "--times", "bench.json")["times"]
        self.assertEqual((times["nodes"][0]["one_stream"]["end_ms"], times["longest_ms"]), (2, 2))
        for wrong, said in (('{"a": "1"', "expected"), ("[]", "expected an object"), ('{"a": -1}', "not negative"),
                            ('{"steps": [{"node": "a", "ms": true}]}', "expected milliseconds")):
            self.write("wrong.json", wrong)
            self.assertIn(said, self.expect(BAD_INPUT, "compare", "fork.onnx", "--times", "wrong.json").stderr)

    def test_multistream_has_limits(self):
        """a and b, then c and d: four of them are live in the second wave. One node at a time needs fewer bytes."""
        self.write("fork.onnx", small_models.parallel())

        def arena(*words):
            words = ("compare", "fork.onnx", "--places-of", "aitemplate_multistream", *words)
            return self.json(DONE, *words)["places"]["blocks"][0]["bytes"]

        self.assertEqual((arena(), arena("--nodes-at-once", "2"), arena("--nodes-at-once", "1")),
                         (4 * 4096, 4 * 4096, 3 * 4096))
        self.expect(USAGE, "compare", "fork.onnx", "--nodes-at-once", "0")
        self.expect(USAGE, "compare", "fork.onnx", "--streams", "none")

    def test_later_runs_are_checked(self):
        error = self.expect(USAGE, "compare", "net.pbtxt", *SIZES, "--then", "data").stderr
        self.assertIn("'--then' must have the form batch=8 or x=8x3x224x224", error)
        self.expect(USAGE, "compare", "net.pbtxt", *SIZES, "--then", "data=1x3x32x32,data=1x3x32x32")
        self.expect(USAGE, "compare", "net.pbtxt", *SIZES, "--manage-outputs")
        error = self.expect(BAD_INPUT, "compare", "net.pbtxt", *SIZES, "--then", "data=1x4x32x32").stderr
        self.assertIn("the input has 4 channels", error)
        error = self.expect(BAD_INPUT, "compare", "model.onnx", "--then", "batch=8").stderr
        self.assertIn("has no symbol 'batch'", error)

    def test_symbols_are_set_for_each_run(self):
        """In a batch of 1: three tensors of 65,536 B, the last of which is y of 16,384 B after a pool."""
        self.write("symbol.onnx", small_models.small("batch"))
        words = ("compare", "symbol.onnx", "--dim", "batch=1")
        learned = self.json(DONE, *words, "--then", "batch=2", "--then", "batch=2")["learned"]
        self.assertEqual([run["sizes"] for run in learned["runs"]], ["batch=1", "batch=2", "batch=2"])
        held = [run["groups"]["outside_bytes"] for run in learned["runs"]]
        self.assertEqual(held[1], 2 * held[0])  # nothing that was learned fits
        self.assertEqual([run["groups"]["grown"] for run in learned["runs"]], [0, learned["managed"], 0])
        arenas = [run["arena_bytes"] for run in learned["runs"]]
        self.assertEqual(arenas, [131_072, 262_144, 262_144])
        # --then may name an input instead, as --shape does.
        shaped = self.json(DONE, "compare", "symbol.onnx", "--shape", "x=1x?x?x?", "--then", "x=2x?x?x?")["learned"]
        self.assertEqual(shaped["runs"], [{**run, "sizes": f"x=[{at + 1},?,?,?]"}
                                          for at, run in enumerate(learned["runs"][:2])])
        shaped = self.json(DONE, "compare", "graph.pbtxt", "--shape", "x=1x9x9x3", "--then", "x=2x9x9x3")["learned"]
        self.assertEqual([run["arena_bytes"] for run in shaped["runs"]], [832, 1600])  # 800 B per image



if __name__ == "__main__":
    unittest.main()
