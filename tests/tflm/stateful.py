# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models with state or with several subgraphs: resource variables, SVDF, LSTM, IF, WHILE, and unusual tensors.

The estimates are those of the first run.
"""
import zlib

import build
import floats
import numpy as np
import schema
from build import Value
from layers import Layers
from schema import BOOL, INT8, INT16, INT32, RELU, RESOURCE
from single import Draw


def make(name, seed):
    """The model of a kind with attributes drawn by the seed."""
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    net, draw = Layers(generator), Draw(generator)
    return net.finish(f"{name} {seed}", KINDS[name](net, draw), shuffle=draw.chance(0.5))


def read_variable(net, name, like):
    """Adds VAR_HANDLE and READ_VARIABLE. Returns the handle and the value, which is 0 at first."""
    handle = net.tensor([], RESOURCE)
    net.emit("VAR_HANDLE", [], [handle], container="", shared_name=name)
    value = net.apply("READ_VARIABLE", [handle], [np.zeros(like.shape)], like=like)[0]
    return handle, value


def variables(net, draw):
    """A ring of past rows for each of some layers, as streaming models have. Subgraph 1 clears all rings."""
    x = net.input((1, 1, 1, draw.number(2, 10)))
    clear = net.add_graph("clear")
    main = net.graph
    net.emit("CALL_ONCE", [], [], subgraph=1)
    for number in range(draw.number(1, 3)):
        name, past = f"ring{number}", draw.number(1, 4)
        like = Value(-1, np.zeros((1, past, 1, x.shape[3])), x.scale, x.zero, INT8, True, None)
        net.graph = clear
        handle = net.tensor([], RESOURCE)
        net.emit("VAR_HANDLE", [], [handle], container="", shared_name=name)
        zeros = net.tensor(like.shape, INT8, like.scale, like.zero, np.full(like.shape, like.zero, np.int8))
        net.emit("ASSIGN_VARIABLE", [handle, zeros], [])
        net.graph = main
        handle, ring = read_variable(net, name, like)
        whole = net.apply("CONCATENATION", [ring, x], [np.concatenate([ring.estimate, x.estimate], 1)], like=x,
                          axis=1)[0]
        newest = net.strided_slice(whole, [0, 1, 0, 0], [1, past + 1, 1, x.shape[3]], [1, 1, 1, 1])
        net.emit("ASSIGN_VARIABLE", [handle, newest.tensor], [])
        x = net.conv(whole, draw.number(2, 10), (past + 1, 1), padding=schema.VALID, fused=RELU)
    return [net.unary("LOGISTIC", net.fully_connected(x, draw.number(1, 5)))]


def svdf(net, draw):
    """One or two layers of SVDF, whose state is a variable tensor."""
    x = net.input((1, draw.number(4, 24)))
    for _ in range(draw.number(1, 2)):
        rank, memory = draw.number(1, 2), draw.number(2, 8)
        units = draw.number(2, 12)
        filters = units * rank
        features, scales, values = net.weights(net.draw(filters, x.shape[1], deviation=x.shape[1] ** -0.5))
        products = x.estimate @ values.T
        state_scale = float(np.float32(2 * max(np.abs(products).max(), 1e-2) / 32767))
        state = net.tensor((1, memory * filters), INT16, state_scale, is_variable=True)
        time_scale = 2.0 ** -12
        stored = np.round(net.draw(filters, memory, deviation=0.7) / time_scale).clip(-32767, 32767).astype(np.int16)
        times = net.tensor(stored.shape, INT16, time_scale, 0, stored)
        result = (products * stored[:, -1] * time_scale).reshape(1, units, rank).sum(2)
        bias, added = net.bias(net.draw(units, deviation=0.1), np.array([state_scale * time_scale]))
        x = net.apply("SVDF", [x, features, times, bias, state], [np.maximum(result + added, 0)], rank=rank,
                      fused=RELU)[0]
    return [net.softmax(net.fully_connected(x, draw.number(2, 6)))]


def lstm(net, draw):
    """A layer of LSTM over some rows. All three of hidden state, cell state and scratch matter to a plan."""
    steps, depth, units = draw.number(1, 5), draw.number(2, 12), draw.number(2, 12)
    x = net.input((1, steps, depth))
    of_input = [net.weights(net.draw(units, depth, deviation=depth ** -0.5)) for _ in range(4)]
    recurrent = [net.weights(net.draw(units, units, deviation=units ** -0.5)) for _ in range(4)]
    biases = [net.bias(net.draw(units, deviation=0.2), scales * x.scale) for _, scales, _ in of_input]
    hidden_scale = 2.0 ** -7
    hidden = net.tensor((1, units), INT8, hidden_scale, is_variable=True)
    cell = net.tensor((1, units), INT16, 2.0 ** -11, is_variable=True)
    h, c, rows = np.zeros(units), np.zeros(units), []
    for row in x.estimate[0]:
        i, f, g, o = (row @ of_input[k][2].T + h @ recurrent[k][2].T + biases[k][1] for k in range(4))
        c = floats.logistic(f) * c + floats.logistic(i) * np.tanh(g)
        h = build.round_trip(floats.logistic(o) * np.tanh(c), hidden_scale, 0, INT8)
        rows.append(h)
    inputs = [x, *(one[0] for one in of_input), *(one[0] for one in recurrent), -1, -1, -1,
              *(one[0] for one in biases), -1, -1, hidden, cell, -1, -1, -1, -1]
    # The format has five tensors here without memory, for values between the gates.
    between = [net.tensor([0], INT8, 2.0 ** -7) for _ in range(5)]
    y = net.apply("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [np.array([rows])], fixed=(hidden_scale, 0),
                  fused=schema.TANH, cell_clip=0.0, intermediates=between)[0]
    return [net.fully_connected(y, draw.number(2, 6))] if draw.chance(0.5) else [y]


def parameter(net, like):
    """An input of the present subgraph."""
    number = net.tensor(like.shape, like.type, like.scale, like.zero)
    net.graph.inputs.append(number)
    return Value(number, like.estimate, like.scale, like.zero, like.type, True, None)


def called(net, name, values, body):
    """Adds a subgraph, with body(parameters) -> results. Returns its results."""
    main, net.graph = net.graph, net.add_graph(name)
    results = body([parameter(net, one) for one in values])
    net.graph.outputs = [one.tensor for one in results]
    net.graph = main
    return results


def branch(net, draw):
    """IF on an input. Its branches have one shape and one quantization."""
    condition = net.tensor([1], BOOL)
    net.graph.inputs.append(condition)
    net.inputs.append(np.array([draw.chance(0.5)]))
    x = net.conv(net.input((1, 6, 6, draw.number(1, 4))), draw.number(2, 8))
    aside = net.conv(x, draw.number(1, 8), (1, 1))
    like = Value(-1, x.estimate, 0.04, 0, INT8, True, None)
    x.fixed = True
    results = []
    for name, layers in (("then", draw.number(1, 3)), ("otherwise", draw.number(1, 3))):
        def body(parameters, layers=layers):
            y, = parameters
            for _ in range(layers):
                y = net.conv(y, draw.number(2, 12))
            return [net.quantize_like(net.conv(y, x.shape[3]), like)]
        results.append(called(net, name, [x], body)[0])
    taken = results[0 if net.inputs[0][0] else 1]
    y = Value(net.tensor(x.shape, INT8, like.scale, like.zero), taken.estimate, like.scale, like.zero, INT8, True, None)
    net.emit("IF", [condition, x.tensor], [y.tensor], then=1, otherwise=2)
    return [net.concat([y, aside])]


def loop(net, draw):
    """WHILE with a counter; its body keeps the quantization of the value."""
    x = net.conv(net.input((1, 5, 5, draw.number(1, 4))), draw.number(2, 6))
    x.fixed = True
    limit, start = draw.number(0, 3), net.integers([0])
    width = x.shape[3]
    counter = Value(start, np.zeros(1), 1.0, 0, INT32, True, None)

    def plain(kind):
        return net.tensor([1], kind)

    def count(net, number, name, constant, kind):
        result = plain(kind)
        net.emit(name, [number, net.integers([constant])], [result])
        return result

    def integer_parameters():
        number = net.tensor([1], INT32)
        net.graph.inputs.append(number)
        return number

    main = net.graph
    net.graph = net.add_graph("condition")
    number = integer_parameters()
    parameter(net, x)
    net.graph.outputs = [count(net, number, "LESS", limit, BOOL)]
    net.graph = net.add_graph("body")
    number = integer_parameters()
    y = parameter(net, x)
    estimate = x.estimate
    weights = net.weights(net.draw(width, 3, 3, width, deviation=(9 * width) ** -0.5), 0)
    inner = net.apply("CONV_2D", [y, weights[0]], [floats.conv(estimate, weights[2], (1, 1), (1, 1), schema.SAME)],
                      stride_h=1, stride_w=1)[0]
    after = net.apply("ADD", [inner, y], [inner.estimate + estimate], like=x)[0]
    net.graph.outputs = [count(net, number, "ADD", 1, INT32), after.tensor]
    net.graph = main
    for _ in range(limit):
        product = floats.conv(estimate, weights[2], (1, 1), (1, 1), schema.SAME)
        estimate = build.round_trip(build.round_trip(product, inner.scale, inner.zero, INT8) + estimate, x.scale,
                                    x.zero, INT8)
    result = Value(net.tensor(x.shape, INT8, x.scale, x.zero), estimate, x.scale, x.zero, INT8, True, None)
    net.emit("WHILE", [counter.tensor, x.tensor], [plain(INT32), result.tensor], condition=1, body=2)
    return [net.unary("RELU", result)]


def odd_tensors(net, draw):
    """Tensors that no operator uses, an input that is not read, an operator whose result is not, and an output that is
    also read, beside a chain.
    """
    for _ in range(draw.number(1, 4)):
        net.tensor((1, draw.number(1, 400)), draw.choice([INT8, INT16, INT32]))
    net.input((1, draw.number(1, 300)))
    net.tensor((1, 0, 4), INT8, 0.1)
    x = net.conv(net.input((1, 8, 8, draw.number(1, 3))), draw.number(2, 9))
    net.conv(x, draw.number(1, 9))
    y = net.conv(x, draw.number(1, 9))
    return [x, net.reduce("MEAN", y, (1, 2))]


KINDS = {"variables": variables, "SVDF": svdf, "LSTM": lstm, "IF": branch, "WHILE": loop, "odd tensors": odd_tensors}
