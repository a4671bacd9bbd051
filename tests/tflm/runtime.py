# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs .tflite files in the runtime of TFLite Micro, in a process of its own."""
import dataclasses
import functools
import pathlib
import pickle
import re
import select
import subprocess
import sys
import tempfile

import files
import numpy as np

CHILD = pathlib.Path(__file__).resolve().parent / "child.py"
# The step of the search for the smallest arena; the runtime rounds the arena to this too.
ARENA_STEP = 16


@dataclasses.dataclass(frozen=True)
class Result:
    """What the runtime did with a model."""
    status: str  # "ok", "missing operator", "refused" (an error that it reports), "aborted" or "timeout"
    message: str  # all that it printed
    sets: list | None = None  # the inputs of each run
    values: list | None = None  # the outputs of each run
    inputs: list | None = None  # shape, type and quantization of each input
    outputs: list | None = None
    seconds: float | None = None  # of all timed runs together
    head: int | None = None  # bytes of activations and scratch
    tail: int | None = None  # bytes of persistent data

    @property
    def ok(self):
        return self.status == "ok"

    def same_values(self, other):
        """Both ran, and all outputs of all runs have the same bits."""
        return self.ok and other.ok and len(self.values) == len(other.values) and all(
            one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
            for first, second in zip(self.values, other.values, strict=True)
            for one, two in zip(first, second, strict=True))


@functools.lru_cache
def missing():
    """Why the runtime cannot be used here, or None."""
    done = subprocess.run([sys.executable, "-c", "from tflite_micro.python.tflite_micro import runtime"],
                          capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stderr.strip() or "it crashed").splitlines()[-1]


def check_present():
    """Raises RuntimeError, with a way out, if the runtime cannot be used here."""
    if reason := missing():
        raise RuntimeError(f"the runtime of TFLite Micro is missing: {reason}; install tests/tflm/requirements.txt, or "
                           "leave these tests out with scripts/test --without tflite")


def allocations(text):
    """The bytes of head and tail in the report of the runtime; the last report counts."""
    found = {part: re.findall(rf"Arena allocation {part} (\d+) bytes", text) for part in ("head", "tail")}
    return {part: int(numbers[-1]) if numbers else None for part, numbers in found.items()}


def default_arena(data):
    """An arena that holds any model of the tests."""
    return (64 << 20) + 16 * len(data)


class Runtime:
    """A child process that runs models one after another, and is started again if it dies."""

    def __init__(self, timeout=60):
        self.timeout = timeout
        self.process = None
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._stop()
        self.log.close()

    def run(self, data, *, seed=0, runs=1, sets=None, arena=None, timed=0):
        """Runs a file's bytes with inputs drawn by seed, or with the given sets of arrays.

        timed: invocations after these runs whose time is measured.
        """
        model = files.read(data)
        graph = model.subgraphs[0]
        count = lambda values: 0 if values is None else len(values)
        request = {"model": data, "seed": seed, "runs": runs, "sets": sets, "timed": timed,
                   "arena": default_arena(data) if arena is None else arena,
                   "inputs": count(graph.inputs), "outputs": count(graph.outputs)}
        reply, status = self._ask(request)
        text = self._printed()
        if status:
            return Result(status, text)
        if "error" in reply:
            text = f"{text}{reply['error']}"
            absent = "Didn't find op for builtin opcode" in text or "Failed to get registration" in text
            return Result("missing operator" if absent else "refused", text)
        return Result("ok", text, **reply, **allocations(text))

    def smallest_arena(self, data, **options):
        """The smallest arena_size with which the model runs, a multiple of ARENA_STEP. None if none is enough."""
        first = self.run(data, **options)
        if not first.ok:
            return None
        low, high = 0, -(-default_arena(data) // ARENA_STEP)
        guess = -(-(first.head + first.tail) // ARENA_STEP)
        # The answer is close to the sum of both parts, so the range around it is tried first.
        if self.run(data, arena=(guess + 16) * ARENA_STEP, **options).ok:
            high = guess + 16
        while high - low > 1:
            middle = (low + high) // 2
            if self.run(data, arena=middle * ARENA_STEP, **options).ok:
                high = middle
            else:
                low = middle
        return high * ARENA_STEP

    def _ask(self, request):
        """The answer of the child, or the status of a run that has none."""
        self._start()
        self.log.seek(0)
        self.log.truncate()
        try:
            pickle.dump(request, self.process.stdin, pickle.HIGHEST_PROTOCOL)
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], self.timeout)[0]:
                self._stop()
                return None, "timeout"
            return pickle.load(self.process.stdout), None
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            self._stop()
            return None, "aborted"

    def _start(self):
        if self.process is None or self.process.poll() is not None:
            self._stop()
            # The child appends to the file, so that a truncation moves where it writes.
            with open(f"/proc/self/fd/{self.log.fileno()}", "ab") as log:
                self.process = subprocess.Popen([sys.executable, "-u", str(CHILD)], stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=log)

    def _stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _printed(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")


def distinct(values):
    """The number of distinct values in an array."""
    return len(np.unique(values))
