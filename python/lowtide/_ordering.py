# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Orders of plain graphs, and sequences within a budget in which nodes run again."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import InvalidError
from ._request import StrPath, bytes_of


@dataclass(frozen=True)
class Ordering:
    """An order of the nodes of a plain graph."""

    order: npt.NDArray[np.int64]
    """Positions in "nodes", shape [nodes], in the order in which they run."""
    peak: int
    """Bytes that are live at the same time, at most."""
    peak_as_given: int
    """The same for the given order."""
    bound: int
    """Bytes: no order has a lower peak."""
    bound_name: str
    """What proves the bound."""
    strategy: str
    """What found the order."""
    proven_optimal: bool
    """Whether `peak == bound`."""


def order(graph: Mapping[str, Any] | StrPath, *, strategy: str = "auto", effort: int | None = None) -> Ordering:
    """Orders a plain graph to minimize its peak memory.

    Args:
        graph: a mapping as in docs/order-format.md, or the path of such a file. "nodes" has one entry per node with
            the "bytes" of its only output, "edges" has pairs of positions, and "outputs" the nodes whose outputs live
            until the end.
        strategy: a scheduling strategy; "auto" tries all of them.
        effort: work units of the search.

    Ctrl-C raises KeyboardInterrupt once the search has ended. Other Python threads run meanwhile.

    Raises:
        Error: the graph is refused.
    """
    answer = _core.order(*_text_of(graph, effort), strategy, effort)
    return Ordering(order=np.array(answer["order"], np.int64), peak=answer["load"],
                    peak_as_given=answer["load_as_given"],
                    **{key: answer[key] for key in ("bound", "bound_name", "strategy", "proven_optimal")})


class LiveValue(NamedTuple):
    """Bytes that are live at a peak."""

    node: int
    """Position in "nodes"."""
    output: int | None
    """The output of the node, or None for its scratch and its seed."""
    kind: str
    """"output", "scratch" or "seed"."""
    bytes: int


@dataclass(frozen=True)
class BudgetSequence:
    """A sequence of runs of nodes within a budget. Code that shares nothing with the search has checked it."""

    budget: int
    """Bytes."""
    runs: npt.NDArray[np.int64]
    """Positions in "nodes", in the order in which they run. If none was found, it is the one with the lowest peak."""
    peak: int
    """Bytes that are live at the same time, at most, with the states and "fixed_bytes"."""
    outcome: str
    """"found", "infeasible" (proven: no sequence keeps the budget), or "not_found" (there may be one)."""
    cost: int
    """Of all runs, in the unit of the costs."""
    base_cost: int
    """Of one run of each node."""
    cost_bound: int
    """No sequence that keeps the budget costs less."""
    at_peak: tuple[LiveValue, ...]
    """What is live at the peak, the largest first, without states and "fixed_bytes"."""
    obstacle: int | None
    """Of an infeasible budget: the node that no sequence can run within it; None if no single node is the reason."""
    obstacle_beside: tuple[int, ...]
    """Nodes that make outputs, if the obstacle does not need too much alone. One of these nodes and the obstacle runs
    last, and the outputs of all others are live then. The obstacle is the one that needs least."""

    @property
    def fits(self) -> bool:
        """Whether the sequence keeps the budget."""
        return self.outcome == "found"

    @property
    def overhead(self) -> float:
        """(cost - base_cost) / base_cost, or 0 if all costs are 0."""
        return (self.cost - self.base_cost) / self.base_cost if self.base_cost else 0.0

    @property
    def proven_optimal(self) -> bool:
        """Whether no sequence that keeps the budget costs less."""
        return self.fits and self.cost == self.cost_bound


class Link(NamedTuple):
    """A link to memory outside of a budget. Each direction copies one output after another, both at once."""

    bytes_per_second: int
    """In each direction, above 0."""
    latency_ns: int = 0
    """Nanoseconds of each transfer, beside its bytes divided by the rate."""


class Transfer(NamedTuple):
    """A copy of the output of one run over a link. Its positions count runs from 0."""

    node: int
    """Position in "nodes"."""
    output: int
    """The output of the node."""
    run: int
    """Position of the run that made it."""
    direction: str
    """"out" or "in"."""
    issue: int
    """The copy begins when this run has ended, at the earliest. A copy in also waits for the copies out that are
    complete before the next run, and its bytes are live from then on."""
    complete: int
    """The copy ends before this run begins; the number of runs: before the end. The bytes of a copy out are live until
    then."""
    bytes: int
    begin: int
    """Nanoseconds, by the costs and the link."""
    end: int


class Fetch(NamedTuple):
    """A copy of a value that begins outside, over the link that its node names."""

    node: int
    """Position in "nodes"."""
    link: str
    issue: int
    """The copy begins when the run before this one has ended, and its bytes are live from then on."""
    complete: int
    """The copy ends before this run begins; the number of runs: before the end."""
    bytes: int
    begin: int
    """Nanoseconds, by the costs and the link."""
    end: int


@dataclass(frozen=True)
class TransferSequence(BudgetSequence):
    """A sequence in which outputs also leave over a link and come back. `cost`, `base_cost` and `cost_bound` are
    nanoseconds to the end of the last run and of all copies. Fetched values are not among the runs."""

    transfers: tuple[Transfer, ...]
    """By issue. Those of one direction are copied in this order."""
    fetches: tuple[Fetch, ...]
    """By issue. Those of one link are copied in this order."""
    stall: int
    """Nanoseconds in which the next run waits for copies."""


