# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The units of a step: operators that run together, what they read and make, and which bytes they overwrite."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import getitem
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Node

from .._errors import UnsupportedError
from .._schema import written_arguments
from ._device import CPU, bytes_on
from ._heap import view_bytes
from ._places import place_of

aten = torch.ops.aten

# Operators that only name bytes of an operand for autograd. A program runs without autograd.
SAME = {aten.detach.default, aten.alias.default}

# Operators that a program replaces, because they give the bytes of a constant, which a later operator may write over.
REPLACED = {aten.lift_fresh.default: aten.lift_fresh_copy.default}

# Normalizations that compute new statistics: the operands with the older ones, and the operand that says whether the
# run trains. All but the last one write over these operands although their schemas do not say so.
STATISTICS = {aten.native_batch_norm.default: ((3, 4), 5), aten.cudnn_batch_norm.default: ((3, 4), 5),
              aten.miopen_batch_norm.default: ((3, 4), 5),
              aten._native_batch_norm_legit_functional.default: ((3, 4), 5)}

# The normalization that returns the new statistics: these results, and the operator and the operands of a rerun, which
# has the other results.
RETURNED_STATISTICS = {aten._native_batch_norm_legit_functional.default: (3, 4)}
RERUNS = {aten._native_batch_norm_legit_functional.default: (aten._native_batch_norm_legit.no_stats,
                                                             (0, 1, 2, 5, 6, 7))}


@dataclass(frozen=True)
class Value:
    """Bytes that a unit makes: a new storage, or a new content of an older one."""

    unit: int
    output: int
    """Position among the outputs of the unit."""


@dataclass
class Output:
    """One value of a unit."""

    storage: int
    size: int
    """Bytes of the storage."""
    overwrites: Value | str | None = None
    """The older content of the storage: a value, or a state by the name of its placeholder."""


@dataclass
class Unit:
    """Nodes of the graph that run one after another, as one. A rerun runs all of them again."""

    nodes: list[Node]
    reads: list[Value | str] = field(default_factory=list)
    """Values and states, each once, in the order in which they are first read."""
    outputs: list[Output] = field(default_factory=list)
    statistics: tuple[str, ...] = ()
    """States that only the first run updates, such as running means."""
    is_random: bool = False
    """It takes numbers from the generator. A rerun needs the state that the generator had before the first run."""
    once: bool = False
    after: list[int] = field(default_factory=list)
    """Units whose first runs come before, because they take random numbers or update the same statistics."""

    @property
    def name(self) -> str:
        """That of its first node."""
        return str(self.nodes[0].name)

    def overwritten_states(self) -> list[str]:
        """States that it writes over, by name."""
        return [one.overwrites for one in self.outputs if isinstance(one.overwrites, str)]


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors in what a node returns, in their order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [one for part in value for one in tensors_of(part)]
    return []


def storage_of(tensor: torch.Tensor) -> int:
    """What is equal for two tensors exactly if they share bytes, while both exist."""
    return int(tensor.untyped_storage()._cdata)


