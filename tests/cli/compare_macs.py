#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the multiply-accumulates that Lowtide counts with products that the onnx library computes.

    tests/cli/compare_macs.py --lowtide build/src/lowtide/cli/lowtide [--cases N] [FOLDER...]

Random nodes run in the reference evaluator with all operands 1. Each product is then 1, so the sum of the results is
the number of products. This holds without padding and without bias. Recurrent cells have activations between their
products, so a formula counts them instead. The models of the folders are counted by formulas over the shapes that the
onnx library infers. The exit code is 1 if anything differs.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.reference
import onnx.shape_inference
from onnx import TensorProto, helper


def counted_by_lowtide(program, path):
    """All nodes of a model with their figures. None: the model has open sizes."""
    words = [program, "inspect", str(path), "--operators", "--json", "--quiet"]
    result = subprocess.run(words, capture_output=True, check=False)
    return json.loads(result.stdout)["nodes"] if result.returncode == 0 else None


def convolution(any_of, transposed):
    spatial = any_of.randint(1, 3)
    group = 1 if transposed else any_of.randint(1, 3)  # the evaluator fails for transposed groups
    channels, filters = group * any_of.randint(1, 3), group * any_of.randint(1, 3)
    window = [any_of.randint(1, 3) for _ in range(spatial)]
    dilations = [any_of.randint(1, 2) for _ in range(spatial)]
    extents = [(k - 1) * d + any_of.randint(1, 5) for k, d in zip(window, dilations)]
    strides = [any_of.randint(1, 2) for _ in range(spatial)]
    weights = [channels, filters // group] if transposed else [filters, channels // group]
    attributes = {"group": group, "strides": strides, "dilations": dilations, "kernel_shape": window}
    shapes = [[any_of.randint(1, 2), channels, *extents], [*weights, *window]]
    return "ConvTranspose" if transposed else "Conv", shapes, attributes


def matrices(any_of, _):
    batch = [any_of.randint(1, 3) for _ in range(any_of.randint(0, 2))]
    rows, depth, columns = (any_of.randint(1, 6) for _ in range(3))
    repeated = [extent if any_of.random() < 0.5 else 1 for extent in batch]
    first, second = (batch, repeated) if any_of.random() < 0.5 else (repeated, batch)
    return "MatMul", [[*first, rows, depth], [*second, depth, columns]], {}


def gemm(any_of, _):
    rows, depth, columns = (any_of.randint(1, 6) for _ in range(3))
    a, b = any_of.randint(0, 1), any_of.randint(0, 1)
    return "Gemm", [[depth, rows] if a else [rows, depth], [columns, depth] if b else [depth, columns]], {
        "transA": a, "transB": b}


def einsum(any_of, _):
    extents = {letter: any_of.randint(1, 4) for letter in "abcd"}
    first = any_of.sample("abcd", any_of.randint(1, 4))
    second = any_of.sample("abcd", any_of.randint(1, 4))
    result = [letter for letter in sorted({*first, *second}) if any_of.random() < 0.5]
    equation = f"{''.join(first)},{''.join(second)}->{''.join(result)}"
    return "Einsum", [[extents[x] for x in first], [extents[x] for x in second]], {"equation": equation}


def sums_nothing(equation):
    terms, result = equation.split("->")
    return set(terms.replace(",", "")) == set(result)


def node_model(op, shapes, attributes):
    names = [f"x{at}" for at in range(len(shapes))]
    node = helper.make_node(op, names, ["y"], name="node", **attributes)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes)]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def compare_random_nodes(program, cases, folder):
    any_of = random.Random(17)
    makers = [(convolution, False), (convolution, True), (matrices, None), (gemm, None), (einsum, None)]
    failures = 0
    for case in range(cases):
        maker, kind = makers[case % len(makers)]
        op, shapes, attributes = maker(any_of, kind)
        model = node_model(op, shapes, attributes)
        ones = {f"x{at}": numpy.ones(shape, numpy.float32) for at, shape in enumerate(shapes)}
        products = int(numpy.sum(onnx.reference.ReferenceEvaluator(model).run(None, ones)[0]))
        if op == "Einsum" and sums_nothing(attributes["equation"]):
            products = 0  # an outer product accumulates nothing, like an elementwise product
        path = folder / "node.onnx"
        onnx.save(model, path)
        (node,) = counted_by_lowtide(program, path)
        if node["macs"] != products:
            print(f"{op} {shapes} {attributes}: Lowtide counts {node['macs']}, the evaluator {products}")
            failures += 1
    return failures


def products_of(node, shapes):
    """The products of a node by its shapes; None: no formula here."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    of = [shapes.get(name) for name in node.input]
    result = shapes.get(node.output[0])
    if node.op_type == "Conv":
        return math.prod(result) * math.prod(of[1][1:])
    if node.op_type == "ConvTranspose":
        return math.prod(of[0]) * math.prod(of[1][1:])
    if node.op_type == "MatMul":
        return math.prod(result) * of[0][-1]
    if node.op_type == "Gemm":
        return math.prod(result) * of[0][0 if attributes.get("transA", 0) else 1]
    if node.op_type in ("LSTM", "GRU", "RNN"):
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[node.op_type]
        hidden, directions = attributes["hidden_size"], 2 if attributes.get("direction") == b"bidirectional" else 1
        return of[0][0] * of[0][1] * directions * gates * hidden * (of[0][2] + hidden)
    return None


def compare_models(program, folders):
    failures = 0
    for path in sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.onnx")):
        nodes = counted_by_lowtide(program, path)
        if nodes is None:
            continue
        model = onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=False), data_prop=True)
        graph = model.graph
        shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
        for value in [*graph.input, *graph.output, *graph.value_info]:
            if value.type.tensor_type.HasField("shape"):
                shapes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        expected, compared = {}, 0
        for node in graph.node:
            try:
                expected[node.name] = products_of(node, shapes)
            except (TypeError, IndexError):  # the library does not know a shape
                continue
        for node in nodes:
            products = expected.get(node["name"])
            if node["outer"] is not None or not node["name"] or not products:
                continue
            compared += 1
            if node["macs"] != products:
                print(f"{path.name} {node['name']}: Lowtide counts {node['macs']}, the formula {products}")
                failures += 1
        total = sum(node["macs"] or 0 for node in nodes)
        print(f"{path.name}: {compared} nodes compared, {total:,} multiply-accumulates in all")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = compare_random_nodes(options.lowtide, options.cases, pathlib.Path(folder))
    failures += compare_models(options.lowtide, options.folders)
    if failures:
        print(f"{failures} differ")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
