# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The graphs for record_cluster_answers.py: those of TensorFlow's own tests, one of all operators, and random ones.

A node is a list of its name, operator, device, inputs and attributes, and a device one of the values of its line.
"""
import random

from tensorflow.core.framework import types_pb2

F32 = types_pb2.DT_FLOAT
LEVELS = ("default", "manual", "swapping", "recomputation", "scheduling", "heuristics")
RANDOM_GRAPHS = 500


class Type(int):
    """The number of a DataType."""


class Shape(tuple):
    """Extents; -1 is an unknown one."""


# Devices of which every operation takes long, so that tensors live for milliseconds.
def cpu(name, memory=0):
    return [name, "CPU", memory, 1, 50, 4_000_000, "-"]


def gpu(name, memory=0):
    return [name, "GPU", memory, 1, 1, 2_000_000, "6"]


def node(name, op, device, *inputs, **attributes):
    return [name, op, device, list(inputs), attributes]


def variable(name, device, shape):
    return node(name, "VariableV2", device, dtype=Type(F32), shape=Shape(shape))


def same(name, op, device, *inputs, **attributes):
    return node(name, op, device, *inputs, T=Type(F32), **attributes)


def add_n(name, device, *inputs, **attributes):
    count = sum(not one.startswith("^") for one in inputs)
    return same(name, "AddN", device, *inputs, N=count, **attributes)


def hand_made():
    """The graphs of TensorFlow's own tests: level, fetches, devices, nodes."""
    megabyte = 1 << 20
    names = "abcd"
    sums = [node(f"{one}/shape", "Const", "/cpu:0", dtype=Type(types_pb2.DT_INT32), value=(128, 128, 8))
            for one in "abc"]
    sums += [node(one, "RandomStandardNormal", "/cpu:0", f"{one}/shape", dtype=Type(F32),
                  T=Type(types_pb2.DT_INT32)) for one in "abc"]
    sums += [add_n("d", "/cpu:0", "a", "b", "c"), same("e", "Square", "/cpu:0", "d")]
    yield "scheduling", ["e"], [cpu("/cpu:0", megabyte)], sums
    hinted = [variable("a", "/gpu:0", (10, 10))]
    hinted += [add_n(one, "/gpu:0", names[at]) for at, one in enumerate("bcd")]
    hinted += [add_n("e", "/gpu:0", "b", "d", _swap_to_host=[0])]
    yield "manual", ["e"], [gpu("/gpu:0", megabyte)], hinted
    heuristic = [variable("v", "/gpu:0", (128, 128, 8)), same("a", "Identity", "/gpu:0", "v"),
                 same("b", "Square", "/gpu:0", "v"), same("c", "Sqrt", "/gpu:0", "a"),
                 same("d", "Identity", "/gpu:0", "b"),
                 node("axis", "Const", "/gpu:0", dtype=Type(types_pb2.DT_INT32), value=0),
                 same("e", "ConcatV2", "/gpu:0", "a", "b", "c", "d", "axis", N=4, Tidx=Type(types_pb2.DT_INT32)),
                 same("f", "Square", "/gpu:0", "a"), same("g", "Sqrt", "/gpu:0", "b"),
                 same("h", "Exp", "/gpu:0", "c"), same("i", "Log", "/gpu:0", "d")]
    yield "swapping", list("efghi"), [gpu("/gpu:0", megabyte)], heuristic
    unswappable = [variable("v", "/gpu:0", (1, 128, 1024)), same("a", "Square", "/gpu:0", "v"),
                   same("b", "Identity", "/gpu:0", "v"), same("c", "Identity", "/gpu:0", "a"),
                   node("indices", "Const", "/gpu:0", dtype=Type(types_pb2.DT_INT32), value=(5,)),
                   same("d", "ScatterAdd", "/gpu:0", "v", "indices", "c", Tindices=Type(types_pb2.DT_INT32)),
                   node("axis", "Const", "/gpu:0", dtype=Type(types_pb2.DT_INT32), value=0),
                   same("e", "ConcatV2", "/gpu:0", "b", "c", "d", "axis", N=3, Tidx=Type(types_pb2.DT_INT32))]
    yield "swapping", ["e"], [gpu("/gpu:0", megabyte)], unswappable


UNARY = ("Acos", "Asin", "Atan", "Ceil", "Cos", "Erf", "Erfc", "Exp", "Expm1", "Floor", "Inv", "Lgamma", "Log",
         "Log1p", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sqrt",
         "Square", "Tan", "Tanh", "LeakyRelu", "Elu", "Selu", "Softplus", "Softmax", "LogSoftmax", "Abs",
         "ZerosLike", "OnesLike", "StopGradient", "Identity", "PreventGradient")
