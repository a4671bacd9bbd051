#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of TensorFlow Lite, as the commands take them."""
import os
import pathlib
import struct
import unittest

from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest, needs_earlier

MODELS = pathlib.Path(__file__).resolve().parent.parent / "files/tflite"
BUFFERS, METADATA = 4, 6  # fields of the root


def number(data, at, form="I"):
    return struct.unpack_from("<" + form, data, at)[0]


def root_fields(data):
    """Where the fields of the root are, by their number."""
    root = number(data, 0)
    table = root - number(data, root, "i")
    places = [number(data, at, "H") for at in range(table + 4, table + number(data, table, "H"), 2)]
    return {field: root + place for field, place in enumerate(places) if place}


def tensor_count(data):
    """The number of tensors of the first subgraph."""
    at = root_fields(data)[2]
    subgraphs = at + number(data, at)
    subgraph = subgraphs + 4 + number(data, subgraphs + 4)
    at = subgraph + number(data, subgraph - number(data, subgraph, "i") + 4, "H")
    return number(data, at + number(data, at))


def with_offsets(data, offset, count=None):
    """The file with one offset for all tensors. A new root, list of buffers and metadata are in front of it."""
    tensors = tensor_count(data)
    content = struct.pack(f"<{tensors + 3}i", 1, 1, tensors if count is None else count, *[offset] * tensors)
    old = root_fields(data)
    at = old[BUFFERS] + number(data, old[BUFFERS])
    buffers = [at + 4 + 4 * one + number(data, at + 4 + 4 * one) for one in range(number(data, at))]
    name = b"OfflineMemoryAllocation"
    places, end = {}, 8
    for part, size in (("root table", 24), ("root", 44), ("buffers", 8 + 4 * len(buffers)), ("metadata", 8),
                       ("table", 8), ("entry", 12), ("buffer table", 8), ("buffer", 8), ("name", 4 + len(name) + 1),
                       ("content", 16 + len(content))):
        places[part], end = end, -(-(end + size) // 16) * 16
    front = bytearray(-(-end // 64) * 64)

    def put(at, *values, form="I"):
        struct.pack_into(f"<{len(values)}{form}", front, at, *values)

    def point(at, target):
        put(at, target - at)

    put(0, places["root"])
    front[4:8] = b"TFL3"
    put(places["root table"], 24, 44, *[4 + 4 * one if one in old or one in (BUFFERS, METADATA) else 0
                                        for one in range(10)], form="H")
    put(places["root"], places["root"] - places["root table"], number(data, old[0]))
    for field in set(old) - {0, BUFFERS, METADATA}:
        point(places["root"] + 4 + 4 * field, len(front) + old[field] + number(data, old[field]))
    point(places["root"] + 4 + 4 * BUFFERS, places["buffers"])
    point(places["root"] + 4 + 4 * METADATA, places["metadata"])
    put(places["buffers"], len(buffers) + 1)
    for one, target in enumerate([len(front) + one for one in buffers] + [places["buffer"]]):
        point(places["buffers"] + 4 + 4 * one, target)
    put(places["metadata"], 1)
    point(places["metadata"] + 4, places["entry"])
    put(places["table"], 8, 12, 4, 8, form="H")
    put(places["entry"], places["entry"] - places["table"], 0, len(buffers))
    point(places["entry"] + 4, places["name"])
    put(places["buffer table"], 6, 8, 4, form="H")
    put(places["buffer"], places["buffer"] - places["buffer table"])
    point(places["buffer"] + 4, places["content"] + 12)
    put(places["name"], len(name))
    front[places["name"] + 4:places["name"] + 4 + len(name)] = name
    put(places["content"] + 12, len(content))
    front[places["content"] + 16:places["content"] + 16 + len(content)] = content
    return bytes(front) + data


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

    def test_compare_shows_the_head_of_the_runtime(self):
        if os.environ.get("LOWTIDE_WITHOUT_EARLIER"):
            self.skipTest("the build has no command compare")
        compared = self.json(DONE, "compare", "kws.tflite")["tflite_micro"]
        self.assertEqual([(one["name"], one["head_bytes"]) for one in compared["kernels"]],
                         [("tflm-reference", 16000), ("tflm-cmsis-nn", 16000)])
        self.assertEqual([(one["build"], one["pointer_bytes"], one["tail_bytes"], one["arena_bytes"])
                          for one in compared["kernels"][0]["arenas"]],
                         [("cortex-m", 4, 6772, 22784), ("python", 8, 8272, 24272)])
        # The Python package does not have the kernels of CMSIS-NN.
        self.assertEqual([one["build"] for one in compared["kernels"][1]["arenas"]], ["cortex-m"])
        shown = self.expect(DONE, "compare", "kws.tflite").stdout
        self.assertIn("16,000 B", shown)
        self.assertIn("smallest arena 24,272 B", shown)
        self.write("words.tflite", (MODELS / "keyword_scrambled_8bit.tflite").read_bytes())
        unknown = self.json(DONE, "compare", "words.tflite")["tflite_micro"]["kernels"][1]
        self.assertEqual((unknown["arenas"], unknown["tail_unknown_operators"]), ([], ["'SVDF'"]))
        self.assertIn("tail not known, because of 'SVDF'", self.expect(DONE, "compare", "words.tflite").stdout)

    def test_a_plan_is_written_into_the_file(self):
        # Wrong offsets count as none, and are not in the new file.
        self.write("wrong.tflite", with_offsets(self.kws, 1 << 20))
        self.expect(NO, "verify", "wrong.tflite")
        better = self.json(DONE, "plan", "wrong.tflite", "--tflm", "better.tflite")["tflm"]
        self.assertEqual((better["head_before_bytes"], better["head_bytes"], better["changed"]), (16000, 16000, True))
        self.assertIn("operator 0 CONV_2D: it writes", better["stated_fault"])
        self.assertIn("the offsets in the file are wrong and do not count: subgraph 0",
                      self.expect(DONE, "plan", "wrong.tflite", "--tflm", "better.tflite").stdout)
        self.expect(DONE, "verify", "better.tflite")
        # The list has the same size, so the file has, and all other bytes are the same.
        before, after = ((self.folder / name).read_bytes() for name in ("wrong.tflite", "better.tflite"))
        self.assertEqual(len(before), len(after))
        self.assertTrue(after.endswith(self.kws))
        planned = self.json(DONE, "plan", "kws.tflite", "--tflm", "same.tflite")["tflm"]
        self.assertFalse(planned["changed"])
        self.assertEqual((self.folder / "same.tflite").read_bytes(), self.kws)
        self.assertIn("the file is written as it is",
                      self.expect(DONE, "plan", "kws.tflite", "--tflm", "same.tflite").stdout)
        self.assertIn("states no offsets", self.expect(DONE, "verify", "same.tflite").stdout)

    def test_a_list_that_is_cut_off_counts_as_none(self):
        self.write("short.tflite", with_offsets(self.kws, 0, count=3))
        planned = self.json(DONE, "plan", "short.tflite", "--tflm", "planned.tflite")["tflm"]
        self.assertIn("the list is for 3 tensors", planned["stated_fault"])
        self.expect(DONE, "verify", "planned.tflite")

    @needs_earlier
    def test_compare_says_that_offsets_are_wrong(self):
        self.write("wrong.tflite", with_offsets(self.kws, 0))
        compared = self.json(DONE, "compare", "wrong.tflite")["tflite_micro"]
        self.assertTrue(compared["states_offsets"])
        self.assertEqual([(one["head_bytes"], "it writes" in one["stated_fault"]) for one in compared["kernels"]],
                         [(16000, True)] * 2)
        shown = self.expect(DONE, "compare", "wrong.tflite").stdout
        self.assertIn("the offsets in the file are wrong and do not count: subgraph 0: operator 0 CONV_2D", shown)
        self.assertNotIn("and with the offsets in the file", shown)
        self.write("free.tflite", with_offsets(self.kws, -1))
        self.assertIsNone(self.json(DONE, "compare", "free.tflite")["tflite_micro"]["kernels"][0]["stated_fault"])

    def test_the_arena_and_the_file_must_fit_the_machine(self):
        size = len(self.kws)

        def target(*regions, model="kws.tflite"):
            lines = ['name = "board"']
            for name, capacity, read_only in regions:
                lines += ["[[region]]", f'name = "{name}"', f"capacity = {capacity}", f"read_only = {read_only}"]
            self.write("board.toml", "\n".join(lines).encode())
            return "plan", model, "--tflm", "out.tflite", "--target", "board.toml"

        def asked(code, *regions):
            return self.json(code, *target(*regions))["tflm"]["arena"]["target"]

        enough = asked(DONE, ("sram", 22784, "false"), ("flash", size, "true"))
        self.assertTrue(enough["fits"])
        self.assertEqual([(one["name"], one["holds"], one["needed_bytes"]) for one in enough["regions"]],
                         [("sram", ["arena"], 22784), ("flash", ["model"], size)])
        less = asked(NO, ("sram", 22783, "false"), ("flash", size - 5, "true"))
        self.assertFalse(less["fits"])
        self.assertEqual([one["missing_bytes"] for one in less["regions"]], [1, 5])
        self.assertIn("1 B are missing", self.expect(NO, *target(("sram", 22783, "false"))).stdout)
        later = asked(DONE, ("tcm", 8000, "false"), ("sram", 22784, "false"), ("flash", size, "true"))
        self.assertEqual([(one["name"], one["holds"]) for one in later["regions"]],
                         [("sram", ["arena"]), ("flash", ["model"])])
        apart = asked(DONE, ("tcm", 8000, "false"), ("sram", 16000, "false"), ("flash", size, "true"))
        self.assertEqual([(one["name"], one["holds"], one["needed_bytes"]) for one in apart["regions"]],
                         [("tcm", ["tail"], 6800), ("sram", ["head"], 16000), ("flash", ["model"], size)])
        unplaced = asked(NO, ("sram", 22784, "false"))
        self.assertEqual((unplaced["fits"], unplaced["has_place_for_file"]), (None, False))
        self.assertIn("no region for the file of the model", self.expect(NO, *target(("sram", 22784, "false"))).stdout)
        self.write("words.tflite", (MODELS / "keyword_scrambled_8bit.tflite").read_bytes())
        unknown = self.json(NO, *target(("sram", 1 << 20, "false"), model="words.tflite"),
                            "--kernels", "tflm-cmsis-nn")["tflm"]["arena"]
        self.assertIsNone(unknown["target"]["fits"])
        self.assertEqual(unknown["unknown_operators"], ["'SVDF'"])
        self.assertIn("cpu is not a microcontroller",
                      self.expect(USAGE, "plan", "kws.tflite", "--tflm", "out.tflite", "--target", "cpu").stderr)

    def test_options_of_other_plans_are_refused(self):
        said = self.expect(USAGE, "plan", "kws.tflite", "--tflm", "out.tflite", "--budget", "1MiB").stderr
        self.assertIn("--budget has no effect with --tflm", said)
        self.assertIn("add --tflm", self.expect(USAGE, "plan", "kws.tflite", "--kernels", "tflm-reference").stderr)
        self.assertIn("is the input model.onnx itself",
                      self.expect(USAGE, "plan", "model.onnx", "--tflm", "model.onnx").stderr)
        self.assertIn("this is not a TFLite file",
                      self.expect(BAD_INPUT, "plan", "model.onnx", "--tflm", "out.tflite").stderr)

    def test_a_run_writes_the_outputs(self):
        said = self.expect(DONE, "run", "kws.tflite", "--synthetic", "1", "--output-dir", "out").stdout
        self.assertIn("arena 16,000 B", said)
        head, values = (self.folder / "out/Identity.npy").read_bytes().split(b"\n", 1)
        self.assertIn(b"'descr': '|i1', 'fortran_order': False, 'shape': (1, 12)", head)
        # A softmax: 256 is 1, -128 is 0.
        self.assertLess(abs(sum(struct.unpack("12b", values)) + 12 * 128 - 256), 12)

    def test_a_run_names_what_it_lacks(self):
        said = self.expect(BAD_INPUT, "run", "kws.tflite").stderr
        self.assertIn("--input input_1=FILE.npy (i8[1,49,10,1])", said)
        self.expect(DONE, "run", "kws.tflite", "--synthetic", "1", "--output-dir", "out")
        said = self.expect(BAD_INPUT, "run", "kws.tflite", "--input", "input_1=out/Identity.npy").stderr
        self.assertIn("has type i8[1,49,10,1], but i8[1,12] is given", said)
        for option in ("--compare", "--budget=1MiB", "--threads=2"):
            self.assertIn("has no effect on a TFLite model",
                          self.expect(USAGE, "run", "kws.tflite", "--synthetic", "1", option).stderr)

    def test_a_run_checks_its_options_before_it_plans(self):
        # No kernel of C source computes this model, so a plan would be refused.
        self.write("lstm.tflite", (MODELS / "trained_lstm_int8.tflite").read_bytes())
        self.assertIn("UNIDIRECTIONAL_SEQUENCE_LSTM",
                      self.expect(BAD_INPUT, "run", "lstm.tflite", "--synthetic", "1").stderr)
        self.assertIn("--plan has no effect",
                      self.expect(USAGE, "run", "lstm.tflite", "--synthetic", "1", "--plan", "plan.json").stderr)
        self.assertIn("one of the inputs 'fixed_input'",
                      self.expect(BAD_INPUT, "run", "lstm.tflite", "--input", "other=x.npy").stderr)
        self.assertIn("inputs are missing", self.expect(BAD_INPUT, "run", "lstm.tflite").stderr)

    def test_a_run_never_writes_over_the_model(self):
        self.write("Identity.npy", self.kws)
        self.expect(USAGE, "run", "Identity.npy", "--synthetic", "1", "--output-dir", ".")
        self.assertEqual((self.folder / "Identity.npy").read_bytes(), self.kws)

    def test_wrong_offsets_are_found(self):
        self.write("free.tflite", with_offsets(self.kws, -1))
        self.assertIn("the offsets in free.tflite are correct", self.expect(DONE, "verify", "free.tflite").stdout)
        self.write("wrong.tflite", with_offsets(self.kws, 0))
        said = self.expect(NO, "verify", "wrong.tflite").stdout
        self.assertIn("the offsets in wrong.tflite are not correct", said)
        self.assertIn("operator 0 CONV_2D: it writes", said)
        self.assertFalse(self.json(NO, "verify", "wrong.tflite")["verified"])
        self.write("short.tflite", with_offsets(self.kws, 0, count=3))
        self.assertIn("the list is for 3 tensors", self.expect(NO, "verify", "short.tflite").stdout)

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
