# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/torch.md, from the figures of torch_step.py."""
import math

from table_text import lines, mebibytes

CONVOLUTIONAL = ("resnet18", "resnet50", "mobilenetv2", "unet")


def variants_of(row):
    """By name; those that were refused are left out."""
    return {one["name"]: one for one in row["variants"] if "refused" not in one}


def pairs_of(row, name, other):
    """Two variants, if both were measured."""
    found = variants_of(row)
    return [(found[name], found[other])] if name in found and other in found else []


def budgets_of(row):
    return [one for one in row["variants"] if one.get("kind") == "budget"]


def worst(values):
    return max(values, default=math.nan)


def mean(values):
    """Geometric."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def kept_budgets(rows):
    budgets = [one for row in rows for one in budgets_of(row)]
    kept = sum("refused" not in one and one["peak"] <= one["budget"] for one in budgets)
    error = worst(abs(one["predicted"] / one["peak"] - 1) for one in budgets if "refused" not in one)
    return ("Budgets between the least one and the peak that the measured peak keeps; error of the predicted peak",
            "all; 0.5 %", f"{kept} of {len(budgets)}; {error:.2%}")


def same_bits(rows):
    plans = [same for row in rows for same in row["same_bits"].values()]
    steps = min((row["steps"] for row in rows), default=0)
    return (f"Plans with the bits of eager steps: losses, gradients, statistics and parameters of {steps} steps", "all",
            f"{sum(plans)} of {len(plans)}")


def at_checkpoints(rows):
    """For convolutional networks, the added time as a share of that of checkpoints; for others, the time."""
    shares, ratios = [], []
    for row in rows:
        eager = variants_of(row)["eager"]["seconds"]
        for plan, checkpoint in pairs_of(row, "at checkpoint blocks", "checkpoint blocks"):
            if row["model"] in CONVOLUTIONAL:
                shares.append((plan["seconds"] - eager) / (checkpoint["seconds"] - eager))
            else:
                ratios.append(plan["seconds"] / checkpoint["seconds"])
    yield ("Added time at the peak of a checkpoint per block, as a share of what checkpoints add: convolutional "
           "networks, the worst", "0.25", f"{worst(shares):.2f}")
    missing = sum(not pairs_of(row, "at checkpoint blocks", "checkpoint blocks") for row in rows)
    yield ("Time at this peak, as a share of the time with checkpoints: transformers and LSTM, the worst; models "
           "without a plan there", "1.00; none", f"{worst(ratios):.2f}; {missing}")


def at_shares(rows):
    pairs = [pair for row in rows for one in row["variants"] if one["name"].startswith("share ")
             for pair in pairs_of(row, f"at {one['name']}", one["name"])]
    ratios = [plan["seconds"] / other["seconds"] for plan, other in pairs]
    return ("Peaks of PyTorch's `activation_memory_budget` at which the planned step is faster; time as a share of its "
            "time, geometric mean", "all; 0.94",
            f"{sum(one < 1 for one in ratios)} of {len(ratios)}; {mean(ratios):.2f}")


def least_of(row):
    found = variants_of(row)
    return min((one["peak"] for one in found.values() if one.get("kind") == "budget" or one["name"] == "least"),
               default=math.nan)


def checkpoint_of(row):
    return min(one["peak"] for one in variants_of(row).values() if one["name"].startswith("checkpoint"))


def least_peaks(rows):
    ratios = [least_of(row) / checkpoint_of(row) for row in rows]
    return ("Least peak as a share of that with checkpoints, per block or per root of all: the worst, the mean", "0.85",
            f"{worst(ratios):.2f}, {mean(ratios):.2f}")


def overheads(rows):
    misses = []
    for row in rows:
        free = variants_of(row)["free"]["seconds"]
        misses += [100 * abs(one["seconds"] / free - 1 - one["overhead"])
                   for one in budgets_of(row) if "seconds" in one]
    within = sum(one <= 3 for one in misses)
    return ("Budgets whose added time is within 3 points of the predicted one; the largest difference", "all",
            f"{within} of {len(misses)}; {worst(misses):.1f} points")


def without_budget(rows):
    for name, how in (("free", ""), ("arena", " in one arena")):
        ratios = [plan["seconds"] / eager["seconds"] for row in rows for plan, eager in pairs_of(row, name, "eager")]
        yield (f"Time of a step without a budget{how}, as a share of the eager one: the worst, the mean", "1.00",
               f"{worst(ratios):.2f}, {mean(ratios):.2f}")


def saved_share(update):
    return (update["eager_peak"] - update["fused_peak"]) / update["gradients"]


def fused_updates(rows):
    found = [row["update"] for row in rows if row["update"]]
    enough = [one for one in found if one["same_bits"] and saved_share(one) >= 0.8]
    least = min(map(saved_share, found), default=math.nan)
    return ("Steps with AdamW for one sample whose updates in the backward pass lower the peak by 80 % of the bytes of "
            "gradients, with the same bits; the least share; the most added time that was planned for it", "all",
            f"{len(enough)} of {len(found)}; {least:.0%}; {worst(one['overhead'] for one in found):.1%}")


def planning(found):
    yield (f"CPU time of a plan for {found['units']:,} operators", "10 s", f"{found['plan_seconds']:.1f} s")
    yield (f"CPU time of a curve of {found['points']} budgets", "30 s", f"{found['curve_seconds']:.1f} s")


def torch_step(figures):
    rows = figures["models"]
    cells = [kept_budgets(rows), same_bits(rows), *at_checkpoints(rows), at_shares(rows), least_peaks(rows),
             overheads(rows), *without_budget(rows), fused_updates(rows)]
    if figures["planning"]:
        cells += planning(figures["planning"])
    machine = figures["machine"]
    return lines(["<Figure", "Asked", "Measured"], [list(one) for one in cells],
                 f"PyTorch {figures['versions']['torch']} with one thread on {machine['cpu']}, "
                 f"{machine['cores']} cores.")


def torch_models(figures):
    def ratio(row, name):
        found = variants_of(row)
        return f"{found[name]['seconds'] / found['eager']['seconds']:.2f}" if name in found else "none found"

    rows = []
    for row in figures["models"]:
        found = variants_of(row)
        rows.append([row["model"], f"{1000 * found['eager']['seconds']:.0f} ms", ratio(row, "free"),
                     *(mebibytes(found[name]["peak"]) for name in ("eager", "checkpoint blocks")),
                     ratio(row, "checkpoint blocks"), f"**{ratio(row, 'at checkpoint blocks')}**",
                     mebibytes(least_of(row)), mebibytes(row["floor"]["bytes"])])
    return lines(["<Model", "Eager", "Planned, no budget", "Peak", "With checkpoints", "Their time",
                  "Planned time there", "Least planned", "Proven floor"], rows,
                 "Times are shares of the eager one, peaks are in MiB.")


TABLES = {"torch_step": torch_step, "torch_models": torch_models}
