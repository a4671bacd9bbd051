#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of TensorFlow are rewritten as its MemoryOptimizer does."""
import unittest

from json_output_test import documented_keys, keys_of
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

TRAINING = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "r" op: "Relu" input: "x" }
node { name: "loss" op: "Conv2D" input: "r" }
node { name: "tower/gradients/g" op: "ReluGrad" input: "loss" input: "r" }
versions { producer: 22 }
"""


GPU = """{"devices": [{"name": "/gpu:0", "type": "GPU", "memory": 1048576, "cores": 1, "frequency": 1,
                        "bandwidth": 2000000, "architecture": "6"}]}
"""


def gpu_node(name, op, *inputs, more=""):
    reads = " ".join(f'input: "{one}"' for one in inputs)
    return (f'node {{ name: "{name}" op: "{op}" device: "/gpu:0" {reads} '
            f'attr {{ key: "T" value {{ type: DT_FLOAT }} }} {more} }}\n')


# v has 512 KiB, and so have all results.
SHAPE = "dim { size: 128 } dim { size: 1024 }"
SWAPPED = (gpu_node("v", "VariableV2", more=f'attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
                    f'attr {{ key: "shape" value {{ shape {{ {SHAPE} }} }} }}')
           + gpu_node("a", "Square", "v") + gpu_node("b", "Exp", "a") + gpu_node("c", "Sqrt", "b")
           + gpu_node("d", "Add", "a", "c", more='attr { key: "_swap_to_host" value { list { i: 0 } } }'))


class Rewrite(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("train.pbtxt", TRAINING)
        self.write("swapped.pbtxt", SWAPPED)
        self.write("gpu.json", GPU)

    def test_cheap_nodes_run_again_for_gradients(self):
        said = self.expect(DONE, "rewrite", "train.pbtxt", "--level", "recomputation", "-o", "lean.pbtxt")
        self.assertIn("4 nodes, and 6 after the rewriting", said.stdout)
        text = (self.folder / "lean.pbtxt").read_text()
        self.assertIn('input: "loss"\n  input: "Recomputed/r"', text)
        self.assertIn('name: "RecomputeTrigger/r"\n  op: "NoOp"\n  input: "^loss"', text)
        self.assertIn("producer: 22", text)

    def test_json(self):
        found = self.json(DONE, "rewrite", "train.pbtxt", "--level", "heuristics")
        self.assertFalse(set(keys_of(found)) - documented_keys("rewrite"))
        self.assertEqual((found["nodes_before"], found["nodes"], found["groups"]), (4, 6, 1))
        self.assertEqual(found["recomputed"], ["r"])
        self.assertEqual(self.json(DONE, "rewrite", "train.pbtxt")["recomputed"], [])  # no hint
        other = self.json(DONE, "rewrite", "train.pbtxt", "--level", "heuristics", "--scope", "other/")
        self.assertEqual(other["recomputed"], [])

    def test_says_why_there_was_nothing_to_do(self):
        said = self.expect(DONE, "rewrite", "train.pbtxt").stdout
        self.assertIn("Nothing was to do: level manual follows the attributes _recompute_hint and _swap_to_host, and "
                      "no node has one. Try --level recomputation", said)
        said = self.expect(DONE, "rewrite", "train.pbtxt", "--level", "scheduling").stdout
        self.assertIn("Nothing was done: sums and swaps need --cluster and --fetch.", said)
        self.assertNotIn("Nothing", self.expect(DONE, "rewrite", "train.pbtxt", "--level", "recomputation").stdout)

    def test_says_why_a_hint_is_not_followed(self):
        hint = 'attr { key: "_recompute_hint" value { i: 0 } }'
        self.write("hinted.pbtxt", TRAINING.replace('op: "Conv2D"', f'op: "Conv2D" {hint}'))
        text = "has _recompute_hint, but this level runs nothing again"
        self.assertIn(f"Left out: 'loss' {text}",
                      self.expect(DONE, "rewrite", "hinted.pbtxt", "--level", "scheduling").stdout)
        found = self.json(DONE, "rewrite", "hinted.pbtxt", "--level", "scheduling")
        self.assertEqual((found["left_out"], found["warnings"]), ([{"node": "loss", "text": text}], []))

    def test_warns_of_random_nodes(self):
        """r draws other numbers for the gradient than for the loss."""
        hint = 'attr { key: "_recompute_hint" value { i: 0 } }'
        self.write("random.pbtxt", TRAINING.replace('op: "Relu"', f'op: "RandomShuffle" {hint}'))
        said = self.expect(DONE, "rewrite", "random.pbtxt").stdout
        self.assertIn("warning: 'r' runs again and may give other results then: 'RandomShuffle' does not repeat its "
                      "results", said)

    # v, a and b have 512 KiB each, which is more than the GPU has. The hint sends a to the host until d needs it.
    def test_tensors_are_swapped(self):
        words = ("rewrite", "swapped.pbtxt", "--level", "swapping", "--fetch", "d", "--cluster", "gpu.json")
        found = self.json(DONE, *words)
        self.assertFalse(set(keys_of(found)) - documented_keys("rewrite"))
        self.assertEqual(found["swaps"], [{"node": "d", "input": 0}])
        self.assertEqual(found["devices"][0]["memory_bytes"], 1 << 20)
        # The copy comes back before a is needed, so that the swap even raises the peak.
        self.assertEqual(found["devices"][0]["peak_bytes_before"], 3 << 19)
        self.assertEqual(found["devices"][0]["peak_bytes"], 4 << 19)
        self.assertGreater(found["nanoseconds_before"], 1_000_000)
        said = self.expect(DONE, *words, "-o", "lean.pbtxt")
        self.assertRegex(said.stdout, r"/gpu:0 +1.00 MiB")
        self.assertIn("1 input swapped to the host", said.stdout)
        self.assertIn('op: "_CopyFromGpuToHost"', (self.folder / "lean.pbtxt").read_text())
        self.assertIsNone(self.json(DONE, "rewrite", "train.pbtxt", "--fetch", "r")["nanoseconds"])

    # A memory of 4 tensors, besides which v is there: without reruns, v and f0 to f7 would be.
    def test_lowtide_keeps_the_memory_in_the_least_time(self):
        nodes = SWAPPED.splitlines(keepends=True)[0] + gpu_node("f0", "Square", "v")
        nodes += "".join(gpu_node(f"f{at}", "Square", f"f{at - 1}") for at in range(1, 8))
        nodes += gpu_node("g8", "Exp", "f7") + "".join(gpu_node(f"g{at}", "Mul", f"g{at + 1}", f"f{at}")
                                                       for at in reversed(range(8)))
        self.write("chain.pbtxt", nodes)
        self.write("gpu.json", GPU.replace("1048576", str(5 << 19)))
        words = ("rewrite", "chain.pbtxt", "--planner", "lowtide", "--fetch", "g0", "--cluster", "gpu.json")
        found = self.json(DONE, *words)
        self.assertFalse(set(keys_of(found)) - documented_keys("rewrite"))
        self.assertEqual((found["outcome"], found["cost"]), ("found", found["cost_bound"]))
        self.assertLessEqual(found["live_bytes"], 5 << 19)
        self.assertGreater(found["floor_bytes"], 5 << 19)
        said = self.expect(DONE, *words, "-o", "lean.pbtxt").stdout
        self.assertIn("proven to be the least within this memory", said)
        again = self.json(DONE, "rewrite", "lean.pbtxt", "--level", "none", "--fetch", "g0", "--cluster", "gpu.json")
        self.assertEqual(again["nanoseconds_before"], found["nanoseconds"])
        self.write("gpu.json", GPU)
        self.assertEqual(self.json(NO, *words)["outcome"], "infeasible")
        self.expect(USAGE, *words, "--level", "manual")
        self.expect(USAGE, "rewrite", "chain.pbtxt", "--planner", "lowtide")

    # w, r, b, c and d are live at once, and r runs once, because u writes w. A memory of 4 tensors needs a swap, and
    # one of 5 does not: r waits on the host while d runs.
    def test_lowtide_moves_results_over_a_link(self):
        nodes = SWAPPED.splitlines(keepends=True)[0].replace('"v"', '"w"') + gpu_node("r", "Exp", "w")
        nodes += gpu_node("b", "Exp", "r") + gpu_node("c", "Exp", "b") + gpu_node("d", "Mul", "c", "b")
        nodes += gpu_node("e", "Exp", "d") + gpu_node("g", "Mul", "e", "r") + gpu_node("u", "AssignAdd", "w", "g")
        self.write("late.pbtxt", nodes)
        self.write("gpu.json", GPU.replace("1048576", str(4 << 19)))
        words = ("rewrite", "late.pbtxt", "--planner", "lowtide", "--fetch", "u", "--cluster", "gpu.json")
        self.assertEqual(self.json(NO, *words)["swaps"], [])
        words += ("--link", "12e9", "--link-latency", "10us")
        found = self.json(DONE, *words)
        self.assertFalse(set(keys_of(found)) - documented_keys("rewrite"))
        self.assertEqual(found["swaps"], [{"node": "r", "bytes": 1 << 19, "returns": 1}])
        self.assertEqual(found["live_bytes"], 4 << 19)
        said = self.expect(DONE, *words, "-o", "lean.pbtxt").stdout
        self.assertIn("1 output leaves for the host: 524,288 B", said)
        self.assertIn('name: "swap_in/r"', (self.folder / "lean.pbtxt").read_text())
        self.assertIn("is for --planner lowtide", self.expect(
            USAGE, "rewrite", "late.pbtxt", "--fetch", "u", "--cluster", "gpu.json", "--link", "12e9").stderr)

    def test_a_page_shows_both_planners(self):
        words = ("rewrite", "swapped.pbtxt", "--level", "swapping", "--fetch", "d", "--cluster", "gpu.json")
        self.expect(DONE, *words, "--html", "planners.html", "-o", "lean.pbtxt")
        page = (self.folder / "planners.html").read_text()
        self.assertIn("Grappler, swapping", page)
        self.assertIn("a swap raises the peak, because the copy comes back too early", page)
        self.assertNotIn("<script", page)
        self.assertIn("_CopyFromGpuToHost", (self.folder / "lean.pbtxt").read_text())
        self.expect(USAGE, *words, "--html", "lean.html", "-o", "lean.html")
        self.expect(USAGE, "rewrite", "train.pbtxt", "--html", "other.html")
        self.assertNotIn("other.html", self.listing())

    # v and a, b, c, d, s are 6 tensors. In parts, v, a sum, an operand and the next sum are 4.
    def test_lowtide_adds_operands_one_after_another(self):
        nodes = SWAPPED.splitlines(keepends=True)[0]
        nodes += "".join(gpu_node(name, op, "v") for name, op in zip("abcd", ("Exp", "Neg", "Sqrt", "Tanh")))
        self.write("sum.pbtxt", nodes + gpu_node("s", "AddN", "a", "b", "c", "d") + gpu_node("t", "Exp", "s"))
        self.write("gpu.json", GPU.replace("1048576", str(4 << 19)))
        words = ("rewrite", "sum.pbtxt", "--planner", "lowtide", "--fetch", "t", "--cluster", "gpu.json")
        found = self.json(DONE, *words)
        self.assertEqual((found["sums"], found["live_bytes"], found["tries_parts"]), (["s"], 4 << 19, True))
        self.assertIn("1 sum is made in parts, two operands at a time.", self.expect(DONE, *words).stdout)

    # The Placeholder of TRAINING has no shape.
    def test_a_memory_that_is_not_known_to_do_is_not_claimed(self):
        words = ("rewrite", "train.pbtxt", "--planner", "lowtide", "--fetch", "r", "--cluster", "gpu.json")
        found = self.json(NO, *words)
        self.assertEqual((found["outcome"], found["unknown_sizes"]), ("unknown", 2))
        self.assertIn("It is not known whether", self.expect(NO, *words).stdout)
        self.assertIn("It keeps the memory", self.expect(DONE, *words, "--shape", "x=4x4").stdout)
        self.assertIn("no such node", self.expect(BAD_INPUT, *words, "--shape", "y=4").stderr)

    def test_a_graphdef_becomes_its_other_form_without_loss(self):
        self.expect(DONE, "convert", "train.pbtxt", "train.pb")
        self.expect(DONE, "convert", "train.pb", "again.pbtxt")
        self.expect(DONE, "convert", "again.pbtxt", "-", "--to", "graphdef_text", "-q")
        self.expect(DONE, "convert", "again.pbtxt", "again.pb")
        self.assertEqual((self.folder / "train.pb").read_bytes(), (self.folder / "again.pb").read_bytes())
        self.assertIn("producer: 22", (self.folder / "again.pbtxt").read_text())
        self.write("net.pbtxt", 'op { type: "Relu" input: "x" output: "y" }')
        said = self.expect(DONE, "convert", "net.pbtxt", "out.pb", "--to", "graphdef", "--unit-sizes").stderr
        self.assertIn("for inspection only: 'caffe2.unsized::Relu' has no meaning in TensorFlow", said)

    def test_wrong_clusters(self):
        words = ("rewrite", "swapped.pbtxt", "--fetch", "d", "--cluster", "bad.json")
        self.expect(USAGE, "rewrite", "swapped.pbtxt", "--cluster", "gpu.json")
        for text, says in (("{", "expected"), (GPU.replace("bandwidth", "speed"), "speed"),
                           (GPU.replace('"frequency": 1', '"frequency": 0'), "needs cores and frequency"),
                           (GPU.replace("]}", "," + GPU.split("[")[1]), "two devices have the name '/gpu:0'"),
                           (GPU.replace("1048576", "-1"), "a size")):
            self.write("bad.json", text)
            self.assertIn(says, self.expect(BAD_INPUT, *words).stderr)

    def test_wrong_use(self):
        self.expect(USAGE, "rewrite", "train.pbtxt", "--level", "all")
        self.expect(USAGE, "rewrite", "train.pbtxt", "-o", "train.pbtxt")
        self.assertIn("'y'", self.expect(BAD_INPUT, "rewrite", "train.pbtxt", "--feed", "y").stderr)
        error = self.expect(BAD_INPUT, "rewrite", "model.onnx", "-o", "out.pb").stderr
        self.assertIn("the file is not a GraphDef", error)
        self.assertNotIn("out.pb", self.listing())


if __name__ == "__main__":
    unittest.main()
