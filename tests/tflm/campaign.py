#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Long runs against the runtime of TFLite Micro, for a person who changes the planner, the kernels or these tools.

  campaign.py head --count 1000              the head of random networks is the predicted one
  campaign.py head --files a.tflite b.tflite the same for files that the runtime can run
  campaign.py operators --count 100          each operator computes its estimate, for many attributes
  campaign.py metadata --count 10000         mutated metadata that is accepted gives the outputs of the original
  campaign.py metadata --program lowtide     the same, where `lowtide verify` accepts
  campaign.py arena --program lowtide        the tail and the smallest arena are those that `lowtide plan` predicts
  campaign.py run --program lowtide          `lowtide run` has the bits of the runtime, for operators and networks

Prints a line per failure and one line at the end. The exit code is 1 if there is a failure. A seed repeats its case.
"""
import argparse
import collections
import pathlib
import sys

import files
import metadata
import nets
import numpy as np
import program
import rule
import scratch
import single
import stateful
from runtime import ARENA_STEP, Runtime

MUTATIONS_PER_MODEL = 20


def any_model(seed):
    """Networks, and every eighth time a model with state or with several subgraphs."""
    if seed % 8 == 7:
        kinds = list(stateful.KINDS)
        return stateful.make(kinds[seed // 8 % len(kinds)], seed)
    return nets.make(seed)


def head(runtime, given):
    """The predicted head is the one that the runtime prints."""
    models = above = 0
    for name, data in named_files(given):
        model = files.read(data)
        found = rule.buffers(model, scratch.requests(model))
        predicted, result = rule.place(found), runtime.run(data)
        models += 1
        above += predicted > rule.live_bound(found)
        if result.head != predicted:
            yield f"{name}: predicted {predicted}, the runtime has {result.head} ({result.status})"
    print(f"{models} models, {above} of them above the live bound of their order")


def named_files(given):
    """The given files, or else generated ones."""
    for path in given.files:
        yield path, pathlib.Path(path).read_bytes()
    for seed in range(given.first, given.first + given.count if not given.files else given.first):
        made = any_model(seed)
        yield made.name, made.data


def operators(runtime, given):
    """Each operator computes its estimate, and its scratch is the predicted one."""
    for name in single.OPERATORS:
        furthest = 0.0
        for seed in range(given.first, given.first + given.count):
            made = single.make(name, seed)
            model = files.read(made.data)
            result = runtime.run(made.data, sets=[made.inputs])
            if not result.ok:
                yield f"{made.name}: {result.status}: {result.message.strip().splitlines()[-1:]}"
                continue
            if result.head != rule.head(model, scratch.requests(model)):
                yield f"{made.name}: the runtime has a head of {result.head} bytes"
            furthest = max(furthest, *made.distances(result.values[0], result.outputs))
        print(f"{name}: at most {furthest:.1f} steps from the estimate")
        if furthest > 2:
            yield f"{name}: {furthest:.1f} steps from the estimate"


def accepts(given, model, data):
    """Whether the metadata of a file is judged to be valid: by the program, or by metadata.py without one."""
    if given.program is None:
        return metadata.fault(model, scratch.requests(model)) is None
    return program.verify(given.program, data)


def mutations(runtime, given):
    """Metadata that is accepted never gives a wrong output."""
    counts, done, seed = collections.Counter(), 0, given.first
    while done < given.count:
        generator = np.random.default_rng([seed, 11])
        made = any_model(seed)
        before = runtime.run(made.data, seed=seed, runs=2)
        for number in range(min(MUTATIONS_PER_MODEL, given.count - done)):
            model = files.read(made.data)
            requests = scratch.requests(model)
            values = metadata.planned(model, requests, generator if number % 2 else None)
            name, raw = metadata.mutated(values, generator)
            metadata.attach_raw(model, raw)
            data = files.write(model)
            done += 1
            if not accepts(given, model, data):
                counts[f"{name}: refused"] += 1
                continue
            after = runtime.run(data, sets=before.sets)
            kind = "same" if after.same_values(before) else after.status
            counts[f"{name}: accepted, {'different' if kind == 'ok' else kind}"] += 1
            # The arena of the test may be too small for an offset that is far away.
            if kind not in ("same", "refused"):
                kept = pathlib.Path(given.keep) / f"{made.name.replace(' ', '_')}_{number}.tflite"
                kept.write_bytes(data)
                yield f"{made.name}, mutation {number} ({name}): accepted, {kind}; see {kept}"
        seed += 1
    for name in sorted(counts):
        print(f"{counts[name]:6} {name}")


def arenas(runtime, given):
    """The runtime has the predicted tail. It runs in the predicted arena, and not in one that is a step smaller."""
    counts = collections.Counter()
    named = named_files(given) if given.files else ((made.name, made.data) for _, made in of_all_kinds(given))
    for name, data in named:
        if not runtime.run(data).ok:
            counts["do not run"] += 1
            continue
        answer = program.planned(given.program, data)
        builds = {one["build"]: one for one in answer[1]["arena"]["builds"]} if answer else {}
        if "python" not in builds:
            counts["not predicted"] += 1
            continue
        counts["predicted"] += 1
        counts["with a smaller head afterwards"] += answer[1]["changed"]
        for file, when in ((data, "_before"), (answer[0], "")):
            size, tail = (builds["python"][f"{part}{when}_bytes"] for part in ("arena", "tail"))
            yield from (f"{name}{when}: {fault}" for fault in arena_faults(runtime, file, size, tail, counts))
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))


def arena_faults(runtime, data, size, tail, counts):
    """What differs between a prediction and the runtime.

    The runtime does not see it if what lasts overwrites what a kernel has only while it is prepared. So where that
    moment decides, it may start in less memory than is safe, which is counted.
    """
    enough, less = runtime.run(data, arena=size), runtime.run(data, arena=size - ARENA_STEP)
    if enough.ok and enough.tail != tail:
        yield f"a tail of {tail} is predicted, and the runtime has {enough.tail}"
    if not enough.ok:
        yield f"{size} bytes are not enough"
    if less.ok and size - ARENA_STEP < enough.head + enough.tail:
        yield f"{size - ARENA_STEP} bytes are enough"
    elif less.ok:
        counts["start in less with memory that overlaps"] += 1


def runs(runtime, given):
    """The program computes what the runtime does, bit by bit, or refuses the file."""
    counts, refusals = collections.Counter(), {}
    for kind, made in of_all_kinds(given):
        expected = runtime.run(made.data, seed=0)
        if not expected.ok:
            continue
        found, refusal = program.run(given.program, made.data, expected.sets[0])
        if refusal is not None:
            counts[kind, "refused"] += 1
            refusals[kind] = refusal.splitlines()[0]
            continue
        equal = program.same(found, expected.values[0])
        counts[kind, "the same" if equal else "different"] += 1
        if not equal:
            kept = pathlib.Path(given.keep) / f"{made.name.replace(' ', '_')}.tflite"
            kept.write_bytes(made.data)
            yield f"{made.name}: other bits; see {kept}"
    for (kind, what), count in sorted(counts.items()):
        print(f"{kind}: {count} {what}{', such as: ' + refusals[kind] if what == 'refused' else ''}")


def of_all_kinds(given):
    """Models of one operator, with state, and networks; each with the name of its kind."""
    for seed in range(given.first, given.first + given.count):
        for name in single.OPERATORS:
            yield name, single.make(name, seed)
        for name in stateful.KINDS:
            yield name, stateful.make(name, seed)
        yield "networks", nets.make(seed)


CAMPAIGNS = {"arena": arenas, "head": head, "operators": operators, "metadata": mutations, "run": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", choices=CAMPAIGNS)
    parser.add_argument("--count", type=int, default=200, help="models, seeds per operator or mutations; default 200")
    parser.add_argument("--first", type=int, default=0, help="the first seed; default 0")
    parser.add_argument("--files", nargs="*", default=[], help="head, arena: files in place of generated models")
    parser.add_argument("--program",
                        help="the lowtide program; arena and run need it, and metadata has a judge of its own")
    parser.add_argument("--keep", default=".", help="where files that fail are written; default: here")
    given = parser.parse_args()
    if given.campaign in ("arena", "run") and given.program is None:
        parser.error(f"{given.campaign} compares a program with the runtime: give --program")
    failures = 0
    with Runtime() as runtime:
        for failure in CAMPAIGNS[given.campaign](runtime, given):
            failures += 1
            print(f"failed: {failure}", flush=True)
    print(f"{given.campaign}: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
