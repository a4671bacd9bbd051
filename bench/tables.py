#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of README.md, docs/figures.md and docs/torch.md from bench/results. No table is written by hand.

    bench/tables.py [--check]

A table is between <!-- NAME:begin --> and <!-- NAME:end -->. With --check nothing is written: a table that differs from
its figures is an error, and figures that are older than the code they measure are only a warning, because
measuring needs an idle machine and models outside this repository.
"""
import json
import math
import re
import statistics
import sys
from collections import Counter

import record
import run_tables
import torch_tables
from table_text import lines, mebibytes

FILES = [record.ROOT / "README.md", record.ROOT / "docs/figures.md", record.ROOT / "docs/torch.md"]
SHOWN_MODELS = ("densenet121", "efficientnet_b0", "gpt2_t256", "nas_s1", "ppocr_v4_det", "randwire_s1", "resnet50",
                "swin_t", "unet_256", "vit_b_16")
SHOWN_ORDERS = ("as_given", "reverse_post_order", "deepest_input_first", "best_of_xla", "best_of_inductor")


def models_note(rows):
    proven = sum(row["arena"] == row["bound"] for row in rows)
    fragmented = [row["model"] for row in rows if row["arena"] != row["load"]]
    exceeds = f"exceeds the peak for {', '.join(fragmented)}" if fragmented else "equals the peak for all of them"
    return (f"Sizes without a unit are in MiB. For {proven} of {len(rows)} models the arena equals the bound, "
            "so it is proven optimal."
            f" The arena {exceeds}.")


def models(figures):
    rows = [[row["model"] + (f" `{row['options']}`" if row["options"] else ""), f"{row['nodes']:,}",
             *(mebibytes(row[key]) for key in ("temporaries_sum", "load_as_given", "load", "bound")),
             f"**{mebibytes(row['arena'])}**", "proven" if row["arena"] == row["bound"] else f"{row['gap']:.1%}",
             row["order"].replace("_", " "), f"{row['seconds']:.2f} s"] for row in figures["models"]]
    return lines(["<Model", "Nodes", "No reuse", "As given", "Peak", "Bound", "Arena", "<Gap", "<Order", "Time"], rows,
                 models_note(figures["models"]))


def short_models(figures):
    rows = [[row["model"], f"{row['nodes']:,}", mebibytes(row["temporaries_sum"]), mebibytes(row["load_as_given"]),
             f"**{mebibytes(row['arena'])}**", "proven" if row["arena"] == row["bound"] else mebibytes(row["bound"]),
             f"{row['seconds']:.2f} s"] for row in figures["models"] if row["model"] in SHOWN_MODELS]
    return lines(["<Model", "Nodes", "No reuse", "As given", "Arena", "<Bound", "Time"], rows,
                 models_note(figures["models"]))


def orders(figures):
    rows = figures["orders"]
    shown = [row for row in rows if not (row["proven_optimal"] and row["load"] == row["named"]["as_given"])]
    cells = [[row["graph"], f"{row['nodes']:,}", *(mebibytes(row["named"][name]) for name in SHOWN_ORDERS),
              f"**{mebibytes(row['load'])}**", "proven" if row["proven_optimal"] else mebibytes(row["bound"]),
              f"{row['seconds']:.2f} s"] for row in shown]
    proven = sum(row["proven_optimal"] for row in rows)
    return lines(["<Graph", "Nodes", "As given", "Reverse post-order", "Longest path", "Best of XLA's",
                  "Best of Inductor's", "Lowtide", "<Bound", "Time"], cells,
                 f"Sizes without a unit are in MiB. For {proven} of {len(rows)} graphs the order is proven "
                 f"optimal. The table omits the {len(rows) - len(shown)} graphs for which the order as given is "
                 "optimal.")


def budgets(figures):
    def overhead(row, cost):
        return f"{100 * (cost - row['base_cost']) / row['base_cost']:.4f} %"

    rows = []
    for row in figures["budgets"]:
        share = share_text(row["share"])
        found = f"**{overhead(row, row['cost'])}**" if row["feasible"] else "none"
        bound = "proven" if row["cost"] == row["cost_bound"] else overhead(row, row["cost_bound"])
        if not row["feasible"]:
            bound = "proven" if row["proven_infeasible"] else "not proven"
        rows.append([row["graph"], f"{row['nodes']:,}", share, found, bound, f"{row['cpu_seconds']:.1f} s"])
    return lines(["<Graph", "Nodes", "Budget", "Overhead", "<Bound", "CPU time"], rows,
                 "A share is of the peak of the file's order. *Proven*: no sequence costs less or, without an "
                 "overhead, no sequence keeps the budget.")


def share_text(share):
    return f"{100 * share:.0f} %" if share < 1 else f"{share} GiB"


def levers(figures):
    def found(way):
        if way["feasible"]:
            return f"{100 * way['overhead']:.4f} %"
        return "impossible" if way["proven_infeasible"] else "none found"

    rows = []
    for row in figures["levers"]:
        both = row["both"]
        bound = f"{100 * both['bound']:.4f} %" if both["feasible"] else ""
        if both["feasible"] and both["bound"] == both["overhead"]:
            bound = "proven"
        moved = both["moved_bytes"] if both["feasible"] else 0
        rows.append([row["graph"], share_text(row["share"]), found(row["reruns"]), found(row["transfers"]),
                     f"**{found(both)}**", bound, f"{both['reruns']}",
                     f"{moved / 2**30:,.2f} GiB" if moved >= 2**24 else f"{moved:,} B",
                     f"{both['cpu_seconds']:.1f} s"])
    return lines(["<Graph", "Budget", "Reruns alone", "Transfers alone", "Both", "<Bound for both", "Reruns", "Moved",
                  "CPU time"], rows,
                 "Overheads are of the time of all nodes once. *Reruns* and *Moved*, in both directions, are those of "
                 "the answer with both.")


def curves(figures):
    rows = []
    for row in figures["curves"]:
        points = row["points"]
        chosen = [points[round(part * (len(points) - 1))] for part in (0.25, 0.5, 0.75, 1)]
        costs = [f"{100 * (one['cost'] / row['base_cost'] - 1):.2f} %" if one["feasible"] else "none"
                 for one in chosen]
        proven = sum(one["cost_proven_optimal"] for one in points)
        rows.append([row["graph"], f"{100 * points[-1]['budget'] / points[0]['budget']:.1f} %", *costs,
                     f"{proven} of {len(points)}", f"{row['cpu_seconds']:.0f} s"])
    return lines(["<Graph", "Smallest budget", "Overhead at 1/4", "1/2", "3/4", "at the end", "Proven", "CPU time"],
                 rows, "Budgets go in equal steps from the lowest peak without reruns to a bound that no sequence goes "
                 "below. *None*: no sequence was found that keeps the budget.")


def packing(figures):
    efforts, problems = list(figures["efforts"]), figures["problems"]
    rows = []
    for name, entry in problems.items():
        row = [name, f"{entry['buffers']:,}", f"{entry['standard']['bound']:,}"]
        for done in (entry.get(effort) for effort in efforts):
            height = done and ("**optimal**" if done["proven_optimal"] else f"{done['height'] / done['bound']:.4f}")
            row += [height, f"{done['seconds']:.3f} s"] if done else ["", ""]
        rows.append(row)
    challenging = [entry for name, entry in problems.items() if len(name) == 1]
    mean = ["A-K, geometric mean", "", ""]
    for effort in efforts:
        # Where less effort proved the optimum, more effort was not tried.
        done = [entry.get(effort) or entry["standard"] for entry in challenging]
        mean += [f"{math.exp(statistics.mean(math.log(one['height'] / one['bound']) for one in done)):.4f}", ""]
    return lines(["<Problem", "Buffers", "Bound", "Little effort", "", "Standard", "", "Much", ""], [*rows, mean])


def large_packings(figures):
    pairs = zip(figures["problems"][::2], figures["problems"][1::2])
    rows = [[f"{quick['buffers']:,}", quick["kind"], f"{quick['ratio']:.4f}", f"{quick['seconds']:.2f} s",
             f"{default['ratio']:.4f}", f"{default['seconds']:.2f} s", f"{quick['peak_bytes_per_buffer']:,.0f}"]
            for quick, default in pairs]
    return lines(["Buffers", "<Kind", "Quick: height / bound", "Time", "Default: height / bound", "Time",
                  "Bytes per buffer, whole process"], rows)


def growth(figures):
    rows = [[f"{row['nodes']:,}", f"{row['inspect_seconds']:.2f} s", f"{row['plan_seconds']:.2f} s",
             f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB", f"{row['gap']:.2%}"] for row in figures["rows"]]
    return lines(["Nodes", "`inspect`", "`plan -o`", "Memory", "Gap"], rows,
                 f"Time grows as the number of nodes to the power of {figures['exponent']}.")


def compare_growth(figures):
    rows = [[f"{row['nodes']:,}", f"{row['cpu_seconds']:.2f} s", f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB"]
            for row in figures["rows"]]
    return lines(["Nodes", "`compare`", "Memory"], rows,
                 f"Time grows as the number of nodes to the power of {figures['exponent']}.")


def scale(figures):
    limits = figures["limits"]
    rows = [[row["graph"], f"`{row['command']}`", f"{row['cpu_seconds']:.1f} s",
             f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB"] for row in figures["rows"]]
    exceeding = [row for row in figures["rows"] if row["cpu_seconds"] > limits["cpu_seconds"]
                 or row["peak_memory_bytes"] > limits["memory_bytes"]]
    return lines(["<Graph", "<Command", "CPU", "Memory"], rows,
                 f"The limit is {limits['cpu_seconds']} s and {limits['memory_bytes'] / 2**20:,.0f} MiB per command. "
                 f"{len(rows) - len(exceeding)} of {len(rows)} runs stay within it.")


def concurrency(figures):
    of = {(row["model"], row["run"], row["asked"]): row for row in figures["models"]}
    rows = [[model, *(f"{of[model, run, asked][key]:.2f}" for run, asked in
                      (("streams", 2), ("waves", 2), ("dataflow", None)) for key in ("arena_of_one_stream", "speed"))]
            for model in sorted({row["model"] for row in figures["models"]})]
    return lines(["<Model", "2 streams: arena", "speed", "Waves of 2: arena", "speed", "Dataflow: arena", "speed"],
                 rows, "All numbers are factors relative to the plan for one stream. Speed is estimated by a cost "
                 "model, not measured.")


def onnxruntime_cell(row):
    if row["predicted"] is None:
        return "refused"
    guess, truth = row["predicted"][0][1], row["measured"][0][1]
    return mebibytes(truth) if guess == truth else f"{mebibytes(guess)} / {mebibytes(truth)}"


def onnxruntime_memory(figures):
    of = {(row["model"], row["level"]): row for row in figures["rows"]}
    levels = ("given", "basic", "extended", "all")
    rows = [[model, mebibytes(of[model, "given"]["arena"]), *(onnxruntime_cell(of[model, level]) for level in levels)]
            for model in sorted({model for model, _ in of})]
    done = [row for row in figures["rows"] if row["predicted"] is not None]
    close = sum(row["close"] for row in done)
    equal, as_requested = (sum(row["predicted"][at] == row["measured"][at] for row in done) for at in (0, 1))
    return lines(["<Model", "Lowtide, as given", "As given", "Basic", "Extended", "All"], rows,
                 f"Sizes without a unit are in MiB: predicted / measured, or one number if both are equal to the "
                 f"byte. ONNX Runtime "
                 f"{figures['version']}. In {close} of {len(figures['rows'])} cases, the predictions for the first and "
                 f"the second run are within 15 %. In {equal} cases, both are equal to the byte. With "
                 f"kSameAsRequested, this holds for {as_requested} cases.")


def runtime_growth_row(row):
    options = f" `{row['options']}`" if row["options"] else ""
    keys = ("weights", "peak", "arena", "lowtide", "onnxruntime", "openvino")
    sizes = ["refused" if row[key] is None else f"{row[key] / 2**20:,.2f}" for key in keys]
    return [row["model"] + options, *sizes, "" if row["ratio"] is None else f"{row['ratio']:.2f}"]


def runtime_growth(figures):
    rows, versions = figures["rows"], figures["versions"]
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    return lines(["<Model", "Weights", "Peak as written", "Arena", "Lowtide", "ONNX Runtime", "OpenVINO", "Ratio"],
                 [runtime_growth_row(row) for row in rows],
                 f"Sizes are in MiB. ONNX Runtime {versions['onnxruntime']}, OpenVINO {versions['openvino']}. For "
                 f"{sum(ratio <= 0.5 for ratio in ratios)} of {len(rows)} models, Lowtide grows by at most half as "
                 "much as the better of the two.")


def compared_cell(values, part):
    """How many of the tensors of the model were compared, or what refused them."""
    found = values if "refused" in values else values[part]
    if "refused" in found:
        return "refused"
    wrong = f", **{found['different']} differ**" if found["different"] else ""
    return f"{found['tensors']:,} of {found['of']:,}{wrong}"


def reference_cell(values):
    found = values if "refused" in values else values["reference"]
    if "refused" in found:
        return "too slow" if "processor time" in found["refused"] else "refused"
    return "**differs**" if found["different"] else "equal"


def costs_cells(costs):
    """The runs, and the allocations, system calls and page faults of all of them."""
    if costs is None or "refused" in costs:
        return ["", "not counted"]
    counts = [f"{costs[key]:,}" for key in ("allocations", "system_calls", "page_faults")]
    return [f"{costs['runs']:,}", " / ".join(counts)]


def runtime_proof_row(row):
    memory = row["memory"]
    arena = "refused" if "refused" in memory else " / ".join(
        mebibytes(memory[key]) for key in ("planned_arena", "seen_arena"))
    return [row["model"] + (f" `{row['options']}`" if row["options"] else ""),
            compared_cell(row["values"], "as_written"), compared_cell(row["values"], "lowered"),
            reference_cell(row["values"]), f"{row['plans']['equal']} of {row['plans']['of']}",
            *costs_cells(row["costs"]), arena, ", ".join(row["failures"]) or "proven"]


def runtime_proof(figures):
    rows, settings = figures["rows"], figures["settings"]
    proven = sum(not row["failures"] for row in rows)
    machines = " and ".join(sorted({row["cpu"] for row in rows}))
    commits = Counter(row["commit"] for row in rows)
    shown = ", ".join(f"{commit} ({count})" for commit, count in sorted(commits.items()))
    return lines(["<Model", "As written", "Lowered", "<Reference", "Plans", "Runs", "Costs", "Arena planned / seen",
                  "<Result"],
                 [runtime_proof_row(row) for row in rows],
                 f"{proven} of {len(rows)} models are proven, on {machines}, at the commits {shown}. The arena is in "
                 "MiB where no unit is given. Costs are the allocations / system calls / page faults of all runs "
                 "together, which are "
                 f"{settings['runs']:,}, or those that fit into {settings['seconds']} seconds.")


TABLES = {"models": models, "short_models": short_models, "peers": run_tables.peers, "orders": orders,
          "budgets": budgets, "levers": levers, "curves": curves,
          "packing": packing, "large_packings": large_packings, "growth": growth, "compare_growth": compare_growth,
          "scale": scale, "concurrency": concurrency, "onnxruntime_memory": onnxruntime_memory,
          "runtime_growth": runtime_growth, **run_tables.TABLES, **torch_tables.TABLES,
          "runtime_proof": runtime_proof}
# The tables that are not made from the file of their own name.
SOURCES = {"short_models": ("models",), "peers": ("runtime_growth", "latency"),
           "torch_models": ("torch_step",)}


def figures_of(name):
    return [json.loads((record.RESULTS / f"{source}.json").read_text()) for source in SOURCES.get(name, (name,))]


def with_tables(text):
    """The text with every table regenerated from its figures, and the names of its tables."""
    names = re.findall(r"<!-- (\w+):begin -->", text)
    for name in names:
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        head, rest = text.split(begin)
        text = f"{head}{begin}\n{TABLES[name](*figures_of(name))}\n{end}{rest.split(end)[1]}"
    return text, names


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        raise SystemExit(__doc__)
    seen, wrong = [], 0
    for path in FILES:
        text, names = with_tables(path.read_text())
        seen += names
        if is_check and text != path.read_text():
            print(f"{path.relative_to(record.ROOT)}: a table differs from its figures; run bench/tables.py")
            wrong += 1
        elif not is_check:
            path.write_text(text)
    for name in TABLES.keys() - set(seen):
        print(f"the table {name} is in no document")
        wrong += 1
    by_one_command = (record.ROOT / "scripts/record_figures").read_text()
    for path in sorted(record.RESULTS.glob("*.json")) if is_check else []:
        figures = json.loads(path.read_text())
        if figures["code"] != record.code_digest(figures["measures"]):
            # Some tables need the programs of other projects, so their script is called by itself.
            is_listed = path.stem in by_one_command
            command = f"scripts/record_figures {path.stem}" if is_listed else f"bench/{path.stem}.py"
            if path.stem == "runtime_proof":
                command = "scripts/prove_runtime"
            print(f"warning: {path.relative_to(record.ROOT)} is older than the code that it measures "
                  f"({figures['measures']}); run {command}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
