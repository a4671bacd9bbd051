# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Nets of Caffe2 and graphs of TensorFlow: read, planned, verified and compared as models are."""
import unittest

from json_output_test import documented_keys, keys_of
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

# data 1x3x32x32 (12,288 B) -> c1 16x32x32 (65,536 B), in place -> p1 16x16x16 (16,384 B) -> fc, prob (40 B)
NET = """name: "tiny"
op { type: "Conv" input: ["data", "w", "b"] output: "c1" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
op { type: "Relu" input: "c1" output: "c1" }
op { type: "MaxPool" input: "c1" output: "p1" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
op { type: "FC" input: ["p1", "fw", "fb"] output: "fc" }
op { type: "Softmax" input: "fc" output: "prob" }
external_input: ["data", "w", "b", "fw", "fb"]
external_output: "prob"
"""
INIT = """op { type: "XavierFill" output: "w" arg { name: "shape" ints: [16, 3, 3, 3] } }
op { type: "XavierFill" output: "fw" arg { name: "shape" ints: [10, 4096] } }
"""
# The same net in the binary form, field by field: the number of the field and its wire type, a length, the bytes.


def field(number, content):
    content = content if isinstance(content, bytes) else content.encode()
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def argument(name, value):
    return field(5, field(1, name) + bytes([3 << 3, value]))


def op(kind, inputs, output, arguments=b""):
    return field(2, b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind) + arguments)


BINARY = (
    field(1, "tiny")
    + op("Conv", ["data", "w", "b"], "c1", argument("kernel", 3) + argument("pad", 1))
    + op("Relu", ["c1"], "c1")
    + op("MaxPool", ["c1"], "p1", argument("kernel", 2) + argument("stride", 2))
    + op("FC", ["p1", "fw", "fb"], "fc")
    + op("Softmax", ["fc"], "prob")
    + b"".join(field(7, name) for name in ["data", "w", "b", "fw", "fb"])
    + field(8, "prob")
)
SIZES = ("--shape", "data=1x3x32x32", "--init-net", "init.pbtxt")


class NetTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.pbtxt", NET)
        self.write("net.pb", BINARY)
        self.write("init.pbtxt", INIT)

    def test_both_forms_have_one_plan(self):
        for name, form in (("net.pbtxt", "netdef_text"), ("net.pb", "netdef")):
            plan = self.json(DONE, "plan", name, *SIZES)
            self.assertEqual(plan["model"]["format"], form)
            # c1 in place of itself, beside p1
            self.assertEqual(plan["bytes"]["arena"], 65_536 + 16_384)

    def test_the_name_does_not_matter(self):
        self.write("model.bin", BINARY)
        self.expect(DONE, "inspect", "model.bin", *SIZES)

    def test_a_plan_is_verified(self):
        self.expect(DONE, "plan", "net.pb", *SIZES, "-o", "plan.json")
        self.expect(DONE, "verify", "net.pb", "plan.json", *SIZES)
        self.write("net.pb", BINARY.replace(b"Softmax", b"Sigmoid"))
        self.expect(NO, "verify", "net.pb", "plan.json", *SIZES)

    def test_caffe2_writes_in_place_what_the_net_does(self):
        lines = {line["baseline"]: line for line in self.json(DONE, "compare", "net.pbtxt", *SIZES)["baselines"]}
        # c1, p1, fc; prob is returned. p1 is released when fc is there, so fc has its own. All rounded up to 64.
        self.assertEqual(lines["caffe2_simple"]["bytes"], 65_536 + 16_384 + 64)
        self.assertEqual(lines["caffe2_simple"]["blobs"], 9)

    def test_unknown_sizes_are_named(self):
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt").stderr
        self.assertIn("external inputs 'data', 'w', 'b', 'fw', 'fb'; set them with --shape", error)
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt", "--shape", "data=1x3x32x32").stderr
        self.assertIn("external inputs 'w', 'b', 'fw', 'fb'", error)

    def test_unit_sizes_prove_nothing(self):
        result = self.expect(DONE, "plan", "net.pbtxt", "--unit-sizes")
        self.assertIn("10 tensors of unknown size count as one byte each", result.stderr)
        self.assertIn("Not proven", result.stdout)

    def test_shapes_come_from_a_file(self):
        self.write("shapes.csv", "name,shape,dtype\ndata,1x3x32x32,\nw,16x3x3x3,\nfw,10x4096,f32\n")
        plan = self.json(DONE, "plan", "net.pbtxt", "--shapes", "shapes.csv")
        self.assertEqual(plan["bytes"]["arena"], 65_536 + 16_384)

    def test_contradictions_are_refused(self):
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt", *SIZES, "--shape", "p1=1x16x15x15").stderr
        self.assertIn("operator 2 ('MaxPool'): its output 'p1' is f32[1,16,16,16], but the given type is", error)
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt", "--shape", "data=1x4x32x32", "--init-net", "init.pbtxt")
        self.assertIn("operator 0 ('Conv'): the input has 4 channels, but the weight takes 3", error.stderr)

    def test_an_alias_has_the_bytes_of_its_blob(self):
        self.write("net.pbtxt", NET.replace('input: "fc" output: "prob"', 'input: "alias" output: "prob"').replace(
            'op { type: "FC"', 'op { type: "Alias" input: "p1" output: "q1" }\nop { type: "FC"').replace(
            'op { type: "Softmax"', 'op { type: "Alias" input: "fc" output: "alias" }\nop { type: "Softmax"'))
        plan = self.json(DONE, "plan", "net.pbtxt", *SIZES)
        self.assertEqual(plan["bytes"]["arena"], 65_536 + 16_384)
        names = [row["blob"] for row in self.json(DONE, "share", "net.pbtxt", *SIZES)["names"]]
        self.assertFalse({"p1", "q1", "fc", "alias"} & set(names))

    def test_options_are_checked(self):
        self.assertIn("has no symbol 'batch'", self.expect(BAD_INPUT, "plan", "net.pb", "--dim", "batch=8").stderr)
        error = self.expect(BAD_INPUT, "plan", "model.onnx", "--unit-sizes").stderr
        self.assertIn("only a NetDef or a GraphDef can have", error)
        error = self.expect(BAD_INPUT, "plan", "net.pb", "--shapes", "absent.csv").stderr
        self.assertIn("absent.csv", error)

    def test_faults_have_a_place(self):
        self.write("bad.pbtxt", NET.replace("kernel\" i: 3", "kernel\" i: three"))
        error = self.expect(BAD_INPUT, "plan", "bad.pbtxt").stderr
        self.assertIn("bad.pbtxt:2:82: 'three' is no value of the field 'i'", error)
        self.write("bad.pb", BINARY[:-3])
        self.assertIn("bad.pb: byte", self.expect(BAD_INPUT, "plan", "bad.pb").stderr)


def attribute(key, value):
    return f"attr {{ key: '{key}' value {{ {value} }} }} "


# x 1x9x9x3 -> conv 1x5x5x8 (800 B) -> y (800 B), in place
GRAPHDEF = (
    "node { name: 'x' op: 'Placeholder' " + attribute("dtype", "type: DT_FLOAT")
    + attribute("shape", "shape { dim { size: -1 } dim { size: 9 } dim { size: 9 } dim { size: 3 } }") + "}\n"
    + "node { name: 'w' op: 'Const' " + attribute("dtype", "type: DT_FLOAT")
    + attribute("value", "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } dim { size: 3 } dim { size: 3 } "
                         "dim { size: 8 } } float_val: 1 }") + "}\n"
    + "node { name: 'conv' op: 'Conv2D' input: ['x', 'w'] " + attribute("T", "type: DT_FLOAT")
    + attribute("strides", "list { i: [1, 2, 2, 1] }") + attribute("padding", "s: 'SAME'") + "}\n"
    + "node { name: 'y' op: 'Relu' input: 'conv' " + attribute("T", "type: DT_FLOAT") + "}\n"
)


