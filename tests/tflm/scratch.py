# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The scratch that the reference kernels of TFLite Micro request, by formulas and by a probe of the runtime."""
import files
import rule
import schema
from rule import numbers

POINTER_BYTES = 8  # of the machine on which the runtime is; 4 on a microcontroller


def requests(model):
    """The bytes of each request, in order, of every operator that has any, by (subgraph, operator)."""
    found = {}
    for number, graph in enumerate(model.subgraphs):
        for position, operator in enumerate(graph.operators or []):
            sizes = of_operator(model, graph, operator)
            if sizes:
                found[number, position] = sizes
    return found


def of_operator(model, graph, operator):
    """The bytes of each request of one operator. The list is empty for kernels that request none."""
    kernel = KERNELS.get(schema.operator_name(model, operator))
    if kernel is None:
        return []
    tensors = lambda values: [graph.tensors[one] if one >= 0 else None for one in numbers(values)]
    return kernel(tensors(operator.inputs), tensors(operator.outputs), operator.options)


def elements(tensor):
    return rule.tensor_bytes(tensor) // schema.ELEMENT_BYTES[tensor.type]


def svdf(inputs, outputs, options):
    batch, filters = int(inputs[0].shape[0]), int(inputs[1].shape[0])
    if inputs[1].type == schema.FLOAT32:
        return [4 * batch * filters]
    return [4 * batch * filters, 4 * batch * (filters // options.rank)]


def lstm(inputs, outputs, options):
    hidden, cell = inputs[18], inputs[19]
    return 4 * [elements(hidden) * schema.ELEMENT_BYTES[cell.type]]


def transpose_conv(inputs, outputs, options):
    data = inputs[2].type
    if data == schema.INT8:
        return [4 * elements(outputs[0])]
    if data != schema.INT16:
        return []
    bias = inputs[3] if len(inputs) > 3 else None
    widened = [8 * elements(bias)] if bias is not None and bias.type == schema.INT16 else []
    return [*widened, 8 * elements(outputs[0])]


def mean(inputs, outputs, options):
    sums = [4 * elements(outputs[0])] if inputs[0].type in (schema.INT8, schema.INT16) else []
    return sums + reduction(inputs, outputs, options)


def reduction(inputs, outputs, options):
    return [4 * len(numbers(inputs[0].shape)), 4 * elements(inputs[1])]


def mirror_pad(inputs, outputs, options):
    return 2 * [4 * len(numbers(inputs[0].shape))]


def add_n(inputs, outputs, options):
    return [POINTER_BYTES * len(inputs)]


def rfft(inputs, outputs, options):
    """A custom operator for audio. Its result has 2 * (length / 2 + 1) elements."""
    return [(int(outputs[0].shape[-1]) - 2) * schema.ELEMENT_BYTES[outputs[0].type]]


def unpacked_filter(inputs, outputs, options):
    return [elements(inputs[1])] if inputs[1].type == schema.INT4 else []


KERNELS = {"SVDF": svdf, "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm, "TRANSPOSE_CONV": transpose_conv, "MEAN": mean,
           "SUM": mean, "REDUCE_MAX": reduction, "REDUCE_MIN": reduction, "MIRROR_PAD": mirror_pad, "ADD_N": add_n,
           "CUSTOM SignalRfft": rfft,
           "CONV_2D": unpacked_filter, "DEPTHWISE_CONV_2D": unpacked_filter, "FULLY_CONNECTED": unpacked_filter}


def probe(runtime, data, position):
    """The bytes of all scratch of an operator of subgraph 0, each request rounded up, as the runtime has them.

    The operator becomes a model by itself, in which all its buffers are live at once. Returns None if that does not
    run.
    """
    model = files.read(data)
    graph = model.subgraphs[0]
    operator = graph.operators[position]
    graph.operators = [operator]
    kept = set(numbers(operator.inputs)) | set(numbers(operator.outputs)) | set(numbers(operator.intermediates))
    for number, tensor in enumerate(graph.tensors):
        if number not in kept:
            tensor.shape, tensor.buffer, tensor.is_variable = [0], 0, False
    activations = [one for one in dict.fromkeys(numbers(operator.inputs)) if one >= 0
                   and not graph.tensors[one].is_variable and not rule.is_constant(model, graph.tensors[one])]
    graph.inputs, graph.outputs = activations, operator.outputs
    model.metadata = model.metadata_buffer = model.signatures = None
    alone = files.write(model)
    # What the operator computes does not matter here, so no run reads its outputs.
    result = runtime.run(alone, runs=1)
    if not result.ok:
        return None
    return result.head - sum(one.size for one in rule.buffers(model, {}))
