#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs small models with files for inputs and outputs."""
import functools
import json
import math
import resource
import struct
import unittest

import small_models
from program import BAD_INPUT, DONE, USAGE, ProgramTest
from small_models import BOOL, FLOAT, field, graph, ints, node, value_info


def floats(content):
    """The numbers in such a file."""
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return [number for number, in struct.iter_unpack("<f", content[begin:])]


def external(name, extents, location):
    """An initializer of floats whose data are in another file."""
    dims = b"".join(field(1, extent) for extent in extents)
    place = field(13, field(1, "location") + field(2, location))
    return dims + field(2, FLOAT) + field(8, name) + place + field(14, 1)


def model(extents=(3,)):
    """out/y = Add(Relu(in=x), w), f32[3] or of other extents; w is in weights.bin."""
    nodes = [node("Relu", ["in=x"], ["a"]), node("Add", ["a", "w"], ["out/y"])]
    content = graph(nodes, [value_info("in=x", extents)], [value_info("out/y", extents)],
                    [external("w", [3], "weights.bin")])
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


class Run(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.onnx", model())
        self.write("weights.bin", struct.pack("<3f", 0.5, 0.25, 8))
        self.write("x.npy", small_models.npy([-1, 2, 3]))

    def test_inputs_and_outputs_are_files(self):
        result = self.expect(DONE, "run", "model.onnx", "--input", "in=x=x.npy", "--output-dir", ".")
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])
        self.assertIn("out/y", result.stdout)
        self.assertIn("f32[3]", result.stdout)

    def test_a_plan_file_is_followed(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        words = ("run", "model.onnx", "--plan", "plan.json", "--input", "in=x=x.npy", "--output-dir", ".")
        self.assertIn("the plan is for the target 'dense', so plain kernels run", self.expect(DONE, *words).stderr)
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "-o", "plan.json")
        self.assertNotIn("plain kernels", self.expect(DONE, *words).stderr)
        self.write("model.onnx", small_models.small())
        self.assertIn("the plan is for the model with sha256", self.expect(BAD_INPUT, *words).stderr)
        self.write("open.onnx", model(["batch", 3]))
        self.expect(DONE, "plan", "open.onnx", "--dim", "batch=1", "-o", "plan.json")
        self.assertIn("the plan is for the model with sha256", self.expect(BAD_INPUT, *words).stderr)

    def test_two_threads_give_the_same_outputs(self):
        self.write("model.onnx", small_models.parallel())
        words = ("run", "model.onnx", "--synthetic", "1", "--output-dir")
        names = ("one", "two", "streams", "waves")
        for name in names:
            (self.folder / name).mkdir()
        self.expect(DONE, *words, "one")
        self.expect(DONE, *words, "two", "--threads", "2")
        for run in ("streams", "waves"):
            plan = ("plan", "model.onnx", "--target", "cpu", "--streams", "2", "--run", run, "--stream-memory", "1000")
            self.expect(DONE, *plan, "-o", "plan.json")
            self.assertIn('"threads=2"', (self.folder / "plan.json").read_text())
            self.expect(DONE, *words, run, "--plan", "plan.json", "--poison", "--compare")
        outputs = [{one.name: one.read_bytes() for one in (self.folder / name).iterdir()} for name in names]
        self.assertGreater(len(outputs[0]), 0)
        self.assertEqual(outputs, [outputs[0]] * 4)
        refused = self.expect(BAD_INPUT, *words, "one", "--plan", "plan.json", "--threads", "1").stderr
        self.assertIn("--target cpu --threads 1", refused)
        self.expect(USAGE, *words, "one", "--threads", "257")

    def test_outputs_at_the_caller_are_written(self):
        self.expect(DONE, "plan", "model.onnx", "--outputs", "caller", "-o", "plan.json")
        words = ("run", "model.onnx", "--plan", "plan.json", "--input", "in=x=x.npy", "--output-dir", ".")
        self.assertIn("out/y  f32[3]", self.expect(DONE, *words).stdout)
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])
        self.expect(DONE, "plan", "model.onnx", "--outputs", "caller", "--inputs", "arena", "-o", "plan.json")
        self.expect(DONE, *words)
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])

    def test_no_output_replaces_a_file_that_is_read(self):
        self.write("out_y.npy", small_models.npy([-1, 2, 3]))
        words = ("run", "model.onnx", "--input", "in=x=out_y.npy", "--output-dir", ".")
        self.assertIn("is the input out_y.npy itself", self.expect(USAGE, *words).stderr)
        self.write("open.onnx", model(["batch", 3]))
        for command in (("plan", "model.onnx", "-o", "weights.bin"), ("inspect", "model.onnx", "--csv", "weights.bin"),
                        ("plan", "open.onnx", "--dim", "batch=1,2", "-o", "weights.bin"),
                        ("bench", "model.onnx", "--runs", "1", "--html", "weights.bin")):
            self.assertIn("is the input weights.bin itself", self.expect(USAGE, *command).stderr)
        words = ("bench", "model.onnx", "--runs", "1", "--input", "in=x=out_y.npy", "--html", "out_y.npy")
        self.assertIn("is the input out_y.npy itself", self.expect(USAGE, *words).stderr)
        self.assertEqual(len((self.folder / "weights.bin").read_bytes()), 12)
        self.expect(USAGE, "run", "model.onnx", "--input", "in=x=x.npy", "--output-dir", "")

    def test_the_folder_of_the_outputs_is_made(self):
        words = ("run", "model.onnx", "--input", "in=x=x.npy", "--output-dir")
        self.expect(DONE, *words, "new/deep/")
        self.assertEqual([path.name for path in (self.folder / "new/deep").iterdir()], ["out_y.npy"])
        self.assertIn("cannot make the folder x.npy/deep: Not a directory; name another one",
                      self.expect(BAD_INPUT, *words, "x.npy/deep").stderr)
        self.expect(BAD_INPUT, "run", "model.onnx", "--output-dir", "unused")
        self.assertFalse((self.folder / "unused").exists())

    def test_a_trace_has_a_slice_per_step_and_the_live_bytes(self):
        self.write("model.onnx", small_models.small())
        self.expect(DONE, "plan", "model.onnx", "--no-in-place", "-o", "plan.json")
        words = ("run", "model.onnx", "--plan", "plan.json", "--synthetic", "1", "--trace")
        self.expect(DONE, *words, "trace.json")
        trace = json.loads((self.folder / "trace.json").read_text())
        events = trace["traceEvents"]
        # These rules are those of the Trace Event Format.
        for event in events:
            self.assertIn(event["ph"], ("M", "X", "C"))
            self.assertTrue({"name", "pid", "tid"} <= set(event))
            if event["ph"] != "M":
                self.assertGreaterEqual(event["ts"], 0)
        slices = [event for event in events if event["ph"] == "X"]
        self.assertEqual([one["name"] for one in slices], ["Relu relu", "Sigmoid sigmoid", "Add add", "MaxPool pool"])
        self.assertEqual([one["args"]["step"] for one in slices], [0, 1, 2, 3])
        for one, following in zip(slices, slices[1:]):
            self.assertLessEqual(one["ts"] + one["dur"], following["ts"] + 1e-6)
        # a; a, b; a, b, c; c, d; at the end d.
        wide, narrow = 65536, 16384
        live = [event["args"]["live bytes"] for event in events if event["ph"] == "C"]
        self.assertEqual(live, [wide, 2 * wide, 3 * wide, wide + narrow, narrow])
        names = {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"}
        self.assertEqual(names, {"process_name": "lowtide model.onnx", "thread_name": "thread 0"})
        self.assertEqual(len(json.loads(self.expect(DONE, *words, "-").stdout)["traceEvents"]), len(events))

    def test_a_trace_looks_into_bodies(self):
        """Three iterations of a loop, each with one step."""
        def scalar(name, dtype, data):
            return field(2, dtype) + field(8, name) + field(9, data)

        body_graph = graph([node("Neg", ["p"], ["q"], "negate"), node("Identity", ["c"], ["d"])],
                           [value_info("i", [], 7), value_info("c", [], BOOL), value_info("p", [4])],
                           [value_info("d", [], BOOL), value_info("q", [4])], name="body")
        loop = node("Loop", ["n", "", "x"], ["y"], "loop", [small_models.body("body", body_graph)])
        content = graph([loop], [value_info("x", [4])], [value_info("y", [4])], [scalar("n", 7, struct.pack("<q", 3))])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.expect(DONE, "run", "model.onnx", "--synthetic", "1", "--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        loops = [event for event in events if event.get("cat") == "Loop"]
        inner = [event for event in events if event["ph"] == "X" and event["args"].get("body") == "loop/body/"]
        self.assertEqual(len(loops), 1)
        self.assertEqual(sum("negate" in one["name"] for one in inner), 3)
        for one in inner:
            self.assertLessEqual(loops[0]["ts"], one["ts"] + 1e-6)
            self.assertLessEqual(one["ts"] + one["dur"], loops[0]["ts"] + loops[0]["dur"] + 1e-6)

    def test_a_range_has_a_plan_per_extent_and_one_arena(self):
        self.write("model.onnx", small_models.small("batch"))
        wide, narrow = 65536, 16384
        report = self.json(DONE, "plan", "model.onnx", "--dim", "batch=1,2,4", "-o", "plans.json")
        self.assertEqual([one["extent"] for one in report["plans"]], [1, 2, 4])
        # a and b, over which c is written; then d.
        self.assertEqual([one["arena"] for one in report["plans"]], [2 * wide, 4 * wide, 8 * wide])
        self.assertEqual(report["bytes"], {"arena": 8 * wide})
        self.assertIn("is large enough for each plan",
                      self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1..3").stdout)
        for given in (("--plan", "plans.json"), ("--dim", "batch=1..4")):
            for batch in (2, 1, 2):
                self.write("x.npy", small_models.npy([-1, 2] * (batch * 8192), (batch, 16, 32, 32)))
                words = ("run", "model.onnx", *given, "--input", "x=x.npy", "--output-dir", ".")
                self.assertIn(f"f32[{batch},16,16,16]", self.expect(DONE, *words).stdout)
                self.assertEqual(len(floats((self.folder / "d.npy").read_bytes())), batch * narrow // 4)
        self.write("x.npy", small_models.npy([0] * (5 * 16384), (5, 16, 32, 32)))
        self.assertIn("[5,16,32,32], for which there is no plan", self.expect(BAD_INPUT, *words).stderr)

    def test_an_input_with_a_default_value_can_be_given(self):
        w = field(1, 3) + field(2, FLOAT) + field(8, "w=1") + field(9, struct.pack("<3f", 1, 2, 3))
        content = graph([node("Add", ["x", "w=1"], ["y"])], [value_info("x", [3]), value_info("w=1", [3])],
                        [value_info("y", [3])], [w])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.write("w.npy", small_models.npy([10, 20, 30]))
        words = ("run", "model.onnx", "--input", "x=x.npy", "--output-dir", ".")
        told = self.expect(DONE, *words).stderr
        self.assertIn("1 input has a default value in the file and is planned as a constant: 'w=1'", told)
        self.assertEqual(floats((self.folder / "y.npy").read_bytes()), [0, 4, 6])
        self.expect(DONE, *words, "--input", "w=1=w.npy")
        self.assertEqual(floats((self.folder / "y.npy").read_bytes()), [9, 22, 33])
        self.expect(DONE, "bench", "model.onnx", "--input", "w=1=w.npy", "--runs", "2")
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        given = (*words, "--input", "w=1=w.npy", "--plan", "plan.json")
        self.assertIn("the plan has it as a constant; plan or prepare again with: --override 'w=1'",
                      self.expect(BAD_INPUT, *given).stderr)
        report = self.json(DONE, "plan", "model.onnx", "--override", "w=1", "-o", "plan.json")
        self.assertEqual(report["dims"], ["w=1=?"])
        self.assertEqual(report["bytes"]["inputs"], 24)
        self.expect(DONE, *given)
        self.assertEqual(floats((self.folder / "y.npy").read_bytes()), [9, 22, 33])
        self.expect(DONE, "verify", "model.onnx", "plan.json")
        refused = self.expect(BAD_INPUT, "plan", "model.onnx", "--override", "v").stderr
        self.assertIn("has no input 'v' that a caller may give; the inputs with a default value: 'w=1'", refused)

    def test_a_binding_chooses_among_the_plans_of_a_file(self):
        self.write("model.onnx", small_models.small("batch"))
        self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1,2,4", "-o", "plans.json")
        words = ("run", "model.onnx", "--plan", "plans.json", "--synthetic", "1", "--dim")
        self.assertIn("f32[2,16,16,16]", self.expect(DONE, *words, "batch=2").stdout)
        self.assertIn("plans.json: the file has plans for 'batch=1', 'batch=2' and 'batch=4', but the command line "
                      "sets 'batch=3'", self.expect(BAD_INPUT, *words, "batch=3").stderr)
        self.expect(DONE, "plan", "model.onnx", "--dim", "batch=8", "-o", "plans.json")
        self.assertIn("plans.json: the file has a plan for 'batch=8', but the command line sets 'batch=4'",
                      self.expect(BAD_INPUT, *words, "batch=4").stderr)

    def test_a_plan_with_other_names_or_kernels_never_runs(self):
        self.write("model.onnx", small_models.small())
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "-o", "plan.json")
        words = ("run", "model.onnx", "--plan", "plan.json", "--synthetic", "1")
        self.expect(DONE, *words)
        plan = json.loads((self.folder / "plan.json").read_text())
        plan["kernels"] = ["dense"] * len(plan["kernels"])
        self.write("plan.json", json.dumps(plan).encode())
        self.assertIn("runs kernel 'dense', but the target offers", self.expect(BAD_INPUT, *words).stderr)
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.expect(DONE, *words)
        plan = json.loads((self.folder / "plan.json").read_text())
        plan["nodes"][0][0] = "other"
        self.write("plan.json", json.dumps(plan).encode())
        self.assertIn("the plan is wrong for this model: ", self.expect(BAD_INPUT, *words).stderr)

    def test_wrong_ranges_are_refused(self):
        self.write("model.onnx", small_models.small("batch"))
        for dim, part in {"batch=1..17": "has 17 values", "batch=4..2": "ends before it begins",
                          "batch=1,x": "must have the form batch=8", "batch=..": "must have the form"}.items():
            with self.subTest(dim):
                self.assertIn(part, self.expect(USAGE, "plan", "model.onnx", "--dim", dim).stderr)
        self.assertIn("only 'plan', 'run' and 'prepare' can use",
                      self.expect(USAGE, "inspect", "model.onnx", "--dim", "batch=1..2").stderr)
        self.assertIn("--html shows one plan", self.expect(
            USAGE, "plan", "model.onnx", "--dim", "batch=1..2", "--html", "page.html").stderr)
        two = ("--dim", "batch=1..2", "--dim", "b=1..3")
        self.assertIn("lists go together", self.expect(USAGE, "plan", "model.onnx", *two).stderr)
        twice = ("--dim", "batch=1..2", "--dim", "batch=3..4")
        self.assertIn("the same name twice", self.expect(USAGE, "plan", "model.onnx", *twice).stderr)
        self.assertIn("must have the form image=", self.expect(
            USAGE, "plan", "model.onnx", "--shape", "x=1x16,1xy").stderr)
        self.assertIn("only 'plan', 'run' and 'prepare' can use", self.expect(
            USAGE, "inspect", "model.onnx", "--shape", "x=1x16x32x32,2x16x32x32").stderr)

    def test_only_one_file_can_be_stdin(self):
        plan = self.expect(DONE, "plan", "model.onnx", "-o", "-").stdout.encode()
        words = ("run", "model.onnx", "--plan", "-", "--input", "in=x=-")
        told = self.expect(USAGE, *words, stdin=plan).stderr
        self.assertIn("the plan and input 'in=x' are both read from stdin", told)
        self.expect(DONE, *words[:-1], "in=x=x.npy", stdin=plan)
        self.expect(DONE, "run", "model.onnx", "--input", "in=x=-", stdin=small_models.npy([-1, 2, 3]))

    def test_absent_weights_and_inputs_are_made_up(self):
        (self.folder / "weights.bin").unlink()
        words = ("run", "model.onnx", "--output-dir", ".")
        self.assertIn("weights.bin: cannot be read", text := self.expect(BAD_INPUT, *words).stderr)
        self.assertIn("--synthetic 1 makes up the weights", text)
        outputs = []
        for seed in ("1", "1", "2"):
            self.expect(DONE, *words, "--synthetic", seed)
            outputs.append((self.folder / "out_y.npy").read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_wrong_inputs_are_refused(self):
        missing = self.expect(BAD_INPUT, "run", "model.onnx").stderr
        self.assertIn("inputs are missing; add --input in=x=FILE.npy (f32[3]), or --synthetic SEED", missing)
        unknown = self.expect(BAD_INPUT, "run", "model.onnx", "--input", "z=x.npy").stderr
        self.assertIn("with one of the inputs 'in=x', not 'z=x.npy'", unknown)
        twice = self.expect(USAGE, "run", "model.onnx", "--input", "in=x=x.npy", "--input", "in=x=x.npy").stderr
        self.assertIn("input 'in=x' is given twice", twice)
        empty = self.expect(USAGE, "run", "model.onnx", "--input", "in=x=").stderr
        self.assertIn("'--input' has no file for input 'in=x'; add one, as in --input in=x=FILE.npy", empty)
        self.write("x.npy", small_models.npy([1, 2]))
        self.assertIn("input 'in=x': extent 0 is given as 2, but it is fixed in the file at 3",
                      self.expect(BAD_INPUT, "run", "model.onnx", "--input", "in=x=x.npy").stderr)
        self.write("x.npy", b"no numbers")
        self.assertIn("x.npy", self.expect(BAD_INPUT, "run", "model.onnx", "--input", "in=x=x.npy").stderr)

    # The Add writes its result over that of the Relu, in a buffer of 64 bytes.
    def test_runs_that_look_for_defects_find_none(self):
        words = ("run", "model.onnx", "--input", "in=x=x.npy", "--poison", "--guard", "--compare")
        text = self.expect(DONE, *words).stdout
        self.assertIn("that no tensor has; peak 64 B of 64 B planned, arena 64 B of 64 B\n", text)
        self.assertIn("guard: no step accesses memory outside of its buffers\n", text)
        self.assertIn("compare: all values are equal to those of a run without reuse\n", text)

    def test_an_input_that_no_node_reads_is_no_defect(self):
        nodes = [node("Relu", ["x"], ["a"]), node("Relu", ["a"], ["y"])]
        content = graph(nodes, [value_info("x", [64]), value_info("unread", [64])], [value_info("y", [64])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.expect(DONE, "plan", "model.onnx", "--inputs", "arena", "--no-in-place", "-o", "plan.json")
        self.assertIn("no step reads or writes bytes that no tensor has", self.expect(
            DONE, "run", "model.onnx", "--plan", "plan.json", "--synthetic", "1", "--poison").stdout)

    def test_all_operators_without_kernel_are_named_at_once(self):
        """One of them works on a constant, at load time."""
        matrix = field(1, 3) + field(1, 3) + field(2, FLOAT) + field(8, "k") + field(9, bytes(36))
        nodes = [node("Det", ["k"], ["w"], "first"), node("Det", ["x"], ["d"], "second"),
                 node("Add", ["w", "d"], ["y"])]
        content = graph(nodes, [value_info("x", [3, 3])], [value_info("y", [])], [matrix])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        text = self.expect(BAD_INPUT, "run", "model.onnx", "--synthetic", "1").stderr
        for part in ("2 nodes cannot run here", "Det 'first'", "Det 'second'"):
            self.assertIn(part, text)

    def test_a_pool_whose_window_does_not_fit_is_refused(self):
        pool = node("MaxPool", ["x"], ["y"], "pool", [ints("kernel_shape", [7, 7]), ints("strides", [1, 1])])
        content = graph([pool], [value_info("x", [1, 1, 3, 3])], [value_info("y", [1, 1, 1, 1])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        text = self.expect(BAD_INPUT, "run", "model.onnx", "--synthetic", "1").stderr
        self.assertIn("'pool' (MaxPool): the window spans 7 elements along axis 2 of 'x', which is f32[1,1,3,3]", text)

    def test_an_input_for_which_there_is_no_memory_is_named(self):
        content = graph([node("ReduceMax", ["x"], ["y"])], [value_info("x", [300_000_000_000])], [value_info("y", [1])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))

        text = self.expect(BAD_INPUT, "run", "model.onnx", "--synthetic", "1", preexec_fn=limit).stderr
        self.assertIn("input 'x' is made up with 1,200,000,000,000 B", text)
        self.assertIn("--shape", text)

    def test_without_memory_for_the_library_no_other_kernels_run(self):
        """Each limit ends the run with an error, or leaves its bits as they are."""
        weights = [field(1, 32) + field(1, 32) + field(1, 3) + field(1, 3) + field(2, FLOAT) + field(8, "w") +
                   field(9, struct.pack("<9216f", *(math.sin(at) for at in range(9216))))]
        content = graph([node("Conv", ["x", "w"], ["y"])], [value_info("x", [1, 32, 16, 16])],
                        [value_info("y", [1, 32, 14, 14])], weights)
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        words = ("run", "model.onnx", "--synthetic", "1", "--output-dir", ".")
        result = self.folder / "y.npy"
        self.expect(DONE, *words)
        expected = result.read_bytes()
        refusals = 0
        for limit in range(30 << 20, 130 << 20, 4 << 20):
            result.unlink(missing_ok=True)
            ended = self.run_program(*words, preexec_fn=functools.partial(
                resource.setrlimit, resource.RLIMIT_AS, (limit, limit)))
            refusals += ended.returncode == BAD_INPUT and "the system has no" in ended.stderr
            # The loader may fail before the program starts, or abort it.
            if ended.returncode == DONE:
                self.assertEqual(result.read_bytes(), expected, f"with {limit} bytes")
        if not ended.returncode:  # sanitizers need more
            self.assertGreater(refusals, 0)

    def test_the_elements_of_a_file_may_begin_anywhere(self):
        file = (self.folder / "x.npy").read_bytes()
        for blanks in range(1, 5):
            size = struct.unpack("<H", file[8:10])[0] + blanks
            self.write("shifted.npy", file[:8] + struct.pack("<H", size) + file[10:-13] + b" " * blanks + file[-13:])
            self.expect(DONE, "run", "model.onnx", "--input", "in=x=shifted.npy", "--output-dir", ".")
            self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])

    def test_the_longest_name_of_an_input_is_meant(self):
        content = graph([node("Sub", ["a", "a=b"], ["y"])], [value_info("a", [3]), value_info("a=b", [3])],
                        [value_info("y", [3])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.write("b=x.npy", small_models.npy([10, 20, 30]))
        self.expect(DONE, "run", "model.onnx", "--input", "a=./b=x.npy", "--input", "a=b=x.npy", "--output-dir", ".")
        self.assertEqual(floats((self.folder / "y.npy").read_bytes()), [11, 18, 27])  # x.npy is -1, 2, 3

    def test_operators_without_kernel_are_named(self):
        nodes = [node("Det", ["x"], ["y"], "last")]
        content = graph(nodes, [value_info("x", [3, 3])], [value_info("y", [])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.assertIn("Det 'last'", self.expect(BAD_INPUT, "run", "model.onnx", "--synthetic", "1").stderr)


if __name__ == "__main__":
    unittest.main()