class GraphDefTest(ProgramTest):
    def test_a_graph_is_planned_and_verified(self):
        self.write("graph.pbtxt", GRAPHDEF)
        error = self.expect(BAD_INPUT, "plan", "graph.pbtxt").stderr
        self.assertIn("not known: 'x' of node 'x' ('Placeholder'); set shapes with --shape", error)
        plan = self.json(DONE, "plan", "graph.pbtxt", "--shape", "x=1x9x9x3", "-o", "plan.json")
        self.assertEqual(plan["model"]["format"], "graphdef_text")
        self.assertEqual(plan["bytes"]["arena"], 832)  # 5 x 5 x 8 x 4 = 800, rounded up to 64
        self.expect(DONE, "verify", "graph.pbtxt", "plan.json")
        compared = self.json(DONE, "compare", "graph.pbtxt", "--shape", "x=1x9x9x3")
        self.assertEqual(compared["onnxruntime"], {"refusal": "does not apply: it does not run graphs of TensorFlow"})
        refused = self.refused(GRAPHDEF.replace("input: 'conv'", "input: 'z'"))
        self.assertIn("node 'y' ('Relu'): its input 'z' does not exist", refused)
        self.assertIn("bad.pbtxt:1:", self.refused(GRAPHDEF.replace("DT_FLOAT", "DT_FLOOT")))

    def test_views_take_no_bytes(self):
        """y is relabelled by Identity, and flattened."""
        flat = "node { name: 's' op: 'Const' " + attribute("dtype", "type: DT_INT32")
        flat += attribute("value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: -1 }") + "}\n"
        flat += "node { name: 'same' op: 'Identity' input: 'y' " + attribute("T", "type: DT_FLOAT") + "}\n"
        flat += "node { name: 'flat' op: 'Reshape' input: ['same', 's'] " + attribute("T", "type: DT_FLOAT") + "}\n"
        flat += "node { name: 'z' op: 'MatMul' input: ['flat', 'flat'] }\n"
        self.write("graph.pbtxt", GRAPHDEF + flat)
        plan = self.json(DONE, "plan", "graph.pbtxt", "--shape", "x=1x9x9x3", "--shape", "z=1", "--unit-sizes")
        self.assertLessEqual(plan["bytes"]["arena"], 832 + 64)

    def refused(self, text):
        self.write("bad.pbtxt", text)
        return self.expect(BAD_INPUT, "plan", "bad.pbtxt").stderr


class ShareTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.pbtxt", NET)
        self.write("net.pb", BINARY)
        self.write("init.pbtxt", INIT)

    def test_writes_a_net_in_its_form(self):
        shared = self.json(DONE, "share", "net.pbtxt", "--rule", "caffe2_simple", "-o", "out.pbtxt")
        # c1 is released at MaxPool and taken by fc, p1 is released at FC; nothing takes its buffer
        names = {row["blob"]: row["name"] for row in shared["names"]}
        self.assertEqual(names, {"c1": "__m0_shared", "p1": "__m1_shared", "fc": "__m0_shared"})
        self.assertFalse(set(keys_of(shared)) - documented_keys("share"))
        self.assertEqual((shared["blobs"], shared["blobs_left"], shared["bytes"]), (9, 8, None))
        text = (self.folder / "out.pbtxt").read_text()
        self.assertIn('input: "__m1_shared"\n  input: "fw"\n  input: "fb"\n  output: "__m0_shared"', text)
        self.expect(DONE, "share", "net.pb", "--rule", "caffe2_simple", "-o", "out.pb")
        self.assertEqual((self.folder / "out.pb").read_bytes().count(b"__m0_shared"), 6)

    def test_the_result_is_read_again(self):
        self.expect(DONE, "share", "net.pb", *SIZES, "-o", "out.pb")
        plan = self.json(DONE, "plan", "out.pb", *SIZES)
        self.assertEqual(plan["bytes"]["arena"], 65_536 + 16_384)
        again = self.json(DONE, "share", "out.pb", *SIZES)
        self.assertTrue(again["unchanged"])

    def test_the_least_total_has_bytes(self):
        shared = self.json(DONE, "share", "net.pbtxt", *SIZES)
        # c1 and fc in 65,536 B, p1 in 16,384 B, prob in 40 B
        self.assertEqual(shared["bytes"], 65_536 + 16_384 + 40)
        self.assertEqual(shared["naive_bytes"], 65_536 + 16_384 + 40 + 40)

    def test_releases_without_sharing(self):
        done = self.json(DONE, "share", "net.pbtxt", "--rule", "none", "--free", "-o", "freed.pbtxt")
        self.assertEqual((done["rule"], done["names"], done["free_operators"]), ("none", [], 3))  # c1, p1, fc
        self.expect(DONE, "diff", "net.pbtxt", "freed.pbtxt")
        done = self.json(DONE, "share", "net.pbtxt", "--rule", "none", "--free", "--free-only", "p1")
        self.assertEqual(done["free_operators"], 1)
        self.assertIn("needs --free", self.expect(USAGE, "share", "net.pbtxt", "--rule", "none").stderr)
        self.assertIn("needs --free", self.expect(USAGE, "share", "net.pbtxt", "--free-only", "p1").stderr)

    def test_gradients_are_listed(self):
        words = ("share", "net.pbtxt", "--rule", "caffe2_gradients")
        self.assertEqual(self.json(DONE, *words)["gradients"], [])
        found = self.json(DONE, *words, "--gradient", "p1", "--gradient", "fc")
        self.assertEqual((found["gradients"], found["op_indices"]), (["fc", "p1"], [2, 3, 4]))
        self.expect(DONE, *words, "--gradient-names", "anywhere")
        self.assertIn("is for the rules caffe2_gradients",
                      self.expect(USAGE, "share", "net.pbtxt", "--gradient", "p1").stderr)

    def test_begins_with_assigned_slots(self):
        """c1 in 65,536 B, and fc, of 40 B, apart from it in a slot of its own."""
        self.write("slots.csv", "slot,blob\nbig,c1\nsmall,fc\n")
        exact = ("share", "net.pbtxt", *SIZES, "--rule", "caffe2_interference_exact")
        # c1 and fc are never live together
        free = self.json(DONE, *exact)
        self.assertEqual((free["bytes"], free["assigned"]), (65_536 + 16_384 + 40, 0))
        bound = self.json(DONE, *exact, "--assigned", "slots.csv")
        self.assertEqual((bound["bytes"], bound["assigned"]), (65_536 + 16_384 + 40 + 40, 2))
        self.assertFalse(set(keys_of(free)) - documented_keys("share"))
        said = self.expect(DONE, *exact, "--assigned", "slots.csv").stdout
        self.assertIn("No result of whole buffers in this order from the assigned slots on needs less.", said)
        self.write("slots.csv", "slot,blob\nbig,c1\nbig,p1\n")
        error = self.expect(BAD_INPUT, *exact, "--assigned", "slots.csv", "-o", "out.pbtxt").stderr
        self.assertIn("slots.csv: line 3: 'c1' and 'p1' are assigned to one slot, but the first is still needed", error)
        self.assertNotIn("net.pbtxt", error)
        self.assertNotIn("out.pbtxt", self.listing())
        self.write("slots.csv", "slot\n")
        self.assertIn("slots.csv: line 1: the header must be",
                      self.expect(BAD_INPUT, *exact, "--assigned", "slots.csv").stderr)
        self.expect(BAD_INPUT, *exact, "--assigned", "absent.csv")
        error = self.expect(USAGE, "share", "net.pbtxt", *SIZES, "--assigned", "slots.csv").stderr
        self.assertIn("--assigned is for the rules caffe2_interference_greedy", error)
        self.expect(USAGE, *exact, "--assigned", "slots.csv", "-o", "slots.csv")

    def test_writes_operators_in_the_order_of_the_longest_path(self):
        """Upstream's example: the copies come right before the convolutions that read them."""
        copy = 'op { type: "Copy" input: "%s_comp" output: "%s" }\n'
        conv = 'op { type: "Conv" input: ["%s", "%s"] output: "%s" }\n'
        self.write("copies.pbtxt", copy % ("w2", "w2") + copy % ("w0", "w0") + conv % ("data", "w0", "c0")
                   + conv % ("c0", "w2", "c2") + 'external_output: "c2"\n')
        words = ("share", "copies.pbtxt", "--unit-sizes", "--rule", "caffe2_interference_greedy")
        self.assertEqual(self.json(DONE, *words)["order"], "as_given")
        shared = self.json(DONE, *words, "--order", "longest_path", "-o", "out.pbtxt")
        self.assertEqual((shared["order"], shared["reordered"]), ("longest_path", True))
        self.assertIn("The operators have the order longest_path.",
                      self.expect(DONE, *words, "--order", "longest_path").stdout)
        text = (self.folder / "out.pbtxt").read_text()
        types = [line.split('"')[1] for line in text.splitlines() if line.startswith("  type:")]
        self.assertEqual(types, ["Copy", "Conv", "Copy", "Conv"])
        self.expect(USAGE, "share", "copies.pbtxt", "--unit-sizes", "--order", "longest_path")

    def test_releases_blobs(self):
        self.expect(DONE, "share", "net.pbtxt", *SIZES, "--free", "-o", "out.pbtxt")
        self.assertEqual((self.folder / "out.pbtxt").read_text().count('type: "Free"'), 2)
        error = self.expect(BAD_INPUT, "share", "out.pbtxt", *SIZES).stderr
        self.assertIn("the net has Free operators", error)

    def test_refusals_write_nothing(self):
        self.write("dag.pbtxt", NET + 'type: "dag"\n')
        error = self.expect(BAD_INPUT, "share", "dag.pbtxt", "--rule", "caffe2_simple", "-o", "out.pbtxt").stderr
        self.assertIn("use caffe2_dag", error)
        self.assertNotIn("out.pbtxt", self.listing())
        self.expect(DONE, "share", "dag.pbtxt", "--rule", "caffe2_dag", "--head", "data", "-o", "out.pbtxt")
        self.expect(USAGE, "share", "net.pbtxt", "-o", "net.pbtxt")
        self.assertIn("'x'", self.expect(BAD_INPUT, "share", "net.pbtxt", *SIZES, "--keep", "x").stderr)


class ConvertTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.pbtxt", NET)
        self.write("net.pb", BINARY)

    def test_both_forms_become_each_other(self):
        self.expect(DONE, "convert", "net.pbtxt", "new.pb")
        self.expect(DONE, "convert", "new.pb", "new.pbtxt")
        self.expect(DONE, "convert", "new.pbtxt", "again.pb")
        self.assertEqual((self.folder / "new.pb").read_bytes(), (self.folder / "again.pb").read_bytes())
        self.expect(DONE, "diff", "net.pb", "new.pbtxt")
        self.expect(DONE, "convert", "net.pb", "copy.pb")
        self.assertEqual((self.folder / "copy.pb").read_bytes(), BINARY)

    def test_unknown_fields_stay_in_the_binary_form(self):
        self.write("new.pb", BINARY + field(9, "\x0a\x01x"))
        self.expect(DONE, "convert", "new.pb", "copy.pb")
        self.assertEqual((self.folder / "copy.pb").read_bytes(), BINARY + field(9, "\x0a\x01x"))
        error = self.expect(BAD_INPUT, "convert", "new.pb", "new.pbtxt").stderr
        self.assertIn("NetDef has a field with the number 9", error)
        self.assertNotIn("new.pbtxt", self.listing())

    def test_a_net_becomes_a_graph_and_back(self):
        result = self.expect(DONE, "convert", "net.pbtxt", "net.graph", "--unit-sizes")
        self.assertIn("the new file does not have: which results have one name", result.stderr)
        self.assertIn('"c1@1" = caffe2.unsized::Relu(c1)', (self.folder / "net.graph").read_text())
        # The sizes are lost anyway.
        self.expect(DONE, "convert", "net.graph", "unsized.pbtxt")
        self.assertIn('type: "Conv"', (self.folder / "unsized.pbtxt").read_text())
        self.write("init.pbtxt", INIT)
        self.expect(DONE, "convert", "net.pbtxt", "net.graph", *SIZES)
        self.expect(DONE, "convert", "net.graph", "back.pbtxt")
        # Relu wrote in place, and now has a name of its own.
        result = self.expect(NO, "diff", "net.pbtxt", "back.pbtxt")
        self.assertIn("operator 1 ('Relu') writes output 0 over input 0, but in the second net nothing", result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 2)

    def test_models_become_graphs(self):
        result = self.expect(DONE, "convert", "model.onnx", "-", "--to", "graph")
        self.assertIn("graph ", result.stdout)
        self.assertIn("the content of constants", result.stderr)
        self.write("model.graph", result.stdout)
        same = self.expect(DONE, "diff", "model.onnx", "model.graph").stdout
        self.assertIn("have the same operators, types and data flow", same)
        self.assertIn("The content of constants is not compared.", same)
        self.assertFalse(self.json(DONE, "diff", "model.onnx", "model.graph")["compares_constants"])
        error = self.expect(USAGE, "convert", "model.onnx", "model.pb").stderr
        self.assertIn("neither all of Caffe2 nor all of TensorFlow; say with '--to netdef' or '--to graphdef'", error)
        self.assertIn("one file is a net", self.expect(BAD_INPUT, "diff", "model.onnx", "net.pb").stderr)

    def test_types_of_graphs_are_compared(self):
        graph = 'graph "g" {{\n  input x : f32[{0}]\n  y = Relu(x) : f32[{0}]\n  output y\n}}\n'
        self.write("a.graph", graph.format(4))
        self.write("b.graph", graph.format(5))
        found = self.json(NO, "diff", "a.graph", "b.graph")
        self.assertEqual(found["differences"], ["argument 'types' of operator 0 ('Relu') differs"])

    def test_what_a_net_cannot_have_is_told_or_refused(self):
        head = 'graph "g" {\n  input x : f32[4]\n  state s : f32[4]\n'
        self.write("state.graph", head + "  y = caffe2::Relu(x) : f32[4]\n  t = caffe2::Copy(s) : f32[4]\n"
                   "  output y\n  update s = t\n}\n")
        said = self.expect(DONE, "convert", "state.graph", "new.pbtxt").stderr
        self.assertIn("which tensors are the next content of a state", said)
        self.write("opaque.graph", head.replace("state", "input") +
                   "  y = caffe2::Relu(x) {mode = opaque \"a net\"} : f32[4]\n  output y\n}\n")
        error = self.expect(BAD_INPUT, "convert", "opaque.graph", "other.pbtxt").stderr
        self.assertIn("attribute 'mode' of operator 0 ('Relu') is not in this file in full", error)
        self.assertNotIn("other.pbtxt", self.listing())

    def test_the_format_is_asked_for(self):
        self.assertIn("--to", self.expect(USAGE, "convert", "net.pb", "net.txt").stderr)
        self.expect(USAGE, "convert", "net.pb", "net.pb")

    def test_differences_are_told(self):
        self.write("other.pbtxt", NET.replace("Softmax", "Sigmoid"))
        found = self.json(NO, "diff", "net.pbtxt", "other.pbtxt")
        self.assertFalse(found["same"])
        self.assertFalse(set(keys_of(found)) - documented_keys("diff"))
        self.assertEqual(len(found["differences"]), 1)
        self.assertIn("operator 4 ('Softmax') has type 'Softmax'", found["differences"][0])
        self.expect(DONE, "share", "net.pbtxt", "--rule", "caffe2_simple", "-o", "shared.pbtxt")
        found = self.json(DONE, "diff", "net.pbtxt", "shared.pbtxt")
        self.assertEqual((found["same"], found["same_order"], found["renamed"]), (True, True, 4))  # c1 twice, p1, fc


if __name__ == "__main__":
    unittest.main()
