#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures small models: the keys of --json, figures that can be checked by hand, and the text."""
import json
import struct
import unittest

import small_models
from program import BAD_INPUT, DONE, USAGE, ProgramTest
from small_models import field, graph, node, value_info, zeros

WIDE = 16 * 32 * 32 * 4  # a, b and c of small_models.small
NARROW = 16 * 16 * 16 * 4  # d
INT64 = 7


class Bench(ProgramTest):
    def bench(self, *words):
        return self.json(DONE, "bench", "model.onnx", *words)

    def test_keys_and_figures(self):
        report = self.bench("--threads", "1", "--runs", "20")
        self.assertEqual((report["schema_version"], report["command"]), (1, "bench"))
        self.assertEqual(list(report)[3:],
                         ["latency_ms", "estimate", "outside_kernels", "open_ms", "bytes", "budget",
                          "allocations_per_run", "nodes", "copies", "operators", "steps"])
        self.assertIsNone(report["budget"])
        latency = report["latency_ms"]
        self.assertEqual(set(latency), {"p50", "p90", "p99", "min"})
        self.assertTrue(0 < latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p99"])
        outside = report["outside_kernels"]
        self.assertEqual(set(outside), {"ms", "share"})
        self.assertTrue(outside["ms"] > 0 and 0 < outside["share"] < 1)
        self.assertEqual(set(report["bytes"]),
                         {"arena", "weights", "packed", "scratch", "process_growth", "high_water"})
        self.assertEqual(report["nodes"], {"model": 4, "lowered": 2})
        # Relu, Sigmoid and Add run as one node. All sizes are multiples of 64, so the last buffer has no padding.
        self.assertEqual(report["bytes"]["arena"], WIDE + NARROW)
        self.assertEqual(report["bytes"]["high_water"], WIDE + NARROW)
        self.assertEqual((report["bytes"]["weights"], report["bytes"]["packed"]), (0, 0))
        rows = {row["type"]: (row["count"], row["bytes"]) for row in report["operators"]}
        self.assertEqual(rows, {"lowtide::Chain": (1, 2 * WIDE), "MaxPool": (1, WIDE + NARROW)})
        times = [row["ms"] for row in report["operators"]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertGreater(times[-1], 0)

    def test_a_run_allocates_nothing(self):
        allocations = self.bench("--runs", "20")["allocations_per_run"]
        if allocations is None:
            self.skipTest("allocations cannot be counted in this build")
        self.assertEqual(allocations, 0)

    def test_weights_and_load_time_work_are_counted(self):
        self.write("model.onnx", small_models.weights_from_weights())
        report = self.bench("--runs", "3")
        self.assertEqual(report["bytes"]["weights"], 256)  # 64 floats that load-time work makes
        self.assertEqual(report["bytes"]["packed"], 256)
        self.assertEqual(report["nodes"], {"model": 3, "lowered": 1})
        self.write("model.onnx", small_models.weighted())
        report = self.bench("--runs", "3")
        self.assertEqual((report["bytes"]["weights"], report["bytes"]["packed"]), (8192, 0))
        self.assertIsInstance(report["bytes"]["process_growth"], int)
        if report["allocations_per_run"] is not None:  # sanitizers take memory of their own
            # The operators of ONNX, which take 10 MB, are registered before the model is opened.
            self.assertLess(report["bytes"]["process_growth"], 10_000_000)

    def test_weights_are_in_memory_once_while_a_model_loads(self):
        """Load-time work makes all 32 MiB of weights. Results beside what they are made from would be 64 MiB."""
        count, constants = 2**20, 8
        nodes = []
        for at in range(constants):
            before = "x" if at == 0 else f"s{at - 1}"
            nodes += [node("Neg", [f"k{at}"], [f"n{at}"]), node("Add", [before, f"n{at}"], [f"s{at}"])]
        content = graph(nodes, [value_info("x", [count])], [value_info(f"s{constants - 1}", [count])],
                        [zeros(f"k{at}", count) for at in range(constants)])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        report = self.bench("--runs", "1")
        self.assertEqual(report["bytes"]["packed"], constants * 4 * count)
        if report["allocations_per_run"] is not None:  # sanitizers take memory of their own
            # The input, the arena, one job of load-time work, and what every load takes.
            self.assertLess(report["bytes"]["process_growth"], 28_000_000)

    def test_views_have_no_bytes(self):
        nodes = [node("Relu", ["x"], ["a"]), node("Flatten", ["a"], ["b"]), node("Relu", ["b"], ["y"])]
        content = graph(nodes, [value_info("x", [1, 4, 4])], [value_info("y", [1, 16])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        rows = {row["type"]: (row["count"], row["bytes"]) for row in self.bench("--runs", "1")["operators"]}
        self.assertEqual(rows, {"Relu": (2, 2 * 128), "Flatten": (1, 0)})

    def test_steps_have_their_products_and_bytes(self):
        """y has 4 x 8 elements, each a sum of 16 products. The sizes are 4 bytes x (4 x 16, 16 x 8, 4 x 8)."""
        nodes = [node("MatMul", ["x", "z"], ["y"], "product"), node("Flatten", ["y"], ["v"], "view")]
        content = graph(nodes, [value_info("x", [4, 16]), value_info("z", [16, 8])], [value_info("v", [4, 8])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        report = self.bench("--runs", "2")
        product, view = report["steps"]
        self.assertGreater(product.pop("ms"), 0)
        self.assertNotEqual(product.pop("kernel"), "")
        self.assertEqual(product, {"type": "MatMul", "node": "product", "bytes": 256 + 512 + 128, "constant_bytes": 0,
                                   "macs": 512})
        self.assertEqual((view["node"], view["kernel"], view["bytes"], view["macs"]), ("view", "", 0, 0))
        rows = {row["type"]: (row["macs"], row["nodes_without_macs"]) for row in report["operators"]}
        self.assertEqual(rows, {"MatMul": (512, 0), "Flatten": (0, 0)})
        head = self.expect(DONE, "bench", "model.onnx", "--runs", "2").stdout
        self.assertRegex(head, r"operator +nodes +time +share +bytes +GB/s +GMAC/s\n")
        self.assertRegex(head, r"\n +MatMul +1 +\S+ us +\d+\.\d % +896 +\d+\.\d +\d+\.\d\n")

    def test_products_in_bodies_are_not_counted(self):
        self.write("model.onnx", small_models.branches())
        step, = (step for step in self.bench("--runs", "2")["steps"] if step["type"] == "If")
        self.assertIsNone(step["macs"])
        self.assertRegex(self.expect(DONE, "bench", "model.onnx", "--runs", "2").stdout, r"\n +If .*unknown\n")

    def test_copies_have_a_reason_and_a_time(self):
        axis = field(1, "axis") + field(3, 1) + field(20, 2)  # an integer
        nodes = [node("Relu", ["x"], ["a"]), node("Concat", ["a", "x"], ["y"], attributes=[axis])]
        content = graph(nodes, [value_info("x", [1, 16])], [value_info("y", [1, 32])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        copy, = self.bench("--runs", "1")["copies"]
        self.assertGreaterEqual(copy.pop("ms"), 0)
        self.assertEqual(copy, {"inside": None, "step": 1, "op": "copy", "name": "x", "bytes": 64, "reason": "outside"})
        self.assertIn("the bytes are the caller's or constants", self.expect(DONE, "bench", "model.onnx").stdout)

    def test_the_text_has_the_figures(self):
        text = self.expect(DONE, "bench", "model.onnx", "--runs", "5").stdout
        for part in ("of 5 runs", "arena 81,920 B (80.00 KiB)", "4 in the model, 2 after lowering", "MaxPool"):
            self.assertIn(part, text)

    def test_inputs_can_be_files(self):
        """The index 5 is outside of the tensor, and 1 is inside. An index that is made up is 0."""
        nodes = [node("Gather", ["x", "at"], ["y"])]
        content = graph(nodes, [value_info("x", [4]), value_info("at", [1], INT64)], [value_info("y", [1])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        words = ("bench", "model.onnx", "--runs", "2")
        self.expect(DONE, *words)
        for index, code in ((1, DONE), (5, BAD_INPUT)):
            head = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
            self.write("at.npy", b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + struct.pack("<q", index))
            self.expect(code, *words, "--input", "at=at.npy")
        self.assertIn("one of the inputs", self.expect(BAD_INPUT, *words, "--input", "z=at.npy").stderr)

    def test_a_page_has_the_times_and_the_bytes_seen(self):
        self.expect(DONE, "bench", "model.onnx", "--runs", "4", "--html", "page.html")
        page = (self.folder / "page.html").read_text()
        sheets = page.split('id="sheets">')[1].split("</script>")[0]
        sheet = json.loads(sheets)["sheets"][0]
        self.assertEqual(sheet["runs"], 4)
        self.assertEqual(len(sheet["step"]["nanoseconds"]), 2)
        self.assertGreater(min(sheet["step"]["nanoseconds"]), 0)
        # The input is not in the arena. All others are written to their end.
        for size, seen, region in zip(sheet["buffer"]["size"], sheet["buffer"]["seen"], sheet["buffer"]["region"]):
            self.assertEqual(seen, -1 if region == -1 else size)
        self.assertEqual(sorted(sheet["buffer"]["seen"]), [-1, NARROW, WIDE])

    def test_short_times_have_digits(self):
        self.write("model.onnx", small_models.weighted(16))
        latency = self.expect(DONE, "bench", "model.onnx", "--runs", "9").stdout.splitlines()[0]
        self.assertRegex(latency, r"p50 \d+\.\d\d us, p90 ")
        self.assertNotIn(" 0.00 us", latency)

    def test_wrong_options_are_refused(self):
        for words in (("--runs", "0"), ("--runs", "x"), ("--threads", "257"), ("--threads", "0")):
            self.assertIn(words[0], self.expect(USAGE, "bench", "model.onnx", *words).stderr)
        self.write("model.onnx", b"no model")
        self.assertIn("model.onnx", self.expect(BAD_INPUT, "bench", "model.onnx").stderr)


if __name__ == "__main__":
    unittest.main()
