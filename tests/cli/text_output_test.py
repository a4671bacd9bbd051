#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees: the summaries word by word, colours, and names that try to act on the terminal."""
import json
import os
import pty
import subprocess
import unittest

import small_models
from program import BAD_INPUT, DONE, FILES, NO, PLAIN, PROGRAM, USAGE, ProgramTest, needs_earlier

ESCAPE = "\x1b["


class TextOutput(ProgramTest):
    def expect_golden(self, name, *words, code=DONE):
        """UPDATE_GOLDEN=1 rewrites the files; look at the difference before you commit it."""
        shown = self.expect(code, *words).stdout
        path = FILES / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(shown)
        self.assertEqual(shown, path.read_text())

    def test_inspect_looks_as_it_should(self):
        self.expect_golden("inspect_small.txt", "inspect", "model.onnx")
        self.expect_golden("inspect_operators.txt", "inspect", "model.onnx", "--operators")

    def test_plan_looks_as_it_should(self):
        self.expect_golden("plan_small.txt", "plan", "model.onnx", "--budget", "1MiB")

    def test_explain_looks_as_it_should(self):
        self.expect_golden("explain_small.txt", "explain", "model.onnx")
        self.write("parallel.onnx", small_models.parallel())
        self.expect_golden("explain_parallel.txt", "explain", "parallel.onnx", "--order", "as_given")

    def test_explain_handles_unusual_models(self):
        self.write("nothing.onnx", small_models.without_nodes())
        self.assertIn("no step runs", self.expect(DONE, "explain", "nothing.onnx").stdout)
        self.write("branches.onnx", small_models.branches())
        shown = self.expect(DONE, "explain", "branches.onnx").stdout
        self.assertIn("all outputs are in memory, in every order: y (64 B)", shown)
        self.write("stale.onnx", small_models.stale_branch())
        shown = self.expect(DONE, "explain", "stale.onnx").stdout
        self.assertIn("(scratch)", shown)
        self.assertIn("inside else_branch of If choose", shown)

    def test_streams_look_as_they_should(self):
        self.write("parallel.onnx", small_models.parallel())
        self.expect_golden("plan_streams.txt", "plan", "parallel.onnx", "--streams", "2", "--stream-memory", "40",
                           "--trade-offs")

    def test_a_plan_for_streams_is_verified_and_drawn(self):
        self.write("parallel.onnx", small_models.parallel())
        self.expect(DONE, "plan", "parallel.onnx", "--streams", "2", "--stream-memory", "40", "-o", "plan.json")
        self.expect(DONE, "verify", "parallel.onnx", "plan.json")
        self.expect(DONE, "view", "plan.json", "-o", "map.html")
        plan = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual((plan["features"], plan["execution"]), (["streams"], "streams"))
        self.assertEqual(plan["streams"], [[0, None], [0, None]])
        # Without its waits it is refused: two steps would touch the same bytes at once.
        for step in plan["steps"]:
            step[8] = []
        self.write("racy.json", json.dumps(plan))
        self.assertIn("race", self.expect(NO, "verify", "parallel.onnx", "racy.json").stdout)

    def test_waves_and_dataflow_are_stated_verified_and_drawn(self):
        self.write("parallel.onnx", small_models.parallel())
        waves = ("--streams", "2", "--run", "waves", "--stream-memory", "40")
        for words, told in ((waves, "Waves of 2: estimated 7.18 us, on one stream 10.82 us (1.51x); 3 waves; "
                                    "arena +33.3 %."),
                            (("--run", "dataflow"), "Dataflow: estimated 7.18 us, on one stream 10.82 us (1.51x); "
                                                "2 chains, 1 wait; arena +33.3 %.")):
            self.assertIn(told, self.expect(DONE, "plan", "parallel.onnx", *words, "-o", "plan.json").stdout)
            self.expect(DONE, "verify", "parallel.onnx", "plan.json")
            self.expect(DONE, "view", "plan.json", "-o", "map.html")
        # The input has 4 KiB. With 3 x 4 KiB more, the plan on one stream fits, but a dataflow runtime could not
        # follow it.
        self.expect(DONE, "plan", "parallel.onnx", *waves, "--budget", "16KiB")
        self.expect(NO, "plan", "parallel.onnx", "--run", "dataflow", "--budget", "16KiB")

    def test_options_that_do_not_fit_the_run_are_refused(self):
        for words, told in ((("--run", "waves"), "--streams N"), (("--run", "dataflow", "--streams", "2"), "--streams"),
                            (("--run", "dataflow", "--trade-offs"), "--trade-offs"),
                            (("--run", "dataflo"), "did you mean 'dataflow'?"),
                            (("--run", "dataflow", "--stream-memory", "9"), "--stream-memory")):
            self.assertIn(told, self.expect(USAGE, "plan", "model.onnx", *words).stderr)

    def test_stages_are_skipped_and_dumped_by_name(self):
        self.write("parallel.onnx", small_models.parallel())
        said = self.expect(DONE, "plan", "parallel.onnx", "--skip", "search", "--dump-after", "order", "--verify-each")
        self.assertIn("# after stage order of graph", said.stderr)
        self.assertIn("\n  Verified: replayed", said.stdout)
        refused = self.expect(USAGE, "plan", "parallel.onnx", "--skip", "kernels").stderr
        self.assertIn("'--skip' must be one of search, refine, check_bound, exchange, recompute, parallelize, verify, "
                      "not 'kernels'", refused)

    def test_a_plan_that_is_not_verified_says_so(self):
        words = ("plan", "model.onnx", "--skip", "verify")
        said = self.expect(DONE, *words, "--html", "map.html").stdout
        self.assertIn("\n  Not verified: the stage 'verify' was skipped.\n", said)
        self.assertNotIn("  Verified", said)
        self.assertIn('"verified":false', (self.folder / "map.html").read_text())
        self.assertIs(self.json(DONE, *words)["verified"], False)

    def test_an_effort_of_zero_means_no_search(self):
        self.write("graph.json", '{"nodes": [{"bytes": 8}, {"bytes": 4}], "edges": [[0, 1]]}')
        self.write("buffers.csv", "id,lower,upper,size\na,0,3,64\nb,2,10,128\n")
        for words in (("plan", "model.onnx", "--effort", "0", "--order-effort", "0"),
                      ("explain", "model.onnx", "--order-effort", "0"), ("order", "graph.json", "--effort", "0"),
                      ("pack", "buffers.csv", "--effort", "0"), ("pack", "buffers.csv", "--slots", "--effort", "0")):
            self.expect(DONE, *words)
            self.assertIn("0 for no", self.expect(DONE, words[0], "--help").stdout, words)

    def test_trade_offs_need_streams(self):
        said = self.expect(USAGE, "plan", "model.onnx", "--trade-offs").stderr
        self.assertIn("--streams N", said)

    def test_verify_looks_as_it_should(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.expect_golden("verify_small.txt", "verify", "model.onnx", "plan.json")

    def test_pack_looks_as_it_should(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,3,64\nb,2,10,128\nc,3,12,32\n")
        self.expect_golden("pack_small.txt", "pack", "buffers.csv")

    def test_slots_look_as_they_should(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,4,8\nb,2,6,4\nc,4,8,6\n")
        self.expect_golden("pack_slots.txt", "pack", "buffers.csv", "--slots", "--capacity", "12")

    def test_what_does_not_fit_shows_the_live_buffers(self):
        # One more buffer is live at each time from 0 to 11. At 11, the 12 buffers of 1 to 12 bytes have 78 bytes.
        self.write("buffers.csv", "id,lower,upper,size\n" + "".join(f"b{at},{at},12,{at + 1}\n" for at in range(12)))
        self.expect_golden("pack_witness.txt", "pack", "buffers.csv", "--capacity", "77", code=NO)

    @needs_earlier
    def test_compare_looks_as_it_should(self):
        self.expect_golden("compare_small.txt", "compare", "model.onnx")

    def test_the_same_command_prints_the_same_bytes(self):
        first, second = (self.expect(DONE, "plan", "model.onnx").stdout for _ in range(2))
        self.assertEqual(first, second)

    def test_no_line_ends_in_spaces(self):
        for words in (["inspect", "model.onnx"], ["plan", "model.onnx"], ["explain", "model.onnx"], ["--help"],
                      ["plan", "--help"]):
            for line in self.expect(DONE, *words).stdout.splitlines():
                self.assertEqual(line, line.rstrip(), words)

    def test_lines_have_the_columns_that_are_asked_for(self):
        self.write("long.onnx", small_models.chain(3, name="a_long_path/of/a_module/in/a_model/"))
        for words in (["plan", "long.onnx"], ["explain", "long.onnx"], ["inspect", "long.onnx"], ["plan", "--help"],
                      ["order", "--help"], ["--help"]):
            whole = self.expect(DONE, *words).stdout
            for columns in (80, 110):
                said = self.expect(DONE, *words, environment={"COLUMNS": str(columns)}).stdout
                self.assertLessEqual(max(map(len, said.splitlines())), columns, words)
                self.assertEqual(sorted("".join(said.split())), sorted("".join(whole.split())), words)
        for odd in ("", "0", "-1", "x", "80x", "99999999999999999999"):
            self.assertEqual(self.expect(DONE, "plan", "long.onnx", environment={"COLUMNS": odd}).stdout,
                             self.expect(DONE, "plan", "long.onnx").stdout)

    def test_a_pipe_gets_colours_only_by_force(self):
        self.assertNotIn(ESCAPE, self.expect(DONE, "plan", "model.onnx").stdout)
        self.assertIn(ESCAPE, self.expect(DONE, "plan", "model.onnx", "--color=always").stdout)
        forced = {"CLICOLOR_FORCE": "1"}
        self.assertIn(ESCAPE, self.expect(DONE, "plan", "model.onnx", environment=forced).stdout)
        self.assertNotIn(ESCAPE, self.expect(DONE, "plan", "model.onnx", "--color=never", environment=forced).stdout)
        both = {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}
        self.assertNotIn(ESCAPE, self.expect(DONE, "plan", "model.onnx", environment=both).stdout)

    def test_colours_change_nothing_but_colours(self):
        import re
        plain = self.expect(DONE, "plan", "model.onnx").stdout
        colored = self.expect(DONE, "plan", "model.onnx", "--color=always").stdout
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", colored), plain)

    def on_terminal(self, environment):
        outer, inner = pty.openpty()
        process = subprocess.Popen([PROGRAM, "plan", "model.onnx"], cwd=self.folder, env={**PLAIN, **environment},
                                   stdout=inner, stderr=subprocess.DEVNULL)
        os.close(inner)
        shown = b""
        while True:
            try:
                part = os.read(outer, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(outer)
        self.assertEqual(process.wait(60), DONE)
        return shown.decode()

    def test_a_terminal_gets_colours_unless_switched_off(self):
        self.assertIn(ESCAPE, self.on_terminal({"TERM": "xterm"}))
        self.assertNotIn(ESCAPE, self.on_terminal({"TERM": "xterm", "NO_COLOR": "1"}))
        self.assertNotIn(ESCAPE, self.on_terminal({"TERM": "dumb"}))
        self.assertIn(ESCAPE, self.on_terminal({"TERM": "xterm", "NO_COLOR": ""}))

    def test_a_count_of_one_is_singular(self):
        self.write("one.onnx", small_models.chain(1))
        self.assertIn("1 node, 2 tensors", self.expect(DONE, "inspect", "one.onnx").stdout)
        self.expect(DONE, "plan", "one.onnx", "-o", "plan.json")
        self.assertIn("1 step, 2 buffers", self.expect(DONE, "verify", "one.onnx", "plan.json").stdout)
        self.write("open.onnx", small_models.chain(1, batch="n"))
        self.assertIn("1 size is not known", self.expect(BAD_INPUT, "plan", "open.onnx").stderr)
        self.write("stale.onnx", small_models.stale_branch())
        said = self.expect(DONE, "plan", "stale.onnx").stderr
        self.assertIn("1 declared size contradicts the operators", said)

    def test_a_branch_with_a_stale_declared_size_is_planned(self):
        """The joined tensor has 192 elements of 4 bytes. The plan must hold them, whatever is declared."""
        self.write("stale.onnx", small_models.stale_branch())
        self.write("right.onnx", small_models.stale_branch(192))
        stale, right = (self.json(DONE, "plan", name) for name in ("stale.onnx", "right.onnx"))
        self.assertEqual(stale["bytes"], right["bytes"])
        self.assertGreaterEqual(stale["bytes"]["arena"], 192 * 4)
        self.assertIn("'big' of graph 'else' is declared as f32[9]", stale["notes"][0])
        self.assertEqual(len(stale["notes"]), len(right["notes"]) + 1)

    def test_very_large_shares_are_factors(self):
        self.write("wide.csv", "id,lower,upper,size,alignment\na,0,1,1,1\nb,0,1,1,4096\nc,0,1,1,4096\n")
        # 4,097 B for 3 B of buffers: 1,365 times as much.
        shown = self.expect(DONE, "pack", "wide.csv").stdout
        self.assertIn("1,365x", shown)
        self.assertNotRegex(shown, r"\d{4,}[.]\d %")

    def test_names_cannot_act_on_the_terminal(self):
        self.write("hostile.onnx", small_models.hostile_names())
        for words in (["inspect", "hostile.onnx"], ["explain", "hostile.onnx"],
                      ["plan", "hostile.onnx", "-o", "plan.json"],
                      ["verify", "hostile.onnx", "plan.json"]):
            result = self.run_program(*words)
            for text in (result.stdout, result.stderr):
                self.assertNotIn("\x1b", text)
                self.assertNotIn("\nerror: false", text)
            self.assertLess(max(map(len, result.stdout.splitlines())), 240)
        self.write("turned.onnx", small_models.chain(2, "a\u202e\u200b\ufeff"))
        for words in (["inspect", "turned.onnx"], ["plan", "turned.onnx", "-o", "plan.json"],
                      ["verify", "turned.onnx", "plan.json", "--dim", "\u200b=1"]):
            result = self.run_program(*words)
            self.assertNotRegex(result.stdout + result.stderr, "[\u200b\u202e\ufeff]")
            self.assertIn("\\xe2\\x80\\x8b", result.stdout + result.stderr)
        # The name of a file is safe, too.
        self.assertNotIn("\x1b", self.run_program("plan", "\x1b[31m.onnx").stderr)


if __name__ == "__main__":
    unittest.main()
