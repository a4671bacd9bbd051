#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the graph of a training step as an ordering problem with costs (docs/order-format.md).

    bench/training_graph.py NODES FILE [--seed SEED]

The forward half has residual blocks: convolution, normalization, activation, twice, and an addition of the block's
input. Some blocks are two branches. The backward half mirrors it: the gradient of a node reads the gradients of its
readers, and what the node read or made in the forward half. Sizes and costs are drawn from the seed, in stages as in
real networks: later stages have smaller outputs.
"""
import argparse
import json
import pathlib
import random

# Operator: relative cost, and whether its gradient reads its inputs or its output.
OPERATORS = {"conv": (40, "inputs"), "norm": (4, "inputs"), "act": (1, "output"), "add": (1, None)}
STAGES = 5


class Network:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.nodes, self.reads, self.operators = [], [], []

    def node(self, operator, size, reads):
        cost = OPERATORS[operator][0] * self.draw.randrange(80, 120)
        self.nodes.append({"bytes": size * self.draw.randrange(3, 6), "cost": cost})
        self.reads.append(reads)
        self.operators.append(operator)
        return len(self.nodes) - 1

    def chain(self, size, last):
        for operator in ("conv", "norm", "act"):
            last = self.node(operator, size, [last] if last is not None else [])
        return last

    def block(self, size, last):
        left = self.chain(size, self.chain(size, last))
        right = self.chain(size, last) if self.draw.random() < 0.2 else last
        return self.node("add", size, [left, right])

    def forward(self, count):
        last = self.chain(2**20, None)
        while len(self.nodes) < count:
            stage = STAGES * len(self.nodes) // count
            last = self.block(2 ** (20 - stage), last)

    def backward(self):
        forward = len(self.nodes)
        readers = [[] for _ in range(forward)]
        for node, reads in enumerate(self.reads):
            for source in reads:
                readers[source].append(node)
        gradient = {}
        for node in reversed(range(forward)):
            reads = [gradient[reader] for reader in readers[node]]
            saved = OPERATORS[self.operators[node]][1]
            reads += self.reads[node] if saved == "inputs" else [node] if saved == "output" else []
            gradient[node] = len(self.nodes)
            self.nodes.append({"bytes": self.nodes[node]["bytes"], "cost": 2 * self.nodes[node]["cost"]})
            self.reads.append(reads)


def training_graph(nodes, seed):
    network = Network(seed)
    network.forward(nodes // 2)
    network.backward()
    edges = [[source, node] for node, reads in enumerate(network.reads) for source in reads]
    return {"name": f"training_{nodes}", "nodes": network.nodes, "edges": edges}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.file.write_text(json.dumps(training_graph(given.nodes, given.seed)), encoding="utf-8")


if __name__ == "__main__":
    main()
