#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Proves on models that a run computes what other runtimes compute, and that it keeps to its plan.

usage: prove_models.py --tools FOLDER [--plans N] [--runs N] [--seconds S] [--sample] [--results FILE] [--again]
                       [--only NAME]... FOLDER...

The models are the .onnx files of the folders. Weights that are not beside a model are synthetic, and open extents get
the values of bench/dims.json. For each model:

  values     Every tensor of the model is compared with that of ONNX Runtime without optimizations. The graph runs as
             written, and then lowered, where the tensors that remain are compared. Floats may differ by 1e-3 of their
             value plus 1e-4 of the largest magnitude of the tensor (tests/tools/compare_with_onnxruntime.py). Integers
             and booleans are equal. Where they differ, ONNX Runtime runs again from the floats that Lowtide made them
             of, and must get equal ones (tests/engine/choices.py). These floats were compared as all others;
             "taken_over" counts them.
  reference  The outputs are compared with those of the reference evaluator of onnx, if it needs at most four minutes of
             processor time.
  plans      Random correct plans of the lowered graph, 50 unless given: for one stream, for several, and for waves. On
             one thread and on two, every value must be equal, bit for bit, to that of a run without reuse.
  costs      Allocations, system calls and page faults of all runs: 10,000, or those that fit into 60 seconds and at
             least 100. All must be 0.
  memory     The most bytes of the arena that are written and live at once, and the end of the highest byte that is
             written. Both must be equal to the plan, unless sizes depend on data.

