# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of both passes that AOTAutograd hands over, as a problem with a place where the passes meet."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from .._errors import UnsupportedError
from ._capture import check_nodes, checked_device
from ._device import device_of
from ._problem import AUTOGRAD, BACKWARD, FORWARD, StepProblem, UnitCost, Update, common_phase
from ._profile import estimated_costs
from ._units import UnitGraph, Value, has_layout_of, storage_of, values_of

aten = torch.ops.aten

BOUNDARY = "backward begins"

# Bytes of what autograd keeps beside tensors, at most: for a graph, for each of its inputs, and for what it saves.
OBJECTS = 2048
OBJECTS_OF_INPUT = 256
OBJECTS_OF_SAVED = 128


@dataclass(frozen=True)
class Joint:
    """What AOTAutograd hands over. Without a backward pass, there are no tangents and no gradients."""

    graph: GraphModule
    units: UnitGraph
    count: int
    """Of results of the forward pass."""
    tangents: frozenset[Node]
    """Placeholders: gradients of the results, which exist once the backward pass begins."""
    places: list[int | None]
    """Of each other placeholder: its position among the inputs of the graph that was compiled, if it is one of them."""
    rewritten: list[Node]
    """Placeholders whose new contents are written into them behind the forward pass, such as running statistics."""

    @property
    def results(self) -> list[Any]:
        """Of the forward pass: first the new contents of inputs, then what the caller gets."""
        return self.units.results[:self.count]

    @property
    def gradients(self) -> list[Node | None]:
        """Of the backward pass."""
        return self.units.results[self.count:]


def read_joint(graph: GraphModule, count: int, leaves: Mapping[int, torch.Tensor]) -> Joint:
    """Reads a graph, and changes it: gradients get bytes and layouts of their own, as `.grad` has them.

    Args:
        count: of results of the forward pass.
        leaves: the inputs of the compiled graph whose gradients end in `.grad`, by position.

    Raises:
        UnsupportedError: sizes are open, or a unit cannot be planned.
    """
    output = next(iter(graph.graph.find_nodes(op="output")))
    flat = pytree.arg_tree_leaves(*output.args)
    described = pytree.tree_leaves(output.meta.get("desc", [None] * len(flat)), is_leaf=lambda one: one is None)
    holders = graph.graph.find_nodes(op="placeholder")
    _check_sizes([*holders, *flat[:count]])
    _drop_unread_statistics(graph)
    for at, description in enumerate(described[count:], count):
        place = _place_of(getattr(description, "grad_of", None))
        if flat[at] is not None and place is not None and place in leaves:
            older = [one for one in [*holders, *flat[:at]] if one is not None]
            taken = {storage_of(tensor) for one in older for tensor in values_of(one)}
            flat[at] = _own_gradient(graph, flat[at], leaves[place], taken)
    output.args = (tuple(flat),)
    graph.recompile()
    holder_of = {one.meta.get("desc"): one for one in holders}
    rewritten = [_holder(holder_of, one.mutated_input) for one in described[:count] if hasattr(one, "mutated_input")]
    tangents = frozenset(one for one in holders if "tangents" in one.name)
    device = checked_device({}, [tensor for one in holders for tensor in values_of(one)])
    check_nodes(graph, device)
    return Joint(graph, UnitGraph(graph, device), count, tangents,
                 [_place_of(one.meta.get("desc")) for one in holders if one not in tangents], rewritten)


def _place_of(description: Any) -> int | None:
    from torch._functorch._aot_autograd.descriptors import PlainAOTInput

    return description.idx if isinstance(description, PlainAOTInput) else None


def _holder(holder_of: Mapping[Any, Node], description: Any) -> Node:
    if description not in holder_of:
        raise UnsupportedError(f"forward() writes over an input in a way that is not planned ({description}); write "
                               "into a copy, or give tensors that do not share bytes")
    return holder_of[description]


def _check_sizes(nodes: Sequence[Node | None]) -> None:
    for one in nodes:
        value = None if one is None else one.meta.get("val")
        extents = value.shape if isinstance(value, torch.Tensor) else [value]
        if any(isinstance(extent, (torch.SymInt, torch.SymFloat, torch.SymBool)) for extent in extents):
            raise UnsupportedError(f"the sizes of {one} are open; give torch.compile(..., dynamic=False), which plans "
                                   "for each set of sizes")


def _drop_unread_statistics(graph: GraphModule) -> None:
    """The backward pass of a normalization that trains does not read the running statistics."""
    for node in graph.graph.find_nodes(op="call_function", target=aten.native_batch_norm_backward.default):
        if node.args[7]:
            node.args = tuple(None if at in (3, 4) else one for at, one in enumerate(node.args))


def _own_gradient(graph: GraphModule, gradient: Node, leaf: torch.Tensor, taken: set[int]) -> Node:
    """A gradient that autograd takes as it is. It would copy others when the plan has ended."""
    value = gradient.meta["val"]
    if has_layout_of(leaf, value) and storage_of(value) not in taken:
        return gradient
    with value.fake_mode:
        made = torch.empty_strided(leaf.shape, leaf.stride(), dtype=value.dtype, device=value.device)
    options = {"dtype": value.dtype, "device": value.device}
    with graph.graph.inserting_before(next(iter(graph.graph.find_nodes(op="output")))):
        empty = graph.graph.call_function(aten.empty_strided.default, (list(leaf.shape), list(leaf.stride())), options)
        copied = graph.graph.call_function(aten.copy_.default, (empty, gradient))
    empty.meta["val"] = copied.meta["val"] = made
    return copied


