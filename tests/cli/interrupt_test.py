#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: the first ends the search of `pack` or the run of `run`, the second the program."""
import json
import os
import pty
import random
import signal
import subprocess
import time
import unittest

from program import DONE, NO, PLAIN, PROGRAM, ProgramTest
from small_models import FLOAT, field, graph, node, value_info

LONG = str(10**15)  # work units, which take years


def hard_problem():
    """Buffers of random lifespans and sizes, a hundred live at a time. No packing found meets the bound."""
    draw = random.Random(20261121)
    lines = ["id,lower,upper,size,alignment"]
    for at in range(400):
        begin = draw.randrange(1000)
        end, size, alignment = begin + draw.randrange(20, 400), draw.randrange(1, 100000), 2 ** draw.randrange(6)
        lines.append(f"b{at},{begin},{end},{size},{alignment}")
    return "\n".join(lines) + "\n"


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        mask, = (int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
    return mask >> (number - 1) & 1 == 1


def endless_model():
    """A loop without limit, whose condition stays true."""
    boolean, int64 = 9, 7
    body = graph([node("Identity", ["c"], ["d"]), node("Relu", ["p"], ["q"])],
                 [value_info("i", [], int64), value_info("c", [], boolean), value_info("p", [4], FLOAT)],
                 [value_info("d", [], boolean), value_info("q", [4], FLOAT)])
    loop = node("Loop", ["", "", "x"], ["y"], "loop", [field(1, "body") + field(6, body) + field(20, 5)])
    content = graph([loop], [value_info("x", [4])], [value_info("y", [4])])
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


class Interrupt(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("hard.csv", hard_problem())

    def start(self, *words, progress=b"packing ... ", **options):
        """Starts `pack` with a terminal as stderr, and returns it when its progress line appears."""
        process = self.start_command("pack", "hard.csv", "--effort", LONG, *words, **options)
        self.read_until(progress)
        return process

    def start_command(self, *words, **options):
        self.outer, inner = pty.openpty()
        self.addCleanup(os.close, self.outer)
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env={**PLAIN, "TERM": "xterm"},
                                   stdout=subprocess.PIPE, stderr=inner, **options)
        os.close(inner)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.shown = b""
        return process

    def read_until(self, part):
        while part not in self.shown:
            self.shown += os.read(self.outer, 4096)

    def read_all(self):
        try:
            while part := os.read(self.outer, 4096):
                self.shown += part
        except OSError:  # the other end is closed
            pass

    def test_the_best_so_far_is_the_answer(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("--json", "-o", "packed.csv", "--html", "map.html")
            process.send_signal(number)
            report = json.loads(process.communicate(timeout=60)[0])
            self.read_all()
            self.assertEqual(process.returncode, DONE)
            self.assertIn(b"interrupted; this is the best answer found so far", self.shown)
            self.assertIs(report["interrupted"], True)
            self.assertIs(report["verified"], True)
            self.assertGreater(report["height"], report["bound"])
            # What was written is that answer.
            again = self.json(DONE, "pack", "packed.csv")
            self.assertEqual(again["height"], report["height"])
            self.assertIn("map.html", self.listing())

    def test_a_run_ends_before_its_next_iteration(self):
        self.write("endless.onnx", endless_model())
        for threads in ("1", "2"):
            process = self.start_command("run", "endless.onnx", "--synthetic", "1", "--output-dir", ".", "--threads",
                                         threads)
            while not catches(process.pid, signal.SIGINT):
                time.sleep(0.01)
            time.sleep(0.5)  # most likely, the loop runs by then
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=60)[0], b"")
            self.read_all()
            self.assertEqual(process.returncode, NO)
            self.assertIn(b"interrupted before the run ended; no output is written", self.shown)
            self.assertNotIn("y.npy", self.listing())

    def test_the_best_slots_so_far_are_the_answer(self):
        process = self.start("--slots", "--json", "-o", "slots.csv", progress=b"sharing slots ... ")
        process.send_signal(signal.SIGINT)
        report = json.loads(process.communicate(timeout=60)[0])
        self.read_all()
        self.assertEqual(process.returncode, DONE)
        self.assertIn(b"interrupted; this is the best answer found so far", self.shown)
        self.assertEqual((report["interrupted"], report["bound_by"], report["bound_verified"]), (True, "load", True))
        self.assertGreater(report["total"], report["bound"])
        self.assertIn("slots.csv", self.listing())

    def test_the_best_sequence_so_far_is_the_answer(self):
        # The best order needs 446 bytes. No sequence that was found meets the bounds.
        draw = random.Random(7)
        nodes = [{"bytes": draw.randrange(1, 50), "cost": draw.randrange(1, 50)} for _ in range(80)]
        edges = [[source, at] for at in range(1, 80) for source in draw.sample(range(max(0, at - 25), at), min(3, at))]
        self.write("graph.json", json.dumps({"nodes": nodes, "edges": edges, "units": {"cost": "1 ns"}}))
        for more in (["--budget", "425"], ["--budget", "312", "--link", "1e8"], ["--curve", "--points", "4"]):
            process = self.start_command("order", "graph.json", *more, "--effort", LONG, "--json")
            self.read_until(b"solving budgets ... " if "--curve" in more else b", at least ")
            process.send_signal(signal.SIGINT)
            report = json.loads(process.communicate(timeout=60)[0])
            self.read_all()
            self.assertEqual(process.returncode, DONE)
            self.assertIn(b"interrupted; this is the best answer found so far", self.shown)
            self.assertIs(report["interrupted"], True)
            for point in report.get("points", [report]):
                self.assertLessEqual(point["cost_bound"], point["cost"])

    def test_the_progress_line_shows_the_best_and_its_gap(self):
        process = self.start()
        self.read_until(b"best ")
        self.read_until(b" %")
        self.assertRegex(self.shown.decode(), r"packing \.\.\. \d+ s, best [0-9.]+ MiB, gap (below )?[0-9.]+ %")
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=60)[0].decode()
        self.assertIn("height", text)
        self.assertNotIn("best ", text)

    def test_without_a_terminal_there_is_no_progress(self):
        result = self.run_program("pack", "hard.csv", "--effort", "3000000")
        self.assertEqual((result.returncode, result.stderr), (DONE, ""))

    def test_a_second_signal_ends_the_program(self):
        process = self.start()
        # The process is stopped, so that both signals arrive before the search checks for the first.
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        self.assertIn(process.wait(60), (-signal.SIGTERM, -signal.SIGINT))
        self.assertEqual(process.stdout.read(), b"")

    def test_a_signal_that_is_ignored_stays_ignored(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), DONE)


if __name__ == "__main__":
    unittest.main()
