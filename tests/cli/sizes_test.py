#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes that a model leaves open: from inputs, from options, and as upper bounds."""
import struct
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest
from small_models import INT64, field, graph, ints, model, node, value_info


def array(numbers, extents, code="f"):
    """A file in NumPy's format."""
    kind, shape = "<f4" if code == "f" else "<i8", "".join(f"{extent}," for extent in extents)
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape})}}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    elements = struct.pack(f"<{len(numbers)}{code}", *numbers)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + elements


def read(path):
    """The extents and the numbers of such a file of floats."""
    content = path.read_bytes()
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    head = eval(content[10:begin])  # pylint: disable=eval-used
    return head["shape"], [number for number, in struct.iter_unpack("<f", content[begin:])]


def detector():
    """y = MaxPool(Relu(x)), 2 x 2, of x f32[batch,3,h,w]."""
    pool = [ints("kernel_shape", [2, 2]), ints("strides", [2, 2])]
    return model([node("Relu", ["x"], ["r"]), node("MaxPool", ["r"], ["y"], attributes=pool)],
                 [value_info("x", ["batch", 3, "h", "w"])], [value_info("y", ["batch", 3, "oh", "ow"])])


def growing(trips):
    """Each iteration of a Loop appends the row r to the state x. The trip count is a constant or the input n."""
    concat = node("Concat", ["s", "r"], ["s2"], attributes=[small_models.axis(0)])
    body = graph([node("Identity", ["k"], ["k2"]), concat],
                 [value_info("i", [], INT64), value_info("k", [], small_models.BOOL), value_info("s", ["p", 2])],
                 [value_info("k2", [], small_models.BOOL), value_info("s2", ["q", 2])], name="body")
    inputs = [value_info("x", [1, 2]), value_info("r", [1, 2])]
    constants = []
    if trips is None:
        inputs.append(value_info("n", [], INT64))
    else:
        constants.append(field(2, INT64) + field(8, "n") + field(9, struct.pack("<q", trips)))
    content = graph([node("Loop", ["n", "", "x"], ["y"], "loop", [small_models.body("body", body)])], inputs,
                    [value_info("y", ["m", 2])], constants)
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


class SizesOfInputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("open.onnx", detector())
        self.write("x.npy", array(range(-12, 12), [1, 3, 2, 4]))

    def test_run_takes_open_sizes_from_its_inputs(self):
        said = self.expect(DONE, "run", "open.onnx", "--input", "x=x.npy", "--output-dir", "out").stdout
        self.assertIn("f32[1,3,1,2]", said)
        # Rows of 4: the largest of each 2 x 2 is at the end of the second row.
        self.assertEqual(read(self.folder / "out" / "y.npy"), ((1, 3, 1, 2), [0, 0, 1, 3, 9, 11]))

    def test_bench_takes_open_sizes_from_its_inputs(self):
        report = self.json(DONE, "bench", "open.onnx", "--input", "x=x.npy", "--runs", "2")
        self.assertEqual(report["nodes"]["model"], 2)

    def test_without_a_file_one_option_per_input_is_named(self):
        for command in ("run", "bench"):
            said = self.expect(BAD_INPUT, command, "open.onnx").stderr
            self.assertIn("input 'x' is f32[batch,3,h,w]: give --shape x=?x3x?x?, with a number for each ?", said)
            self.assertIn("--input NAME=FILE.npy", said)
            self.assertNotIn("--dim", said)
        for command in ("plan", "explain", "prepare"):
            words = ("-o", "out.prepared") if command == "prepare" else ()
            said = self.expect(BAD_INPUT, command, "open.onnx", *words).stderr
            self.assertIn("give --shape x=?x3x?x?", said)
            self.assertNotIn("--input", said)
        self.expect(DONE, "plan", "open.onnx", "--shape", "x=1x3x8x8")

    def test_a_file_that_cannot_be_read_is_named(self):
        said = self.expect(BAD_INPUT, "run", "open.onnx", "--input", "x=absent.npy").stderr
        self.assertIn("absent.npy: cannot be opened", said)
        self.write("text.npy", "not an array")
        said = self.expect(BAD_INPUT, "run", "open.onnx", "--input", "x=text.npy").stderr
        self.assertIn("text.npy: is not a .npy file", said)

    def test_contradictions_are_named(self):
        said = self.expect(BAD_INPUT, "run", "open.onnx", "--input", "x=x.npy", "--dim", "h=8").stderr
        self.assertIn("input 'x': extent 2 is given as 2, but its symbol 'h' is given as 8 by --dim", said)
        said = self.expect(BAD_INPUT, "run", "open.onnx", "--input", "x=x.npy", "--shape", "x=1x3x2x8").stderr
        self.assertIn("extent 3 is given as 4, but its symbol 'w' is given as 8 by extent 3 of --shape 'x'", said)
        self.write("wrong.npy", array(range(16), [1, 2, 2, 4]))
        said = self.expect(BAD_INPUT, "run", "open.onnx", "--input", "x=wrong.npy").stderr
        self.assertIn("input 'x': extent 1 is given as 2, but it is fixed in the file at 3", said)

    def test_a_plan_has_its_own_sizes(self):
        self.expect(DONE, "plan", "open.onnx", "--shape", "x=1x3x2x4", "--target", "cpu", "-o", "plan.json")
        self.expect(DONE, "run", "open.onnx", "--plan", "plan.json", "--input", "x=x.npy")
        self.write("other.npy", array(range(48), [1, 3, 4, 4]))
        said = self.expect(BAD_INPUT, "run", "open.onnx", "--plan", "plan.json", "--input", "x=other.npy").stderr
        self.assertIn("f32[1,3,4,4] is given", said)

    def test_several_extents_are_open_in_one_plan(self):
        """y = Relu(x) of (n, h, w): as much as its input."""
        shape = ["n", "h", "w"]
        self.write("three.onnx", small_models.model(
            [small_models.node("Relu", ["x"], ["a"], "one"), small_models.node("Exp", ["a"], ["y"], "two")],
            [small_models.value_info("x", shape)], [small_models.value_info("y", shape)]))
        wanted = [2 * 4 * 6 * 4, 2 * 16 * 8 * 4]
        for words in (("--shape", "x=2x4x6,2x16x8"), ("--shapes", "x=2x4x6,2x16x8"),
                      ("--dim", "h=4,16", "--dim", "w=6,8", "--dim", "n=2"),
                      ("--dim", "h=4,16", "--shape", "x=2x?x6,2x?x8")):
            with self.subTest(words):
                report = self.json(DONE, "plan", "three.onnx", *words, "-o", "plans.json")
                self.assertEqual([one["arena"] for one in report["plans"]], wanted)
                self.assertEqual((report["symbol"], report["bytes"]["arena"]), (None, wanted[1]))
                said = self.expect(DONE, "plan", "three.onnx", *words).stdout
                self.assertIn("One arena of 1,024 B", said)
        self.assertEqual(report["plans"][1]["sizes"], "h=16, x=2x?x8")
        one = self.json(DONE, "plan", "three.onnx", "--shapes", "x=2x4x6")  # one value is that of --shape
        self.assertEqual(one["bytes"]["arena"], wanted[0])
        self.expect(DONE, "inspect", "three.onnx", "--shapes", "x=2x4x6")
        self.expect(DONE, "plan", "three.onnx", "--target", "cpu", "--shape", "x=2x4x6,2x16x8", "-o", "plans.json")
        for shape, code in (((2, 4, 6), DONE), ((2, 16, 8), DONE), ((2, 16, 6), BAD_INPUT)):
            self.write("x.npy", small_models.npy([-1.0] * (shape[0] * shape[1] * shape[2]), shape))
            for given in (("--plan", "plans.json"), ("--shape", "x=2x4x6,2x16x8")):
                result = self.expect(code, "run", "three.onnx", *given, "--input", "x=x.npy", "--output-dir", ".")
                if code == DONE:
                    self.assertIn(",".join(map(str, shape)), result.stdout)
                else:
                    self.assertIn("input 'x' has the shape [2,16,6], for which there is no plan", result.stderr)

    def test_two_lists_go_together_and_a_bound_has_one_plan(self):
        report = self.json(DONE, "plan", "open.onnx", "--dim", "h=2,4", "--dim", "w=2,4", "--dim", "batch=1")
        self.assertEqual([one["sizes"] for one in report["plans"]], ["h=2, w=2", "h=4, w=4"])
        for words in (("--dim", "h=2,4", "--dim", "h=3"), ("--shape", "x=1x3x2x2,1x3x4x4", "--shape", "x=1x3x2x3")):
            self.assertIn("one value in another place", self.expect(USAGE, "plan", "open.onnx", *words).stderr)
        # What is live is 3 h w floats, twice, and the input: 3 x 4 x 4 x 4 = 192 bytes.
        words = ("plan", "open.onnx", "--dim", "batch=1", "--dim", "h=2,4", "--dim", "w=2,4", "--budget", "300")
        fits = self.json(NO, *words)
        self.assertEqual([one["shortfall"] > 0 for one in fits["plans"]], [False, True])
        said = self.expect(NO, *words).stdout
        self.assertRegex(said, r"h=4, w=4.* exceeds the limit by \d+ B")
        self.assertIn("1 of 2 plans exceeds the memory limit", said)
        said = self.expect(USAGE, "bench", "open.onnx", "--dim", "h=2,4").stderr
        self.assertIn("--at-most 'h'=N", said)
        bounds = ("--dim", "batch=1", "--at-most", "h=4", "--at-most", "w=4")
        for command in ("plan", "explain", "inspect"):
            self.expect(DONE, command, "open.onnx", *bounds)
        said = self.expect(DONE, "run", "open.onnx", *bounds, "--input", "x=x.npy", "--output-dir", "out").stdout
        self.assertIn("f32[1,3,<=2,<=2]", said)
        self.assertEqual(read(self.folder / "out" / "y.npy"), ((1, 3, 1, 2), [0, 0, 1, 3, 9, 11]))

    def test_inspect_shows_what_is_known(self):
        said = self.expect(DONE, "inspect", "open.onnx").stdout
        for part in ("f32[batch,3,h,w]", "MaxPool", "Relu", "How much memory the model needs is not known",
                     "give --shape x=?x3x?x?"):
            self.assertIn(part, said)
        report = self.json(DONE, "inspect", "open.onnx")
        self.assertEqual(report["model"]["inputs"], [{"name": "x", "dtype": "f32", "shape": ["batch", 3, "h", "w"],
                                                      "bytes": None}])
        self.assertEqual({one["op"]: one["nodes"] for one in report["operators"]}, {"Relu": 1, "MaxPool": 1})
        self.assertEqual(report["open"]["tensors"], 3)
        self.assertIn("--shape x=", report["open"]["reason"])
        self.assertIn("give --shape x=?x3x?x?", self.expect(BAD_INPUT, "inspect", "open.onnx", "--operators").stderr)
        self.assertIn("peak as given", self.expect(DONE, "inspect", "open.onnx", "--shape", "x=1x3x8x8").stdout)