def has_layout_of(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of the same shape have the same strides, except of axes with one element."""
    return all(size == 1 or first == second
               for size, first, second in zip(one.shape, one.stride(), other.stride(), strict=True))


def values_of(node: Node) -> list[torch.Tensor]:
    """Tensors without memory that are like those of the node."""
    return tensors_of(node.meta.get("val"))


def updated_statistics(node: Node) -> list[Node]:
    """The operands with the statistics that only the first run of a normalization reads."""
    if node.target not in STATISTICS:
        return []
    places, trains = STATISTICS[node.target]
    operands = [node.args[at] for at in places]
    return [one for one in operands if isinstance(one, Node)] if node.args[trains] else []


def returned_statistics(node: Node) -> tuple[int, ...]:
    """The results that only the first run of a normalization has."""
    return RETURNED_STATISTICS.get(node.target, ()) if updated_statistics(node) else ()


def without_statistics(node: Node) -> tuple[Any, tuple[Any, ...]]:
    """The operator and the arguments of a rerun of such a normalization."""
    places, _trains = STATISTICS[node.target]
    if node.target in RERUNS:
        target, operands = RERUNS[node.target]
        return target, tuple(node.args[at] for at in operands)
    return node.target, tuple(None if at in places else one for at, one in enumerate(node.args))


def is_random(node: Node) -> bool:
    """Whether the node takes numbers from the generator."""
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _is_constant(graph: torch.fx.GraphModule, node: Node) -> bool:
    """Whether the node is a tensor with content that the recording met, such as the 0 in `x[:, 0] = 0`."""
    value = getattr(graph, str(node.target), None)
    if not isinstance(value, torch.Tensor) or isinstance(value, (torch.nn.Parameter, FakeTensor)):
        return False
    node.meta.setdefault("val", value)
    return True


def _refusal_of_attribute(graph: torch.fx.GraphModule, node: Node) -> UnsupportedError:
    if any(one.kwargs.get("generator") is node for one in node.users):
        return UnsupportedError("random numbers are taken from a torch.Generator of the user, whose state no plan "
                                "keeps; leave out generator=, which takes them from the one that torch.manual_seed() "
                                "sets, or give random numbers as inputs", place_of(node))
    return UnsupportedError(f"the step has a tensor that is neither given nor made in it ({node.target}); register it "
                            "as a buffer of the module, or give it as an input", place_of(node))


def _refusal_of_operator(node: Node) -> UnsupportedError:
    if node.target is aten._linalg_check_errors.default:
        return UnsupportedError("a function of torch.linalg looks whether it succeeded, which only a run knows; call "
                                "the form that does not, such as torch.linalg.solve_ex() or inv_ex()", place_of(node))
    return UnsupportedError(f"{node.name} ({node.target}) depends on values that only a run knows; compute it outside "
                            "of the step, or give it as an input", place_of(node))


class UnitGraph:
    """All units of a captured step, in the order in which autograd runs them."""

    def __init__(self, graph: torch.fx.GraphModule, device: torch.device = CPU) -> None:
        """Reads a graph. Tensors of the CPU have no bytes if the device is another one."""
        self.device = device
        self.units: list[Unit] = []
        self.states: dict[str, int] = {}
        """Bytes of the storage of each placeholder, and of statistics that normalizations return. Placeholders that
        share a storage have one entry."""
        self.unit_of: dict[Node, int] = {}
        """Of nodes that are in a unit."""
        self.results: list[Node | None] = []
        """What the step returns: the loss, then the gradients."""
        self._content: dict[int, Value | str] = {}
        self._readers: dict[Value, list[int]] = {}
        self._last_random: int | None = None
        self._last_update: dict[str, int] = {}
        self._state_readers: dict[str, list[int]] = {}
        self._makers: dict[int, int] = {}
        self._view_bytes: dict[int, int] = {}
        """Of the objects of views, by storage."""
        self._storages: dict[str, list[int]] = {}
        """Of each state."""
        for node in graph.graph.nodes:
            if node.op == "placeholder":
                self._add_state(node)
            elif node.op == "call_function":
                self._add_node(node)
            elif node.op == "get_attr" and _is_constant(graph, node):
                self._add_state(node)
            elif node.op == "output":
                self.results = list(node.args[0])
            else:
                raise _refusal_of_attribute(graph, node)
        self._results_of = {self.value_of(one) for one in self.results if one is not None}
        self._drop_unread()

    def value_of(self, node: Node) -> Value | str:
        """The bytes that a node names at the end of the step. Its tensors share one storage."""
        tensors = values_of(node)
        if not tensors:
            raise UnsupportedError(f"{node.name} has no tensor")
        return self._content[storage_of(tensors[0])]

    def maker_of(self, tensor: torch.Tensor) -> int | None:
        """The unit whose runs make the storage of a tensor like this; None for a state."""
        return self._makers.get(storage_of(tensor))

    def view_bytes_of(self, content: Output | str) -> int:
        """What the objects of all views of a storage take, or of a state by its name."""
        storages = self._storages.get(content, []) if isinstance(content, str) else [content.storage]
        return sum(self._view_bytes.get(key, 0) for key in storages)

    def _note_view(self, node: Node) -> None:
        if node.target in SAME or not node.users:
            return
        for tensor in values_of(node):
            key = storage_of(tensor)
            self._view_bytes[key] = self._view_bytes.get(key, 0) + view_bytes([tensor])

    def _add_state(self, node: Node) -> None:
        for tensor in values_of(node):
            key = storage_of(tensor)
            if key not in self._content:
                self._content[key] = node.name
                self._storages[node.name] = [*self._storages.get(node.name, ()), key]
                self.states[node.name] = bytes_on(tensor, self.device)

    def _add_node(self, node: Node) -> None:
        if node.target is getitem:
            if node.args[0] in self.unit_of:
                self.unit_of[node] = self.unit_of[node.args[0]]
            return
        has_open_sizes = any(isinstance(extent, torch.SymInt) for tensor in values_of(node) for extent in tensor.shape)
        if has_open_sizes or not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list)):
            raise _refusal_of_operator(node)
        held = {storage_of(tensor) for one in node.all_input_nodes for tensor in values_of(one)}
        held.update(storage_of(values_of(node)[at]) for at in returned_statistics(node))
        made = {storage_of(tensor): tensor for tensor in values_of(node) if storage_of(tensor) not in held}
        computed = [] if node.target in RETURNED_STATISTICS else [
            one for one in updated_statistics(node) if not self._is_named(one)]  # as in InstanceNorm
        written = {storage_of(tensor): tensor for one in written_arguments(node) + computed
                   for tensor in values_of(one)}
        if not made and not written:
            self._note_view(node)
            return
        unit = self._merged(node, written) if not made and len(written) == 1 else None
        if unit is None:
            unit = len(self.units)
            self.units.append(Unit([]))
        self.units[unit].nodes.append(node)
        self.unit_of[node] = unit
        self._note_reads(node, unit)
        for key, tensor in written.items():
            self._overwrite(unit, key, tensor)
        for key, tensor in made.items():
            self._content[key] = Value(unit, len(self.units[unit].outputs))
            self.units[unit].outputs.append(Output(key, bytes_on(tensor, self.device)))
        self._note_effects(node, unit)

    def _merged(self, node: Node, written: dict[int, torch.Tensor]) -> int | None:
        """The unit whose only reader is this node, which writes over its result. The other operands are older."""
        content = self._content[next(iter(written))]
        if isinstance(content, str) or self._readers.get(content):
            return None
        if is_random(node) and self._last_random is not None and self._last_random > content.unit:
            return None
        for one in node.all_input_nodes:
            for tensor in values_of(one):
                read = self._content[storage_of(tensor)]
                if isinstance(read, Value) and read.unit > content.unit:
                    return None
        return content.unit

    def _note_reads(self, node: Node, unit: int) -> None:
        updated = updated_statistics(node)
        for one in node.all_input_nodes:
            if one in updated and self._is_named(one):
                continue
            for tensor in values_of(one):
                read = self._content[storage_of(tensor)]
                if isinstance(read, Value) and read.unit == unit:
                    continue
                if isinstance(read, Value):
                    readers = self._readers.setdefault(read, [])
                    if unit not in readers:
                        readers.append(unit)
                else:
                    self._state_readers.setdefault(read, []).append(unit)
                    if read in self._last_update:
                        self._follow(unit, self._last_update[read])
                if read not in self.units[unit].reads:
                    self.units[unit].reads.append(read)

    def _overwrite(self, unit: int, key: int, tensor: torch.Tensor) -> None:
        old = self._content[key]
        if isinstance(old, Value) and old.unit == unit:
            return  # within a unit
        outputs = self.units[unit].outputs
        outputs.append(Output(key, bytes_on(tensor, self.device), overwrites=old))
        self._content[key] = Value(unit, len(outputs) - 1)
        self.units[unit].once |= self.is_of_state(old)

    def is_of_state(self, content: Value | str) -> bool:
        """Whether these bytes are those of a placeholder, or written over them."""
        while isinstance(content, Value):
            older = self.units[content.unit].outputs[content.output].overwrites
            if older is None:
                return False
            content = older
        return True

    def _note_effects(self, node: Node, unit: int) -> None:
        if is_random(node):
            if self._last_random is not None:
                self._follow(unit, self._last_random)
            self._last_random = unit
            self.units[unit].is_random = True
        if node.target in RETURNED_STATISTICS:
            self._note_returned(node, unit)
            return
        for one in updated_statistics(node):
            state = self._content[storage_of(values_of(one)[0])]
            if not isinstance(state, str):
                continue  # each run writes over them
            if state in self._last_update:
                self._follow(unit, self._last_update[state])
            for reader in self._state_readers.pop(state, []):
                self._follow(unit, reader)  # it read what this unit changes
                self.units[reader].once |= reader != unit
            self._last_update[state] = unit
            self.units[unit].statistics += (state,)

    def _is_named(self, node: Node) -> bool:
        return isinstance(self._content[storage_of(values_of(node)[0])], str)

    def _note_returned(self, node: Node, unit: int) -> None:
        """Statistics that a normalization returns are there from its first run on. They are few and count always."""
        for one in updated_statistics(node):
            state = self._content[storage_of(values_of(one)[0])]
            if isinstance(state, str) and state in self._last_update:
                self._follow(unit, self._last_update[state])
        for at in returned_statistics(node):
            tensor, name = values_of(node)[at], f"result {at} of {node.name}"
            self._content[storage_of(tensor)] = name
            self.states[name] = bytes_on(tensor, self.device)
            self._last_update[name] = unit
            self.units[unit].statistics += (name,)

    def _follow(self, unit: int, earlier: int) -> None:
        if earlier != unit and earlier not in self.units[unit].after:
            self.units[unit].after.append(earlier)

    def _drop_unread(self) -> None:
        """Leaves out units that nothing needs, such as buffers that an operator reserves and never uses."""
        needed: set[int] = set()
        waiting = [unit for unit, one in enumerate(self.units) if one.once or one.statistics or one.is_random]
        waiting += [value.unit for value in self._results_of if isinstance(value, Value)]
        while waiting:
            unit = waiting.pop()
            if unit in needed:
                continue
            needed.add(unit)
            waiting += [one.unit for one in self._sources(unit)]
        number = {unit: at for at, unit in enumerate(sorted(needed))}
        self.unit_of = {node: number[unit] for node, unit in self.unit_of.items() if unit in needed}

        def moved(content: Value | str | None) -> Value | str | None:
            return Value(number[content.unit], content.output) if isinstance(content, Value) else content

        kept = [self.units[unit] for unit in sorted(needed)]
        for one in kept:
            one.reads = [value for read in one.reads if (value := moved(read)) is not None]
            one.after = [number[unit] for unit in one.after]
            for output in one.outputs:
                output.overwrites = moved(output.overwrites)
        self._content = {key: value for key, content in self._content.items()
                         if not isinstance(content, Value) or content.unit in needed
                         if (value := moved(content)) is not None}
        self.units = kept
        self._makers = {output.storage: at for at, one in enumerate(kept) for output in one.outputs
                        if output.overwrites is None}

    def _sources(self, unit: int) -> Iterator[Value]:
        one = self.units[unit]
        for read in one.reads:
            if isinstance(read, Value):
                yield read
        for output in one.outputs:
            if isinstance(output.overwrites, Value):
                yield output.overwrites
        for earlier in one.after:
            yield Value(earlier, 0)
