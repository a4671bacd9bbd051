# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The program under test, run as a stranger runs it: by its path, in an empty folder."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import small_models

PROGRAM = os.environ.get("LOWTIDE_PROGRAM", "")
if not PROGRAM:
    raise SystemExit("set LOWTIDE_PROGRAM to the path of the lowtide program")
# Tests with this mark need the commands and formats of earlier systems, which a build may leave out.
needs_earlier = unittest.skipIf(os.environ.get("LOWTIDE_WITHOUT_EARLIER"), "the build has no earlier systems")
FILES = pathlib.Path(__file__).resolve().parent.parent / "files" / "cli"

# The tests of colours and widths set the variables that control them.
CONTROLLED = ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM")
PLAIN = {key: value for key, value in os.environ.items() if key not in CONTROLLED}

DONE, NO, USAGE, BAD_INPUT, INTERNAL = range(5)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("model.onnx", small_models.small())

    def write(self, name, content):
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def run_program(self, *words, environment=None, stdin=b"", **options):
        """The finished process, its stdout and stderr as text."""
        environment = {**PLAIN, **(environment or {})}
        result = subprocess.run([PROGRAM, *words], cwd=self.folder, env=environment, input=stdin,
                                capture_output=True, timeout=120, **options)
        result.stdout = result.stdout.decode()
        result.stderr = result.stderr.decode()
        return result

    def expect(self, code, *words, **options):
        result = self.run_program(*words, **options)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}\n{result.stderr}")
        return result

    def json(self, code, *words, **options):
        return json.loads(self.expect(code, *words, "--json", **options).stdout)

    def listing(self):
        return sorted(path.name for path in self.folder.iterdir())
