# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the operators of an ExecuTorch graph."""
from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir.delegate import executorch_call_delegate
from torch.fx import GraphModule, Node

from .._ordering import order
from ._graph import RunGraph, is_planned, runs_of


@dataclass(frozen=True)
class GraphOrder:
    """The order of a graph. All peaks are bytes that are live at the same time, without mutable buffers."""

    peak: int
    peak_as_given: int
    bound: int
    """No order has a lower peak."""
    moved: bool
    """Whether the graph has a new order. It is left as it is if none was found that is better."""


def order_graph(graph_module: GraphModule, *, inputs: bool = True, outputs: bool = True,
                effort: int | None = None) -> GraphOrder:
    """Orders the operators of a graph for the lowest peak, right before ExecuTorch plans its memory.

    `PlanningPass` does this. Operators with random results and delegates keep their order among each other, and so do
    reads and updates of the same bytes. A graph with branches or loops is left as it is: ExecuTorch leaves their
    results in bytes that the next branch or loop overwrites.

    Args:
        inputs, outputs: whether the inputs and outputs of the graph are planned. Otherwise the caller has them.
        effort: work units of the search.
    """
    graph = runs_of(graph_module)
    if not graph.runs:
        return GraphOrder(0, 0, 0, False)
    # Mutable buffers are live at all times.
    elsewhere = {id(spec) for run in graph.runs for spec in run.updates}
    elsewhere |= set() if inputs else {id(spec) for spec in graph.inputs}
    elsewhere |= set() if outputs else {id(spec) for spec in graph.outputs}
    found = order(_problem_of(graph, elsewhere), effort=effort)
    has_bodies = any(isinstance(run.node.target, torch._ops.HigherOrderOperator)
                     and run.node.target is not executorch_call_delegate for run in graph.runs)
    moved = found.peak < found.peak_as_given and not has_bodies
    if moved:
        _move(graph_module, graph, [int(at) - 1 for at in found.order if at > 0])
    return GraphOrder(found.peak if moved else found.peak_as_given, found.peak_as_given, found.bound, moved)


def _problem_of(graph: RunGraph, elsewhere: Set[int]) -> dict[str, Any]:
    """In the form of docs/order-format.md. Node 0 makes the inputs, and node i + 1 is run i.

    Specs whose id is in `elsewhere` take no space.
    """
    made: dict[int, list[int]] = {}
    nodes: list[dict[str, Any]] = []
    for node, specs in enumerate([graph.inputs, *(run.writes for run in graph.runs)]):
        # An operator without tensors has one result of 0 bytes, because a node has one.
        sizes = [int(spec.allocated_memory) if is_planned(spec) and id(spec) not in elsewhere else 0 for spec in specs]
        nodes.append({"outputs": [{"bytes": size} for size in sizes or [0]]})
        made.update((id(spec), [node, at]) for at, spec in enumerate(specs))
    edges = [[made[id(spec)], at + 1] for at, run in enumerate(graph.runs)
             for spec in (*run.reads, *run.updates) if id(spec) in made]
    outputs = [made[id(spec)] for spec in graph.outputs if id(spec) in made]
    return {"nodes": nodes, "edges": edges, "outputs": outputs, "before": _pairs(graph)}


def _pairs(graph: RunGraph) -> list[list[int]]:
    """The pairs of nodes whose order stays, in addition to those that the bytes decide."""
    numbers = {run.node: at + 1 for at, run in enumerate(graph.runs)}
    pairs = [[0, number] for number in numbers.values()]
    for user in numbers:  # values without bytes, such as extents, and allocations of several tensors
        pairs += [[source, numbers[user]] for source in _sources_of(user, numbers, graph) if source != numbers[user]]
    fixed = [at + 1 for at, run in enumerate(graph.runs) if _keeps_place(run.node)]
    pairs += [list(pair) for pair in zip(fixed, fixed[1:])]
    updated = {id(spec) for run in graph.runs for spec in run.updates}
    last_update: dict[int, int] = {}
    reads_since: dict[int, list[int]] = {}
    for at, run in enumerate(graph.runs):
        for spec in run.reads:
            if id(spec) in updated:
                pairs += [[last_update[id(spec)], at + 1]] if id(spec) in last_update else []
                reads_since.setdefault(id(spec), []).append(at + 1)
        for spec in run.updates:
            pairs += [[earlier, at + 1] for earlier in reads_since.pop(id(spec), []) if earlier != at + 1]
            pairs += [[last_update[id(spec)], at + 1]] if id(spec) in last_update else []
            last_update[id(spec)] = at + 1
    return pairs


def _sources_of(user: Node, numbers: dict[Node, int], graph: RunGraph) -> list[int]:
    """The runs whose results a run names, also through views and elements."""
    found, waiting, seen = [], list(user.all_input_nodes), set()
    while waiting:
        node = waiting.pop()
        node = graph.sources.get(node, node)
        if node in seen or node is user:
            continue
        seen.add(node)
        if node in numbers:
            found.append(numbers[node])
        elif node.op == "call_function":
            waiting += node.all_input_nodes
    return found


def _keeps_place(node: Node) -> bool:
    """Whether the operator does more than computing its results from its operands, as far as can be known."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return isinstance(target, torch._ops.HigherOrderOperator)
    packet = target.overloadpacket
    is_random = any(torch.Tag.nondeterministic_seeded in getattr(packet, name).tags for name in packet.overloads())
    return is_random or not target._schema.returns


def _move(graph_module: GraphModule, graph: RunGraph, runs: Sequence[int]) -> None:
    """Moves the nodes before the output, in this order of runs. A name follows the last node that it needs."""
    nodes = graph_module.graph.nodes
    output = next(node for node in nodes if node.op == "output")
    moving = {node for run in graph.runs for node in (run.node, *run.allocations)} | set(graph.names)
    missing: dict[Node, set[Node]] = {}  # what a name needs and is not there yet
    names_of: dict[Node, list[Node]] = {}
    for name in graph.names:
        missing[name] = {graph.sources.get(one, one) for one in name.all_input_nodes} & moving
        for source in missing[name]:
            names_of.setdefault(source, []).append(name)
    ready = [name for name in graph.names if not missing[name]]

    def place(node: Node) -> None:
        output.prepend(node)
        for name in names_of.get(node, []):
            missing[name].remove(node)
            if not missing[name]:
                place(name)

    for name in ready:
        place(name)
    for at in runs:
        for node in (*graph.runs[at].allocations, graph.runs[at].node):
            place(node)
    graph_module.graph.lint()
    graph_module.recompile()
