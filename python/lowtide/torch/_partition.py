# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A sequence of both passes as two programs: what runs before the boundary, and what runs behind it."""
from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Graph, GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes

from ._joint import Joint, JointProblem
from ._problem import UnitCost
from ._profile import measured_costs
from ._program import UpdateCall, enter_state, generator_state, program_of


def backward_begins(*_results: torch.Tensor) -> None:
    """Marks a place in a program, where the results of the forward pass have these names."""


def program_of_joint(joint: Joint, problem: JointProblem, sequence: Sequence[int]) -> GraphModule:
    """Both passes as one program, with the mark of the boundary inside."""
    program = program_of(joint.graph, problem.units, [UpdateCall(backward_begins, tuple(joint.results))], sequence,
                         [*joint.results, *joint.gradients])
    _complete_values(program.graph, problem.device.state_bytes)
    return program


def _complete_values(graph: Graph, size: int) -> None:
    """States of the generator are tensors without a node in the captured graph."""
    modes = [value.fake_mode for one in graph.find_nodes(op="placeholder")
             if (value := one.meta.get("val")) is not None and hasattr(value, "fake_mode")]
    for node in graph.nodes:
        if node.target in (generator_state, enter_state):
            with modes[0]:
                node.meta["val"] = torch.empty(size, dtype=torch.uint8)


def halves(program: GraphModule, count: int, tangents: Set[str]) -> tuple[GraphModule, GraphModule]:
    """Splits a program at its mark.

    Args:
        count: of results of the forward pass; the other results of the program are gradients.
        tangents: the names of placeholders that only the backward pass has.

    Returns:
        The forward pass, which returns its results and then what the backward pass needs, and the backward pass, which
        takes that and the tangents.
    """
    nodes = list(program.graph.nodes)
    at = next(at for at, node in enumerate(nodes) if node.target is backward_begins)
    results, gradients = nodes[at].args, list(nodes[-1].args[0])[count:]
    given = [node for node in nodes if node.op == "placeholder" and node.name in tangents]
    first = [node for node in nodes[:at] if node.op != "placeholder" or node.name not in tangents]
    second = nodes[at + 1:-1]
    saved = _saved(first, second, gradients)
    forward = _copied(program, [], first, [*results, *saved])
    constants = [node for node in first if node.op == "get_attr"]
    backward = _copied(program, [*saved, *given], [*constants, *second], gradients)
    return forward, backward


def _saved(first: Sequence[Node], second: Sequence[Node], gradients: Sequence[Node | None]) -> list[Node]:
    """What the second half reads of the first one. Tensors that autograd does not watch come last."""
    read = {one for node in second for one in node.all_input_nodes}
    read.update(one for one in gradients if one is not None)
    found = [node for node in first if node in read and node.op != "get_attr"]
    return sorted(found, key=lambda node: bool(_source(node).meta.get("saved_tensor_with_no_vc_check")))


def _source(node: Node) -> Node:
    source = node.meta.get("source", node)
    assert isinstance(source, Node)
    return source


def _copied(program: GraphModule, given: Sequence[Node], nodes: Sequence[Node],
            results: Sequence[Node | None]) -> GraphModule:
    graph = Graph()
    made: dict[Node, Node] = {}
    for node in given:
        made[node] = graph.placeholder(node.name)
        made[node].meta["val"] = node.meta["val"]
    for node in nodes:
        made[node] = graph.node_copy(node, lambda one: made[one])
        made[node].meta = {"val": node.meta["val"]} if "val" in node.meta else {}
    graph.output(tuple(None if one is None else made[one] for one in results))
    return GraphModule(program, graph)


def measured(joint: Joint, problem: JointProblem, sequence: Sequence[int], given: Sequence[Any]) -> list[UnitCost]:
    """Costs of the units in the program of a sequence, with inputs of these or, where they are None, of ones.

    Compilers work on tensors without memory; this runs the operators, so those modes are left.
    """
    first = next(one for one in joint.results if one is not None)
    dry = program_of(joint.graph, problem.units, None, sequence, [first])
    count = len(problem.units.units)
    with unset_fake_temporarily(), _disable_current_modes():
        inputs = iter(given)
        arguments = [_ones_like(one) if one in joint.tangents or (real := next(inputs)) is None else real.detach()
                     for one in joint.graph.graph.find_nodes(op="placeholder")]
        found = measured_costs(dry, problem.units.units, arguments, problem.costs[:count], problem.device)
    problem.note_workspaces(found.kept)
    return found.costs + problem.costs[count:]


def _ones_like(node: Node) -> torch.Tensor:
    value = node.meta["val"]
    made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
    return made.fill_(1 if value.is_floating_point() else 0)
