# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs commands as whole processes and records figures with the machine and the commit they belong to."""
import dataclasses
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import time


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
    """One run: seconds and peak resident memory of the process itself, from the kernel's accounting."""
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return Run(seconds, usage.ru_maxrss * 1024, process.returncode, output.read(), cpu_seconds)


def machine():
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform(terse=True)}


def commit():
    root = pathlib.Path(__file__).resolve().parent
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=root, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def write(path, figures):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "commit": commit(), **figures}, indent=1) + "\n")


def replace_between(path, marker, text):
    """Puts text between <!-- marker:begin --> and <!-- marker:end --> of a file that has both."""
    old = path.read_text()
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    if begin not in old or end not in old:
        raise SystemExit(f"{path} lacks {begin} or {end}")
    head, rest = old.split(begin, 1)
    _, tail = rest.split(end, 1)
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}")
