# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Exports models as C source, compiles them with a driver, and runs them here or in QEMU."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np

PROGRAM = os.environ.get("LOWTIDE_PROGRAM", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARD_FILES = ROOT / "examples/microcontroller"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
ARM = "arm-none-eabi-"
# The processors of the boards of QEMU.
BOARDS = {"mps2-an385": ["-mcpu=cortex-m3"],
          "mps2-an386": ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
          "mps2-an500": ["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
          "mps3-an547": ["-mcpu=cortex-m55", "-mfloat-abi=hard"]}

# Runs each case, and returns the number of outputs that differ.
DRIVER = """
static int32_t differs(const void *left, const void *right, int32_t bytes) {
  const unsigned char *a = (const unsigned char *)left;
  const unsigned char *b = (const unsigned char *)right;
  for (int32_t at = 0; at < bytes; ++at) {
    if (a[at] != b[at]) return 1;
  }
  return 0;
}

static void copy_bytes(const void *from, void *to, int32_t bytes) {
  for (int32_t at = 0; at < bytes; ++at) ((unsigned char *)to)[at] = ((const unsigned char *)from)[at];
}

int main(void) {
  int wrong = 0;
"""


def missing_tools():
    """What programs for boards need and this machine lacks."""
    return [tool for tool in (ARM + "gcc", "qemu-system-arm") if shutil.which(tool) is None]


def call(*words, **options):
    """The stdout of a program that must succeed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))}\nends with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def array(name, value):
    """An array of C with the bytes of a value."""
    values = ",".join(map(str, np.frombuffer(value.tobytes(), np.uint8)))
    return f"static const unsigned char {name}[{max(1, value.nbytes)}] = {{{values or 0}}};\n"


class Case:
    """A model as C source, with inputs, and the outputs that the runtime computes for them."""

    def __init__(self, data, folder, runtime, *options, runs=3, seed=1):
        self.folder = pathlib.Path(folder)
        model = self.folder / "model.tflite"
        model.write_bytes(data)
        self.report = json.loads(call(PROGRAM, "export", model, "-o", self.folder, "--json", *options))
        self.result = runtime.run(data, seed=seed, runs=runs)
        assert self.result.ok, self.result.message
        self.is_blob = "weights.bin" in self.report["files"]
        self.is_reentrant = "--reentrant" in options
        self.header = (self.folder / "model.h").read_text()
        (self.folder / "driver.c").write_text(self.driver())
        self.sources = [self.folder / name for name in ("driver.c", "model.c", "weights.c") if
                        name != "weights.c" or not self.is_blob]

    def driver(self):
        name = self.report["name"]
        text = '#include "model.h"\n'
        contexts = ["&contexts[0]", "&contexts[1]"] if self.is_reentrant else [""]
        if self.is_reentrant:
            text += f"static {name}_context contexts[2];\n"
        weights = ""
        if self.is_blob:
            blob = np.frombuffer((self.folder / "weights.bin").read_bytes(), np.uint8)
            text += "__attribute__((aligned(16))) " + array("blob", blob)
            weights = ", blob" if self.is_reentrant else "blob"
        calls = "".join(f"  {name}_init({context}{weights});\n" for context in contexts)
        inputs, outputs = self.ports("input"), self.ports("output")
        for run, (given, expected) in enumerate(zip(self.result.sets, self.result.values, strict=True)):
            context = contexts[run % len(contexts)]
            for port, value in zip(inputs, given, strict=True):
                text += array(f"given_{run}_{port}", value)
                calls += f"  copy_bytes(given_{run}_{port}, {port}({context}), {value.nbytes});\n"
            calls += f"  {name}_run({context});\n"
            for port, value in zip(outputs, expected, strict=True):
                text += array(f"expected_{run}_{port}", value)
                calls += f"  wrong += differs(expected_{run}_{port}, {port}({context}), {value.nbytes});\n"
        return text + DRIVER + calls + "  return wrong;\n}\n"

    def ports(self, kind):
        """The functions that give inputs or outputs, in their order."""
        return re.findall(rf"^(?:const )?\w+ \*({self.report['name']}_{kind}_\w+)\(", self.header, re.MULTILINE)

    def run_here(self, compiler="gcc", *flags):
        """Compiles the source for this machine, and runs it. Fails if an output differs in any bit."""
        program = self.folder / "host"
        call(compiler, "-std=c99", *WARNINGS, *flags, "-I", self.folder, *self.sources, "-o", program, "-lm")
        call(program)

    def link(self, board, *flags):
        """A program for a board, with the files of the example. Returns its path."""
        name = self.report["name"].upper()
        return link_for(board, *self.sources,
                        f'-D{name}_ARENA_ATTRIBUTES=__attribute__((section(".arena"),aligned(16)))',
                        f'-D{name}_WEIGHTS_ATTRIBUTES=__attribute__((section(".weights")))', *flags)

    def run_on(self, board):
        """Runs the source on a board of QEMU. Fails if an output differs in any bit."""
        run_program_on(board, self.link(board))


def link_for(board, source, *words):
    """A program for a board, of sources and the files of the example. Returns its path, beside the source."""
    program = source.parent / f"{board}.elf"
    call(ARM + "gcc", *BOARDS[board], "-mthumb", "-std=c99", "-O2", "-ffunction-sections", "--specs=nano.specs",
         "-nostartfiles", "-Wl,--gc-sections", "-T", BOARD_FILES / "board.ld", "-I", source.parent, "-I", BOARD_FILES,
         source, *words, BOARD_FILES / "boot.c", "-lm", "-o", program)
    return program


def run_program_on(board, program):
    """What the program prints on a board of QEMU. Fails if it does not return 0."""
    done = subprocess.run(["qemu-system-arm", "-machine", board, "-display", "none", "-serial", "none", "-monitor",
                           "none", "-semihosting-config", "enable=on,target=native", "-kernel", program],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def sections(path):
    """The bytes of each section of an object or a program."""
    rows = re.findall(r"^(\.\S+)\s+(\d+)", call(ARM + "size", "-A", path), re.MULTILINE)
    return {name: int(size) for name, size in rows}


# How the names of functions begin that a compiler calls by itself.
IMPLICIT = ("__", "mem")


class CallGraph:
    """The functions of a source compiled by gcc for a board: the stack that each takes itself, and what it calls."""

    def __init__(self, source, board, *flags):
        call(ARM + "gcc", *BOARDS[board], "-mthumb", "-std=c99", *flags, "-fcallgraph-info=su", "-c", source, "-o",
             source.with_suffix(".o"))
        text = source.with_suffix(".ci").read_text()
        self.own = {name: int(size) for name, size in
                    re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?\\n(\d+) bytes \(static\)', text)}
        self.called = {}
        for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            self.called.setdefault(caller, set()).add(callee)
        # Functions that the compiler calls by itself are not in its graph.
        undefined = call(ARM + "nm", "-u", source.with_suffix(".o")).split()
        implicit = {name for name in undefined if name.startswith(IMPLICIT)}
        named = {name.split(":")[-1] for names in self.called.values() for name in names - self.own.keys()}
        self.library = sorted(implicit | named)

    def node(self, function):
        return next(name for name in self.own if name.split(":")[-1] == function)

    def own_of(self, function):
        """The bytes of stack that it takes itself."""
        return self.own[self.node(function)]

    def deepest(self, function, library):
        """The most bytes of stack that it takes with all that it calls. library: those of functions elsewhere."""
        # Any function may call those that the compiler calls by itself.
        least = max((size for name, size in library.items() if name.startswith(IMPLICIT)), default=0)

        def deepest(name):
            if name not in self.own:
                return library[name.split(":")[-1]]
            return self.own[name] + max([least, *map(deepest, self.called.get(name, ()))])

        return deepest(self.node(function))
