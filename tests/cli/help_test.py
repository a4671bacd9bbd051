#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Help, the manual page and the completions: they agree, their examples run, and other programs understand them."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import netdef_test
import rewrite_test
import small_models
from program import DONE, PLAIN, PROGRAM, ProgramTest, needs_earlier


TFLITE = pathlib.Path(__file__).resolve().parent.parent / "files/tflite"
WIDE = {"COLUMNS": "1000"}  # one line per option


class Help(ProgramTest):
    def commands(self):
        text = self.expect(DONE, "--help", environment=WIDE).stdout
        block = re.search(r"^commands\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
        return [line.split()[0] for line in block.splitlines()]

    def options(self, command):
        both = self.section(command, "options") + self.section(command, "common options")
        return set(re.findall(r"(?<!\S)--[a-z-]+", both))

    def section(self, command, name):
        shown = self.expect(DONE, command, "--help", environment=WIDE).stdout
        found = re.search(rf"^{name}\n(.*?)(?:\n\n|\Z)", shown, re.MULTILINE | re.DOTALL)
        return found.group(1) if found else ""

    @needs_earlier
    def test_commands(self):
        expected = ("inspect plan explain verify check export run prepare bench view pack order compare replay reorder "
                    "share rewrite convert diff completion help")
        self.assertEqual(self.commands(), expected.split())

    def test_every_command_explains_itself_in_both_ways(self):
        for command in self.commands():
            self.assertEqual(self.expect(DONE, command, "--help").stdout, self.expect(DONE, "help", command).stdout)

    def test_run_says_what_it_runs(self):
        shown = self.expect(DONE, "run", "--help", environment=WIDE).stdout
        self.assertRegex(shown, r"\n  MODEL  +an? .*, or what 'lowtide prepare' wrote\n")

    def test_every_command_has_two_examples_and_all_of_them_run(self):
        os.symlink(PROGRAM, self.folder / "lowtide")
        (self.folder / ".local/share/bash-completion/completions").mkdir(parents=True)
        (self.folder / ".config/fish/completions").mkdir(parents=True)
        self.write("buffers.csv", "id,lower,upper,size\na,0,3,64\nb,2,10,128\n")
        self.write("graph.json", '{"nodes": [{"bytes": 64, "cost": 1}, {"bytes": 8, "cost": 2}], "edges": [[0, 1]]}')
        self.write("image.npy", small_models.npy([0.5] * 16384, (1, 16, 32, 32)))
        self.write("model.tflite", (TFLITE / "kws_dscnn_int8.tflite").read_bytes())
        self.write("net.pbtxt", netdef_test.NET)
        self.write("predict_net.pb", netdef_test.BINARY)
        for name in ("train.pbtxt", "train.pb"):
            self.write(name, rewrite_test.TRAINING)
        self.write("gpu.json", rewrite_test.GPU)
        self.write("init_net.pb", netdef_test.INIT.replace("4096", "200704"))  # for 16 x 112 x 112
        environment = {**PLAIN, "HOME": str(self.folder), "PATH": f"{self.folder}:{os.environ['PATH']}"}
        for name in ("plan", "new", "old"):
            self.expect(DONE, "plan", "model.onnx", "-o", f"{name}.json")
        self.expect(DONE, "bench", "model.onnx", "--runs", "1", "--profile", "costs.json")
        for command in self.commands():
            examples = re.findall(r"^  (lowtide .*)$", self.section(command, "examples"), re.MULTILINE)
            self.assertGreaterEqual(len(examples), 2, command)
            for example in examples:
                if "man -l" in example and shutil.which("man") is None:
                    continue
                self.write("model.onnx", small_models.small("batch" if "--dim" in example else 1))
                done = subprocess.run(["sh", "-c", example], cwd=self.folder, env=environment, capture_output=True,
                                      timeout=60)
                self.assertEqual(done.returncode, 0, f"{example}\n{done.stderr.decode()}")

    def test_the_list_of_exit_codes_has_signals_in_help_and_manual(self):
        text = self.expect(DONE, "--help", environment=WIDE).stdout
        codes = re.search(r"^exit codes\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual([line.split()[0] for line in codes.splitlines()][:-1],
                         ["0", "1", "2", "3", "4", "130", "128+N"])
        page = self.expect(DONE, "help", "--man").stdout
        manual = page[page.index(".SH EXIT STATUS"):page.index(".SH ENVIRONMENT")]
        for part in ("130", "SIGINT", "128+N", "129 (SIGHUP)", "141 (SIGPIPE)",
                     "No output file is ever left incomplete"):
            self.assertIn(part, codes)
            self.assertIn(part, manual)

    def test_help_lists_the_names_of_strategies_and_stages(self):
        values = self.section("plan", "values")
        for part in ("--order: auto, as_given", "best_of_inductor", "--skip: search, refine", "--dump-after: bodies",
                     "--without:\n", "padding: lets a convolution", "load_time: computes once"):
            self.assertIn(part, values)
        self.assertEqual(self.section("verify", "values"), "")

    def test_the_version_is_one_line_with_the_name_first(self):
        self.assertRegex(self.expect(DONE, "--version").stdout, r"\Alowtide \d+\.\d+\.\d+\n")

    def test_manual_page_has_every_option_and_renders(self):
        page = self.expect(DONE, "help", "--man").stdout
        for command in self.commands():
            for option in self.options(command):
                self.assertIn(option.replace("-", "\\-"), page)
        if shutil.which("mandoc"):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page.encode(), capture_output=True)
            self.assertEqual(done.stdout.decode(), "")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page.encode(), capture_output=True)
            self.assertEqual(done.stderr.decode(), "")

    def test_the_completions_know_every_command_and_option(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.expect(DONE, "completion", shell).stdout
            for command in self.commands():
                self.assertIn(command, script)
                for option in self.options(command):
                    self.assertIn(option.removeprefix("--"), script)

    def test_the_completions_parse(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell) is None:
                continue
            script = self.expect(DONE, "completion", shell).stdout
            done = subprocess.run([shell, "-n"], input=script.encode(), capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)

    def complete(self, *words):
        """What bash offers after these words; the last one is the one being typed."""
        script = self.expect(DONE, "completion", "bash").stdout
        line = " ".join(f"'{word}'" for word in words)
        script += f'\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _lowtide; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
        done = subprocess.run(["bash"], input=script.encode(), cwd=self.folder, capture_output=True)
        self.assertEqual(done.stderr, b"")
        return set(done.stdout.decode().split())

    def test_bash_offers_what_fits(self):
        self.assertEqual(self.complete("lowtide", "p"), {"plan", "pack", "prepare"})
        self.assertEqual(self.complete("lowtide", "plan", "--no"),
                         {"--no-in-place", "--no-views", "--no-parts", "--no-load-time"})
        self.assertEqual(self.complete("lowtide", "plan", "m"), {"model.onnx"})
        self.assertEqual(self.complete("lowtide", "plan", "--color", "a"), {"auto", "always"})
        self.assertEqual(self.complete("lowtide", "plan", "--order", "d"),
                         {"deepest_input_first", "depth_first", "depth_first_by_fan_out"})
        self.assertEqual(self.complete("lowtide", "completion", ""), {"bash", "zsh", "fish"})


if __name__ == "__main__":
    unittest.main()
