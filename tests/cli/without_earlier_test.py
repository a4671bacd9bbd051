#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A program without the earlier systems and TFLite: it shows nothing of them, and says how to get them."""
import re
import unittest

import netdef_test
from program import BAD_INPUT, DONE, FILES, USAGE, ProgramTest

LEFT_OUT = ("compare", "share", "rewrite", "convert", "diff")
OPTIONS = ("--init-net", "--shapes", "--unit-sizes")


class WithoutEarlier(ProgramTest):
    def test_a_tflite_model_is_refused_with_the_option(self):
        self.write("kws.tflite", (FILES.parent / "tflite/kws_dscnn_int8.tflite").read_bytes())
        for command in ("inspect", "plan"):
            self.assertIn("lowtide_WITH_TFLITE=ON", self.expect(BAD_INPUT, command, "kws.tflite").stderr)

    def test_help_lists_what_is_there(self):
        text = self.expect(DONE, "--help", environment={"COLUMNS": "1000"}).stdout
        block = re.search(r"^commands\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual([line.split()[0] for line in block.splitlines()],
                         ["inspect", "plan", "explain", "verify", "check", "export", "run", "prepare", "bench", "view",
                          "pack", "order", "completion", "help"])

    def test_no_text_mentions_what_is_not_there(self):
        texts = {"manual": self.expect(DONE, "help", "--man").stdout}
        for shell in ("bash", "zsh", "fish"):
            texts[shell] = self.expect(DONE, "completion", shell).stdout
        for command in ("inspect", "plan", "explain", "verify"):
            texts[command] = self.expect(DONE, command, "--help", environment={"COLUMNS": "1000"}).stdout
        for name, text in texts.items():
            # The manual writes a hyphen as "\\-".
            plain = text.replace("\\-", "-")
            for word in (*OPTIONS, "NetDef", "GraphDef", "lowtide share", "lowtide rewrite", "lowtide convert"):
                self.assertNotIn(word, plain, name)

    def test_a_command_that_is_left_out_says_how_to_get_it(self):
        for command in LEFT_OUT:
            said = self.expect(USAGE, command, "model.onnx").stderr
            self.assertIn(f"leaves out the command '{command}'", said)
            self.assertIn("lowtide_WITH_EARLIER=ON", said)

    def test_another_wrong_command_does_not(self):
        self.assertNotIn("EARLIER", self.expect(USAGE, "plann", "model.onnx").stderr)

    def test_an_option_that_is_left_out_is_unknown(self):
        self.assertIn("--unit-sizes", self.expect(USAGE, "plan", "model.onnx", "--unit-sizes").stderr)

    def test_a_net_is_refused_with_a_way_out(self):
        self.write("net.pbtxt", netdef_test.NET)
        self.write("net.pb", netdef_test.BINARY)
        self.write("net", netdef_test.BINARY)
        for name in ("net.pbtxt", "net.pb", "net"):
            for command in ("plan", "inspect", "explain", "run"):
                said = self.expect(BAD_INPUT, command, name).stderr
                self.assertIn(name, said)
                self.assertIn("lowtide_WITH_EARLIER=ON", said)

    def test_models_are_planned(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.expect(DONE, "verify", "model.onnx", "plan.json")


if __name__ == "__main__":
    unittest.main()