BINARY = ("Add", "AddV2", "Atan2", "Div", "FloorDiv", "FloorMod", "Maximum", "Minimum", "Mod", "Mul", "RealDiv",
          "SquaredDifference", "Sub", "TruncateDiv", "TruncateMod", "Pow", "Equal", "Greater", "GreaterEqual",
          "Less", "LessEqual", "NotEqual", "ReluGrad", "InvGrad", "SigmoidGrad", "TanhGrad", "RsqrtGrad", "SqrtGrad",
          "Relu6Grad", "EluGrad", "MatMul")


def constant(name, *values):
    return node(name, "Const", "", dtype=Type(types_pb2.DT_INT32), value=values)


def all_costs():
    """A node of each operator that costs something else: level, fetches, devices, nodes."""
    window = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "VALID", "data_format": "NHWC"}
    filtered = {"strides": [1, 2, 2, 1], "padding": "SAME", "data_format": "NHWC", "dilations": [1, 1, 1, 1]}
    nodes = [variable("x", "", (300, 300)), variable("row", "", (300,)), variable("batch", "", (3, 40, 50)),
             variable("other", "", (3, 50, 60)), variable("image", "", (2, 31, 33, 16)),
             variable("filter", "", (3, 5, 16, 24)), variable("depth", "", (3, 5, 16, 2)),
             variable("channels", "", (16,)), constant("image_shape", 2, 31, 33, 16),
             constant("filter_shape", 3, 5, 16, 24), variable("result", "", (2, 16, 17, 24))]
    nodes += [same(op, op, "", "x") for op in UNARY] + [same(op, op, "", "x", "x") for op in BINARY]
    nodes += [node("Cast", "Cast", "", "x", SrcT=Type(F32), DstT=Type(types_pb2.DT_HALF)), add_n("AddN", "", *"xxxxx"),
              same("BiasAdd", "BiasAdd", "", "x", "row"), same("Assign", "Assign", "", "x", "Exp"),
              same("AssignAdd", "AssignAdd", "", "x", "Exp"),
              same("BatchMatMul", "BatchMatMul", "", "batch", "other", adj_x=False, adj_y=False),
              same("Conv2D", "Conv2D", "", "image", "filter", **filtered),
              same("Depthwise", "DepthwiseConv2dNative", "", "image", "depth", **filtered),
              same("ToInput", "Conv2DBackpropInput", "", "image_shape", "filter", "result", **filtered),
              same("ToFilter", "Conv2DBackpropFilter", "", "image", "filter_shape", "result", **filtered),
              same("MaxPool", "MaxPool", "", "image", **window), same("AvgPool", "AvgPool", "", "image", **window),
              same("MaxPoolGrad", "MaxPoolGrad", "", "image", "MaxPool", "AvgPool", **window),
              same("AvgPoolGrad", "AvgPoolGrad", "", "image_shape", "AvgPool", **window),
              same("Norm", "FusedBatchNorm", "", "image", *["channels"] * 4, is_training=True, data_format="NHWC"),
              same("NormGrad", "FusedBatchNormGrad", "", "image", "image", *["channels"] * 3, is_training=True,
                   data_format="NHWC")]
    read = {given for one in nodes for given in one[3]}
    return "manual", [one[0] for one in nodes if one[0] not in read], [cpu("/cpu:0")], nodes


