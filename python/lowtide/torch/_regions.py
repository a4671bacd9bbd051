# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a module that torch.utils.checkpoint runs again, and what they compute in a captured step."""
from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node
from torch.utils.checkpoint import SAC_IGNORED_OPS

from .._errors import InvalidError
from ._build import BuiltStep
from ._problem import StepProblem
from ._units import Value, updated_statistics

MOST_NAMED = 5
"""Parts of a module that a message lists."""

OperatorCall = tuple[Any, int]
"""An operator, and how often a call of the region has called it before."""


@dataclass
class Region:
    """A module whose calls are checkpoints."""

    path: str
    units: list[int] = field(default_factory=list)
    """In the order in which they run."""
    calls: dict[int, list[OperatorCall]] = field(default_factory=dict)
    """What each unit calls."""
    counts: Counter[Any] = field(default_factory=Counter)
    """How often each operator is called, views as well."""
    forced: set[int] = field(default_factory=set)
    """Units that must not run again, because they update statistics or buffers."""
    free: list[list[int]] = field(default_factory=list)
    """Units that may run again or be saved, each alone, or those that take random numbers together."""
    writes_saved: bool = False
    """Whether something that is saved is written over before."""


def default_paths(module: torch.nn.Module) -> list[str]:
    """The members of the outermost lists and sequences that have parts themselves, or else such children."""
    def members(path: str, one: torch.nn.Module) -> list[str]:
        inner = [(f"{path}.{name}" if path else name, child) for name, child in one.named_children()]
        if isinstance(one, (torch.nn.Sequential, torch.nn.ModuleList)):
            return [name for name, child in inner if any(True for _ in child.children())]
        return [name for at, child in inner for name in members(at, child)]

    children = [name for name, child in module.named_children() if any(True for _ in child.children())]
    return members("", module) or children


def part_of(module: torch.nn.Module, path: str) -> torch.nn.Module:
    """The part of a module at a path of named_modules(). If there is none, raises InvalidError with some that exist."""
    parts = dict(module.named_modules(remove_duplicate=False))
    if path and path in parts:
        return parts[path]
    names = [name for name in parts if name]
    close = difflib.get_close_matches(str(path), names, MOST_NAMED) or names[:MOST_NAMED]
    shown = ", ".join(repr(one) for one in close) or "none"
    more = f" and {len(names) - len(close)} others" if len(names) > len(close) else ""
    raise InvalidError(f"{type(module).__name__} has no part {path!r}; give paths of its named_modules(), which has "
                       f"{shown}{more}")


def checked_paths(module: torch.nn.Module, regions: Sequence[str]) -> list[str]:
    """The paths of regions.

    Raises:
        InvalidError: a path names no part of the module, or one region is a part of another one.
    """
    if isinstance(regions, str):
        raise InvalidError(f"regions is {regions!r}; give a list of paths, such as [{regions!r}]")
    parts = [(path, part_of(module, path)) for path in regions]
    for at, (path, one) in enumerate(parts):
        for other, outer in parts[:at] + parts[at + 1:]:
            if one is outer:
                raise InvalidError(f"the regions {path!r} and {other!r} are the same module; give it once")
            if any(inner is one for inner in outer.modules()):
                raise InvalidError(f"region {path!r} is a part of region {other!r}, which runs again as a whole; leave "
                                   "out one of them")
    return list(regions)


def regions_of(built: BuiltStep, paths: list[str]) -> dict[str, Region | str]:
    """The regions by their paths, or why a module can be none."""
    found: dict[str, Region | str] = {}
    readers = _readers(built.problem)
    for path in paths:
        region = Region(path)
        reason = _fill(region, built)
        if reason is None:
            reason = _decide(region, built.problem, readers)
        found[path] = reason or region
    return found


def _fill(region: Region, built: BuiltStep) -> str | None:
    units = built.problem.units
    inside = {node for node, at in built.captured.modules.items() if f"{at}.".startswith(f"{region.path}.")}
    for node in built.captured.graph.graph.nodes:
        if node not in inside or not isinstance(node.target, torch._ops.OpOverload) or node.target in SAC_IGNORED_OPS:
            continue
        call = (node.target, region.counts[node.target])
        region.counts[node.target] += 1
        unit = units.unit_of.get(node)
        if unit is None:
            continue
        if any(one not in inside for one in units.units[unit].nodes):
            return "is written over outside of it"
        if unit not in region.calls:
            region.units.append(unit)
        region.calls.setdefault(unit, []).append(call)
    return None if region.units else "computes nothing"


