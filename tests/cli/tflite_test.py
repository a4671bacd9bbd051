#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of TensorFlow Lite, as the commands take them."""
import pathlib
import unittest

from program import BAD_INPUT, DONE, ProgramTest, needs_earlier

MODELS = pathlib.Path(__file__).resolve().parent.parent / "files/tflite"


class Tflite(ProgramTest):
    def setUp(self):
        super().setUp()
        self.kws = (MODELS / "kws_dscnn_int8.tflite").read_bytes()
        self.write("kws.tflite", self.kws)

    def test_inspect_shows_the_operators_of_the_file(self):
        shown = self.json(DONE, "inspect", "kws.tflite")
        self.assertEqual(shown["model"]["format"], "tflite")
        self.assertEqual(shown["model"]["nodes"], 13)
        self.assertIn("tflite::DEPTHWISE_CONV_2D", self.expect(DONE, "inspect", "kws.tflite").stdout)

    def test_a_plan_is_at_its_bound_and_verified(self):
        # The largest layers read and write 25 x 5 x 64 bytes each.
        planned = self.json(DONE, "plan", "kws.tflite", "-o", "plan.json")
        self.assertEqual(planned["bytes"]["arena"], 2 * 25 * 5 * 64)
        self.assertTrue(planned["proven_optimal"])
        self.expect(DONE, "verify", "kws.tflite", "plan.json")
        self.assertIn("16,000 B", self.expect(DONE, "explain", "kws.tflite").stdout)

    def test_models_with_state_are_planned(self):
        self.write("words.tflite", (MODELS / "keyword_scrambled_8bit.tflite").read_bytes())
        self.assertTrue(self.json(DONE, "plan", "words.tflite")["proven_optimal"])

    @needs_earlier
    def test_compare_takes_it(self):
        compared = self.json(DONE, "compare", "kws.tflite")
        self.assertIn("models of TFLite", compared["onnxruntime"]["refusal"])
        self.assertTrue(all(line["refusal"] or line["bytes"] >= 16000 for line in compared["baselines"]
                            if line["baseline"] == "tflite_micro_greedy"))

    def test_sizes_are_those_of_the_file(self):
        self.assertIn("sizes are fixed", self.expect(BAD_INPUT, "plan", "kws.tflite", "--dim", "batch=2").stderr)
        self.expect(DONE, "plan", "kws.tflite", "--shape", "input_1=1x49x10x1")
        said = self.expect(BAD_INPUT, "plan", "kws.tflite", "--shape", "input_1=2x49x10x1").stderr
        self.assertIn("[1,49,10,1] in the file", said)

    def test_damaged_files_are_refused_with_their_name(self):
        for size in (0, 7, 8, 100, len(self.kws) - 100):
            self.write("cut.tflite", self.kws[:size])
            self.assertIn("cut.tflite", self.expect(BAD_INPUT, "plan", "cut.tflite").stderr)
        # The first field of the root is the version of the format.
        self.write("text.tflite", b"\x10\0\0\0TFL3 and so on")
        self.assertIn("the flatbuffer is damaged", self.expect(BAD_INPUT, "plan", "text.tflite").stderr)


if __name__ == "__main__":
    unittest.main()
