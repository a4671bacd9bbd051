# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets of the tensors of an ExecuTorch program, from Lowtide's packer."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executorch.exir.memory_planning import MemoryAlgoResult, SpecAllocResult, greedy
from executorch.exir.tensor import TensorSpec

from .._errors import InvalidError, OverLimitError
from .._packing import Buffer, Packing, pack
from .._request import bytes_of


@dataclass(frozen=True)
class MemoryPlan:
    """What a graph needs of one memory. All sizes are in bytes."""

    memory: int
    """The id, as in `non_const_buffer_sizes` of the program. It is 1 unless tensors were given another one."""
    size: int
    """What the runtime reserves, with `reserved`."""
    bound: int
    """No offsets need less, for these lifetimes."""
    live: int
    """What is live at the same time, at most, with `reserved`."""
    reserved: int
    """What branches and bodies of loops need in front of the tensors, and the padding that delegates need."""
    tensors: int
    """How many have bytes of their own."""
    capacity: int | None = None
    """What the memory has, or None."""

    @property
    def fits(self) -> bool:
        """Whether the capacity holds the size."""
        return self.capacity is None or self.size <= self.capacity

    @property
    def proven_optimal(self) -> bool:
        """Whether `size == bound`."""
        return self.size == self.bound

    def __str__(self) -> str:
        proof = "proven optimal for this order" if self.proven_optimal else f"bound {self.bound:,} B"
        text = f"memory {self.memory}: {self.size:,} B for {self.tensors:,} tensors, {proof}"
        if self.fits:
            return text
        assert self.capacity is not None
        why = ("no offsets fit, for this order" if self.bound > self.capacity else
               "no offsets that fit were found, and others may fit")
        return f"{text}; the capacity is {self.capacity:,} B, {self.size - self.capacity:,} B too few: {why}"


class Planner:
    """An algorithm for ExecuTorch's `MemoryPlanningPass(memory_planning_algo=...)`.

    It packs the tensors of each memory with `lowtide.pack`. No memory becomes larger than with ExecuTorch's greedy
    algorithm. Tensors with a `storage_base` are where it says.
    """

    def __init__(self, *, capacities: Mapping[int, int | str] | None = None, effort: int | None = None,
                 refuse: bool = True) -> None:
        """Args:
            capacities: bytes of memories by their id, as numbers or texts such as "64KiB" or "64kB".
            effort: work units of the packer.
            refuse: raise OverLimitError if a memory exceeds its capacity. Otherwise `plans` says so.
        """
        self.plans: list[MemoryPlan] = []
        """The memories of the graph that was planned last, without those of its branches and loops."""
        self.__name__ = "lowtide"
        self._capacities = {memory: bytes_of(size, f"the capacity of memory {memory}")
                            for memory, size in (capacities or {}).items()}
        self._effort = effort
        self._refuse = refuse
        self._graph: object = None
        self._first_memory = 1  # the id of memory 1 of the next call

    def __call__(self, alignment: int, specs: Iterable[TensorSpec], graph_module: Any, graph_signature: Any,
                 extra_padding: int = 0) -> list[int]:
        """Plans one graph, and writes the result into the specs. Returns the size of each memory."""
        result = self.assign(alignment, specs, graph_module, graph_signature, extra_padding)
        for spec, place in result.spec_dict.items():
            spec.mem_id, spec.mem_offset, spec.mem_obj_id = place.mem_id, place.mem_offset, place.mem_obj_id
        sizes: list[int] = result.bufsizes
        return sizes

    def assign(self, alignment: int, specs: Iterable[TensorSpec], graph_module: Any, graph_signature: Any,
               extra_padding: int = 0) -> MemoryAlgoResult:
        """Plans one graph, as a member of ExecuTorch's `MemoryPlanningAlgorithmSuite`.

        Raises:
            OverLimitError: a memory exceeds its capacity.
            InvalidError: a tensor shares the bytes of one that is not planned, or exceeds it.
        """
        specs = list(specs)
        for spec in specs:
            spec.realign(alignment)
        if self._graph is not graph_module:  # ExecuTorch plans the tensors of each device in a call of its own
            self._graph, self.plans, self._first_memory = graph_module, [], 1
        before = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
        bases = [spec for spec in specs if spec.storage_base is None]
        memories = {spec.mem_id or 1 for spec in bases} | {at for at, size in enumerate(before) if size} | {1}
        result = MemoryAlgoResult({}, [0] * (max(memories) + 1))
        for memory in sorted(memories):
            reserved = before[memory] if memory < len(before) else 0
            of_memory = [spec for spec in bases if (spec.mem_id or 1) == memory]
            self._pack_memory(_Memory(memory, alignment, of_memory, reserved, extra_padding), result)
        self._first_memory += len(result.bufsizes) - 1
        _place_shared(specs, result)
        return result

    def _pack_memory(self, memory: _Memory, result: MemoryAlgoResult) -> None:
        number = self._first_memory + memory.number - 1
        capacity = self._capacities.get(number)
        packing = pack(memory.buffers(), effort=self._effort)
        offsets: Sequence[int] = [int(offset) for offset in packing.offsets]
        height = packing.height
        if not packing.proven_optimal:
            offsets, height = _better(memory, packing)
        around = memory.reserved + (memory.padding if memory.specs else 0)
        for spec, offset in zip(memory.specs, offsets):
            result.spec_dict[spec] = SpecAllocResult(memory.number, 0, memory.reserved + offset)
        result.bufsizes[memory.number] = height + around
        found = MemoryPlan(memory=number, size=height + around, bound=packing.bound + around,
                           live=_most_live(memory.specs) + around, reserved=around, tensors=len(memory.specs),
                           capacity=capacity)
        self.plans.append(found)
        if not found.fits and self._refuse:
            raise OverLimitError(str(found).partition(": ")[2], f"memory {number}")