@dataclass(frozen=True)
class BudgetCurve:
    """What budgets cost, from the largest to the smallest. Less memory never costs less."""

    points: tuple[BudgetSequence, ...]
    floor: int
    """Bytes: no sequence keeps a smaller budget."""


@overload
def keep_budget(graph: Mapping[str, Any] | StrPath, budget: int | str, *, effort: int | None = None,
                link: None = None) -> BudgetSequence: ...


@overload
def keep_budget(graph: Mapping[str, Any] | StrPath, budget: int | str, *, effort: int | None = None,
                link: Link) -> TransferSequence: ...


def keep_budget(graph: Mapping[str, Any] | StrPath, budget: int | str, *, effort: int | None = None,
                link: Link | None = None) -> BudgetSequence:
    """Looks for a sequence of runs whose live bytes never exceed a budget, at the least cost.

    Args:
        graph: a mapping as in docs/order-format.md, or the path of such a file. Each node has a "cost".
        budget: bytes, as a number or a text such as "64MiB" or "64MB" (docs/python.md). States and "fixed_bytes" count.
        effort: work units of the search. None: what the number of nodes suggests, up to about a minute; with a link,
            up to about half a minute.
        link: outputs may also be copied over it to memory that the budget does not count, and back, in the least time.
            Then the graph states the time of a unit of "cost", as in "units": {"cost": "1 us"}.

    A budget that is not kept is an answer, not an error. Ctrl-C raises KeyboardInterrupt. Other Python threads run
    meanwhile.

    Raises:
        Error: the graph is refused, or the bytes that are always live alone exceed the budget.
    """
    limit = bytes_of(budget, "budget")
    text = _text_of(graph, effort)
    if link is None:
        return _sequence_of(_core.keep_budget(*text, limit, effort))
    answer = _core.keep_budget_over_link(text, limit, effort, _checked(link))
    transfers = tuple(Transfer(*row) for row in answer.pop("transfers"))
    fetches = tuple(Fetch(*row) for row in answer.pop("fetches"))
    return TransferSequence(**_fields_of(answer), transfers=transfers, fetches=fetches)


def budget_page(graph: Mapping[str, Any] | StrPath, budget: int | str, *, effort: int | None = None,
                name: str = "graph", link: Link | None = None, measured: int | None = None,
                runs: Sequence[int] | None = None) -> str:
    """Draws the answer of keep_budget with the same arguments: an HTML page that works offline.

    x counts runs, y is the address if all values lie in one arena. States and "fixed_bytes" are not drawn. A value that
    leaves and comes back is drawn as two. Above the values are the phases of the runs, if the nodes state them.

    Args:
        name: the title.
        measured: the peak that a process had when it ran the sequence, in bytes, with states and "fixed_bytes". The
            page shows it beside the predicted one.
        runs: draws this sequence, and searches for none: positions in "nodes", as in `BudgetSequence.runs`. It may
            exceed the budget.

    Raises:
        InvalidError: the runs are no sequence of the graph, or there is a link as well.
        Error: as keep_budget.
    """
    limit = bytes_of(budget, "budget")
    if runs is not None and link is not None:
        raise InvalidError("runs say nothing of copies over a link; omit runs, or the link")
    if measured is not None and not 0 <= measured < 1 << 62:
        raise InvalidError(f"measured is {measured} bytes; give 0 or more, and less than 2^62")
    text = _text_of(graph, effort)
    if runs is not None:
        return _core.page_of_sequence(*text, limit, list(map(int, runs)), (name, measured))
    if link is None:
        return _core.budget_page(*text, limit, effort, (name, measured))
    return _core.budget_page_over_link(text, limit, effort, _checked(link), (name, measured))


def budget_curve(graph: Mapping[str, Any] | StrPath, *, points: int = 20, effort: int | None = None) -> BudgetCurve:
    """Solves budgets in equal steps, from the peak at which nothing runs again to the floor of all budgets.

    Args:
        graph: as for keep_budget.
        points: budgets, at least 2.
        effort: work units of all points together.

    Raises:
        Error: the graph is refused.
    """
    if points < 2:
        raise InvalidError(f"points is {points}; give 2 or a larger number")
    answer = _core.budget_curve(*_text_of(graph, effort), points, effort)
    return BudgetCurve(tuple(_sequence_of(point) for point in answer["points"]), answer["floor"])


def _text_of(graph: Mapping[str, Any] | StrPath, effort: int | None) -> tuple[str, bool]:
    """The graph as JSON or as a path, and whether it is a path."""
    if effort is not None and effort < 0:
        raise InvalidError(f"effort is {effort}; give 0 or a positive number")
    if isinstance(graph, Mapping):
        return json.dumps(dict(graph)), False
    return os.fspath(graph), True


def _checked(link: Link) -> tuple[int, int]:
    rate, latency = link
    if not 1 <= rate < 1 << 62:
        raise InvalidError(f"the link has {rate} bytes per second; give 1 or more, and less than 2^62")
    if not 0 <= latency < 1 << 50:
        raise InvalidError(f"the latency of the link is {latency} ns; give 0 or more, and less than 2^50")
    return int(rate), int(latency)


def _sequence_of(answer: dict[str, Any]) -> BudgetSequence:
    return BudgetSequence(**_fields_of(answer))


def _fields_of(answer: dict[str, Any]) -> dict[str, Any]:
    values = tuple(LiveValue(node, None if output < 0 else output, kind, size)
                   for node, output, kind, size in answer.pop("at_peak"))
    return {**answer, "runs": np.array(answer.pop("runs"), np.int64), "at_peak": values}
