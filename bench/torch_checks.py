# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What is asked of the figures of torch_cuda.py, beside what was measured."""

SAVED = 0.8
"""Of the bytes of gradients, that updates in the backward pass save."""
ERROR = 0.005
"""Of predicted peaks."""


def checks_of(models, repeats, has_times):
    """For each check what is asked and measured, whether it passed, and whether it decides on the exit code.

    Args:
        models: rows by name, of each model.
        repeats: whether eager steps of each model repeat their bits. Otherwise nothing is asked of its plans.
        has_times: figures are those of large models, so times and saved bytes say something.
    """
    rows = {(model, name): row for model, of_model in models.items() for name, row in of_model.items()}
    budgets = [row for row in rows.values() if "kept" in row]
    bits = [row["same_bits"] for (model, _), row in rows.items() if "same_bits" in row and repeats[model]]
    errors = [abs(row["predicted"] / row["peak"] - 1) for row in budgets]
    saved = [row["saved"] for row in rows.values() if "saved" in row]
    kept = sum(row["kept"] for row in budgets)
    refused = [f"{model}: {name}" for (model, name), row in rows.items()
               if "refused" in row and name.startswith("budget")]
    left_out = [f"{model}: {name}" for (model, name), row in rows.items() if "left_out" in row]
    return {
        "peaks at most the budget": check(f"{len(budgets) or 'some'} budgets", kept,
                                          bool(budgets) and kept == len(budgets)),
        "budgets above the least one planned": check("none refused", refused, not refused),
        "bits of eager steps": check(f"{len(bits) or 'some'} ways", sum(bits), bool(bits) and all(bits),
                                     decides=any(repeats.values())),
        "error of the predicted peak": check(f"at most {ERROR:.1%}", f"{max(errors, default=0):.2%}",
                                             max(errors, default=0) <= ERROR, decides=False),
        "updates save of the bytes of gradients": check(f"at least {SAVED:.0%}", f"{min(saved, default=0):.0%}",
                                                        min(saved, default=0) >= SAVED,
                                                        decides=has_times and bool(saved)),
        "faster than checkpoints at their peak": faster(models, "checkpoints"),
        "faster than activation_memory_budget at its peak": faster(models, "activation_memory_budget"),
        "difference of added time": check("at most 3 points", f"{100 * difference(models):.1f} points",
                                          difference(models) <= 0.03, decides=False),
        "all ways measured": check("none left out", left_out, not left_out, decides=False)}


def check(asked, measured, passed, decides=True):
    return {"asked": asked, "measured": measured, "passed": bool(passed), "decides": decides}


def faster(models, begin):
    """Planned steps at the peaks of another way take less time than it. Times do not decide: they vary."""
    pairs = [(of_model[f"at the peak of {name}"].get("seconds"), row.get("seconds"))
             for of_model in models.values() for name, row in of_model.items()
             if name.startswith(begin) and f"at the peak of {name}" in of_model]
    wins = sum(planned is not None and planned <= other for planned, other in pairs)
    return check(f"{len(pairs)} of {len(pairs)}", wins, wins == len(pairs), decides=False)


def difference(models):
    """The largest difference between the time that a plan was predicted to add and that it added."""
    found = [0.0]
    for of_model in models.values():
        free = of_model.get("no limit", {}).get("seconds")
        found += [abs(row["seconds"] / free - 1 - row["predicted_overhead"]) for row in of_model.values()
                  if free and "seconds" in row and "predicted_overhead" in row]
    return max(found)
