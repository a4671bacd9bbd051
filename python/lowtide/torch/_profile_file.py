# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Files with what the operators of a step took (docs/torch.md). A plan from such a file measures nothing."""
from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
from importlib.metadata import version
from typing import Any

import torch
from torch.optim import Optimizer

from .._errors import Error, InvalidError, IoError, MalformedError, MismatchError, read_text, write_text
from .._request import StrPath
from ._build import Batch, BuiltStep
from ._device import device_of, present_device
from ._link import HostLink
from ._problem import WORKSPACES, UnitCost, names_of
from ._units import values_of

FORMAT = "lowtide step profile"
AGAIN = "delete the file to measure again, or name another one"


class ProfileFile:
    """A profile that exists already and is only read, or one that is written as steps are measured."""

    def __init__(self, path: StrPath, module: torch.nn.Module, optimizer: Optimizer | None) -> None:
        """Reads the file if it exists.

        Raises:
            IoError, MalformedError: it cannot be read, or has another format; or its folder does not exist.
            MismatchError: it is of another module, machine or release.
        """
        self._path = pathlib.Path(os.fspath(path))
        self._owner = _owner_of(module, optimizer)
        self._steps: list[dict[str, Any]] = []
        self._links: dict[str, dict[str, int]] = {}
        self.is_given = self._path.exists()
        if self.is_given:
            self._read()
        elif not self._path.parent.is_dir():
            raise IoError("cannot be written: its folder does not exist", str(self._path))

    def apply(self, built: BuiltStep, batch: Batch) -> None:
        """Gives a step the costs and the sizes of the file.

        Raises:
            MismatchError: it has none for a step with such a batch.
        """
        key, threads = _digest_of(built), torch.get_num_threads()
        same = [one for one in self._steps if one["graph"] == key]
        step = next((one for one in same if one["threads"] == threads), None)
        if step is None and same:
            raise self._mismatch(f"was measured with {same[0]['threads']} threads, and the step has {threads}; call "
                                 f"torch.set_num_threads({same[0]['threads']}) before, or")
        if step is None:
            known = " or ".join(sorted({one["batch"] for one in self._steps}))
            raise self._mismatch(f"is of steps with the batch {known}, and this batch is {_text_of(batch)}, or the "
                                 "step computes something else;")
        nodes = step["nodes"]
        if [one["name"] for one in nodes] != names_of(built.problem):
            raise MalformedError(f"the step with the batch {step['batch']} has not the nodes of its graph; {AGAIN}",
                                 str(self._path))
        built.problem.costs = [UnitCost(one["ns"], one["scratch"]) for one in nodes]
        built.problem.note_workspaces(step.get("workspaces", 0))
        for unit, one in zip(built.problem.units.units, nodes, strict=False):
            if len(one["bytes"]) != len(unit.outputs):
                raise MalformedError(f"node {one['name']!r} has {len(one['bytes'])} sizes and {len(unit.outputs)} "
                                     f"outputs; {AGAIN}", str(self._path))
            for output, size in zip(unit.outputs, one["bytes"], strict=True):
                output.size = max(output.size, size)

    def add(self, built: BuiltStep, batch: Batch) -> None:
        """Writes the file with what a step has now, completely or not at all. Raises IoError."""
        problem = built.problem
        sizes: list[list[int]] = [[one.size for one in unit.outputs] for unit in problem.units.units]
        sizes += [[] for _ in problem.updates]
        nodes = [{"name": name, "ns": cost.nanoseconds, "scratch": cost.scratch, "bytes": of_node}
                 for name, cost, of_node in zip(names_of(problem), problem.costs, sizes, strict=True)]
        step = {"batch": _text_of(batch), "threads": torch.get_num_threads(), "graph": _digest_of(built),
                "nodes": nodes}
        if WORKSPACES in problem.states:
            step["workspaces"] = problem.states[WORKSPACES]
        others = [one for one in self._steps if (one["graph"], one["threads"]) != (step["graph"], step["threads"])]
        self._steps = [*others, step]
        links = {"links": self._links} if self._links else {}
        whole = {"format": FORMAT, "version": 1, **self._owner, **links, "steps": self._steps}
        write_text(self._path, json.dumps(whole, indent=1) + "\n")

    def link_of(self, device: torch.device) -> HostLink | None:
        """The link between a device and the host, if it is in the file or was noted.

        Raises:
            MismatchError: the file exists, and has none.
        """
        if (link := self._links.get(str(device))) is not None:
            return HostLink(**link)
        if self.is_given:
            raise self._mismatch(f"has no link between {device} and the host, which offload='host' needs;")
        return None

    def note_link(self, device: torch.device, link: HostLink) -> None:
        """What add() writes, too."""
        self._links[str(device)] = link._asdict()

    def _read(self) -> None:
        try:
            read = json.loads(read_text(self._path))
        except json.JSONDecodeError as error:
            raise MalformedError(f"line {error.lineno}: {error.msg}; {AGAIN}", str(self._path)) from None
        except (ValueError, RecursionError):  # a number of thousands of digits, or brackets as deep
            raise MalformedError(f"is no profile of a step; {AGAIN}", str(self._path)) from None
        if not isinstance(read, dict) or read.get("format") != FORMAT or read.get("version") != 1:
            raise MalformedError(f"is no profile of a step in version 1; {AGAIN}", str(self._path))
        for key, mine in {"device": None, **self._owner}.items():
            if read.get(key) != mine:
                raise self._mismatch(_difference(key, read.get(key) or "cpu", mine or "cpu"))
        steps = read.get("steps")
        if not isinstance(steps, list) or not all(_is_step(one) for one in steps):
            raise MalformedError(f"an entry of \"steps\" is incomplete or has a value of a wrong type; {AGAIN}",
                                 str(self._path))
        links = read.get("links", {})
        if not isinstance(links, dict) or not all(_is_link(one) for one in links.values()):
            raise MalformedError(f"an entry of \"links\" is incomplete or has a value out of range; {AGAIN}",
                                 str(self._path))
        self._steps, self._links = steps, links

    def _mismatch(self, message: str) -> Error:
        return MismatchError(f"{message} {AGAIN}", str(self._path))


