# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""How many bytes before its operand a result must begin, so that a reference kernel of TFLite Micro overwrites no
element that it still reads.

These kernels compute one element of the result after another, in the order of their addresses. A window of an early
pixel does not reach far into the operand, so result and operand may overlap in large part:

    operand            |=================|
    result        |====+=========|
                  <---> the lead

The lead is the largest difference, over all elements of the result, of the bytes up to this element and the bytes of
the operand that precede all windows still to come.
"""
import files
import numpy as np
import rule
import schema
from alias import with_shared
from floats import pads, window_size
from rule import numbers

WINDOWS = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D")


def lead(data):
    """The lead of the first result of a model of one operator. None for kernels without a formula here."""
    model = files.read(data)
    graph = model.subgraphs[0]
    return lead_of(model, graph, graph.operators[0])


def lead_of(model, graph, operator):
    """The lead of the first result of an operator, or None."""
    elements = lead_elements(model, graph, operator)
    width = schema.ELEMENT_BYTES[graph.tensors[numbers(operator.outputs)[0]].type]
    return None if elements is None else elements * width


def lead_elements(model, graph, operator):
    """The lead in elements. Operand and result have one type."""
    shape = lambda number: numbers(graph.tensors[number].shape)
    operand, result = shape(operator.inputs[0]), shape(operator.outputs[0])
    name = schema.operator_name(model, operator)
    if name in WINDOWS:
        options = operator.options
        if name.endswith("POOL_2D"):
            kernel = options.filter_h, options.filter_w
        else:
            weights = shape(operator.inputs[1])
            kernel = (window_size(weights[1], options.dilation_h), window_size(weights[2], options.dilation_w))
        strides = options.stride_h, options.stride_w
        first = [first_rows(operand[1 + i], result[1 + i], kernel[i], strides[i], options.padding) for i in range(2)]
        return lead_of_pixels(first, operand, result)
    if name == "FULLY_CONNECTED":
        # A row of the operand is read again for each unit.
        rows, units = int(np.prod(result[:-1])), result[-1]
        depth = int(np.prod(operand)) // rows
        return max(row * units + units - 1 - row * depth for row in range(rows))
    return None


def first_rows(extent, result, window, stride, padding):
    """The first row of the operand that the window of each row of the result reads."""
    before, _ = pads(extent, window, stride, padding)
    return [max(0, row * stride - before) for row in range(result)]


def lead_of_pixels(first, operand, result):
    """The lead in elements for windows that begin at these rows and columns."""
    rows, columns = first
    starts = np.array([[(row * operand[2] + column) * operand[3] for column in columns] for row in rows]).ravel()
    # A later window may begin before an earlier one: the first of the next row does.
    needed = np.minimum.accumulate(starts[::-1])[::-1]
    pixels = np.arange(len(needed))
    # Just before the last channel of a pixel is computed, all others of it are written.
    return int((pixels * result[3] + result[3] - 1 - needed).max())


def with_lead(data, bytes_before):
    """The file of one operator whose first result begins this many bytes before its first operand."""
    model = files.read(data)
    operator = model.subgraphs[0].operators[0]
    return with_shared(data, numbers(operator.inputs)[0], numbers(operator.outputs)[0], -bytes_before)


def rounded_lead(data):
    """The lead as a multiple of the alignment, or None."""
    found = lead(data)
    return None if found is None else rule.align(max(found, 0))


def chain_offsets(model):
    """Offsets of a model whose operators form a chain, with results over their operands as far as the leads allow.

    Tries each place of the input. Each result then goes where the head stays lowest, and among these to the highest.
    """
    graph = model.subgraphs[0]
    size = lambda tensor: rule.align(rule.tensor_bytes(graph.tensors[tensor]))
    steps = [(numbers(one.inputs)[0], numbers(one.outputs)[0], chain_lead(model, graph, one))
             for one in graph.operators]
    best = None
    for start in range(0, size(steps[0][0]) + sum(lead or 0 for *_, lead in steps) + 1, rule.ALIGNMENT):
        places = {steps[0][0]: start}
        head = start + size(steps[0][0])
        for operand, result, lead in steps:
            at, need = places[operand], size(result)
            choices = [at + size(operand)]
            if lead is not None:
                choices.append(at - lead)
            if need <= at:
                choices += [0, at - need]
            place = min((one for one in choices if one >= 0), key=lambda one: (max(head, one + need), -one))
            places[result], head = place, max(head, place + need)
        if best is None or head < best[0]:
            best = head, places
    return [best[1].get(tensor, rule.ONLINE) for tensor in range(len(graph.tensors))]


def chain_lead(model, graph, operator):
    """The rounded lead; 0 for an operator that is safe in place, and None for others."""
    if schema.operator_name(model, operator) in ("RESHAPE", "SOFTMAX"):
        return 0
    found = lead_of(model, graph, operator)
    return None if found is None else rule.align(max(found, 0))
