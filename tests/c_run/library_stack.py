# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The stack that functions of the compiler's libraries take, measured on boards of QEMU."""
import functools
import pathlib
import re
import tempfile

import exported

# What makes a compiler call a function that C programs do not name.
EXPRESSIONS = {
    "__aeabi_f2iz": "(float)(int32_t)small(x)", "__aeabi_f2uiz": "(float)(uint32_t)fabsf(small(x))",
    "__aeabi_f2lz": "(float)(int64_t)small(x)", "__aeabi_i2f": "(float)bits(x)",
    "__aeabi_ui2f": "(float)(uint32_t)bits(x)",
    "__aeabi_l2f": "(float)((int64_t)bits(x) * bits(y))", "__aeabi_fadd": "x + y", "__aeabi_fsub": "x - y",
    "__aeabi_fmul": "x * y", "__aeabi_fdiv": "x / y", "__aeabi_fcmpeq": "(float)(x == y)",
    "__aeabi_fcmpge": "(float)(x >= y)", "__aeabi_fcmpgt": "(float)(x > y)", "__aeabi_fcmple": "(float)(x <= y)",
    "__aeabi_fcmplt": "(float)(x < y)", "__aeabi_fcmpun": "(float)isunordered(x, y)",
    "__aeabi_ldivmod": "(float)((int64_t)bits(x) * bits(y) / (bits(y) | 1))",
    "memcpy": "moved(x, memcpy)", "memmove": "moved(x, memmove)", "memset": "set(x)",
}
OF_TWO = ("atan2f", "fmaxf", "fminf", "fmodf", "powf", "copysignf")
VALUES = ("0", "-0.0f", "1e-42f", "-1e-20f", "0.01f", "0.3f", "-0.7f", "1", "-1.5f", "2.5f", "-3", "9.7f", "-40",
          "88.5f",
          "-103.9f", "1000.3f", "-70000", "3e6f", "-5e9f", "1e20f", "-1e30f", "3e38f", "INFINITY", "-INFINITY", "NAN")

BEGIN = """
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "boot.h"
#define APART __attribute__((noinline, noipa))
static volatile float result;
static volatile float values[] = {%s};
enum { count = sizeof values / sizeof values[0] };
static unsigned char bytes[128];
static inline float small(float x) { return fabsf(x) < 1e6f ? x : 0.0f; }
static inline int32_t bits(float x) { union { float real; int32_t whole; } both = {x}; return both.whole; }
static inline float moved(float x, void *(*by)(void *, const void *, size_t)) {
  by(bytes + (bits(x) & 31), bytes + 40, (size_t)(bits(x) & 63) + 1);
  return bytes[9];
}
static inline float set(float x) { memset(bytes, bits(x), (size_t)(bits(x) & 63) + 1); return bytes[3]; }
APART static void measure(const char *name, void (*work)(float x, float y)) {
  clear_stack();
  const uint32_t before = used_stack();
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) work(values[i], values[j]);
  }
  print(name);
  print(" ");
  print_number((int32_t)(used_stack() - before));
  print("\\n");
}
"""


def expression(name):
    """An expression that calls the function."""
    if name in EXPRESSIONS:
        return EXPRESSIONS[name]
    return f"{name}(x, y)" if name in OF_TWO else f"{name}(x)"


@functools.cache
def measured(names, board):
    """Per function, the most bytes of stack that it took on the board with many arguments. names: sorted."""
    text = BEGIN % ", ".join(VALUES)
    for name in names:
        text += f"APART static void call_{name}(float x, float y) {{ (void)y; result = {expression(name)}; }}\n"
    calls = "".join(f'  measure("{name}", call_{name});\n' for name in names)
    text += "int main(void) {\n" + calls + "  return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "library.c"
        source.write_text(text)
        printed = exported.run_program_on(board, exported.link_for(board, source))
    sizes = {name: int(size) for name, size in re.findall(r"^(\w+) (\d+)$", printed, re.MULTILINE)}
    assert sizes.keys() == set(names), printed
    return sizes
