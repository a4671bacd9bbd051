#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans every ONNX model of some folders and writes the table of the README.

    bench/model_table.py --lowtide build/release/src/lowtide/cli/lowtide --dims bench/dims.json FOLDER... [--readme README.md]

The figures go to bench/results/models.json with machine and commit, and, with --readme, between the markers
<!-- models:begin --> and <!-- models:end --> of that file. Nothing in the table is written by hand.
"""
import argparse
import json
import pathlib
import sys

import record


def plan(lowtide, model, dims):
    """The --json answer of `lowtide plan`, the smallest wall time of three runs and its peak memory."""
    command = [lowtide, "plan", str(model), "--json", *dims.get(model.name, [])]
    runs = [record.timed(command) for _ in range(3)]
    return runs[0].json(), min(run.seconds for run in runs), max(run.peak_bytes for run in runs)


def row_of(name, answer, seconds, peak):
    sizes = answer["bytes"]
    return {"model": name, "nodes": answer["model"]["nodes"], "options": "", **{key: sizes[key] for key in (
        "temporaries_sum", "load_as_given", "load", "bound", "arena")}, "gap": answer["gap"],
        "order": answer["schedule"]["strategy"], "order_optimal": answer["schedule"]["proven_optimal"],
        "offsets": answer["allocate"]["strategy"], "verified": answer["verified"], "seconds": round(seconds, 3),
        "peak_memory_bytes": peak}


def mebibytes(count):
    return f"{count / 2**20:,.2f}"


def markdown(rows):
    lines = ["| Model | Nodes | Sum | As given | Load | Bound | Arena | Gap | Order | Time |",
             "|---|--:|--:|--:|--:|--:|--:|--:|---|--:|"]
    for row in rows:
        proven = "proven" if row["arena"] == row["bound"] else ""
        lines.append("| {} | {:,} | {} | {} | {} | {} | **{}** | {:.1%} {} | {} | {:.2f} s |".format(
            row["model"] + (f" `{row['options']}`" if row["options"] else ""), row["nodes"],
            mebibytes(row["temporaries_sum"]), mebibytes(row["load_as_given"]), mebibytes(row["load"]),
            mebibytes(row["bound"]), mebibytes(row["arena"]), row["gap"], proven, row["order"].replace("_", " "),
            row["seconds"]))
    fragmented = [row["model"] for row in rows if row["arena"] != row["load"]]
    optimal = sum(row["arena"] == row["bound"] for row in rows)
    lines += ["", f"MiB. {optimal} of {len(rows)} proven optimal (arena = bound). "
              + ("Arena = load, so no fragmentation, on all." if not fragmented else
                 f"Arena = load, so no fragmentation, on all but {', '.join(fragmented)}.")]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--dims", type=pathlib.Path, default=pathlib.Path(__file__).parent / "dims.json")
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results/models.json")
    arguments = parser.parse_args()
    dims = json.loads(arguments.dims.read_text())
    rows = []
    for model in sorted(path for folder in arguments.folders for path in folder.glob("*.onnx")):
        answer, seconds, peak = plan(arguments.lowtide, model, dims)
        row = row_of(model.stem, answer, seconds, peak)
        row["options"] = " ".join(dims.get(model.name, []))
        rows.append(row)
        print(f"{row['model']:34} {row['arena']:>12} {row['bound']:>12} {row['gap']:7.2%} {seconds:6.3f} s", file=sys.stderr)
    record.write(arguments.results, {"models": rows})
    if arguments.readme:
        record.replace_between(arguments.readme, "models", markdown(rows))


if __name__ == "__main__":
    main()