class UpperBounds(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("count.onnx", small_models.counting())
        self.write("n.npy", array([3], [], "q"))

    def run_count(self, *words):
        self.expect(DONE, "run", *words, "--input", "n=n.npy", "--output-dir", "out")
        self.assertEqual(read(self.folder / "out" / "y.npy"), ((3,), [0, 1, 2]))

    def test_every_command_takes_them(self):
        bound = ("--at-most", "pos=20")
        self.run_count("count.onnx", *bound)
        self.expect(DONE, "plan", "count.onnx", *bound, "--target", "cpu", "-o", "plan.json")
        self.expect(DONE, "verify", "count.onnx", "plan.json")
        self.run_count("count.onnx", "--plan", "plan.json")
        self.expect(DONE, "prepare", "count.onnx", *bound, "-o", "count.prepared")
        self.run_count("count.prepared")
        self.expect(DONE, "bench", "count.onnx", *bound, "--runs", "2", "--input", "n=n.npy")
        self.expect(DONE, "explain", "count.onnx", *bound)
        report = self.json(DONE, "inspect", "count.onnx", *bound)
        self.assertEqual(report["bytes"]["temporaries_sum"], 20 * 8 + 20 * 4)
        said = self.expect(USAGE, "plan", "count.onnx", "--at-most", "frames").stderr
        self.assertIn("'--at-most' must have the form frames=500, not 'frames'", said)

    def test_a_run_ends_before_it_exceeds_one(self):
        self.write("n.npy", array([21], [], "q"))
        said = self.expect(BAD_INPUT, "run", "count.onnx", "--at-most", "pos=20", "--input", "n=n.npy").stderr
        self.assertIn("node 0 'range' (Range): a result is larger than the plan permits: 'pos' is i64[<=20]; plan for "
                      "larger sizes with --at-most", said)

    def test_the_message_names_only_where_sizes_begin(self):
        said = self.expect(BAD_INPUT, "plan", "count.onnx").stderr
        self.assertIn("1 size is not known before the run", said)
        self.assertIn("'pos' is i64[pos[0]], produced by graph 'graph': node 0 'range' (Range): its size depends on "
                      "data; give --at-most pos=N, with a number that it never exceeds", said)
        self.assertNotIn("'y'", said)

    def test_a_name_that_means_nothing_is_refused(self):
        said = self.expect(BAD_INPUT, "plan", "count.onnx", "--at-most", "frames=20").stderr
        self.assertIn("no extent of the model has the name 'frames'; sizes that are not known: 'pos'", said)

    def test_a_loop_that_grows_needs_none_if_its_trip_count_is_known(self):
        self.write("x.npy", array([1, 2], [1, 2]))
        self.write("r.npy", array([3, 4], [1, 2]))
        inputs = ("--input", "x=x.npy", "--input", "r=r.npy", "--output-dir", "out")
        self.write("grow.onnx", growing(3))
        self.assertIn("f32[4,2]", self.expect(DONE, "run", "grow.onnx", *inputs, "--compare", "--poison").stdout)
        self.assertEqual(read(self.folder / "out" / "y.npy"), ((4, 2), [1, 2, 3, 4, 3, 4, 3, 4]))
        self.write("any.onnx", growing(None))
        self.assertIn("give --at-most y=N", self.expect(BAD_INPUT, "run", "any.onnx", *inputs).stderr)
        self.write("n.npy", array([3], [], "q"))
        inputs += ("--input", "n=n.npy")
        for most in ("4", "9"):
            self.expect(DONE, "run", "any.onnx", *inputs, "--at-most", f"y={most}", "--compare", "--poison")
            self.assertEqual(read(self.folder / "out" / "y.npy"), ((4, 2), [1, 2, 3, 4, 3, 4, 3, 4]))
        said = self.expect(BAD_INPUT, "run", "any.onnx", *inputs, "--at-most", "y=3").stderr
        self.assertIn("a result is larger than the plan permits: 'y' is f32[<=3,2]", said)


class StaleSizes(ProgramTest):
    def test_a_batch_that_was_opened_later_runs_with_a_warning(self):
        """The file still declares one row for what the nodes make of x."""
        content = graph([node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["y"])], [value_info("x", ["N", 2])],
                        [value_info("y", [1, 2])])
        content += field(13, value_info("a", [1, 2]))
        self.write("stale.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.write("x.npy", array([-1, 2, 3, -4, 5, 6], [3, 2]))
        for command in ("run", "plan", "inspect", "explain", "bench"):
            words = ("--input", "x=x.npy") if command in ("run", "bench") else ("--dim", "N=3")
            words += ("--output-dir", "out") if command == "run" else ()
            said = self.expect(DONE, command, "stale.onnx", *words)
            self.assertIn("2 declared sizes contradict the operators and were ignored: 'a' is declared as f32[1,2], "
                          "but is computed as f32[3,2]; 'y' is declared as f32[1,2]", said.stderr + said.stdout)
        self.assertEqual(read(self.folder / "out" / "y.npy"), ((3, 2), [0, -2, -3, 0, -5, -6]))


if __name__ == "__main__":
    unittest.main()
