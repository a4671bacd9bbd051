# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The corpus: a table of cases, each a small function that makes hostile files of one class."""

import copy
import dataclasses
import inspect
import json
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a file is read as: its name, and the commands that read it."""

    file: str
    commands: tuple


# "out" exists before each command, and "new.html" does not. A refusal changes neither.
MODEL = Kind("bad.onnx", (("plan", "bad.onnx", "-o", "out", "--html", "new.html"),))
MODEL_AND_PLAN = Kind("bad.onnx", (("inspect", "bad.onnx"), ("verify", "bad.onnx", "any_model.json")))
NET = Kind(
    "bad.pbtxt",
    (
        ("plan", "bad.pbtxt", "--unit-sizes", "-o", "out", "--html", "new.html"),
        ("share", "bad.pbtxt", "--rule", "caffe2_dag", "-o", "out"),
    ),
)
NET_BINARY = Kind(
    "bad.pb",
    (
        ("inspect", "bad.pb", "--unit-sizes"),
        ("share", "bad.pb", "--rule", "caffe2_simple", "--free", "-o", "out"),
    ),
)
COMPARED_NET = Kind("bad.pb", (("diff", "bad.pb", "bad.pb"),))
SIZED_NET = Kind("bad.pbtxt", (("plan", "bad.pbtxt", "-o", "out", "--html", "new.html"),))
GRAPHDEF = Kind("bad.pbtxt", (("plan", "bad.pbtxt", "--unit-sizes", "-o", "out", "--html", "new.html"),))
REWRITTEN = Kind("bad.pbtxt", (("rewrite", "bad.pbtxt", "--level", "heuristics", "-o", "out"),))
# gpu.json is a cluster of one GPU with 1 GiB.
SWAPPED = Kind(
    "bad.pbtxt",
    (("rewrite", "bad.pbtxt", "--level", "heuristics", "--fetch", "a", "--cluster", "gpu.json", "-o", "out"),),
)
LEAN = Kind(
    "bad.pbtxt",
    (
        ("rewrite", "bad.pbtxt", "--level", "heuristics", "--fetch", "a", "--cluster", "gpu.json", "-o", "out"),
        ("rewrite", "bad.pbtxt", "--planner", "lowtide", "--fetch", "a", "--cluster", "gpu.json", "-o", "out"),
    ),
)
CLUSTER = Kind("bad.cluster", (("rewrite", "any.pbtxt", "--fetch", "a", "--cluster", "bad.cluster", "-o", "out"),))
PLAN = Kind("bad.json", (("verify", "model.onnx", "bad.json"), ("view", "bad.json", "-o", "out")))
SHOWN_PLAN = Kind(
    "bad.json", (("view", "bad.json", "-o", "out"), ("view", "plan.json", "--against", "bad.json", "-o", "out"))
)
WRONG_PLAN = Kind("bad.json", (("verify", "model.onnx", "bad.json"),))
PACKING = Kind("bad.csv", (("pack", "bad.csv", "-o", "out", "--html", "new.html"),))
SLOTS = Kind("bad.csv", (("pack", "bad.csv", "--slots", "-o", "out"),))
TARGET = Kind("bad.toml", (("plan", "model.onnx", "--target", "bad.toml", "-o", "out", "--html", "new.html"),))

DONE, NO, USAGE, BAD_INPUT, INTERNAL = range(5)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    hostile: str  # the class, in words; the README lists them
    kind: Kind
    code: int
    says: str  # must be found in stderr if the file is refused, otherwise in stdout and stderr
    words: tuple  # more words of the command line
    is_large: bool  # a graph that is valid up to the fault, so it is built before the fault is found
    make: Callable

    def variants(self, base):
        """(label, content, says) of each file; the content is bytes, text, or a function that makes the file."""
        made = self.make(base) if inspect.signature(self.make).parameters else self.make()
        if not inspect.isgenerator(made):
            made = iter([("", made)])
        for label, content, *says in made:
            pattern = says[0] if says else self.says
            assert pattern, f"{self.name}/{label} has no pattern for the message"
            yield label, content, pattern


CASES = []


def case(kind, hostile, *, refused=None, accepted=None, wrong=None, words=(), is_large=False):
    """Decorator that adds a function to the table. The function returns the content of a file, or yields
    (label, content[, says])."""
    code, says = next((c, s) for c, s in ((BAD_INPUT, refused), (DONE, accepted), (NO, wrong)) if s is not None)

    def add(make):
        CASES.append(Case(make.__name__, hostile, kind, code, says, tuple(words), is_large, make))
        return make

    return add


class Base:
    """A valid model and its plan, which cases damage."""

    def __init__(self, model, plan_text):
        self.model = model
        self.plan_text = plan_text
        self.plan = json.loads(plan_text)

    def plan_with(self, *changes):
        """The plan with other values: each change is a path, such as ("buffers", 1, 5), and the value."""
        plan = copy.deepcopy(self.plan)
        for path, value in changes:
            *around, last = path
            inner = plan
            for step in around:
                inner = inner[step]
            inner[last] = value
        return json.dumps(plan)
