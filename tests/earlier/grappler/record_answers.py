#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Records what the MemoryOptimizer of TensorFlow makes of random graphs and of those of its own tests.

usage: record_answers.py FILE

Needs the packages of requirements.txt beside it. scripts/record_grappler calls it in an environment of its own.

FILE has blocks of lines. A block begins with `graph LEVEL SCOPE`, where - is the default scope, and has one line for
each node of the graph, a line `answer`, and one line for each node of the answer that differs from the graph:

    NAME OP DEVICE INPUT... _ATTRIBUTE...

A missing device is -. Attributes are those that begin with _, without their values; inputs never do. Other attributes
do not decide what the MemoryOptimizer does where memory suffices. Nodes are compared by name: TensorFlow sorts them
once more in the end.

The MemoryOptimizer goes through hash tables of addresses, so some answers change from process to process. Those that
differ between several processes are left out.
"""
import json
import os
import random
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.core.framework import graph_pb2, types_pb2

from rewriting import LEVELS, rewrite

HINT = "_recompute_hint"
RELAXED = "_grappler_relax_allocator_constraints"
RANDOM_GRAPHS = 550
PROCESSES = 8

# (name, op, device, inputs, attributes)
HAND_MADE = [
    ("manual", "-", [("a", "VariableV2", "", [], []), ("b", "Identity", "", ["a"], [HINT]),
                     ("c", "Identity", "", ["b"], []), ("gradients/d", "AddN", "", ["c"], []),
                     ("gradients/e", "AddN", "", ["gradients/d", "b"], []),
                     ("gradients/f", "AddN", "", ["gradients/e", "a"], [])]),
    ("manual", "some_name_scope/gradients",
     [("a", "VariableV2", "", [], [HINT]), ("b", "VariableV2", "", [], [HINT]),
      ("some_name_scope/gradients/two_subgraph_inputs", "AddN", "", ["a", "b"], [])]),
    ("recomputation", "-",
     [("Conv", "Conv2D", "", [], []), ("BN", "FusedBatchNorm", "", ["Conv"], []), ("ReLU", "Relu", "", ["BN"], []),
      ("Conv1", "Conv2D", "", ["ReLU"], []), ("gradients/BN1Grad", "FusedBatchNormGrad", "", ["Conv1"], []),
      ("gradients/Conv1Grad", "Conv2DBackpropFilter", "", ["gradients/BN1Grad", "ReLU"], []),
      ("gradients/ReLUGrad", "ReluGrad", "", ["gradients/Conv1Grad", "ReLU"], []),
      ("gradients/BNGrad", "FusedBatchNormGrad", "", ["gradients/ReLUGrad", "Conv"], []),
      ("gradients/ConvGrad", "Conv2DBackpropFilter", "", ["gradients/BNGrad"], [])]),
]
for _devices in (("/cpu:0",) * 3, ("/cpu:0", "/gpu:0", "/cpu:0"), ("/cpu:0", "/cpu:1", "/cpu:0")):
    HAND_MADE.append(("default", "-", [("v", "VariableV2", _devices[0], [], []), ("x", "Const", _devices[0], [], []),
                                       ("assign", "Assign", _devices[0], ["v", "x"], []),
                                       ("exp", "Exp", _devices[1], ["assign"], []),
                                       ("assign1", "Assign", _devices[2], ["exp", "x"], [])]))

SOURCES = ("VariableV2", "Const", "Conv2D", "Placeholder")
FORWARD = ("Relu", "Mul", "Add", "Conv2D", "FusedBatchNorm", "Sqrt", "LeakyRelu", "Identity", "Transpose", "MatMul",
           "Switch")
DEVICES = ("/cpu:0", "/gpu:0", "/cpu:1", "/job:worker/replica:0/task:1/device:CPU:0", "/job:worker/task:0/device:GPU:1")


def random_input(chance, nodes):
    name = chance.choice(nodes)[0]
    return name + chance.choice(("", "", "", "", "", ":1", ":0"))


def random_graph(chance):
    """A graph of forward nodes and then of nodes that may be gradients, as a list of nodes in a random order."""
    scope = chance.choice(("gradients/", "gradients/", "tower/gradients/", "other/"))
    devices = [""] if chance.random() < 0.5 else chance.sample(DEVICES, chance.randint(1, 3))
    nodes = []
    for at in range(chance.randint(1, 3)):
        hints = [HINT] if chance.random() < 0.15 else []
        nodes.append((f"s{at}", chance.choice(SOURCES), chance.choice(devices), [], hints))
    for at in range(chance.randint(2, 10)):
        inputs = [random_input(chance, nodes[-4:]) for _ in range(chance.randint(1, 2))]
        if chance.random() < 0.1:
            inputs.append("^" + chance.choice(nodes)[0])
        op = "Assign" if chance.random() < 0.12 else chance.choice(FORWARD)
        nodes.append((f"f{at}", op, chance.choice(devices), inputs, [HINT] if chance.random() < 0.3 else []))
    for at in range(chance.randint(1, 8)):
        inputs = [random_input(chance, nodes) for _ in range(chance.randint(1, 3))]
        if chance.random() < 0.15:
            inputs.append("^" + chance.choice(nodes)[0])
        name = (scope if chance.random() < 0.85 else "update/") + f"g{at}"
        op = "_Send" if chance.random() < 0.05 else chance.choice(FORWARD)
        nodes.append((name, op, chance.choice(devices), inputs, [HINT] if chance.random() < 0.1 else []))
    chance.shuffle(nodes)
    return nodes


def graphdef_of(nodes):
    graph = graph_pb2.GraphDef()
    for name, op, device, inputs, attributes in nodes:
        node = graph.node.add(name=name, op=op, device=device, input=inputs)
        for attribute in attributes:
            node.attr[attribute].b = True
        if op == "Placeholder":
            node.attr["dtype"].type = types_pb2.DT_FLOAT
            node.attr["shape"].shape.dim.add(size=4)
    return graph


def line_of(node):
    attributes = sorted(key for key in node.attr if key.startswith("_"))
    return " ".join([node.name, node.op, node.device or "-", *node.input, *attributes])


def record(level, scope, nodes):
    graph = graphdef_of(nodes)
    before = [line_of(node) for node in graph.node]
    # The last node is fetched. Without a fetch, the passes that look at the memory of devices do not run.
    after = sorted(line_of(node) for node in rewrite(graph, [graph.node[-1].name], level, scope).node)
    return [f"graph {level} {scope}", *before, "answer", *(line for line in after if line not in before)]


def blocks():
    """All graphs with their answers."""
    found = [record(level, scope, nodes) for level, scope, nodes in HAND_MADE]
    for seed in range(RANDOM_GRAPHS):
        chance = random.Random(seed)
        nodes = random_graph(chance)
        scope = chance.choice(("-", "-", "-", "other/", "gradients/"))
        level = list(LEVELS)[seed // 3 % len(LEVELS)] if seed % 3 == 0 else ("manual", "recomputation")[seed % 2]
        found.append(record(level, scope, nodes))
    return found


def blocks_of_process(_):
    done = subprocess.run([sys.executable, __file__, "--print"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    if sys.argv[1:] == ["--print"]:
        print(json.dumps(blocks()))
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    answers = list(zip(*map(blocks_of_process, range(PROCESSES))))
    steady = [one[0] for one in answers if all(block == one[0] for block in one)]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(line for block in steady for line in block) + "\n")
    print(f"{len(steady)} answers; {len(answers) - len(steady)} differ between {PROCESSES} processes and are left out")


if __name__ == "__main__":
    main()