def _decide(region: Region, problem: StepProblem, readers: dict[Value, set[int]]) -> str | None:
    units = problem.units.units
    chains = {at: _chain(problem, at, region) for at in region.units}
    for at in region.units:
        if units[at].once or units[at].statistics or any(updated_statistics(node) for node in units[at].nodes):
            region.forced |= chains[at]
    for at in region.forced:
        written = [one.overwrites for one in units[at].outputs if isinstance(one.overwrites, Value)]
        if any(readers.get(value, set()) - region.forced for value in written):
            return f"writes over what {units[at].name} or others read, and updates statistics, which must run once"
        region.writes_saved |= bool(written) or len(units[at].nodes) > 1
    random = [at for at in region.units if units[at].is_random]
    if random and not region.forced.isdisjoint(random):
        return "updates statistics and takes random numbers in one operator"
    for at in region.units:
        if at not in region.forced and at not in random and len(units[at].nodes) == 1 and chains[at] == {at}:
            region.free.append([at])
    if random and all(chains[at] == {at} and len(units[at].nodes) == 1 for at in random):
        region.free.append(random)
    return None


def _chain(problem: StepProblem, unit: int, region: Region) -> set[int]:
    """The unit with those that write over what it makes, or make what it writes over."""
    units, found, waiting = problem.units.units, set[int](), [unit]
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        found.add(at)
        waiting += [one.overwrites.unit for one in units[at].outputs if isinstance(one.overwrites, Value)]
        waiting += [other for other in region.units if any(
            isinstance(one.overwrites, Value) and one.overwrites.unit == at for one in units[other].outputs)]
    return found


def _readers(problem: StepProblem) -> dict[Value, set[int]]:
    readers: dict[Value, set[int]] = {}
    for at, unit in enumerate(problem.units.units):
        for read in unit.reads:
            if isinstance(read, Value):
                readers.setdefault(read, set()).add(at)
    return readers


def backward_begins(built: BuiltStep) -> int:
    """The first unit behind the loss."""
    loss = built.problem.units.value_of(_loss(built))
    return loss.unit + 1 if isinstance(loss, Value) else 0


def _loss(built: BuiltStep) -> Node:
    loss = built.kept[0]
    assert loss is not None
    return loss


def sequence_of(built: BuiltStep, regions: list[Region], saved: set[int]) -> list[int]:
    """What autograd runs: all units in order, and what is not saved of a region again before its backward pass. Behind
    this comes the number of the region, counted from the number of units: what is saved lives until then."""
    problem, begin = built.problem, backward_begins(built)
    count = len(problem.units.units)
    owner = {unit: at for at, region in enumerate(regions) for unit in region.units}
    needed: dict[int, int] = {}
    """The last unit of each region that the backward pass reads."""
    for at in range(begin, count):
        for read in problem.units.units[at].reads:
            if isinstance(read, Value) and read.unit in owner:
                region = owner[read.unit]
                needed[region] = max(needed.get(region, -1), read.unit)
    sequence, waiting = list(range(begin)), list(range(len(regions)))
    for at in range(begin, count):
        read_units = {read.unit for read in problem.units.units[at].reads if isinstance(read, Value)}
        for region in list(waiting):
            path = f"{regions[region].path}."
            if f"{problem.origins[at]}.".startswith(path) or not read_units.isdisjoint(regions[region].units):
                waiting.remove(region)
                sequence += [unit for unit in regions[region].units if unit not in saved | regions[region].forced
                             and unit <= needed.get(region, -1)]
                sequence.append(count + region)
        sequence.append(at)
    return sequence + [count + region for region in waiting]


def with_regions(problem: StepProblem, mapping: dict[str, Any], regions: list[Region], saved: set[int]) -> Any:
    """The mapping of a problem with a node for each region that reads what is saved of it."""
    units, count = problem.units.units, len(problem.units.units)
    old = {one.overwrites for unit in units for one in unit.outputs if isinstance(one.overwrites, Value)}
    edges = []
    for at, region in enumerate(regions):
        for unit in region.units:
            if unit in saved | region.forced:
                values = [Value(unit, output) for output in range(len(units[unit].outputs))]
                edges += [[[one.unit, one.output], count + at] for one in values
                          if one not in old and not problem.is_of_state(one)]
    nodes = [{"name": f"region {one.path}", "cost": 0, "outputs": [{"bytes": 0}], "scratch": 0} for one in regions]
    return {**mapping, "nodes": [*mapping["nodes"], *nodes], "edges": [*mapping["edges"], *edges]}
