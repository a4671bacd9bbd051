# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Exports ONNX models as C source, compiles it, and runs it on inputs."""
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import onnx

PROGRAM = os.environ.get("LOWTIDE_PROGRAM", "")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# Reads the inputs from files, runs, and writes the outputs to files.
DRIVER = """#include <stdio.h>
#include "model.h"

static int read_file(const char *path, void *to, size_t bytes) {
  FILE *file = fopen(path, "rb");
  if (file == 0) return 1;
  const size_t count = fread(to, 1, bytes, file);
  fclose(file);
  return count == bytes ? 0 : 1;
}

static int write_file(const char *path, const void *from, size_t bytes) {
  FILE *file = fopen(path, "wb");
  if (file == 0) return 1;
  const size_t count = fwrite(from, 1, bytes, file);
  return fclose(file) == 0 && count == bytes ? 0 : 1;
}

int main(void) {
  int wrong = 0;
"""
BLOB = "#include <stdint.h>\nstatic union { uint64_t aligned[2]; unsigned char bytes[%(bytes)d]; } weights " \
       "__attribute__((aligned(16)));\n" + DRIVER + \
       '  wrong += read_file("%(path)s", weights.bytes, sizeof weights.bytes);\n  net_init(weights.bytes);\n'
RUNS = "  for (int run = 0; run < 2; ++run) {\n"


def call(*words):
    """The stdout of a program that must succeed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))}\nends with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Exported:
    """A model as C source in a folder."""

    def __init__(self, model, folder, *options):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "model.onnx"
        self.path.write_bytes(model.SerializeToString() if isinstance(model, onnx.ModelProto) else model)
        self.report = json.loads(call(PROGRAM, "export", self.path, "-o", self.folder, "--name", "net", "--json",
                                      "--force", *options))

    def ports(self, kind):
        """The functions that give inputs or outputs, in their order."""
        header = (self.folder / "model.h").read_text()
        return re.findall(rf"^(?:const )?\w+ \*(net_{kind}_\w+)\(", header, re.MULTILINE)

    def outputs(self, inputs, expected, *flags):
        """What the source computes in the second of two runs, as arrays like the expected ones."""
        is_blob = "weights.bin" in self.report["files"]
        text = (BLOB % {"path": self.folder / "weights.bin", "bytes": self.report["weights_bytes"]} if is_blob else
                DRIVER + "  net_init();\n") + RUNS
        for at, (port, value) in enumerate(zip(self.ports("input"), inputs, strict=True)):
            path = self.folder / f"input_{at}"
            path.write_bytes(np.ascontiguousarray(value).tobytes())
            text += f'    wrong += read_file("{path}", {port}(), {value.nbytes});\n'
        text += "    net_run();\n"
        for at, (port, value) in enumerate(zip(self.ports("output"), expected, strict=True)):
            text += f'    wrong += write_file("{self.folder}/output_{at}", {port}(), {value.nbytes});\n'
        (self.folder / "driver.c").write_text(text + "  }\n  return wrong;\n}\n")
        program = self.folder / "program"
        names = ["driver.c", "model.c"] if is_blob else ["driver.c", "model.c", "weights.c"]
        sources = [self.folder / name for name in names]
        call("gcc", "-std=c99", *WARNINGS, *flags, *sources, "-o", program, "-lm")
        call(program)
        return [np.frombuffer((self.folder / f"output_{at}").read_bytes(), value.dtype).reshape(value.shape)
                for at, value in enumerate(expected)]


def check_close(results, expected, tolerance=2e-5):
    """Fails where two lists of outputs differ by more than sums in another order do. Integers must be equal."""
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        if wanted.dtype == np.float32:
            np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(result, wanted)