--sample takes 3 plans and 100 runs, and small pictures. With --results, the rows are written to FILE after each model,
and models that FILE has for the same code and options are not run again, unless --again is given. The exit code is 1 if
a model fails.
"""
import argparse
import io
import json
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests/tools"))
import choices  # noqa: E402
import compare_with_onnxruntime  # noqa: E402
import model_case  # noqa: E402
import record  # noqa: E402

REFERENCE_SECONDS = 240
SAMPLE = {"plans": 3, "runs": 100, "seconds": 5}
SAMPLE_DIMS = {"ppocr_v4_det.onnx": ["--shape", "x=1x3x64x64"]}
CHOICES = ("NonMaxSuppression", "TopK")
COUNTS = ("allocations", "system_calls", "page_faults")
SHOWN_FAULTS = 5


def inputs_of(folder):
    return [np.load(folder / f"input_{at}.npy") for at in range(len(list(folder.glob("input_*.npy"))))]


def expected_values(folder, taken_over):
    """Every tensor that a node of the graph of the model computes, by ONNX Runtime, which starts from these tensors."""
    model = choices.start_from(onnx.load(folder / "model.onnx", load_external_data=False), taken_over)
    outputs = [port.name for port in model.graph.output]
    names = [name for node in model.graph.node for name in node.output if name and name not in outputs]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(model, folder / "all.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(folder / "all.onnx", options, providers=["CPUExecutionProvider"])
    ports = [port.name for port in session.get_inputs() if port.name not in taken_over]
    values = session.run(outputs + names, {**dict(zip(ports, inputs_of(folder), strict=True)), **taken_over})
    return {**dict(zip(outputs + names, values, strict=True)), **taken_over}


def own_values(tools, folder, words):
    """Yields the name and the value of each tensor that Lowtide computes."""
    command = [tools / "prove_model", "values", folder / "model.onnx", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while line := process.stdout.readline():
            head = json.loads(line)
            yield head["name"], np.load(io.BytesIO(process.stdout.read(head["bytes"])))
        message = process.stderr.read().decode().strip()
    if process.returncode != 0:
        raise RuntimeError(message or f"prove_model ends with {process.returncode}")


def as_in_model(value, shape):
    """A value whose channels are in blocks, [N, ceil(C / lanes), ..., lanes], with the shape that it has in the model.

    The lanes without a channel must be zero. Other values stay as they are.
    """
    if value.ndim != len(shape) + 1 or value.ndim not in (4, 5) or value.shape[-1] not in (8, 16):
        return value
    channels = np.moveaxis(value, -1, 2)
    whole = channels.reshape(channels.shape[0], -1, *channels.shape[3:])
    return whole[:, :shape[1]] if not whole[:, shape[1]:].any() else value


def compare_values(tools, folder, expected, words):
    """What differs, by name, and the names of the tensors that are equal within the tolerance."""
    faults, equal = {}, set()
    for name, value in own_values(tools, folder, words):
        if name not in expected:
            continue
        value = as_in_model(value, expected[name].shape)
        if fault := compare_with_onnxruntime.difference(name, value, expected[name]):
            faults[name] = fault
        else:
            equal.add(name)
    return faults, equal


def to_take_over(tools, folder, graph, compared, words):
    """The floats that were equal, and that integers that are not equal were made of."""
    (expected, faults, equal), own = compared, {}
    integers = {name for name in faults if expected[name].dtype.kind in "iub"}
    wanted = {name for name in choices.sources_of(graph, integers) & equal if expected[name].dtype.kind == "f"}
    for name, value in own_values(tools, folder, words) if wanted else ():
        if name in wanted:
            own[name] = as_in_model(value, expected[name].shape)
    return own


def compare_with_choices(tools, folder, expected, words):
    """How many tensors were compared, and what differs."""
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    outputs, count, taken_over = {port.name for port in graph.output}, len(expected), {}
    while True:
        faults, equal = compare_values(tools, folder, expected, words)
        more = to_take_over(tools, folder, graph, (expected, faults, equal), words)
        if not more.keys() - taken_over.keys():
            break
        taken_over |= more
        expected = expected_values(folder, taken_over)
    missing = [f"output {name} is missing" for name in sorted(outputs - equal - faults.keys())]
    return {"tensors": len(faults) + len(equal), "of": count, "taken_over": len(taken_over),
            "different": len(faults) + len(missing), "faults": [*missing, *faults.values()][:SHOWN_FAULTS]}


def as_in_inference(model):
    """The same model for a reference that takes a BatchNormalization before opset 14 for one in training.

    With onnx 1.23, its mean and variance are `momentum` of those of the model and the rest of those of the batch.
    The default of this attribute is 0.9, and no run of a model in ONNX Runtime has it.
    """
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            kept = [one for one in node.attribute if one.name != "momentum"]
            del node.attribute[:]
            node.attribute.extend([*kept, onnx.helper.make_attribute("momentum", 1.0)])
    return model


def write_reference(folder):
    """Tensors of the reference evaluator, in a process of its own, because it may take hours.

    reference.json lists the tensors, and those that it starts from, start_<k>.npy.
    """
    asked = json.loads((folder / "reference.json").read_text())
    start = {name: np.load(folder / f"start_{at}.npy") for at, name in enumerate(asked["start"])}
    model = onnx.load(folder / "model.onnx")
    if model.opset_import[0].version < 14:
        model = as_in_inference(model)
    names = [port.name for port in model_case.inputs_of(model.graph)]
    model = choices.start_from(model, start)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in asked["tensors"])
    feeds = {**dict(zip(names, inputs_of(folder), strict=True)), **start}
    for at, value in enumerate(onnx.reference.ReferenceEvaluator(model).run(None, feeds)):
        np.save(folder / f"reference_{at}.npy", value)


def reference_values(folder, tensors, start, seconds):
    """Some tensors by the reference, which starts from these values, by name. Raises what refuses them."""
    (folder / "reference.json").write_text(json.dumps({"tensors": tensors, "start": list(start)}))
    for at, value in enumerate(start.values()):
        np.save(folder / f"start_{at}.npy", value)
    command = [sys.executable, __file__, "--write-reference", folder]
    done = subprocess.run(command, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)))
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise TimeoutError(f"takes more than {seconds} s of processor time")
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:200])
    return {name: np.load(folder / f"reference_{at}.npy") for at, name in enumerate(tensors)}


def faults_of_reference(folder, expected, tensors, start, seconds):
    values = reference_values(folder, tensors, start, seconds)
    return [fault for name, value in values.items()
            if (fault := compare_with_onnxruntime.difference(name, expected[name], np.asarray(value)))]


def compare_reference(folder, expected, outputs, seconds):
    """Compares the outputs of ONNX Runtime with the reference, because those of Lowtide are compared with them.

    If they differ and the model chooses by scores, the floats that the choices were made of are compared, and the
    reference continues from those of ONNX Runtime.
    """
    try:
        faults = faults_of_reference(folder, expected, outputs, {}, seconds)
        graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
        chosen = {name for node in graph.node if node.op_type in CHOICES for name in node.output}
        start = {name: expected[name] for name in sorted(choices.sources_of(graph, chosen) & expected.keys())
                 if expected[name].dtype.kind == "f"}
        if faults and start:
            faults = faults_of_reference(folder, expected, list(start), {}, seconds)
            faults += faults_of_reference(folder, expected, outputs, start, seconds)
        return {"different": len(faults), "faults": faults[:SHOWN_FAULTS]}
    except (TimeoutError, RuntimeError) as refusal:
        return {"refused": str(refusal)}


def prove_values(tools, folder, reference_seconds):
    try:
        expected = expected_values(folder, {})
        model = onnx.load(folder / "model.onnx", load_external_data=False)
        outputs = [port.name for port in model.graph.output]
        floats = [expected[name] for name in outputs if expected[name].dtype.kind == "f"]
        if floats and all(np.isnan(one).all() for one in floats):
            return {"refused": "no output has a number, so nothing can be compared"}
        return {"as_written": compare_with_choices(tools, folder, expected, ["--as-written"]),
                "lowered": compare_with_choices(tools, folder, expected, []),
                "reference": compare_reference(folder, expected, outputs, reference_seconds)}
    except Exception as error:  # of a runtime; the other proofs go on
        return {"refused": " ".join(str(error).split())[:300]}


def prove_plans(tools, folder, count):
    done = subprocess.run([tools / "random_plans", folder / "model.onnx", str(count)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    equal = sum(line.endswith("; equal") for line in lines)
    return {"equal": equal, "of": count, **({} if done.returncode == 0 else {"fault": "\n".join(lines[-1:])[:300]})}


def prove_costs(tools, folder, runs, seconds):
    """Counts of run 1 and sums of the others. None if the system does not let anything be counted."""
    command = [tools / "run_trap", "--runs", str(runs), "--seconds", str(seconds), folder / "model.onnx"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2:
        return None
    line = json.loads(done.stdout)
    if "refused" in line:
        return {"refused": line["refused"][:300]}
    return {"runs": line["runs"], **{key: line["first"][key] + line["others"][key] for key in COUNTS}}


def prove_memory(tools, folder):
    done = subprocess.run([tools / "prove_model", "memory", folder / "model.onnx"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"refused": done.stderr.strip()[:300]}


def failures_of(row):
    """The proofs that failed, by name."""
    failed = []
    values, memory, costs = row["values"], row["memory"], row["costs"]
    for part in ("as_written", "lowered", "reference"):
        if "refused" in values or values[part].get("different") or (part != "reference" and "refused" in values[part]):
            failed.append(f"values {part}")
    if row["plans"]["equal"] != row["plans"]["of"]:
        failed.append("plans")
    if costs and ("refused" in costs or any(costs[key] for key in COUNTS)):
        failed.append("costs")
    is_equal = "refused" not in memory and all(
        memory[f"seen_{key}"] == memory[f"planned_{key}"]
        or (memory["dynamic_tensors"] and memory[f"seen_{key}"] < memory[f"planned_{key}"])
        for key in ("peak", "arena"))
    if not is_equal or memory["fault"]:
        failed.append("memory")
    return failed


def prove(source, words, given):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model_case.write_case(source, words, folder)
        row = {"model": source.stem, "options": " ".join(words), "cpu": record.machine()["cpu"],
               "code": record.code_digest("runs"), "commit": record.commit(),
               "values": prove_values(given.tools, folder, REFERENCE_SECONDS if not given.sample else 30),
               "plans": prove_plans(given.tools, folder, given.plans),
               "memory": prove_memory(given.tools, folder),
               "costs": prove_costs(given.tools, folder, given.runs, given.seconds)}
    row["failures"] = failures_of(row)
    return row


def show(row):
    print(f"{row['model']}: {', '.join(row['failures']) + ' FAILED' if row['failures'] else 'proven'}", flush=True)
    if row["failures"]:
        print(json.dumps(row, indent=1), flush=True)


def known_rows(given, settings):
    """The rows of earlier runs with the same options."""
    if given.again or not given.results or not given.results.exists():
        return []
    known = json.loads(given.results.read_text())
    return known["rows"] if known["settings"] == settings else []


def write_results(path, settings, rows):
    """The table is as old as its oldest row."""
    codes = {row["code"] for row in rows} - {record.code_digest("runs")}
    header = {"machine": record.machine(), "commit": record.commit(), "measures": "runs",
              "code": min(codes, default=record.code_digest("runs")), "settings": settings}
    path.write_text(json.dumps({**header, "rows": rows}, indent=1) + "\n")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="the folder of prove_model and the others")
    parser.add_argument("--plans", type=int, default=50)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--only", action="append")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    if given.sample:
        vars(given).update(SAMPLE)
    return given


def main():
    if sys.argv[1:2] == ["--write-reference"]:
        write_reference(pathlib.Path(sys.argv[2]))
        return 0
    given = read_arguments()
    settings = {key: getattr(given, key) for key in SAMPLE}
    rows = known_rows(given, settings)
    done = {(row["model"], row["options"]) for row in rows if row["code"] == record.code_digest("runs")}
    dims = {**record.DIMS, **(SAMPLE_DIMS if given.sample else {})}
    failed = 0
    for source in sorted(path for folder in given.folders for path in folder.glob("*.onnx")):
        words = dims.get(source.name, [])
        if (source.stem, " ".join(words)) in done or (given.only and source.stem not in given.only):
            continue
        row = prove(source, words, given)
        show(row)
        failed += bool(row["failures"])
        rows = [one for one in rows if (one["model"], one["options"]) != (row["model"], row["options"])] + [row]
        if given.results:
            write_results(given.results, settings, sorted(rows, key=lambda one: one["model"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