class RandomGraph:
    """Layers of operators whose tensors all have one shape, on the devices of a random cluster."""

    def __init__(self, chance):
        self.chance = chance
        self.is_image = chance.random() < 0.4
        # TensorFlow also infers open extents from other tensors, so either all of a graph are open or none.
        self.is_open = self.is_image and chance.random() < 0.4
        edge = chance.choice((64, 128, 200))
        self.shape = (chance.choice((2, 4)), 16, 16, 32) if self.is_image else (edge, edge)
        self.devices = chance.choice(([gpu("/gpu:0")], [cpu("/cpu:0")], [cpu("/cpu:0"), gpu("/gpu:0")],
                                      [cpu("/cpu:0"), gpu("/gpu:0"), gpu("/gpu:1")],
                                      [cpu("/job:worker/replica:0/task:0/device:CPU:0"),
                                       gpu("/job:worker/replica:0/task:0/device:GPU:0")]))
        self.nodes = []
        self.tensors = []  # names of outputs with the shape

    def device(self):
        if self.chance.random() < 0.1:
            return ""
        return self.chance.choice(self.devices[-1:] * 3 + self.devices)[0]

    def operand(self):
        return self.chance.choice(self.tensors[-6:] if self.chance.random() < 0.6 else self.tensors)

    def add(self, one, *tensors):
        self.nodes.append(one)
        self.tensors += tensors or [one[0]]

    def add_source(self, name):
        if not self.is_open and self.chance.random() < 0.5:
            self.add(variable(name, self.device(), self.shape))
            return
        shape = ([-1] if self.is_open else [self.shape[0]]) + list(self.shape[1:])
        self.add(node(name, "Placeholder", self.device(), dtype=Type(F32), shape=Shape(shape)))

    def add_layer(self, name):
        chance, device = self.chance, self.device()
        kind = chance.random()
        if kind < 0.4:
            op = chance.choice(("Identity", "Relu", "Square", "Sqrt", "Exp", "Sigmoid", "Tanh", "Neg", "Log", "Abs"))
            self.add(same(name, op, device, self.operand()))
        elif kind < 0.55:
            op = chance.choice(("Add", "Mul", "Sub", "RealDiv", "ReluGrad", "Maximum"))
            self.add(same(name, op, device, self.operand(), self.operand()))
        elif kind < 0.75:
            self.add(add_n(name, device, *(self.operand() for _ in range(chance.randint(2, 5)))))
        elif kind < 0.8:
            variables = [one[0] for one in self.nodes if one[1] == "VariableV2" and one[4]["shape"] == self.shape]
            if variables:
                source = chance.choice(variables)
                where = next(one[2] for one in self.nodes if one[0] == source)
                self.add(same(name, "Assign", where, source, self.operand(), validate_shape=True, use_locking=True))
        elif self.is_image:
            self.add_image_layer(name, device)
        else:
            self.add(same(name, "MatMul", device, self.operand(), self.operand(), transpose_a=chance.random() < 0.3,
                          transpose_b=False))

    def add_image_layer(self, name, device):
        channels = self.shape[3]
        if self.chance.random() < 0.5:
            self.nodes.append(variable(name + "/filter", device, (3, 3, channels, channels)))
            self.add(same(name, "Conv2D", device, self.operand(), name + "/filter", strides=[1, 1, 1, 1],
                          padding="SAME", data_format="NHWC", dilations=[1, 1, 1, 1]))
        else:
            self.nodes.append(variable(name + "/row", device, (channels,)))
            self.add(same(name, "FusedBatchNorm", device, self.operand(), *[name + "/row"] * 4,
                          is_training=self.chance.random() < 0.5, epsilon=0.001, data_format="NHWC"))

    def add_controls(self):
        for at, one in enumerate(self.nodes):
            if at > 0 and self.chance.random() < 0.08 and one[1] != "Placeholder":
                for _ in range(self.chance.choice((1, 1, 2))):
                    one[3].append("^" + self.chance.choice(self.nodes[:at])[0])

    def add_hints(self, share):
        for one in self.nodes:
            data = [at for at, given in enumerate(one[3]) if not given.startswith("^")]
            if not data or self.chance.random() >= share:
                continue
            chosen = sorted(self.chance.sample(data, self.chance.randint(1, min(2, len(data)))))
            one[4]["_swap_to_host"] = chosen[0] if self.chance.random() < 0.4 else chosen

    def fetches(self):
        read = {given.lstrip("^").split(":")[0] for one in self.nodes for given in one[3]}
        ends = [one[0] for one in self.nodes if one[0] not in read and "/" not in one[0]]
        return ends if self.chance.random() < 0.7 else self.chance.sample(ends, 1)


def random_graph(seed):
    chance = random.Random(seed)
    graph = RandomGraph(chance)
    for at in range(chance.randint(1, 3)):
        graph.add_source(f"s{at}")
    for at in range(chance.randint(4, 14)):
        graph.add_layer(f"n{at}")
    graph.add_controls()
    level = chance.choice(LEVELS)
    graph.add_hints(0.1 if level == "manual" else 0.02)
    if chance.random() < 0.3:
        graph.nodes = graph.nodes[::-1]
    for device in graph.devices:
        if chance.random() < 0.9:
            device[2] = chance.choice((0.4, 0.6, 0.75, 0.79, 0.81, 0.9, 1.0, 1.1, 2.0))
    return level, graph.fetches(), graph.devices, graph.nodes


def cases():
    yield from hand_made()
    yield all_costs()
    for seed in range(RANDOM_GRAPHS):
        yield random_graph(seed)
