#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What is written, and what is left if writing fails: killed writers, full disks, folders that cannot be written."""
import fcntl
import os
import random
import re
import resource
import signal
import stat
import subprocess
import time
import unittest

import small_models
from program import BAD_INPUT, DONE, PLAIN, PROGRAM, USAGE, ProgramTest

KILLS = 300


class Files(ProgramTest):
    def plan_bytes(self):
        return (self.folder / "plan.json").read_bytes()

    def test_a_killed_writer_leaves_the_old_file_or_the_new_one(self):
        self.write("a.onnx", small_models.chain(1500, "first"))
        self.write("b.onnx", small_models.chain(1500, "second"))
        whole = []
        begin = time.perf_counter()
        for model in ("a.onnx", "b.onnx"):
            self.expect(DONE, "plan", model, "-o", "plan.json", "-q")
            whole.append(self.plan_bytes())
        seconds = (time.perf_counter() - begin) / 2
        self.assertNotEqual(*whole)

        # The delays reach beyond the end of a run, so that kills hit any moment of it.
        delays = random.Random(20260801)
        replaced = killed = 0
        for turn in range(KILLS):
            before = self.plan_bytes()
            process = subprocess.Popen([PROGRAM, "plan", "ab"[turn % 2] + ".onnx", "-o", "plan.json", "-q"],
                                       cwd=self.folder, env=PLAIN, stdout=subprocess.DEVNULL)
            time.sleep(delays.uniform(0, 1.2) * seconds)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            self.assertIn(self.plan_bytes(), whole, f"turn {turn}")
            replaced += self.plan_bytes() != before
        self.assertGreater(killed, KILLS // 10)
        self.assertGreater(replaced, 0)
        # The next writer removes what killed writers left.
        self.expect(DONE, "plan", "a.onnx", "-o", "plan.json", "-q")
        self.assertEqual(self.listing(), ["a.onnx", "b.onnx", "model.onnx", "plan.json"])

    def peak_bytes(self, *words):
        """The most memory that the program had while it ran."""
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=PLAIN, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, DONE)
        return 1024 * usage.ru_maxrss

    def test_weights_stay_in_the_model_file(self):
        self.write("small.onnx", small_models.weighted(1024))
        self.write("large.onnx", small_models.weighted(12_500_000))
        size = (self.folder / "large.onnx").stat().st_size
        self.assertGreater(size, 100_000_000)
        small, large = (self.peak_bytes("inspect", f"{name}.onnx") for name in ("small", "large"))
        self.assertLess(large - small, 20_000_000, f"the file has {size} bytes")

    def test_plans_without_steps_are_read_back(self):
        for name, content in (("nothing", small_models.without_nodes()), ("branches", small_models.branches())):
            self.write(f"{name}.onnx", content)
            self.expect(DONE, "plan", f"{name}.onnx", "-o", "plan.json", "--html", "plan.html")
            self.expect(DONE, "verify", f"{name}.onnx", "plan.json")
            self.expect(DONE, "view", "plan.json", "-o", "view.html")
            # The pages are equal, except that a plan file alone does not show the verdicts of the verifier and of the
            # planner, the proof and the MACs.
            viewed, planned = ((self.folder / page).read_text() for page in ("view.html", "plan.html"))
            self.assertIn('"proof":["', planned)
            planned = re.sub(r'"(proof|not_in_place)":\[[^\]]*\],|,"(macs|proven)":\[[^\]]*\]', "", planned)
            self.assertEqual(viewed.replace('"verified":false', '"verified":true'), planned, name)
            self.assertNotEqual(viewed, planned)

    def test_leftovers_are_removed_but_not_those_of_a_living_writer(self):
        dead, empty, living = (f".plan.json.{digit * 16}.lowtide-tmp" for digit in "0af")
        self.write(dead, "half a pl")
        self.write(empty, "")
        self.write(living, "half a pl")
        kept = [".other.json.0000000000000000.lowtide-tmp", ".plan.json.0000000000000000.json.lowtide-tmp",
                ".plan.json.123.lowtide-tmp", ".plan.json.x.0000000000000000.lowtide-tmp"]
        for name in kept:
            self.write(name, "of another file, or of another program")
        with open(self.folder / living) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertEqual(self.listing(), sorted([*kept, living, "model.onnx", "plan.json"]))

    def test_a_writer_keeps_leftovers_of_a_longer_name(self):
        # `c` and `c.json`: the temporary file of the second begins with ".c." too.
        for name in ("c", "c.json"):
            other = f".{name}.json.0123456789abcdef.lowtide-tmp"
            self.write(other, "half a pl")
            self.expect(DONE, "plan", "model.onnx", "-o", name)
            self.assertIn(other, self.listing())

    def test_writers_with_one_process_id_do_not_interfere(self):
        if subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode:
            self.skipTest("no permission to make a process namespace")
        command = ["unshare", "--pid", "--fork", PROGRAM, "plan", "model.onnx", "-q", "-o", "plan.json"]
        for _ in range(20):
            pair = [subprocess.Popen(command, cwd=self.folder, env=PLAIN, stderr=subprocess.PIPE) for _ in range(2)]
            for process in pair:
                self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"", DONE))
        self.assertEqual(self.listing(), ["model.onnx", "plan.json"])

    def expect_refused(self, part, *words, code=BAD_INPUT, **options):
        before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        result = self.expect(code, *words, **options)
        self.assertIn(part, result.stderr)
        after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(before, after)

    def test_the_model_itself_is_not_overwritten(self):
        (self.folder / "link.onnx").symlink_to("model.onnx")
        os.link(self.folder / "model.onnx", self.folder / "hard.onnx")
        for name in ("model.onnx", "./model.onnx", "link.onnx", "hard.onnx"):
            for option in ("-o", "--html"):
                self.expect_refused("is the input", "plan", "model.onnx", option, name, code=USAGE)

    def test_a_file_with_two_uses_is_refused_before_it_is_read(self):
        for words in (("plan", "missing.onnx", "-o", "./missing.onnx"), ("pack", "missing.csv", "-o", "missing.csv"),
                      ("plan", "missing.onnx", "-o", "plan.json", "--html", "./plan.json"),
                      ("view", "missing.json", "-o", "missing.json")):
            with self.subTest(words):
                self.expect(USAGE, *words)
        self.assertEqual(self.listing(), ["model.onnx"])

    def test_bad_destinations_are_refused_before_the_work(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        self.expect_refused("is a directory", "plan", "model.onnx", "-o", "folder")
        self.expect_refused("is a directory", "plan", "model.onnx", "-o", "folder/")
        self.expect_refused("there is no directory", "plan", "model.onnx", "-o", "missing/plan.json")
        self.expect_refused("Not a directory", "plan", "model.onnx", "-o", "model.onnx/plan.json")
        self.expect_refused("no process reads", "plan", "model.onnx", "-o", "pipe")

    def test_devices_and_pipes_are_written_directly(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "/dev/null", "--html", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.expect_refused("No space left", "plan", "model.onnx", "-o", "/dev/full")
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        os.mkfifo(self.folder / "pipe")
        reader = subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE)
        # Without a reader, the program fails instead of waiting for one.
        while self.run_program("plan", "model.onnx", "-o", "pipe").returncode != DONE:
            time.sleep(0.01)
        self.assertEqual(reader.communicate(timeout=60)[0], self.plan_bytes())
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "pipe").st_mode))

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.expect_refused("cannot write", "plan", "model.onnx", "-o", "/proc/plan.json")
            return
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.expect_refused("Permission denied", "plan", "model.onnx", "-o", "closed/plan.json")
        self.assertEqual(list(closed.iterdir()), [])

    def test_a_read_only_file_is_kept(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        self.write("plan.json", "keep me")
        (self.folder / "plan.json").chmod(0o444)
        self.expect_refused("Permission denied", "plan", "model.onnx", "-o", "plan.json")

    def test_a_file_size_limit_leaves_the_old_file_and_nothing_else(self):
        self.write("plan.json", "old")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

        self.expect_refused("File too large", "plan", "model.onnx", "-o", "plan.json", preexec_fn=limit)

    def test_a_full_disk_leaves_the_old_file_and_nothing_else(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
            self.skipTest("no permission to mount a small disk")
        try:
            (disk / "map.html").write_bytes(b"old" * 10000)  # the page is larger than what is left
            self.expect_refused("No space left", "plan", "model.onnx", "--html", "disk/map.html")
            self.assertEqual([path.name for path in disk.iterdir()], ["map.html"])
            self.assertEqual((disk / "map.html").read_bytes(), b"old" * 10000)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_an_output_that_is_a_link_is_refused_before_the_work(self):
        (self.folder / "elsewhere").mkdir()
        self.write("elsewhere/real.json", "old")
        for target in ("elsewhere/real.json", "nowhere", "link.json"):
            (self.folder / "link.json").symlink_to(target)
            for option in ("-o", "--html"):
                self.expect_refused(f"'link.json': cannot write the file: it is a symbolic link to '{target}', and "
                                    "outputs do not follow links; name the file itself, or remove the link",
                                    "plan", "model.onnx", option, "link.json")
            self.assertEqual(os.readlink(self.folder / "link.json"), target)
            os.remove(self.folder / "link.json")
        self.assertEqual((self.folder / "elsewhere/real.json").read_text(), "old")
        # A folder is reached through a link as usual.
        (self.folder / "folder").symlink_to("elsewhere")
        self.expect_refused("is a directory", "plan", "model.onnx", "-o", "folder")
        self.expect(DONE, "plan", "model.onnx", "-o", "folder/plan.json")
        self.assertIn("plan.json", [path.name for path in (self.folder / "elsewhere").iterdir()])

    def test_links_to_devices_and_to_open_files_are_written_to(self):
        (self.folder / "null").symlink_to("/dev/null")
        self.expect(DONE, "plan", "model.onnx", "-o", "null")
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        plan = self.plan_bytes()
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            # A pipe, and a file that already holds something.
            shown = self.expect(DONE, "plan", "model.onnx", "-q", "-o", name).stdout
            self.assertTrue(shown.encode().startswith(plan) or shown.encode().endswith(plan), name)
            with open(self.folder / "both", "wb") as both:
                both.write(b"first\n")
                both.flush()
                subprocess.run([PROGRAM, "plan", "model.onnx", "-q", "-o", name], cwd=self.folder, env=PLAIN,
                               stdout=both, check=True)
            self.assertTrue((self.folder / "both").read_bytes().startswith(b"first\n"), name)
            self.assertIn(plan, (self.folder / "both").read_bytes(), name)
        os.remove(self.folder / "both")
        self.expect_refused("Bad file descriptor", "plan", "model.onnx", "-o", "/dev/fd/63")
        with open(self.folder / "plan.json", "rb") as file:
            number = file.fileno()
            self.expect_refused("reading only", "plan", "model.onnx", "-o", f"/dev/fd/{number}", pass_fds=(number,))

    def test_a_reader_that_goes_away_ends_the_program_by_sigpipe(self):
        self.write("long.onnx", small_models.chain(1500))  # a plan larger than a pipe holds
        process = subprocess.Popen([PROGRAM, "plan", "long.onnx", "-q", "-o", "-"], cwd=self.folder, env=PLAIN,
                                   stdout=subprocess.PIPE)
        process.stdout.read(1)
        process.stdout.close()
        self.assertEqual(process.wait(60), -signal.SIGPIPE)
        self.assertEqual(self.listing(), ["long.onnx", "model.onnx"])

    def test_sighup_ends_the_program_and_keeps_the_old_file(self):
        self.write("map.html", "old")
        process = subprocess.Popen([PROGRAM, "view", "-", "-o", "map.html"], cwd=self.folder, env=PLAIN,
                                   stdin=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        process.send_signal(signal.SIGHUP)  # it waits for its plan
        self.assertEqual(process.wait(60), -signal.SIGHUP)
        process.stdin.close()
        self.assertEqual((self.folder / "map.html").read_text(), "old")
        self.assertEqual(self.listing(), ["map.html", "model.onnx"])

    def test_mode_of_a_file_is_kept_and_umask_applies_to_new_ones(self):
        self.write("plan.json", "old")
        (self.folder / "plan.json").chmod(0o640)
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertEqual(stat.S_IMODE((self.folder / "plan.json").stat().st_mode), 0o640)
        self.expect(DONE, "plan", "model.onnx", "-o", "new.json", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE((self.folder / "new.json").stat().st_mode), 0o640)

    def test_the_longest_name_works(self):
        name = "p" * 250 + ".json"
        self.expect(DONE, "plan", "model.onnx", "-o", name)
        self.assertIn(name, self.listing())

    def test_stdout_carries_a_plan_to_verify_and_view(self):
        plan = self.expect(DONE, "plan", "model.onnx", "-o", "-")
        self.assertIn("arena", plan.stderr)
        self.expect(DONE, "verify", "model.onnx", "-", stdin=plan.stdout.encode())
        shown = self.expect(DONE, "view", "-", "-o", "-", stdin=plan.stdout.encode()).stdout
        self.assertTrue(shown.startswith("<!"))

    def test_the_same_plan_and_page_are_the_same_bytes(self):
        for name in ("one", "two"):
            self.expect(DONE, "plan", "model.onnx", "-o", name + ".json", "--html", name + ".html")
        for ending in (".json", ".html"):
            one, two = (self.folder / (name + ending) for name in ("one", "two"))
            self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_view_compares_two_plans(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "new.json")
        self.expect(DONE, "plan", "model.onnx", "--no-in-place", "-o", "old.json")
        self.expect(DONE, "view", "new.json", "-o", "one.html")
        self.expect(DONE, "view", "new.json", "--against", "old.json", "-o", "two.html")
        self.assertNotEqual((self.folder / "one.html").read_bytes(), (self.folder / "two.html").read_bytes())

    def test_plans_for_other_sizes_are_compared_with_a_note(self):
        self.write("open.onnx", small_models.small(batch="batch"))
        for batch in ("2", "4"):
            self.expect(DONE, "plan", "open.onnx", "--dim", f"batch={batch}", "-o", f"{batch}.json")
        result = self.expect(DONE, "view", "4.json", "--against", "2.json", "-o", "two.html")
        self.assertIn("note: the plans are for different sizes: 'batch=4' now, 'batch=2' before", result.stderr)
        same = self.expect(DONE, "view", "4.json", "--against", "4.json", "-o", "same.html")
        self.assertNotIn("note:", same.stderr)

    def test_plans_of_different_models_are_not_compared(self):
        self.write("other.onnx", small_models.chain(3))
        self.expect(DONE, "plan", "model.onnx", "-o", "new.json")
        self.expect(DONE, "plan", "other.onnx", "-o", "old.json")
        result = self.expect(BAD_INPUT, "view", "new.json", "--against", "old.json", "-o", "two.html")
        self.assertIn("the plans are for different models: 'new.json' is for 'model.onnx' with sha256 '", result.stderr)
        self.assertIn("'old.json' is for 'other.onnx' with sha256 '", result.stderr)
        self.assertNotIn("two.html", self.listing())


if __name__ == "__main__":
    unittest.main()
