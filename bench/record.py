# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs commands as processes, and records figures with the machine, the options and the code they belong to."""
import argparse
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"
LOWTIDE = ROOT / "build/release/src/lowtide/cli/lowtide"
DIMS = json.loads((ROOT / "bench/dims.json").read_text())  # options of models with open sizes, by file name

# The rooms whose code decides the figures. The planner has all rooms except those that only show or compare plans.
PACKER = ("base", "plan", "allocate")
NOT_PLANNER = ("cli", "earlier", "report")
# Nor do these decide what a model computes when it runs.
NOT_RUNS = (*NOT_PLANNER, "budget", "export")


@dataclasses.dataclass
class Run:
    seconds: float
    peak_bytes: int
    code: int
    output: str
    cpu_seconds: float  # of the process itself, user and system

    def json(self):
        if self.code not in (0, 1):
            raise SystemExit(f"exit code {self.code}")
        return json.loads(self.output)


def timed(command):
    """Runs a command. Returns its wall time, and CPU time and peak resident memory as the system counts them."""
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return Run(seconds, usage.ru_maxrss * 1024, process.returncode, output.read(), cpu_seconds)


def exponent(rows, key, size="nodes"):
    """The slope of log(key) over log(size) from the first row of size 10,000 or more to the last; 1 is linear."""
    far = [row for row in rows if row[size] >= 10_000]
    if len(far) < 2:
        return None
    first, last = far[0], far[-1]
    return round(math.log(last[key] / first[key]) / math.log(last[size] / first[size]), 3)


def machine():
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform(terse=True)}


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def options():
    """The command line without folders, which belong to one machine."""
    return [word if word.startswith("-") else pathlib.Path(word).name for word in sys.argv[1:]]


def rooms_of(measures):
    """The folders of the rooms whose code decides the figures: the "packer", "planner", "runs", or "everything"."""
    rooms = [room for room in (ROOT / "src/lowtide").iterdir() if room.is_dir()]
    if measures == "packer":
        return [room for room in rooms if room.name in PACKER]
    without = {"planner": NOT_PLANNER, "runs": NOT_RUNS, "everything": ()}[measures]
    return [room for room in rooms if room.name not in without]


def code_digest(measures):
    """Digest of the code that a table measures.

    Comments, blanks, includes and file names do not count, so changing them does not make figures out of date.
    """
    digests = []
    for path in [path for room in rooms_of(measures) for path in room.rglob("*") if path.suffix in (".h", ".cc")]:
        text = re.sub(r"//[^\n]*|^\s*#\s*include[^\n]*", "", path.read_text(), flags=re.MULTILINE)
        digests.append(hashlib.sha256("".join(text.split()).encode()).hexdigest())
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()[:16]


def model_arguments(description):
    """A parser of what the tables of models have in common: `folders`, `lowtide`, `only` and `no_record`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--lowtide", default=LOWTIDE)
    parser.add_argument("--only", action="append", help="measure this model, named without .onnx; may be repeated")
    parser.add_argument("--no-record", action="store_true", help="print the figures and write no file")
    return parser


def models_of(given):
    """The models of the folders that are meant, each with its options."""
    for source in sorted(path for folder in given.folders for path in folder.glob("*.onnx")):
        if not given.only or source.stem in given.only:
            yield source, DIMS.get(source.name, [])


def write(name, figures, measures):
    """Writes bench/results/NAME.json. `measures` is what rooms_of() takes."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    header = {"machine": machine(), "commit": commit(), "options": options(), "measures": measures,
              "code": code_digest(measures)}
    (RESULTS / f"{name}.json").write_text(json.dumps({**header, **figures}, indent=1) + "\n")
