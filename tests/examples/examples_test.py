#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of examples/cpp, and checks that docs/library.md names them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
import small_models as onnx  # noqa: E402

PLAN_MODEL, READ_PLAN, PACK_BUFFERS, RUN_MODEL = sys.argv[1:5]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = pathlib.Path(self.folder.name) / "m.onnx"
        self.plan = pathlib.Path(self.folder.name) / "plan.json"
        # x -> Relu -> a -> Sigmoid -> b: b is written over a, so the arena is 16 x 4 bytes.
        nodes = [onnx.node("Relu", ["x"], ["a"], "first"), onnx.node("Sigmoid", ["a"], ["b"])]
        self.model.write_bytes(onnx.model(nodes, [onnx.value_info("x", [16])], [onnx.value_info("b", [16])]))

    def test_plan_a_model_and_read_the_plan(self):
        done = run(PLAN_MODEL, self.model, self.plan)
        shown = (done.returncode, done.stdout, done.stderr)
        self.assertEqual(shown, (0, "arena 64 bytes, lower bound 64 bytes\n", ""))
        done = run(READ_PLAN, self.plan)
        self.assertEqual(done.stdout, "0 compute Relu first  a at arena+0\n1 compute Sigmoid   b at arena+0\n"
                                      "arena 64 bytes\n")

    def test_a_budget_that_is_not_met_is_an_answer(self):
        done = run(PLAN_MODEL, self.model, self.plan, "127")  # 64 bytes of the arena, 64 of the input
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 byte too many, and no plan without recomputation or extra copies fits", done.stdout)
        self.assertFalse(self.plan.exists())

    def test_bad_input_is_an_error_that_names_the_file(self):
        self.model.write_bytes(b"no model")
        done = run(PLAN_MODEL, self.model, self.plan)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("m.onnx", done.stderr)

    def test_pack_buffers(self):
        # a and c live together: 64 + 32. b and c: 96 + 32, which is the height.
        done = run(PACK_BUFFERS)
        self.assertEqual(done.returncode, 0)
        self.assertIn("height 128, lower bound 128, proven optimal", done.stdout)

    def test_models_run_in_one_arena(self):
        wide = pathlib.Path(self.folder.name) / "wide.onnx"
        nodes = [onnx.node("Relu", ["x"], ["c"])]
        wide.write_bytes(onnx.model(nodes, [onnx.value_info("x", [64])], [onnx.value_info("c", [64])]))
        done = run(RUN_MODEL, self.model, wide)
        shown = (done.returncode, done.stdout, done.stderr)
        self.assertEqual(shown, (0, "arena 256 bytes\nb  64 bytes\nc  256 bytes\n", ""))
        done = run(RUN_MODEL, self.model, "absent.onnx")
        self.assertEqual(done.returncode, 3)
        self.assertIn("absent.onnx", done.stderr)

    def test_the_documents_show_the_programs(self):
        text = (ROOT / "docs/library.md").read_text()
        for name in ("plan_model", "pack_buffers", "read_plan", "run_model"):
            self.assertIn(f"{name}.cc", text)
            self.assertTrue((ROOT / f"examples/cpp/{name}.cc").is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
