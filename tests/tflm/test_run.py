# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""`lowtide run` gives the bits of the runtime. campaign.py run tries more models."""
import os

import files
import nets
import numpy as np
import program
import pytest
import single
from conftest import MODELS
from layers import Layers

KINDS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D", "SOFTMAX")


@pytest.fixture(scope="module")
def lowtide():
    path = os.environ.get("LOWTIDE_PROGRAM")
    if not path:
        pytest.fail("set LOWTIDE_PROGRAM to the program of a build")
    return path


def assert_same(lowtide, runtime, data, seed):
    expected = runtime.run(data, seed=seed)
    assert expected.ok, expected.message
    found, refusal = program.run(lowtide, data, expected.sets[0])
    assert refusal is None
    assert program.same(found, expected.values[0])


@pytest.mark.parametrize("model", [one for one in MODELS if one.stem == "kws_dscnn_int8"], ids=lambda one: one.stem)
def test_models_of_users_have_the_bits(lowtide, runtime, model):
    assert_same(lowtide, runtime, model.read_bytes(), 5)


@pytest.mark.parametrize("seed", range(1, 6))
def test_networks_have_the_bits(lowtide, runtime, seed):
    assert_same(lowtide, runtime, nets.make(seed).data, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_operators_have_the_bits(lowtide, runtime, kind):
    assert_same(lowtide, runtime, single.make(kind, 11).data, 11)


def named_alike(seed):
    """A file of two inputs and two outputs, each pair with one name."""
    net = Layers(np.random.default_rng(seed))
    inputs = [net.input((1, 4)) for _ in range(2)]
    outputs = [net.unary("LOGISTIC", one) for one in inputs]
    model = files.read(net.finish("alike", outputs, shuffle=False).data)
    for one in (*model.subgraphs[0].inputs, *model.subgraphs[0].outputs):
        model.subgraphs[0].tensors[one].name = "x"
    return files.write(model)


def test_tensors_of_one_name_are_kept_apart(lowtide, runtime, tmp_path):
    data = named_alike(3)
    expected = runtime.run(data, seed=3)
    assert expected.ok, expected.message
    (tmp_path / "model.tflite").write_bytes(data)
    options = ["--output-dir", str(tmp_path / "out")]
    for name, value in zip(("x", "x_2"), expected.sets[0], strict=True):
        np.save(tmp_path / f"{name}.npy", value)
        options += ["--input", f"{name}={tmp_path / f'{name}.npy'}"]
    assert program.call(lowtide, "run", str(tmp_path / "model.tflite"), *options) is None
    assert program.same([np.load(tmp_path / "out" / f"{name}.npy") for name in ("x", "x_2")], expected.values[0])
    assert not np.array_equal(*expected.values[0])


def test_another_bit_of_an_input_changes_the_outputs(lowtide, runtime):
    """The comparison above sees a difference."""
    data = single.make("FULLY_CONNECTED", 11).data
    expected = runtime.run(data, seed=11)
    changed = [value ^ 64 for value in expected.sets[0]]
    found, _ = program.run(lowtide, data, changed)
    assert not program.same(found, expected.values[0])
