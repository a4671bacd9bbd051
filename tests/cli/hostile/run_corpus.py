#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes hostile files to the program and checks its promise: a refusal with a reason, in bounded time and memory.

usage: run_corpus.py --program LOWTIDE [--strict] [--only TEXT] [--mutants N] [--seed N] [--without-meters] [--show]
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

import cases_external_data  # noqa: F401
import cases_model_bytes  # noqa: F401
import cases_model_graph  # noqa: F401
import cases_model_numbers  # noqa: F401
import cases_nets  # noqa: F401
import cases_packings  # noqa: F401
import cases_plans  # noqa: F401
import cases_targets  # noqa: F401
import meter
import mutants
import readme
from corpus import BAD_INPUT, CASES, DONE, NO, Base

HERE = pathlib.Path(__file__).resolve().parent
MB = 1_000_000
KEPT = b"what was here before\n"
# A hang must fail. The time of a refusal is printed, but judged only with --strict, because machines may be busy.
HANGS_SECONDS = 10
LARGE_HANGS_SECONDS = 60
STRICT_SECONDS = 1
# Includes what protobuf and the C library map but never touch. Only the peak is judged.
ADDRESS_BYTES = 4 << 30
MOST_MESSAGE_BYTES = 64 << 10


def most_memory(file_bytes, is_large):
    """A large graph that is valid up to its fault needs what it would need without the fault."""
    return 64 * MB + (40 if is_large else 16) * file_bytes


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="")
    parser.add_argument(
        "--strict", action="store_true", help="allow 1 s per file, for an idle machine"
    )
    parser.add_argument("--only", default="", help="only the cases whose names contain this text")
    parser.add_argument("--mutants", type=int, default=100, help="of each kind of file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-meters", action="store_true", help="for builds that need more, such as sanitizers")
    parser.add_argument("--table", action="store_true", help="print the rows of the README's table, and run nothing")
    parser.add_argument("--show", action="store_true", help="print what the program says about each file")
    return parser.parse_args()


