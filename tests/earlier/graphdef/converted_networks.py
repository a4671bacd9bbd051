# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws small networks of TensorFlow that 'lowtide run' converts."""
import numpy as np
import tensorflow as tf

raw = tf.raw_ops


def classic_network(d):
    """Images in TensorFlow's order through all layers of a usual classifier."""
    x = d.input(d.values([2, 16, 16, 3]))
    for _ in range(d.integer(1, 4)):
        channels = d.integer(2, 8)
        kind = d.integer(0, 5)
        before = x
        if kind == 0:
            x = raw.DepthwiseConv2dNative(input=x, filter=d.weight([3, 3, x.shape[3], 1]), strides=[1, 1, 1, 1],
                                          padding="SAME")
        x = raw.Conv2D(input=x, filter=d.weight([3, 3, x.shape[3], channels]), strides=[1, 1, 1, 1], padding="SAME")
        if d.chance():
            x = raw.BiasAdd(value=x, bias=d.weight([channels]))
        else:
            x = raw.FusedBatchNormV3(x=x, scale=d.weight([channels]), offset=d.weight([channels]),
                                     mean=d.weight([channels]), variance=np.ones(channels, "float32"),
                                     is_training=False).y
        x = d.choice([raw.Relu, raw.Relu6, raw.Elu, raw.Softplus])(features=x)
        if kind == 1 and before.shape == x.shape:
            x = raw.AddV2(x=x, y=before)
        if kind == 2:
            x = raw.ConcatV2(values=[x, before], axis=3)
        if kind == 3:
            x = raw.Mul(x=x, y=raw.Sigmoid(x=raw.Mean(input=x, axis=[1, 2], keep_dims=True)))
        if kind == 4 and x.shape[1] > 4:
            x = d.choice([lambda y: raw.MaxPool(input=y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
                          lambda y: raw.AvgPool(value=y, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")])(x)
        if kind == 5:
            x = raw.Pad(input=x, paddings=[[0, 0], [1, 0], [0, 1], [0, 0]])
        x = raw.Mul(x=x, y=np.float32(0.3))
    if d.chance():
        x = raw.Mean(input=x, axis=[1, 2], keep_dims=False)
    else:
        x = raw.Reshape(tensor=x, shape=[-1, int(np.prod(x.shape[1:]))])
    x = raw.BiasAdd(value=raw.MatMul(a=x, b=d.weight([x.shape[1], 5])), bias=d.weight([5]))
    raw.Softmax(logits=x)


def transformer(d):
    length, width, heads = d.integer(2, 6), 8, 2
    x = d.input(d.values([2, length, width]))
    mean = raw.Mean(input=x, axis=[-1], keep_dims=True)
    variance = raw.Mean(input=raw.SquaredDifference(x=x, y=mean), axis=[-1], keep_dims=True)
    y = raw.Mul(x=raw.Sub(x=x, y=mean), y=raw.Rsqrt(x=raw.AddV2(x=variance, y=np.float32(1e-3))))
    flat = raw.Reshape(tensor=y, shape=[-1, width])
    parts = []
    for _ in range(3):
        made = raw.MatMul(a=flat, b=d.weight([width, width]))
        made = raw.Reshape(tensor=made, shape=[2, length, heads, width // heads])
        parts.append(raw.Transpose(x=made, perm=[0, 2, 1, 3]))
    scores = raw.BatchMatMulV2(x=parts[0], y=parts[1], adj_y=True)
    found = raw.BatchMatMulV2(x=raw.Softmax(logits=raw.Mul(x=scores, y=np.float32(0.5))), y=parts[2])
    found = raw.Reshape(tensor=raw.Transpose(x=found, perm=[0, 2, 1, 3]), shape=[2, length, width])
    raw.AddV2(x=x, y=found)


def first_channels(d):
    """Nodes in the order of ONNX, which TensorFlow plans but does not run on a CPU."""
    x = d.input(d.values([1, 3, 8, 8]))
    y = raw.BiasAdd(value=x, bias=d.weight([3]), data_format="NCHW")
    raw.Relu(features=y)


NETWORKS = [classic_network, transformer, first_channels]