@dataclass(frozen=True)
class _Memory:
    number: int
    alignment: int
    specs: list[TensorSpec]
    reserved: int
    padding: int

    def buffers(self) -> list[Buffer]:
        """The packing problem. ExecuTorch's lifetimes include both ends."""
        return [Buffer(spec.lifetime[0], spec.lifetime[1] + 1, spec.allocated_memory, self.alignment)
                for spec in self.specs]


def _better(memory: _Memory, packing: Packing) -> tuple[list[int], int]:
    """The offsets and the height of the packing, or those of ExecuTorch if they are lower."""
    result = greedy(memory.alignment, memory.specs, None, None)
    offsets = [result.spec_dict[spec].mem_offset for spec in memory.specs]
    height = max(offset + spec.allocated_memory for spec, offset in zip(memory.specs, offsets))
    if height < packing.height:
        return offsets, height
    return [int(offset) for offset in packing.offsets], packing.height


def _most_live(specs: Sequence[TensorSpec]) -> int:
    changes = sorted(change for spec in specs for change in ((spec.lifetime[0], spec.allocated_memory),
                                                             (spec.lifetime[1] + 1, -spec.allocated_memory)))
    live = most = 0
    for _, change in changes:  # at equal times, the ends come first
        live += change
        most = max(most, live)
    return most


def _place_shared(specs: Sequence[TensorSpec], result: MemoryAlgoResult) -> None:
    """Places the tensors that are parts of others. A chain of them ends at one that has bytes of its own."""
    for spec in specs:
        if spec.storage_base is None:
            continue
        base, offset = spec, 0
        while base.storage_base is not None:
            begin, size, base = base.storage_base_offset, base.allocated_memory, base.storage_base
            offset += begin
            if begin < 0 or begin + size > base.allocated_memory:
                raise InvalidError(f"it shares {size} B from byte {begin} on of a tensor with {base.allocated_memory} "
                                   "B", _name_of(spec))
        if base not in result.spec_dict:
            raise InvalidError(f"it shares the bytes of a tensor that is not planned, {_name_of(base)}; plan that one, "
                               "for example with alloc_graph_input=True", _name_of(spec))
        if offset % spec.alignment:
            raise InvalidError(f"it begins {offset} B after the beginning of another tensor, not a multiple of "
                               f"the alignment {spec.alignment}", _name_of(spec))
        place = result.spec_dict[base]
        result.spec_dict[spec] = SpecAllocResult(place.mem_id, 0, place.mem_offset + offset)


def _name_of(spec: TensorSpec) -> str:
    return f"tensor {spec.dtype} {list(spec.shape)}"