def _owner_of(module: torch.nn.Module, optimizer: Optimizer | None) -> dict[str, Any]:
    """What a profile depends on beside the batch."""
    held = [*module.named_parameters(), *module.named_buffers()]
    groups = [] if optimizer is None else optimizer.param_groups
    options = [f"fused={group.get('fused')} foreach={group.get('foreach')}" for group in groups]
    cpu = f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}"
    device = device_of(present_device(one for _, one in held))
    named = {} if (kind := device.name()) is None else {"device": kind}
    return {"lowtide": version("lowtide"), "torch": torch.__version__, "cpu": cpu, **named,
            "optimizer": " ".join([type(optimizer).__name__, *options]),
            "module": [f"{name} {_form_of(one)}{' trained' if one.requires_grad else ''}" for name, one in held]}


def _difference(key: str, found: Any, mine: Any) -> str:
    if key != "module" or not isinstance(found, list):
        return f"was measured with {key} {found}, and here it is {mine};"
    for one, other in zip(found, mine, strict=False):
        if one != other:
            return f"is of another module: it has {one!r}, and yours has {other!r};"
    return f"is of another module: it has {len(found)} parameters and buffers, and yours has {len(mine)};"


def _is_link(one: Any) -> bool:
    return (isinstance(one, dict) and one.keys() == set(HostLink._fields) and all(map(_is_size, one.values()))
            and min(one["out_bytes_per_second"], one["in_bytes_per_second"]) > 0)


def _is_step(one: Any) -> bool:
    return (isinstance(one, dict) and isinstance(one.get("batch"), str) and isinstance(one.get("threads"), int)
            and isinstance(one.get("graph"), str) and isinstance(one.get("nodes"), list)
            and _is_size(one.get("workspaces", 0))
            and all(_is_node(node) for node in one["nodes"]))


def _is_node(one: Any) -> bool:
    return (isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("bytes"), list)
            and all(_is_size(number) for number in (one.get("ns"), one.get("scratch"), *one["bytes"])))


def _is_size(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**47


def _form_of(one: torch.Tensor) -> str:
    return f"{str(one.dtype).removeprefix('torch.')}{list(one.shape)}"


def _text_of(batch: Batch) -> str:
    return ", ".join(_form_of(leaf) if isinstance(leaf, torch.Tensor) else repr(leaf) for leaf in batch.leaves)


def _digest_of(built: BuiltStep) -> str:
    """Equal for two steps exactly if they run the same operators on the same sizes."""
    lines = []
    for unit in built.problem.units.units:
        for node in unit.nodes:
            forms = [f"{_form_of(one)}{list(one.stride())}" for one in values_of(node)]
            lines.append(f"{node.name} {node.target} {node.args} {node.kwargs} {forms}")
        lines.append(f"unit {unit.reads} {unit.once} {unit.statistics} {unit.after}")
    lines += [f"{one.name} {one.reads} {one.overwrites} {one.makes}" for one in built.problem.updates]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def checked_profile(profile: StrPath | None, budget: int | str | None) -> StrPath | None:
    """Raises InvalidError if there is nothing to measure for."""
    if profile is not None and budget is None:
        raise InvalidError("a profile is of steps with a budget, because nothing else is measured; give a budget")
    return profile
