# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX that are written node by node."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.bool_): TensorProto.BOOL}


class Net:
    """A graph that grows node by node. Tensors have the results of earlier nodes as shapes."""

    def __init__(self, seed, opset=OPSET):
        self.random = np.random.default_rng(seed)
        self.opset = opset
        self.nodes = []
        self.constants = []
        self.inputs = {}
        self.outputs = []

    def input(self, shape, low=-2.0, high=2.0, dtype=np.float32):
        """An input, with the values that it gets in the test."""
        name = f"x{len(self.inputs)}"
        if dtype == np.float32:
            values = self.random.uniform(low, high, shape).astype(np.float32)
        elif dtype == np.bool_:
            values = self.random.integers(0, 2, shape).astype(np.bool_)
        else:
            values = self.random.integers(int(low), int(high), shape).astype(dtype)
        self.inputs[name] = values
        return name

    def constant(self, values):
        """A tensor of the file."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weights(self, *shape, low=-1.0, high=1.0):
        """A constant of random numbers."""
        return self.constant(self.random.uniform(low, high, shape).astype(np.float32))

    def numbers(self, *values):
        """A constant list of integers."""
        return self.constant(np.array(values, np.int64))

    def node(self, kind, *inputs, results=1, **attributes):
        """Adds a node, and returns its result or results."""
        names = [f"t{len(self.nodes)}_{at}" for at in range(results)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if results == 1 else names

    def output(self, *names):
        """Makes tensors outputs of the model."""
        self.outputs += names

    def model(self):
        """The model, checked."""
        inputs = [helper.make_tensor_value_info(name, TYPES[value.dtype], value.shape)
                  for name, value in self.inputs.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        known = {value.name: value for value in [*model.graph.input, *model.graph.value_info]}
        known |= {value.name: value for value in model.graph.output if value.type.WhichOneof("value")}
        del model.graph.output[:]
        model.graph.output.extend(known[name] for name in self.outputs)
        onnx.checker.check_model(model)
        return model

