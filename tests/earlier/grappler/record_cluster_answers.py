#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Records what the MemoryOptimizer of TensorFlow makes of graphs on devices with little memory.

usage: record_cluster_answers.py FILE

Needs the packages of requirements.txt beside it. scripts/record_grappler calls it in an environment of its own.

FILE has blocks of lines:

    graph LEVEL FETCH...
    device NAME TYPE MEMORY CORES FREQUENCY BANDWIDTH ARCHITECTURE
    node NAME OP DEVICE INPUT... KEY=VALUE...
    peak DEVICE BYTES NODE:PORT:BYTES:BEGIN:END...
    cost NODE MICROSECONDS
    answer
    node ...

`peak` is what TensorFlow's simulation finds for the graph, with the tensors that are live then. `cost` is how long a
node runs; only graphs for level manual have it. The nodes behind `answer` are those that differ from the graph. A
missing device or architecture is -. Values are a number, a list [1,2], a text "x", a shape 1x2, a type #1, true or
false.

The MemoryOptimizer goes through hash tables of addresses, so some answers change from process to process. Those that
differ between several processes, whose nodes have paddings of other lengths, are left out.
"""
import json
import os
import random
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.core.framework import graph_pb2, tensor_shape_pb2, types_pb2
from tensorflow.core.protobuf import device_properties_pb2
from tensorflow.python.grappler import cluster as tf_cluster
from tensorflow.python.grappler import item as tf_item

from cluster_graphs import Shape, Type, cases
from rewriting import meta_graph_of, rewrite

ENOUGH = 1 << 50
PADDING = "_padding"
PROCESSES = 24


def set_attribute(attribute, key, value):
    if key == "value":
        values = value if isinstance(value, tuple) else (value,)
        attribute.tensor.dtype = types_pb2.DT_INT32
        attribute.tensor.tensor_shape.SetInParent()
        if isinstance(value, tuple):
            attribute.tensor.tensor_shape.dim.add(size=len(value))
        attribute.tensor.int_val.extend(values)
    elif isinstance(value, Shape):
        attribute.shape.CopyFrom(tensor_shape_pb2.TensorShapeProto(
            dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=one) for one in value]))
    elif isinstance(value, Type):
        attribute.type = value
    elif isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    elif isinstance(value, float):
        attribute.f = value
    elif isinstance(value, str):
        attribute.s = value.encode()
    else:
        attribute.list.i.extend(value)


def graphdef_of(nodes, chance):
    """The graph, with attributes that mean nothing, so that nodes have addresses at other distances."""
    graph = graph_pb2.GraphDef()
    for name, op, device, inputs, attributes in nodes:
        one = graph.node.add(name=name, op=op, device=device, input=inputs)
        for number in range(chance.randint(0, 5)):
            one.attr[f"{PADDING}{number}"].s = b"x" * chance.randint(1, 100)
        for key, value in attributes.items():
            set_attribute(one.attr[key], key, value)
    return graph


def cluster_of(devices, memory=None):
    named = []
    for name, kind, bytes_, cores, frequency, bandwidth, architecture in devices:
        one = device_properties_pb2.NamedDevice(name=name)
        properties = one.properties
        properties.type, properties.num_cores, properties.frequency = kind, cores, frequency
        properties.bandwidth, properties.memory_size = bandwidth, bytes_ if memory is None else memory
        if architecture != "-":
            properties.environment["architecture"] = architecture
        named.append(one)
    return tf_cluster.Cluster(devices=named)


def shown_value(value):
    kind = value.WhichOneof("value")
    if kind == "type":
        return f"#{value.type}"
    if kind == "b":
        return "true" if value.b else "false"
    if kind == "shape":
        return "?" if value.shape.unknown_rank else "x".join(str(dim.size) for dim in value.shape.dim) or "scalar"
    if kind == "s":
        return f'"{value.s.decode()}"'
    if kind == "list":
        texts = [f'"{one.decode()}"' for one in value.list.s]
        return "[" + ",".join([*map(str, value.list.i), *texts]) + "]"
    if kind == "tensor":
        extents = [dim.size for dim in value.tensor.tensor_shape.dim]
        return f"@{'x'.join(map(str, extents)) or 'scalar'}:{','.join(map(str, value.tensor.int_val))}"
    return str(getattr(value, kind)) if kind else "none"


def line_of(one, known=None):
    """A line of a node. TensorFlow adds default values to the attributes of nodes that it `known` before."""
    before = known.get(one.name) if known else None
    is_same = before is not None and before.op == one.op
    attributes = [f"{key}={shown_value(before.attr[key] if key == 'value' and is_same else one.attr[key])}"
                  for key in sorted(one.attr)
                  if not key.startswith(PADDING) and (not is_same or key in before.attr or key.startswith("_"))]
    return " ".join(["node", one.name, one.op, one.device or "-", *one.input, *attributes])


def peaks_of(graph, fetches, devices):
    item = tf_item.Item(meta_graph_of(graph, fetches))
    found = cluster_of(devices, ENOUGH).DeterminePeakMemoryUsage(item)
    return {name: peak for name, peak in found.items() if name in {device[0] for device in devices}}


def costs_of(graph, fetches, devices):
    item = tf_item.Item(meta_graph_of(graph, fetches))
    performance, _, _ = cluster_of(devices, ENOUGH).MeasureCosts(item)
    names = {one.name for one in graph.node}
    return {one.node: one.compute_cost // 1000 for one in performance if one.node in names}


def forgets_extents(graph, fetches):
    """Whether TensorFlow forgets the shape of a variable: it may, when it equates an extent with an unknown one."""
    properties = tf_item.Item(meta_graph_of(graph, fetches)).GetOpProperties()
    variables = [one.name for one in graph.node if one.op == "VariableV2"]
    return any(dim.size < 0 for name in variables for one in properties.get(name, []) for dim in one.shape.dim)


def record(level, fetches, devices, nodes, chance):
    """The lines of a block, or none if TensorFlow forgets what the graph says."""
    graph = graphdef_of(nodes, chance)
    if forgets_extents(graph, fetches):
        return []
    if level == "heuristics":  # which sorts the nodes before it looks at shapes
        sorted_graph = rewrite(graph, fetches, "recomputation", cluster=cluster_of(devices, ENOUGH))
        if forgets_extents(sorted_graph, fetches):
            return []
    peaks = peaks_of(graph, fetches, devices)
    for device in devices:
        if isinstance(device[2], float):
            device[2] = int(device[2] * peaks.get(device[0], (0,))[0])
    before = [line_of(one) for one in graph.node]
    known = {one.name: one for one in graph.node}
    after = sorted(line_of(one, known) for one in rewrite(graph, fetches, level, cluster=cluster_of(devices)).node)
    lines = [" ".join(["graph", level, *fetches])]
    lines += [" ".join(["device", *map(str, device)]) for device in devices]
    lines += before
    for name, (bytes_, live) in sorted(peaks.items()):
        lines.append(" ".join(["peak", name, str(bytes_), *sorted(":".join(map(str, one)) for one in live)]))
    if level == "manual":
        lines += [f"cost {name} {cost}" for name, cost in sorted(costs_of(graph, fetches, devices).items())]
    return [*lines, "answer", *(line for line in after if line not in before)]


def print_blocks(start, process):
    chance = random.Random(process)
    for at, case in enumerate(cases()):
        if at >= start:
            print(json.dumps(record(*case, chance)), flush=True)


def blocks_of_process(process):
    """The block of each case. TensorFlow crashes with some graphs; these have None."""
    blocks = []
    while True:
        done = subprocess.run([sys.executable, __file__, "--print", str(len(blocks)), str(process)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        blocks += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        if done.returncode == 0:
            return blocks
        blocks.append(None)


def main():
    if sys.argv[1:2] == ["--print"]:
        print_blocks(int(sys.argv[2]), int(sys.argv[3]))
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    answers = list(zip(*map(blocks_of_process, range(PROCESSES))))
    crashes = sum(None in one for one in answers)
    steady = [one[0] for one in answers if None not in one and all(block == one[0] for block in one)]
    kept = [block for block in steady if block]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(line for block in kept for line in block) + "\n")
    print(f"{len(kept)} answers. {len(answers) - len(steady) - crashes} are left out that differ between {PROCESSES} "
          f"processes, {len(steady) - len(kept)} for which TensorFlow forgets the shape of a variable, and {crashes} "
          "with which it crashes.")


if __name__ == "__main__":
    main()
