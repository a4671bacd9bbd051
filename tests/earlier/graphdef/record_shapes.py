#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Records the shapes that TensorFlow infers in training graphs and for single operators.

usage: record_shapes.py FILE

Needs the packages of tests/earlier/grappler/requirements.txt. scripts/record_shapes calls it in an environment of its
own.

FILE has blocks of lines. The first line of a block says where the graph is from, and each other line is a node:

    graph TITLE
    NAME OP INPUT... KEY=VALUE... > TYPE:SHAPE...

Values are a number, a list [1,2], a text "x", a shape 1x2, a type #1, true, false, or a tensor @2:1,2 with the
extents before the colon. The numbers of a tensor are left out if they decide no shape, and so are attributes with a
default value and those that decide no shape. TYPE is the number of a DataType. An unknown extent in SHAPE is -1, and
an unknown shape ?. Small integers that a run of the graph gives follow their shape, as =1,2.
"""
import os
import random
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import meta_graph

from integer_programs import INTEGER_CASES, integer_program
from operator_cases import CASES
from training_graphs import NETWORKS, training_graph

tf1 = tf.compat.v1
BATCH = 4
MOST_NUMBERS = 64
CASES_OF_EACH = 5
PROGRAMS = 80
IGNORED = {"T_threshold", "container", "shared_name", "seed", "seed2", "use_locking", "use_nesterov", "Tmultiples",
           "Tperm", "Tpaddings", "Tshape", "Tdim", "Tdims", "TI", "index_type", "Index", "Tindices", "Taxis", "Tlen",
           "Tlabels", "SrcT", "Truncate", "validate_shape", "debug_name", "allowed_devices", "half_pixel_centers"}


def shown_value(value):
    kind = value.WhichOneof("value")
    if kind == "type":
        return f"#{value.type}"
    if kind == "b":
        return "true" if value.b else "false"
    if kind == "s":
        return f'"{value.s.decode()}"'
    if kind == "i":
        return str(value.i)
    if kind == "shape":
        return None if value.shape.unknown_rank else "x".join(str(dim.size) for dim in value.shape.dim)
    if kind == "list":
        numbers = [*map(str, value.list.i), *(f"#{one}" for one in value.list.type)]
        return "[" + ",".join(numbers) + "]" if numbers else None
    if kind == "tensor":
        array = tf.make_ndarray(value.tensor)
        extents = "x".join(map(str, array.shape))
        is_short = array.dtype in (np.int32, np.int64) and array.size <= MOST_NUMBERS
        return f"@{extents}:{','.join(map(str, array.flatten())) if is_short else ''}"
    return None


def shown_output(output, content):
    shape = output.shape
    extents = "?" if shape.rank is None else "x".join(str(-1 if one is None else one) for one in shape.as_list())
    numbers = "" if content is None else "=" + ",".join(map(str, content.flatten()))
    return f"{output.dtype.base_dtype.as_datatype_enum}:{extents}{numbers}"


def line_of(node, numbers, operation, contents):
    inputs = []
    for one in node.input:
        name, _, port = one.lstrip("^").partition(":")
        inputs.append(("^" if one.startswith("^") else "") + numbers[name] + (f":{port}" if port else ""))
    attributes = [f"{key}={shown_value(node.attr[key])}" for key in sorted(node.attr)
                  if key not in IGNORED and not key.startswith("_") and shown_value(node.attr[key]) is not None]
    outputs = [shown_output(one, contents.get(one.name)) for one in operation.outputs]
    return " ".join([numbers[node.name], node.op, *inputs, *attributes, ">", *outputs])


def contents_of(graph):
    """The small integers of a graph, with inputs of zeros."""
    wanted = [one for operation in graph.get_operations() for one in operation.outputs
              if one.dtype in (tf.int32, tf.int64) and operation.type not in ("Const", "Placeholder")]
    with tf1.Session(graph=graph) as session:
        feeds = {operation.outputs[0]: np.zeros(operation.outputs[0].shape, operation.outputs[0].dtype.as_numpy_dtype)
                 for operation in graph.get_operations() if operation.type == "Placeholder"}
        arrays = session.run(wanted, feeds)
    return {one.name: array for one, array in zip(wanted, arrays) if array.size <= MOST_NUMBERS}


def record(title, graphdef, is_run):
    """The lines of a graph. Its shapes are those that TensorFlow infers for the graph as a file."""
    stripped = tf1.GraphDef()
    stripped.CopyFrom(graphdef)
    meta = tf1.MetaGraphDef(graph_def=stripped)
    meta_graph.strip_graph_default_valued_attrs(meta)
    graph = tf.Graph()
    with graph.as_default():
        tf1.import_graph_def(meta.graph_def, name="")
    contents = contents_of(graph) if is_run else {}
    numbers = {node.name: f"n{at}" for at, node in enumerate(meta.graph_def.node)}
    return [f"graph {title}", *(line_of(node, numbers, graph.get_operation_by_name(node.name), contents)
                                for node in meta.graph_def.node)]


def with_batch(graphdef, batch):
    """The same graph for one batch."""
    for node in graphdef.node:
        if node.op == "Placeholder" and node.attr["shape"].shape.dim[0].size == -1:
            node.attr["shape"].shape.dim[0].size = batch
    return graphdef


def training_blocks():
    """Each network for any batch, and a third of them for a fixed one, of which TensorFlow computes shapes at once."""
    for at, (network, optimizer, is_clipped) in enumerate(NETWORKS):
        for batch in (None, BATCH) if at % 3 == 0 else (None,):
            uses_resources = (at + (batch is None)) % 2 == 0
            graphdef = training_graph(network, optimizer, is_clipped, batch, uses_resources)
            kind = f"{'resources' if uses_resources else 'references'} {'any' if batch is None else 'fixed'}-batch"
            yield record(f"training {network.__name__} {optimizer.__name__} {kind}", with_batch(graphdef, BATCH), False)


def built(make, chance):
    """The GraphDef of a case, or None if TensorFlow finds an error in it."""
    graph = tf.Graph()
    with graph.as_default():
        try:
            make(chance)
        except (ValueError, tf.errors.InvalidArgumentError):
            return None
    return graph.as_graph_def()


def case_blocks(make, is_run):
    """Graphs of a case that TensorFlow does not refuse."""
    count = 0
    for seed in range(1000):
        graphdef = built(make, random.Random(f"{make.__name__} {seed}"))
        if graphdef is not None:
            yield record(f"operator {make.__name__} {seed}", graphdef, is_run)
            count += 1
        if count == CASES_OF_EACH:
            return
    raise SystemExit(f"{make.__name__}: only {count} cases without an error")


def program_blocks():
    for seed in range(PROGRAMS):
        yield record(f"integers {seed}", built(integer_program, random.Random(seed)), True)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    tf1.disable_v2_behavior()
    blocks = [*training_blocks(), *program_blocks()]
    for cases, is_run in ((CASES, False), (INTEGER_CASES, True)):
        blocks += [block for make in cases for block in case_blocks(make, is_run)]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(line for block in blocks for line in block) + "\n")
    print(f"{len(blocks)} graphs with {sum(len(block) - 1 for block in blocks)} nodes")


if __name__ == "__main__":
    main()
