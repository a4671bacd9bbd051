#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What is written, and what is left when that goes wrong: killed writers, full disks, folders that take nothing."""
import fcntl
import json
import os
import random
import resource
import signal
import stat
import subprocess
import time
import unittest

import small_models
from program import BAD_INPUT, DONE, PLAIN, PROGRAM, ProgramTest

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

        # From too early to too late, so that every moment of the run is hit.
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
        # The next writer sweeps up.
        self.expect(DONE, "plan", "a.onnx", "-o", "plan.json", "-q")
        self.assertEqual(self.listing(), ["a.onnx", "b.onnx", "model.onnx", "plan.json"])

    def test_plans_without_steps_are_read_back(self):
        for name, content in (("nothing", small_models.without_nodes()), ("branches", small_models.branches())):
            self.write(f"{name}.onnx", content)
            self.expect(DONE, "plan", f"{name}.onnx", "-o", "plan.json", "--html", "plan.html")
            self.expect(DONE, "verify", f"{name}.onnx", "plan.json")
            self.expect(DONE, "view", "plan.json", "-o", "view.html")
            # The same picture; but of a plan file alone nobody knows whether it is right.
            viewed, planned = ((self.folder / page).read_text() for page in ("view.html", "plan.html"))
            self.assertEqual(viewed.replace('"verified":false', '"verified":true'), planned, name)
            self.assertNotEqual(viewed, planned)

    def test_leftovers_are_removed_but_not_those_of_a_living_writer(self):
        self.write(".plan.json.123.lowtide-tmp", "half a pl")
        self.write(".plan.json.124.lowtide-tmp", "half a pl")
        self.write(".other.json.123.lowtide-tmp", "of another file")
        with open(self.folder / ".plan.json.124.lowtide-tmp") as living:
            fcntl.flock(living, fcntl.LOCK_EX)
            self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertEqual(self.listing(), [".other.json.123.lowtide-tmp", ".plan.json.124.lowtide-tmp", "model.onnx",
                                          "plan.json"])

    def expect_refused(self, part, *words, **options):
        before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        result = self.expect(BAD_INPUT, *words, **options)
        self.assertIn(part, result.stderr)
        after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(before, after)

    def test_the_model_itself_is_not_overwritten(self):
        (self.folder / "link.onnx").symlink_to("model.onnx")
        os.link(self.folder / "model.onnx", self.folder / "hard.onnx")
        for name in ("model.onnx", "./model.onnx", "link.onnx", "hard.onnx"):
            for option in ("-o", "--html"):
                self.expect_refused("is the input", "plan", "model.onnx", option, name)

    def test_places_that_cannot_be_written_are_refused_before_the_work(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        self.expect_refused("is a directory", "plan", "model.onnx", "-o", "folder")
        self.expect_refused("is a directory", "plan", "model.onnx", "-o", "folder/")
        self.expect_refused("there is no directory", "plan", "model.onnx", "-o", "missing/plan.json")
        self.expect_refused("Not a directory", "plan", "model.onnx", "-o", "model.onnx/plan.json")
        self.expect_refused("nobody reads", "plan", "model.onnx", "-o", "pipe")

    def test_devices_and_pipes_are_written_straight_to(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "/dev/null", "--html", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.expect_refused("No space left", "plan", "model.onnx", "-o", "/dev/full")
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        os.mkfifo(self.folder / "pipe")
        reader = subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE)
        # As long as no reader is there, nothing waits for one.
        while self.run_program("plan", "model.onnx", "-o", "pipe").returncode != DONE:
            time.sleep(0.01)
        self.assertEqual(reader.communicate(timeout=60)[0], self.plan_bytes())
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "pipe").st_mode))

    def test_a_folder_that_takes_nothing(self):
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

    def test_a_link_stays_and_what_it_points_to_is_replaced(self):
        (self.folder / "elsewhere").mkdir()
        self.write("elsewhere/real.json", "old")
        (self.folder / "plan.json").symlink_to("elsewhere/real.json")
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertTrue((self.folder / "plan.json").is_symlink())
        self.assertIn("schema_version", json.loads((self.folder / "elsewhere/real.json").read_text()))
        self.assertEqual([path.name for path in (self.folder / "elsewhere").iterdir()], ["real.json"])

    def test_the_mode_of_a_file_is_kept_and_the_umask_rules_a_new_one(self):
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
            self.assertEqual((self.folder / ("one" + ending)).read_bytes(), (self.folder / ("two" + ending)).read_bytes())

    def test_view_compares_two_plans(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "new.json")
        self.expect(DONE, "plan", "model.onnx", "--no-in-place", "-o", "old.json")
        self.expect(DONE, "view", "new.json", "-o", "one.html")
        self.expect(DONE, "view", "new.json", "--against", "old.json", "-o", "two.html")
        self.assertNotEqual((self.folder / "one.html").read_bytes(), (self.folder / "two.html").read_bytes())


if __name__ == "__main__":
    unittest.main()
