# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds what another runtime must take over from a run before integers of both can be compared.

TopK and NonMaxSuppression order scores. Two runtimes that add in different orders can get scores that differ in their
last bits, and order them in two ways. Neither is wrong, but all that is gathered by these indices then differs. So the
other runtime continues from the floats of the first one where integers differ, and must then get equal integers.
"""
import onnx


def read_by(node):
    """The names that a node reads, or that a node of its subgraphs reads."""
    names, left = [], [node]
    while left:
        one = left.pop()
        names += [name for name in one.input if name]
        left += [inner for attribute in one.attribute for graph in (attribute.g, *attribute.graphs)
                 for inner in graph.node]
    return names


def sources_of(graph, names):
    """What the nodes that compute these names read."""
    return {read for node in graph.node if set(node.output) & names for read in read_by(node)}


def start_from(model, values):
    """The model with these tensors as inputs, after its own inputs. Their nodes write to other names."""
    for node in model.graph.node:
        for at, name in enumerate(node.output):
            if name in values:
                node.output[at] = f"{name}/replaced"
    for name, value in values.items():
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        model.graph.input.append(onnx.helper.make_tensor_value_info(name, kind, value.shape))
    return model
