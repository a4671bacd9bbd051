# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models that the tests share."""
import json
import os
import pathlib
import subprocess

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

PROGRAM = os.environ["LOWTIDE_PROGRAM"]
PPOCR = pathlib.Path(__file__).resolve().parents[2] / "models/ppocr_v4_det.onnx"


def save(folder, nodes, inputs, outputs, initializers=(), name="m.onnx"):
    """Writes a model and returns its path. Inputs and outputs are (name, type, shape)."""
    graph = oh.make_graph(nodes, "g", [oh.make_tensor_value_info(*one) for one in inputs],
                          [oh.make_tensor_value_info(*one) for one in outputs], list(initializers))
    model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=9)
    path = folder / name
    onnx.save(model, path)
    return path


def program_json(*arguments):
    """The answer of the program."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json"], text=True, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def reference(path, inputs):
    """The outputs of the onnx reference, by name."""
    evaluator = ReferenceEvaluator(str(path))
    return dict(zip(evaluator.output_names, evaluator.run(None, inputs)))


@pytest.fixture
def mlp(tmp_path):
    """Two layers with weights and a branch: x f32[2,3] -> y f32[2,4], z f32[2,4]."""
    random = np.random.default_rng(1)
    weights = [onnx.numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
               for name, shape in (("w", (3, 4)), ("v", (4, 4)))]
    nodes = [oh.make_node("MatMul", ["x", "w"], ["a"], "first"), oh.make_node("Relu", ["a"], ["b"]),
             oh.make_node("MatMul", ["b", "v"], ["y"]), oh.make_node("Add", ["a", "y"], ["z"])]
    f32 = TensorProto.FLOAT
    return save(tmp_path, nodes, [("x", f32, [2, 3])], [("y", f32, [2, 4]), ("z", f32, [2, 4])], weights)


@pytest.fixture
def batched(tmp_path):
    """x f32[batch,8] -> y."""
    f32 = TensorProto.FLOAT
    return save(tmp_path, [oh.make_node("Relu", ["x"], ["a"]), oh.make_node("Neg", ["a"], ["y"])],
                [("x", f32, ["batch", 8])], [("y", f32, ["batch", 8])], name="batched.onnx")
