#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Lets allocations fail while small models are loaded. Each load ends with an error, without a crash or a leak."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import run_trap_test
from run_trap_test import small_models

PROGRAM = os.environ.get("LOWTIDE_LOAD_FAULTS", "")
if not PROGRAM:
    raise SystemExit("set LOWTIDE_LOAD_FAULTS to the path of load_faults")
LOWTIDE = os.environ["LOWTIDE_PROGRAM"]
EVERY = os.environ.get("LOWTIDE_LOAD_FAULTS_EVERY", "16")


class LoadFaults(unittest.TestCase):
    def try_all(self, content, every=EVERY, *words):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "model.onnx").write_bytes(content)
            result = subprocess.run([PROGRAM, "--every", every, *words, "model.onnx"], cwd=folder, capture_output=True,
                                    timeout=600, text=True)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return json.loads(result.stdout)

    def test_a_load_without_memory_ends_with_an_error(self):
        for builder in (run_trap_test.convolutions, run_trap_test.movement, small_models.weights_from_weights):
            with self.subTest(model=builder.__name__):
                report = self.try_all(builder())
                self.assertEqual(report["defects"], [])
                self.assertGreater(report["allocations"], 1000)
                self.assertGreater(report["no_memory"], report["tried"] // 2)

    def prepared(self, content, *words):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "model.onnx").write_bytes(content)
            subprocess.run([LOWTIDE, "prepare", "model.onnx", *words, "-o", "prepared", "-q"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            return (pathlib.Path(folder) / "prepared").read_bytes()

    def test_nor_does_that_of_a_prepared_file(self):
        report = self.try_all(self.prepared(run_trap_test.convolutions()), "1")
        self.assertEqual((report["defects"], report["other_errors"]), ([], {}))
        self.assertGreater(report["no_memory"], report["tried"] * 9 // 10)

    def test_nor_does_that_of_a_file_with_several_plans(self):
        product = run_trap_test.model([run_trap_test.node("MatMul", ["x", "w"], ["y"])], [("x", ["batch", 16])],
                                      [("y", ["batch", 8])], [run_trap_test.floats("w", [16, 8])])
        content = self.prepared(product, "--dim", "batch=1,2")
        self.assertTrue(content.startswith(b"lowtide-prepared 2 2 "))
        report = self.try_all(content, "1")
        self.assertEqual((report["defects"], report["other_errors"]), ([], {}))
        self.assertGreater(report["no_memory"], report["tried"] * 9 // 10)

    def test_neither_does_the_first_load_of_a_process_crash(self):
        """Most of its allocations are those of the onnx library, which reads its table of operators."""
        report = self.try_all(run_trap_test.movement(), "1999", "--cold")
        self.assertEqual(report["defects"], [])


if __name__ == "__main__":
    unittest.main()
