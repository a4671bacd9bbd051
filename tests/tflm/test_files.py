# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The reader and the writer of .tflite files."""
import struct

import files
import numpy as np
import pytest
import schema
import single


def equal(one, other):
    """Two tables have the same fields, at any depth."""
    if isinstance(one, schema.Table):
        return vars(one).keys() == vars(other).keys() and all(
            equal(value, getattr(other, name)) for name, value in vars(one).items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return np.array_equal(one, other)


def test_writes_what_it_read(sample):
    model = files.read(sample)
    assert equal(files.read(files.write(model)), model)


def test_a_written_file_runs_as_before(runtime, sample):
    before = runtime.run(sample, runs=2)
    after = runtime.run(files.write(files.read(sample)), sets=before.sets)
    assert after.same_values(before)
    assert after.head == before.head


@pytest.mark.usefixtures("runtime")
def test_reads_the_same_as_the_generated_reader(sample):
    from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as generated

    theirs = generated.ModelT.InitFromObj(generated.Model.GetRootAsModel(bytearray(sample), 0))
    ours = files.read(sample)
    assert [len(graph.operators) for graph in ours.subgraphs] == [len(graph.operators) for graph in theirs.subgraphs]
    for graph, their_graph in zip(ours.subgraphs, theirs.subgraphs, strict=True):
        for tensor, other in zip(graph.tensors, their_graph.tensors, strict=True):
            assert (tensor.name or "").encode() == (other.name or b"")
            assert (tensor.type, tensor.buffer) == (other.type, other.buffer)
            assert tensor.is_variable == other.isVariable
            assert np.array_equal(tensor.shape, other.shape)
            assert (tensor.quantization is None) == (other.quantization is None)
            if tensor.quantization is not None:
                assert np.array_equal(tensor.quantization.scale, other.quantization.scale)
        for operator, other in zip(graph.operators, their_graph.operators, strict=True):
            assert np.array_equal(operator.inputs, other.inputs)
            assert (operator.opcode, operator.options_type) == (other.opcodeIndex, other.builtinOptionsType)
            for field in ("strideW", "strideH", "padding", "beta", "rank", "depthMultiplier"):
                name = {"strideW": "stride_w", "strideH": "stride_h", "depthMultiplier": "depth_multiplier"}
                assert getattr(operator.options, name.get(field, field), None) == getattr(
                    other.builtinOptions, field, None)


def test_data_of_buffers_is_aligned():
    data = single.make("CONV_2D", 1).data
    for buffer in files.read(data).buffers:
        if buffer.data is not None and len(buffer.data) >= 16:
            assert data.index(buffer.data.tobytes()) % 16 == 0


@pytest.mark.parametrize("length", [0, 4, 7, 20, 100])
def test_refuses_a_part_of_a_file(length):
    with pytest.raises((ValueError, struct.error)):
        files.read(single.make("ADD", 1).data[:length])


def test_an_unknown_field_is_an_error():
    with pytest.raises(TypeError, match="Conv2D has no field strides"):
        schema.Table("Conv2D", strides=2)
