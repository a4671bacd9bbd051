# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a plan of a step does, for people."""
from __future__ import annotations

from collections import Counter

from .._ordering import BudgetSequence, TransferSequence
from ._host import host_bytes_of
from ._problem import StepProblem, names_of

MOST_SHOWN = 8
OTHER_STATES = {"gradient of": "held gradients", "inverse scale": "scale of the loss", "result": "new statistics",
                "workspaces": "workspaces of libraries", "beside": "what is beside",
                "objects of autograd": "objects of autograd"}
"""What states are that are none of the usual ones, by what their names begin with."""


def report_of(problem: StepProblem, sequence: BudgetSequence, *, has_budget: bool) -> str:
    """The budget, the peak and what holds it, what runs again, and the time that it adds."""
    names = names_of(problem)
    states = problem.bytes_of_states()
    lines = []
    if has_budget:
        lines.append(f"budget {shown_bytes(sequence.budget)}, kept: the peak is {shown_bytes(sequence.peak)}")
    else:
        lines.append(f"no budget: the peak is {shown_bytes(sequence.peak)}")
    lines.append(f"  {shown_bytes(states)} are live at all times: {text_of_states(problem)}")
    for value in sequence.at_peak[:MOST_SHOWN]:
        kind = "" if value.kind == "output" else f"{value.kind} of "
        lines.append(f"  {shown_bytes(value.bytes)}  {kind}{with_module(problem, names, value.node)}")
    if isinstance(sequence, TransferSequence):
        lines += _moved(problem, names, sequence)
    again = {number: times - 1 for number, times in Counter(int(one) for one in sequence.runs).items() if times > 1}
    if not again:
        lines.append("nothing runs again")
        return "\n".join(lines)
    least = (sequence.cost_bound - sequence.base_cost) / max(sequence.base_cost, 1)
    proof = "no plan adds less" if sequence.proven_optimal else f"no plan adds less than {least:.1%}"
    waits = " and waits for copies" if isinstance(sequence, TransferSequence) and sequence.stall else ""
    lines.append(f"{sum(again.values())} runs again{waits} add {sequence.overhead:.1%} of time by measured costs; "
                 f"{proof}")
    costly = sorted(again, key=lambda number: -problem.costs[number].nanoseconds * again[number])
    for number in costly[:MOST_SHOWN]:
        time = problem.costs[number].nanoseconds * again[number] / 1e6
        lines.append(f"  {time:8.3f} ms  {with_module(problem, names, number)}"
                     + (f", {again[number]} times" if again[number] > 1 else ""))
    if len(costly) > MOST_SHOWN:
        lines.append(f"  and {len(costly) - MOST_SHOWN} others")
    return "\n".join(lines)


def text_of_beside(others: int) -> str:
    """What is live beside what an operator reads and makes, if it runs last of some that make results of the step."""
    operators = "another operator" if others == 1 else f"{others} other operators"
    return f", beside the results of {operators}, which stay" if others else ""


def text_of_measured(predicted: int, peak: int, seconds: float) -> str:
    """What a step took, beside the predicted peak."""
    share = peak / max(predicted, 1) - 1
    return (f"measured: the peak is {shown_bytes(peak)}, {abs(share):.2%} {'above' if share > 0 else 'below'} the "
            f"predicted one; the step took {1e3 * seconds:.1f} ms")


def _moved(problem: StepProblem, names: list[str], sequence: TransferSequence) -> list[str]:
    """What leaves for the host."""
    leaving: Counter[int] = Counter()
    for one in sequence.transfers:
        leaving[one.node] += one.bytes if one.direction == "out" else 0
    if not leaving:
        return ["nothing leaves for the host"]
    back = sum(one.direction == "in" for one in sequence.transfers)
    lines = [f"{len(sequence.transfers) - back} values leave for the host and come back {back} times: "
             f"{shown_bytes(sum(leaving.values()))}, of which the host holds {shown_bytes(host_bytes_of(sequence))}; "
             f"runs wait {sequence.stall / 1e6:.3f} ms for copies"]
    largest = sorted(leaving, key=lambda number: -leaving[number])
    lines += [f"  {shown_bytes(leaving[number])}  {with_module(problem, names, number)}"
              for number in largest[:MOST_SHOWN]]
    if len(largest) > MOST_SHOWN:
        lines.append(f"  and {len(largest) - MOST_SHOWN} others")
    return lines


def text_of_states(problem: StepProblem) -> str:
    """What the states of a problem are, such as "parameters, buffers, optimizer, batch"."""
    kinds = ["parameters", "buffers", "optimizer", "batch"]
    kinds += [kind for begin, kind in OTHER_STATES.items()
              if any(name == begin or name.startswith(f"{begin} ") for name in problem.states)]
    return ", ".join(dict.fromkeys(kinds))


def with_module(problem: StepProblem, names: list[str], number: int) -> str:
    """The name of a unit or an update, with its module."""
    module = problem.origins[number] if number < len(problem.units.units) else ""  # updates name their parameters
    return names[number] + (f" of {module}" if module else "")


def shown_bytes(size: int) -> str:
    """In the largest unit that is not above the size: "1.25 MiB"."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.2f} {unit}"
    return f"{size} B"
