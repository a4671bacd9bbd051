# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Exported source of ONNX models computes what ONNX Runtime and `lowtide run` compute, in the arena of the plan."""
import pathlib
import subprocess
import sys

import exported
import numpy as np
import onnxruntime
import operators
import pytest
from net import Net

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "engine"))
import random_graphs
import random_models

SEEDS = range(4)
GRAPHS = 40
AGREE = 16  # at least: the others have types and operators without kernels


def peer(model, inputs):
    """The outputs of ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, inputs)


def lowtide_run(path, inputs, model):
    """The outputs of `lowtide run`."""
    folder = path.parent / "run"
    words = [exported.PROGRAM, "run", path, "--output-dir", folder]
    for name, value in inputs.items():
        np.save(path.parent / f"{name}.npy", value)
        words += ["--input", f"{name}={path.parent}/{name}.npy"]
    exported.call(*words)
    return [np.load(folder / f"{output.name}.npy") for output in model.graph.output]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("operator", operators.OPERATORS, ids=lambda operator: operator.__name__)
def test_operators_agree_with_their_peers(tmp_path, operator, seed):
    net = operators.drawn(operator, seed)
    model = net.model()
    expected = peer(model, net.inputs)
    one = exported.Exported(model, tmp_path)
    flags = exported.SANITIZERS if seed == 0 else ["-O2"]
    results = one.outputs(list(net.inputs.values()), expected, *flags)
    exported.check_close(results, expected)
    exported.check_close(results, lowtide_run(one.path, net.inputs, model))


def test_random_graphs_agree_with_onnx_runtime(tmp_path):
    """Graphs with views, results in place and concats. Those with other operators must be refused with all names."""
    agreed = 0
    for seed in range(GRAPHS):
        model, ports = random_models.random_model(seed)
        random = np.random.default_rng(seed)
        values = {port.name: random_graphs.input_value(port, random) for port in ports}
        inputs = {port.name: values[port.name] for port in model.graph.input}
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            one = exported.Exported(model, folder)
        except AssertionError as refused:
            assert "ends with 3" in str(refused) and "no kernel of C" in str(refused), refused
            continue
        expected = peer(model, inputs)
        exported.check_close(one.outputs(list(inputs.values()), expected, *exported.SANITIZERS), expected, 2e-4)
        agreed += 1
    assert agreed >= AGREE


def unet(net, width=16):
    """Three levels of 64 x 64 images, and back, with concats of what each level keeps."""
    def block(value, inputs, outputs):
        for channels in (inputs, outputs):
            scale = 1 / (3 * channels ** 0.5)
            weights = net.weights(outputs, channels, 3, 3, low=-scale, high=scale)
            value = net.node("Relu", net.node("Conv", value, weights, net.weights(outputs), pads=[1, 1, 1, 1]))
        return value

    value, kept = net.input([1, 3, 64, 64]), []
    channels = 3
    for level in range(3):
        value = block(value, channels, width << level)
        channels = width << level
        kept.append(value)
        value = net.node("MaxPool", value, kernel_shape=[2, 2], strides=[2, 2])
    value = block(value, channels, 2 * channels)
    channels *= 2
    for level in (2, 1, 0):
        value = net.node("Resize", value, "", net.constant(np.array([1, 1, 2, 2], np.float32)),
                         coordinate_transformation_mode="asymmetric", mode="nearest", nearest_mode="floor")
        value = net.node("Concat", value, kept[level], axis=1)
        value = block(value, channels + (width << level), width << level)
        channels = width << level
    net.output(net.node("Sigmoid", net.node("Conv", value, net.weights(1, width, 1, 1), net.weights(1))))


def test_a_net_needs_the_arena_of_its_plan(tmp_path):
    net = Net(0)
    unet(net)
    model = net.model()
    one = exported.Exported(model, tmp_path)
    assert one.report["arena_bytes"] == one.report["bound_bytes"] == 1_048_576
    assert one.report["model"]["format"] == "onnx"
    expected = peer(model, net.inputs)
    exported.check_close(one.outputs(list(net.inputs.values()), expected, "-O2"), expected, 1e-4)


def test_weights_in_other_forms_compute_the_same(tmp_path):
    net = operators.drawn(operators.gemm, 1)
    one = exported.Exported(net.model(), tmp_path)
    text = (tmp_path / "model.c").read_text()
    assert "malloc" not in text and "stdlib" not in text
    other = exported.Exported(net.model(), tmp_path, "--weights", "blob")
    assert other.report["weights_bytes"] >= one.report["weights_bytes"]
    assert not (tmp_path / "weights.c").exists()
    values, expected = list(net.inputs.values()), peer(net.model(), net.inputs)
    exported.check_close(other.outputs(values, expected, *exported.SANITIZERS), expected)


def test_open_sizes_need_a_number(tmp_path):
    net = Net(0)
    net.output(net.node("Relu", net.input([2, 3])))
    model = net.model()
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    refused = subprocess.run([exported.PROGRAM, "export", path, "-o", tmp_path / "c"], capture_output=True, text=True)
    assert refused.returncode == 3
    assert "give --shape x0=?x3" in refused.stderr
    assert exported.Exported(model, tmp_path, "--dim", "batch=5").report["arena_bytes"] == 64


def test_all_missing_operators_are_named(tmp_path):
    net = Net(0)
    value = net.input([3, 3])
    net.output(net.node("Det", value), net.node("CumSum", value, net.constant(np.int64(0))))
    path = tmp_path / "model.onnx"
    path.write_bytes(net.model().SerializeToString())
    refused = subprocess.run([exported.PROGRAM, "export", path, "-o", tmp_path / "c"], capture_output=True, text=True)
    assert refused.returncode == 3
    assert "2 nodes have no kernel of C" in refused.stderr
    assert "Det" in refused.stderr and "CumSum" in refused.stderr
    assert not (tmp_path / "c").exists()