def in_a_child(make):
    """Makes files in another process, because this one must stay smaller than the program that it measures."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            make()
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    if os.waitpid(process, 0)[1] != 0:
        raise SystemExit("a case could not make its files")


def write(path, content):
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def size_of(path):
    """The bytes that are stored, so that a large sparse file does not raise the limit on memory."""
    return path.stat().st_blocks * 512 if path.is_file() else 0


def state_of(folder):
    """The facts that change when a file is made, written or removed."""
    state = {}
    for path in sorted(folder.iterdir()):
        facts = path.lstat()
        state[path.name] = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_mode)
    return state


class Figures:
    def __init__(self):
        self.runs = 0
        self.slowest = []
        self.largest = []

    def add(self, name, outcome, allowed_bytes):
        self.runs += 1
        self.slowest = sorted(self.slowest + [(outcome.seconds, name)], reverse=True)[:5]
        self.largest = sorted(
            self.largest + [(outcome.peak_bytes / allowed_bytes, outcome.peak_bytes, name)], reverse=True
        )[:5]

    def show(self):
        print(f"{self.runs} runs; the longest:")
        for seconds, name in self.slowest:
            print(f"  {seconds:6.2f} s  {name}")
        print("the peaks closest to what is allowed, 64 MB + 16 x the file (40 x for large graphs):")
        for share, peak, name in self.largest:
            print(f"  {100 * share:4.0f} %  {peak / MB:6.1f} MB  {name}")


class Corpus:
    def __init__(self, options, folder):
        self.options = options
        self.program = os.path.abspath(options.program)
        self.folder = folder
        self.figures = Figures()
        self.failures = []
        self.seconds = STRICT_SECONDS if options.strict else HANGS_SECONDS

    def measured(self, words, folder, is_large=False):
        address_bytes = None if self.options.without_meters else ADDRESS_BYTES
        most = LARGE_HANGS_SECONDS if is_large else HANGS_SECONDS
        return meter.run(
            [self.program, *words], folder, 30 * most if self.options.without_meters else most, address_bytes
        )

    def base(self):
        """Returns a valid model and its plan. Prints what the program needs for them."""
        here = self.folder / "base"
        here.mkdir()
        write(here / "model.onnx", mutants.good_model())
        outcome = self.measured(["plan", "model.onnx", "-o", "plan.json"], here)
        if outcome.code != DONE:
            raise SystemExit(f"the valid model is refused: {outcome.stderr.decode(errors='replace')}")
        print(
            f"a valid model: {outcome.seconds:.2f} s, peak {outcome.peak_bytes / MB:.1f} MB; "
            f"this test itself {meter.own_peak_bytes() / MB:.1f} MB"
        )
        return Base((here / "model.onnx").read_bytes(), (here / "plan.json").read_text())

    def prepare(self, base):
        here = self.folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        write(here / "model.onnx", base.model)
        write(here / "plan.json", base.plan_text)
        write(here / "any_model.json", base.plan_with((("provenance", "model_sha256"), "")))
        write(here / "gpu.json", mutants.GPU)
        write(here / "any.pbtxt", mutants.GRAPH)
        write(here / "out", KEPT)
        return here

    def faults(self, outcome, words, here, before, allowed_bytes, is_large):
        """Yields each rule that a run breaks, of the rules that hold whatever the answer is."""
        if outcome.code == -9:
            yield f"was stopped after {outcome.seconds:.0f} s"
        elif outcome.code < 0:
            yield f"ended by signal {-outcome.code}"
        if not self.options.without_meters:
            if outcome.seconds > (LARGE_HANGS_SECONDS if is_large else self.seconds):
                yield f"took {outcome.seconds:.2f} s"
            if outcome.peak_bytes > allowed_bytes:
                yield f"peak of {outcome.peak_bytes / MB:.1f} MB, but {allowed_bytes / MB:.1f} MB are allowed"
        for stream in (outcome.stdout, outcome.stderr):
            if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", stream):
                yield "prints control characters"
            if not is_utf8(stream):
                yield "prints invalid UTF-8"
        # A plan that misses its limit is written, and says so itself.
        if outcome.code != DONE and not (outcome.code == NO and words[0] == "plan"):
            if state_of(here) != before:
                yield f"left other files: {sorted(state_of(here))}"
            if (here / "out").read_bytes() != KEPT:
                yield "damaged the file that was there"
        if outcome.code == BAD_INPUT:
            yield from self.faults_of_refusal(outcome, words)
        if outcome.code == DONE and "-o" in words and (here / "out").read_bytes() == KEPT:
            yield "wrote nothing"

    @staticmethod
    def faults_of_refusal(outcome, words):
        message = outcome.stderr.decode(errors="replace")
        if outcome.stdout:
            yield "a refusal with something on stdout"
        if len(outcome.stderr) > MOST_MESSAGE_BYTES:
            yield f"a message of {len(outcome.stderr)} bytes"
        lines = message.splitlines()
        if not lines or not lines[0].startswith("error: ") or any(not line.startswith("  ") for line in lines[1:]):
            yield "is not one error with an indented list"
        bad = next(word for word in words if word.startswith("bad."))
        if bad not in message:
            yield f"does not name {bad}"

    def check(self, name, outcome, faults):
        faults = list(faults)
        if self.options.show:
            print(
                f"{name}: {outcome.code}, {outcome.seconds:.2f} s, {outcome.peak_bytes / MB:.0f} MB: "
                f"{(outcome.stderr or outcome.stdout).decode(errors='replace').strip()[:600]}"
            )
        if faults:
            self.failures.append(name)
            said = (outcome.stderr + outcome.stdout).decode(errors="backslashreplace")[:1000]
            print(f"FAILED {name}: {'; '.join(faults)}\n  exit code {outcome.code}: {said}")

    def run_file(self, name, kind, path, judge, base, more=(), is_large=False):
        for command in kind.commands:
            here = self.prepare(base)
            if os.path.lexists(path):  # one case is a missing file
                os.rename(path, here / kind.file)
            before = state_of(here)
            words = [*command, *more]
            outcome = self.measured(words, here, is_large)
            allowed = most_memory(size_of(here / kind.file), is_large)
            self.figures.add(f"{name} ({command[0]})", outcome, allowed)
            self.check(
                f"{name} ({command[0]})",
                outcome,
                [*self.faults(outcome, words, here, before, allowed, is_large), *judge(outcome)],
            )
            if os.path.lexists(here / kind.file):
                os.rename(here / kind.file, path)

    def run_case(self, case, base):
        made = self.folder / "made"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()

        def make():
            for at, (label, content, says) in enumerate(case.variants(base)):
                (made / f"{at:05}.says").write_text(f"{label}\n{says}")
                write(made / f"{at:05}", content)

        in_a_child(make)
        for says_path in sorted(made.glob("*.says")):
            label, says = says_path.read_text().split("\n", 1)

            def judge(outcome, says=says):
                if outcome.code != case.code:
                    yield f"expected exit code {case.code}"
                said = outcome.stderr if case.code == BAD_INPUT else outcome.stdout + outcome.stderr
                if not re.search(says, said.decode(errors="replace"), re.DOTALL):
                    yield f"the message lacks {says!r}"

            name = case.name + (f"/{label}" if label else "")
            self.run_file(name, case.kind, says_path.with_suffix(""), judge, base, case.words, case.is_large)

    def run_mutants(self, base):
        def judge(outcome):
            if outcome.code not in (0, 1, 3):
                yield "expected exit code 0, 1 or 3"

        for what, kind, content in mutants.of(base):
            if self.options.only not in f"mutants_of_{what}":
                continue
            source = random.Random(f"{self.options.seed} {what}")
            for at in range(self.options.mutants):
                path = self.folder / "mutant"
                write(path, mutants.damaged(content, source))
                self.run_file(f"mutants_of_{what}/{at}", kind, path, judge, base)


def is_utf8(stream):
    try:
        stream.decode()
    except UnicodeDecodeError:
        return False
    return True


def main():
    options = parsed_arguments()
    if options.table:
        print("\n".join(readme.table(CASES)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(options, pathlib.Path(folder))
        base = corpus.base()
        for case in CASES:
            if options.only in case.name:
                corpus.run_case(case, base)
        corpus.run_mutants(base)
        corpus.figures.show()
        if meter.own_peak_bytes() > 40 * MB:
            corpus.failures.append("this test has grown too large to measure small programs")
    if not options.only:
        corpus.failures += readme.faults(HERE / "README.md", CASES)
    print(f"{len(CASES)} cases; {len(corpus.failures)} failures: {', '.join(corpus.failures)}")
    return 1 if corpus.failures else 0


if __name__ == "__main__":
    sys.exit(main())
