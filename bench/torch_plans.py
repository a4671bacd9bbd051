# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""CPU time that plans of a large step take."""
import time

import lowtide
from lowtide.torch import _search
from torch_variants import Case

POINTS = 20


def seconds_of(call):
    begin = time.process_time()
    found = call()
    return found, time.process_time() - begin


def planning_times(model):
    """The time of the search alone for one budget and for a curve, and of all of train_step()."""
    case = Case(model)
    _, plan = case.planned(1 << 40)
    mapping = plan.problem.as_mapping()
    peak = plan.sequence.peak
    curve, of_curve = seconds_of(lambda: lowtide.budget_curve(mapping, points=POINTS, effort=POINTS * _search.EFFORT))
    budgets = [curve.floor + (peak - curve.floor) * part // 4 for part in (1, 2, 3)]
    searches = [seconds_of(lambda budget=budget: lowtide.keep_budget(mapping, budget, effort=_search.EFFORT))
                for budget in budgets]
    _, of_step = seconds_of(lambda: case.planned(budgets[1]))
    return {"units": len(plan.problem.units.units), "curve_seconds": of_curve, "points": POINTS,
            "kept": sum(point.fits for point in curve.points),
            "plan_seconds": max(seconds for _, seconds in searches), "step_seconds": of_step}
