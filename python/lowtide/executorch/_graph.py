# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph of ExecuTorch before memory planning, as runs of operators and the storages that they read and write.

The graph has been through ExecuTorch's `to_out_var_pass`: each operator writes into results of `memory.alloc` nodes.
"""
from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from executorch.exir import memory
from executorch.exir.memory_planning import collect_specs_from_nodes, get_node_tensor_specs
from executorch.exir.operator.convert import get_out_args_from_opoverload, is_out_variant
from executorch.exir.schema import TensorShapeDynamism
from executorch.exir.tensor import TensorSpec
from torch.fx import GraphModule, Node

from .._schema import written_arguments


@dataclass
class Run:
    """One operator with the nodes that belong to it."""

    node: Node
    allocations: list[Node]
    """`memory.alloc` nodes before it."""
    reads: list[TensorSpec]
    """Storages, each once."""
    writes: list[TensorSpec]
    """Storages that it makes."""
    updates: list[TensorSpec]
    """Storages that it changes, such as those of mutable buffers."""


@dataclass
class RunGraph:
    """The runs of a graph, in their order."""

    runs: list[Run]
    names: list[Node]
    """Views and elements of tuples: other names of storages, which do no work."""
    inputs: list[TensorSpec]
    """Storages of placeholders without constants."""
    outputs: list[TensorSpec]
    sources: dict[Node, Node] = field(default_factory=dict)
    """The operator that writes into an allocation."""


def storage_of(spec: TensorSpec) -> TensorSpec:
    """The spec that has the bytes of this one. Views have their base."""
    while True:
        base = getattr(spec, "_base", None) if type(spec) is not TensorSpec else spec.storage_base
        if base is None:
            return spec
        spec = base


def is_planned(spec: TensorSpec) -> bool:
    """Whether memory planning gives it bytes: it is not a constant, and has an upper bound."""
    return not spec.const and spec.shape_dynamism != TensorShapeDynamism.DYNAMIC_UNBOUND


def runs_of(graph_module: GraphModule) -> RunGraph:
    """Reads a graph."""
    graph = RunGraph([], [], [], [])
    # Results of operators in place get the spec of what they update.
    list(collect_specs_from_nodes(graph_module.graph.nodes, do_assertion=False))
    for node in graph_module.graph.nodes:
        for allocation in _allocations_of(node):
            graph.sources[allocation] = node
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            graph.inputs += [spec for spec in get_node_tensor_specs(node) if not spec.const]
        elif node.op == "output":
            graph.outputs = list(_unique(storage_of(spec) for source in node.all_input_nodes
                                         for spec in specs_of(source, graph.sources)))
        elif node.op == "call_function" and node.target in (memory.view, operator.getitem):
            graph.names.append(node)
        elif node.op == "call_function" and node not in graph.sources:
            graph.runs.append(_run_of(node, graph.sources))
    return graph


def specs_of(node: Node, sources: dict[Node, Node]) -> list[TensorSpec]:
    """The specs of a node. Elements of allocations have those of the operator that writes them."""
    if node.target is operator.getitem and node.args[0] in sources:
        return [sources[node.args[0]].meta["spec"][node.args[1]]]
    if node in sources:
        node = sources[node]
    spec = node.meta.get("spec")
    specs = spec if isinstance(spec, (list, tuple)) else [spec]
    return [one for one in specs if isinstance(one, TensorSpec)]


def _run_of(node: Node, sources: dict[Node, Node]) -> Run:
    allocations = _allocations_of(node)
    read = [one for one in node.all_input_nodes if one not in allocations]
    reads = list(_unique(storage_of(spec) for one in read for spec in specs_of(one, sources)))
    updates = list(_unique(storage_of(spec) for one in _updated(node) for spec in specs_of(one, sources)))
    kept = {id(one) for one in (*reads, *updates)}
    writes = [one for one in _unique(storage_of(spec) for spec in specs_of(node, sources)) if id(one) not in kept]
    return Run(node, allocations, reads, writes, updates)


def _allocations_of(node: Node) -> list[Node]:
    """The allocations that an operator writes into."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return []
    if not is_out_variant(node.target._schema.name, node.target._schema.overload_name):
        return []
    given = [node.kwargs.get(name) for name in get_out_args_from_opoverload(node.target)]
    return [one for one in given if isinstance(one, Node) and one.target is memory.alloc]


def _updated(node: Node) -> list[Node]:
    """The arguments that an operator changes, without those that only have its result."""
    return written_arguments(node, without=get_out_args_from_opoverload(node.target) if _allocations_of(node) else ())


def _unique(specs: Iterator[TensorSpec]) -> Iterator[TensorSpec]:
    return iter({id(spec): spec for spec in specs}.values())
