#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs small models, and looks at the files of their outputs."""
import struct
import unittest

import small_models
from program import DONE, ProgramTest
from small_models import field, graph, ints, node, value_info


def floats(content):
    """The numbers in such a file."""
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return [number for number, in struct.iter_unpack("<f", content[begin:])]


class RunOutputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("x.npy", small_models.npy([-1, 2, 3]))

    def test_a_pool_pads_its_image_itself(self):
        """y = AveragePool(Pad(x)): 4 x 4 with a border of zeros, 3 x 3 windows. The padded copy is not in memory."""
        pads = field(1, 8) + field(2, 7) + field(8, "pads") + field(9, struct.pack("<8q", 0, 0, 1, 1, 0, 0, 1, 1))
        window = [ints("kernel_shape", [3, 3])]
        nodes = [node("Relu", ["x"], ["r"]), node("Pad", ["r", "pads"], ["p"]),
                 node("AveragePool", ["p"], ["a"], attributes=window), node("Abs", ["a"], ["y"])]
        content = graph(nodes, [value_info("x", [1, 1, 4, 4])], [value_info("y", [1, 1, 4, 4])], [pads])
        self.write("pool.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        arenas = []
        for words in ((), ("--without", "padding")):
            self.expect(DONE, "run", "pool.onnx", "--synthetic", "1", *words, "--output-dir", f"out{len(words)}")
            report = self.json(DONE, "plan", "pool.onnx", "--target", "cpu", *words)
            arenas.append(report["bytes"]["load"])
        self.assertEqual((self.folder / "out0" / "y.npy").read_bytes(), (self.folder / "out2" / "y.npy").read_bytes())
        # 64 bytes of r and of a. With the copy, 6 * 6 * 4 = 144 bytes of p, which take 192, and 64 of r or a.
        self.assertEqual(arenas, [2 * 64, 192 + 64])
        said = self.expect(DONE, "plan", "pool.onnx", "--target", "cpu").stdout
        self.assertIn("1 Pad folded into the node after it", said)

    def test_a_long_name_of_an_output_is_cut(self):
        names = ["y" + "\u00e9" * 150 + end for end in "ab"]  # 302 bytes each
        nodes = [node(kind, ["x"], [name]) for kind, name in zip(["Relu", "Neg"], names)]
        content = graph(nodes, [value_info("x", [3])], [value_info(name, [3]) for name in names])
        self.write("long.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.expect(DONE, "run", "long.onnx", "--input", "x=x.npy", "--output-dir", "out")
        stem = "y" + "\u00e9" * 99  # 199 bytes; one more is half of a character
        self.assertEqual(floats((self.folder / "out" / f"{stem}.npy").read_bytes()), [0, 2, 3])
        self.assertEqual(floats((self.folder / "out" / f"{stem}_2.npy").read_bytes()), [1, -2, -3])

    def test_outputs_whose_names_lead_to_one_file_get_two(self):
        names = ["a/b", "a_b_2", "a_b", "/a/b"]
        nodes = [node(kind, ["x"], [name]) for kind, name in zip(["Relu", "Neg", "Abs", "Identity"], names)]
        content = graph(nodes, [value_info("x", [3])], [value_info(name, [3]) for name in names])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        words = ("run", "model.onnx", "--input", "x=x.npy", "--output-dir", "out")
        said = self.expect(DONE, *words).stderr
        self.assertIn("output 'a/b' is in out/a_b_3.npy, because another output is in out/a_b.npy", said)
        self.assertEqual(said.count("because"), 1)
        files = {path.name: floats(path.read_bytes()) for path in (self.folder / "out").iterdir()}
        # x.npy is -1, 2, 3.
        self.assertEqual(files, {"a_b_3.npy": [0, 2, 3], "a_b_2.npy": [1, -2, -3], "a_b.npy": [1, 2, 3],
                                 "_a_b.npy": [-1, 2, 3]})

    def test_what_cannot_be_seen_is_not_in_names_of_files(self):
        """The names differ only by such characters, or by bytes that are not UTF-8, or are the name of a folder."""
        names = [b"a\0b", b"a\x1bb", b"a\nb", b"a\xffb", b"a\xe2\x80\xaeb", b"a_b", b"..", b"."]
        nodes = [node("Relu", ["x"], [name]) for name in names]
        content = graph(nodes, [value_info("x", [3])], [value_info(name, [3]) for name in names])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        said = self.expect(DONE, "run", "model.onnx", "--input", "x=x.npy", "--output-dir", "out").stderr
        self.assertNotIn("\x1b", said)
        files = {path.name for path in (self.folder / "out").iterdir()}
        self.assertEqual(files, {"a_b.npy", *(f"a_b_{number}.npy" for number in range(2, 7)), "...npy", "..npy"})
        for name in files:
            self.assertEqual(floats((self.folder / "out" / name).read_bytes()), [0, 2, 3])

    def test_a_name_of_65536_bytes_is_one_of_a_file(self):
        names = ["n" * 65535 + end for end in "ab"]
        nodes = [node("Relu", ["x"], [name]) for name in names]
        content = graph(nodes, [value_info("x", [3])], [value_info(name, [3]) for name in names])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.expect(DONE, "run", "model.onnx", "--input", "x=x.npy", "--output-dir", "out")
        self.assertEqual({path.name for path in (self.folder / "out").iterdir()},
                         {"n" * 200 + ".npy", "n" * 200 + "_2.npy"})
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.expect(DONE, "run", "model.onnx", "--plan", "plan.json", "--input", "x=x.npy")


if __name__ == "__main__":
    unittest.main()
