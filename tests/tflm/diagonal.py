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
    elements = lead_elements(model, graph)
    width = schema.ELEMENT_BYTES[graph.tensors[numbers(graph.operators[0].outputs)[0]].type]
    return None if elements is None else elements * width


def lead_elements(model, graph):
    """The lead in elements. Operand and result have one type."""
    operator = graph.operators[0]
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