@dataclass
class JointProblem(StepProblem):
    """The problem of both passes. Its last node is the boundary, which runs once."""

    tangents: dict[str, int] = field(default_factory=dict)
    """Bytes, by the names of the placeholders. The boundary makes them, and they live to the end, because the engine of
    autograd holds them."""
    sides: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """Units whose first runs come before the boundary, and units that run behind it, although no value says so."""

    def as_mapping(self) -> dict[str, Any]:
        """In the form of docs/order-format.md."""
        mapping = super().as_mapping()
        boundary, [node] = len(self.units.units), self.updates
        begins = len(node.overwrites)
        made = {name: [boundary, at] for at, name in enumerate(self.tangents, begins + 1)}
        mapping["edges"] = [[made.get(source, source) if isinstance(source, str) else source, reader]
                            for source, reader in mapping["edges"]]
        before, behind = self.sides
        mapping["edges"] += [[[unit, len(self.units.units[unit].outputs)], boundary] for unit in before]
        mapping["edges"] += [[[boundary, begins], unit] for unit in behind]
        mapping["outputs"] += list(made.values())
        return mapping


def problem_of(joint: Joint, beside: Mapping[str, int]) -> JointProblem:
    """States the problem, with estimated costs.

    Args:
        beside: bytes that are live at all times and not in the graph, by name.

    Raises:
        UnsupportedError: the backward pass reads what is written over behind the forward pass.
    """
    units = joint.units
    names = {one.name for one in joint.tangents}
    tangents = {name: size for name, size in units.states.items() if name in names}
    states = {name: size for name, size in units.states.items() if name not in names}
    rewritten = {one for node in joint.rewritten if isinstance(one := units.value_of(node), str)}
    behind = _behind(units, names)
    for at in behind:
        for state in rewritten.intersection(one for one in units.units[at].reads if isinstance(one, str)):
            raise UnsupportedError(f"the backward pass ({units.units[at].name}) reads {state}, which forward() writes "
                                   "over; write into a copy")
    kept = joint.results[len(joint.rewritten):]
    values = [units.value_of(one) for one in [*kept, *joint.gradients] if one is not None]
    for node in joint.results:  # a later run would make a second copy beside the one that is given away
        if isinstance(value := units.value_of(node), Value):
            units.units[value.unit].once = True
    reads = dict.fromkeys(one for node in joint.results if isinstance(one := units.value_of(node), Value))
    boundary = Update("", tuple(reads), tuple(sorted(rewritten)), BOUNDARY, (0, *tangents.values()))
    device = device_of(units.device)
    costs = [*estimated_costs(units, device.model), UnitCost()]
    saved = {one for at in behind for one in units.units[at].reads if isinstance(one, Value) and one.unit not in behind}
    if device.counts_objects:
        states[AUTOGRAD] = OBJECTS + OBJECTS_OF_INPUT * len(joint.places) + OBJECTS_OF_SAVED * len(saved)
    return JointProblem(units, [boundary], costs, {**states, **beside},
                        list(dict.fromkeys(one for one in values if isinstance(one, Value))),
                        [*(_origin_of(unit.nodes) for unit in units.units), ""], device.rounding([]), device,
                        phases=_phases_of(units, behind), tangents=tangents, sides=_sides(units, behind))


def _behind(units: UnitGraph, tangents: set[str]) -> set[int]:
    """Units that read tangents, or what such units make."""
    found: set[int] = set()
    for at, unit in enumerate(units.units):
        read = {one.unit for one in unit.reads if isinstance(one, Value)}
        if read & found or found.intersection(unit.after) or tangents.intersection(
                one for one in unit.reads if isinstance(one, str)):
            found.add(at)
    return found


def _sides(units: UnitGraph, behind: set[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Random numbers are taken in the pass that takes them in eager steps. Statistics are those of the forward pass."""
    free = [at for at, unit in enumerate(units.units) if at not in behind and (unit.is_random or unit.statistics)]
    backward = tuple(at for at in free if units.units[at].nodes[0].meta.get("partitioner_tag") == "is_backward")
    return tuple(at for at in free if at not in backward), backward


def _phases_of(units: UnitGraph, behind: set[int]) -> list[str]:
    """The pass of each unit, and of the boundary, with which the backward pass begins if there is one."""
    def phase_of(node: Node) -> str:
        return BACKWARD if node.meta.get("partitioner_tag") == "is_backward" else FORWARD

    return [BACKWARD if at in behind else common_phase(map(phase_of, unit.nodes))
            for at, unit in enumerate(units.units)] + [BACKWARD if behind else ""]


def _origin_of(nodes: Sequence[Node]) -> str:
    """The module of a unit, such as "blocks.0.conv"; for the backward pass the one that its forward pass is from."""
    for node in nodes:
        stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
        if stack:
            path = str(list(stack.values())[-1][0])
            return path.rpartition("].")[2] if "]." in path else path.removeprefix("L['self'].")
    return ""
