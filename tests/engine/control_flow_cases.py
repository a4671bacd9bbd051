# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs with If, Loop and Scan in the text form of onnx, with inputs. tests/engine/control_flow.py runs them."""
import numpy as np


def floats(*shape):
    """1, 2, 3, ... with alternating signs."""
    count = int(np.prod(shape))
    return ((np.arange(count) + 1) * np.where(np.arange(count) % 2, -1, 1)).astype(np.float32).reshape(shape)


def flag(value):
    return np.array(value, dtype=np.bool_)


def number(value):
    return np.array(value, dtype=np.int64)


# Each value is a graph, and a list of sets of inputs for it, which run one after another.
CASES = {}


def case(name, text, *runs, by_reference=True):
    CASES[name] = (text, [list(run) for run in runs], by_reference)


# The two branches compute other things. An outer tensor is captured by both.
case("if_of_the_same_shape", """
g (bool c, float[2,3] x) => (float[2,3] y) {
  a = Neg(x)
  y = If (c) <
    then_branch = t () => (float[2,3] p) { p = Add(a, x) },
    else_branch = e () => (float[2,3] q) { q = Mul(a, x) }>
}""", (flag(True), floats(2, 3)), (flag(False), floats(2, 3)))

# The branches return 2 and 4 rows, so the size of y depends on the condition.
case("if_of_different_shapes", """
g (bool c, float[2,3] x) => (float[N,3] y) {
  y = If (c) <
    then_branch = t () => (float[2,3] p) { p = Neg(x) },
    else_branch = e () => (float[4,3] q) { q = Concat <axis = 0> (x, x) }>
}""", (flag(True), floats(2, 3)), (flag(False), floats(2, 3)))

# What follows an If of different shapes has sizes that depend on data, too.
case("after_an_if_of_different_shapes", """
g (bool c, float[2,3] x) => (float[M,1,3] z, int64[2] s) {
  y = If (c) <
    then_branch = t () => (float[2,3] p) { p = Neg(x) },
    else_branch = e () => (float[4,3] q) { q = Concat <axis = 0> (x, x) }>
  one = Constant <value = int64[1] {1}> ()
  u = Unsqueeze (y, one)
  z = Add (u, u)
  s = Shape (y)
}""", (flag(True), floats(2, 3)), (flag(False), floats(2, 3)))

# A branch returns what it captured, and another a constant.
case("if_returns_captured_and_constant", """
g (bool c, float[3] x) => (float[3] y, float[3] z) {
  a = Neg (x)
  y, z = If (c) <
    then_branch = t () => (float[3] p, float[3] q) { p = Identity (a)  q = Identity (x) },
    else_branch = e () => (float[3] r, float[3] s) {
      r = Constant <value = float[3] {7, 8, 9}> ()
      s = Relu (a)
    }>
}""", (flag(True), floats(3)), (flag(False), floats(3)))

case("if_in_if", """
g (bool c, bool d, float[3] x) => (float[3] y) {
  y = If (c) <
    then_branch = t () => (float[3] p) {
      n = Neg (x)
      p = If (d) <
        then_branch = tt () => (float[3] pp) { pp = Add (n, n) },
        else_branch = te () => (float[3] pq) { pq = Mul (n, x) }>
    },
    else_branch = e () => (float[3] q) { q = Relu (x) }>
}""", *[(flag(c), flag(d), floats(3)) for c in (True, False) for d in (True, False)])

# The condition is computed, and the branch reads an outer tensor that is not an input.
case("if_with_computed_condition", """
g (float[1] x, float[1] k) => (float[1] y) {
  c = Less (x, k)
  s = Squeeze (c)
  y = If (s) <
    then_branch = t () => (float[1] p) { p = Add (x, k) },
    else_branch = e () => (float[1] q) { q = Sub (x, k) }>
}""", (floats(1), np.float32([5])), (floats(1), np.float32([-5])))

# The onnx reference takes an omitted condition as false.
COUNTED = """
g (int64 n, float[3] x) => (float[3] y) {
  y = Loop (n, , x) <body = b (int64 i, bool c, float[3] a) => (bool d, float[3] r) {
    d = Identity (c)
    r = Add (a, x)
  }>
}"""
case("loop_of_a_count", COUNTED, (number(4), floats(3)), (number(1), floats(3)), by_reference=False)
case("loop_of_zero_trips", COUNTED, (number(0), floats(3)), (number(-3), floats(3)), (number(2), floats(3)),
     by_reference=False)

# The iteration number takes part, and no state does.
case("loop_of_scan_outputs_only", """
g (float[2] x) => (float[4,2] y) {
  n = Constant <value = int64 {4}> ()
  t = Constant <value = bool {1}> ()
  y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[2] s) {
    d = Constant <value = bool {1}> ()
    f = Cast <to = 1> (i)
    s = Mul (f, x)
  }>
}""", (floats(2),), (floats(2) + 5,))

# The body decides when it ends, so the number of slices depends on data.
WHILE = """
g (bool start, float[1] x) => (float[1] y, float[N,1] s) {
  n = Constant <value = int64 {10}> ()
  y, s = Loop (n, start, x) <body = b (int64 i, bool c, float[1] a) => (bool d, float[1] r, float[1] t) {
    one = Constant <value = float[1] {1}> ()
    five = Constant <value = float[1] {5}> ()
    r = Add (a, one)
    t = Neg (a)
    e = Less (r, five)
    d = Squeeze (e)
  }>
}"""
case("loop_of_a_condition", WHILE, (flag(True), np.float32([1])), (flag(True), np.float32([4])))
case("loop_whose_condition_is_false", WHILE, (flag(False), np.float32([1])), (flag(True), np.float32([-9])),
     by_reference=False)

# Each iteration exchanges the states.
case("loop_that_swaps", """
g (int64 n, float[3] x, float[3] z) => (float[3] y, float[3] w) {
  t = Constant <value = bool {1}> ()
  y, w = Loop (n, t, x, z) <body = b (int64 i, bool c, float[3] p, float[3] q) => (bool d, float[3] r, float[3] s) {
    d = Identity (c)
    r = Identity (q)
    s = Identity (p)
  }>
}""", (number(1), floats(3), floats(3) * 10), (number(4), floats(3), floats(3) * 10))

# A body whose outputs are its inputs, in another order and without any node between them.
case("loop_that_rotates_three", """
g (int64 n, float[2] x, float[2] z, float[2] v) => (float[2] y, float[2] w, float[2] u) {
  t = Constant <value = bool {1}> ()
  y, w, u = Loop (n, t, x, z, v) <
    body = b (int64 i, bool c, float[2] p, float[2] q, float[2] o) => (bool c, float[2] q, float[2] o, float[2] p) {
    }>
}""", *[(number(n), floats(2), floats(2) * 10, floats(2) * 100) for n in (1, 2, 3)])

# One state keeps, through a view, the bytes of another that changes.
case("loop_of_fibonacci_with_views", """
g (int64 n, float[2] x, float[1,2] z) => (float[2] y, float[1,2] w) {
  t = Constant <value = bool {1}> ()
  y, w = Loop (n, t, x, z) <body = b (int64 i, bool c, float[2] p, float[1,2] q) => (bool d, float[2] r, float[1,2] s) {
    zero = Constant <value = int64[1] {0}> ()
    d = Identity (c)
    s = Unsqueeze (p, zero)
    k = Squeeze (q, zero)
    r = Add (p, k)
  }>
}""", (number(6), np.float32([1, 2]), np.float32([[0, 1]])))

# The states can be computed in place, one after another.
case("loop_with_states_in_place", """
g (int64 n, float[4] x) => (float[4] y, float[4] z) {
  t = Constant <value = bool {1}> ()
  y, z = Loop (n, t, x, x) <body = b (int64 i, bool c, float[4] p, float[4] q) => (bool d, float[4] r, float[4] s) {
    d = Identity (c)
    a = Add (p, q)
    e = Neg (a)
    r = Relu (e)
    o = Mul (r, q)
    s = Add (o, p)
  }>
}""", (number(3), floats(4)))

# The condition and the slices are inputs of the body, and a state is captured.
case("loop_returns_captured_and_inputs", """
g (float[2] x) => (float[2] y, float[2] w, int64[3,1] numbers, float[3,2] before) {
  n = Constant <value = int64 {3}> ()
  t = Constant <value = bool {1}> ()
  a = Neg (x)
  y, w, numbers, before = Loop (n, t, x, x) <
    body = b (int64 i, bool c, float[2] p, float[2] q) => (bool c, float[2] o, float[2] r, int64[1] k, float[2] p) {
      zero = Constant <value = int64[1] {0}> ()
      o = Identity (a)
      r = Add (q, p)
      k = Unsqueeze (i, zero)
    }>
}""", (floats(2),), (floats(2) + 3,))

case("loop_in_loop", """
g (float[2] x) => (float[2] y, float[3,2] s) {
  three = Constant <value = int64 {3}> ()
  t = Constant <value = bool {1}> ()
  y, s = Loop (three, t, x) <body = b (int64 i, bool c, float[2] p) => (bool d, float[2] r, float[2] e) {
    d = Constant <value = bool {1}> ()
    f = Cast <to = 1> (i)
    r = Loop (i, c, p) <body = bb (int64 j, bool cc, float[2] q) => (bool dd, float[2] rr) {
      dd = Identity (cc)
      h = Add (q, f)
      rr = Add (h, x)
    }>
    e = Sub (r, p)
  }>
}""", (floats(2),))

case("if_in_loop", """
g (int64 n, float[2] x) => (float[2] y) {
  t = Constant <value = bool {1}> ()
  y = Loop (n, t, x) <body = b (int64 i, bool c, float[2] p) => (bool d, float[2] r) {
    d = Identity (c)
    two = Constant <value = int64 {2}> ()
    rest = Mod (i, two)
    odd = Cast <to = 9> (rest)
    r = If (odd) <
      then_branch = t () => (float[2] u) { u = Add (p, x) },
      else_branch = e () => (float[2] v) { v = Neg (p) }>
  }>
}""", (number(5), floats(2)), (number(0), floats(2)))

# The branch of an If runs a loop over a tensor that both graphs around it have.
case("loop_in_if", """
g (bool c, int64 n, float[2] x) => (float[2] y) {
  a = Neg (x)
  y = If (c) <
    then_branch = t () => (float[2] u) {
      h = Add (a, a)
      u = Loop (n, c, h) <body = b (int64 i, bool o, float[2] p) => (bool d, float[2] r) {
        d = Identity (o)
        k = Add (p, h)
        r = Add (k, x)
      }>
    },
    else_branch = e () => (float[2] v) { v = Relu (x) }>
}""", (flag(True), number(3), floats(2)), (flag(False), number(3), floats(2)))

# The slices of the inner loop are longer in each iteration, and only their sum is kept.
case("loop_with_inner_sizes_that_depend_on_data", """
g (float[6] x) => (float[1] y, float[4,1] sums) {
  four = Constant <value = int64 {4}> ()
  t = Constant <value = bool {1}> ()
  zero = Constant <value = float[1] {0}> ()
  y, sums = Loop (four, t, zero) <body = b (int64 i, bool c, float[1] p) => (bool d, float[1] r, float[1] s) {
    d = Constant <value = bool {1}> ()
    axis = Constant <value = int64[1] {0}> ()
    f = Cast <to = 1> (i)
    large = Greater (x, f)
    where = NonZero (large)
    index = Squeeze (where, axis)
    kept = Gather (x, index)
    s = ReduceSum <keepdims = 1> (kept, axis)
    r = Add (p, s)
  }>
}""", (floats(6),), (-floats(6),))

case("scan_of_sums", """
g (float[2] z, float[4,2] x) => (float[2] y, float[4,2] s) {
  y, s = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r, float[2] o) {
    r = Add (a, e)
    o = Identity (r)
  }> (z, x)
}""", (floats(2), floats(4, 2)))

# The sequences run along other axes and backwards, and the stacks as well.
case("scan_along_axes_and_backwards", """
g (float[2] z, float[2,3] x, float[3,2] v) => (float[2] y, float[2,3] s, float[3,2] t) {
  y, s, t = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [0, 1],
                  scan_output_axes = [-1, 0], scan_output_directions = [1, 0],
                  body = b (float[2] a, float[2] e, float[2] f) => (float[2] r, float[2] o, float[2] u) {
    r = Add (a, e)
    o = Mul (r, f)
    u = Sub (e, f)
  }> (z, x, v)
}""", (floats(2), floats(2, 3), floats(3, 2) * 3), by_reference=False)

# Without a state, and with slices in the middle of three axes.
case("scan_of_slices_in_the_middle", """
g (float[2,3,2] x) => (float[2,3,2] s) {
  s = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
            body = b (float[2,2] e) => (float[2,2] o) { o = Neg (e) }> (x)
}""", (floats(2, 3, 2),), by_reference=False)

case("scan_in_loop_with_swap", """
g (int64 n, float[2] z, float[3,2] x) => (float[2] y, float[2] w) {
  t = Constant <value = bool {1}> ()
  y, w = Loop (n, t, z, z) <body = b (int64 i, bool c, float[2] p, float[2] q) => (bool d, float[2] r, float[2] p) {
    d = Identity (c)
    r, unused = Scan <num_scan_inputs = 1, body = bb (float[2] a, float[2] e) => (float[2] k, float[2] o) {
      h = Add (a, e)
      k = Sub (h, q)
      o = Identity (k)
    }> (p, x)
  }>
}""", (number(3), floats(2), floats(3, 2)))


def some(*shape):
    """The text of a tensor of small integers, whose products and sums are exact."""
    numbers = ", ".join(str(value % 7 - 3) for value in range(int(np.prod(shape))))
    return f"float[{','.join(map(str, shape))}] {{{numbers}}}"


# The branches share weights, have weights of their own, and read one matrix as it is.
case("if_of_products", f"""
g (bool c, float[3,8] x) => (float[3,8] y) {{
  w = Constant <value = {some(8, 8)}> ()
  k = Constant <value = {some(8, 8)}> ()
  y = If (c) <
    then_branch = t () => (float[3,8] p) {{
      v = Constant <value = {some(8)}> ()
      a = MatMul (x, w)
      b = Relu (a)
      p = Gemm (b, k, v)
    }},
    else_branch = e () => (float[3,8] q) {{
      d = MatMul (x, w)
      h = Neg (k)
      m = Add (k, h)
      q = MatMul (d, m)
    }}>
}}""", (flag(True), floats(3, 8)), (flag(False), floats(3, 8)))

# Both branches have the packed weights w. One adds its results in blocks.
case("if_of_convolutions", f"""
g (bool c, float[1,16,4,4] x) => (float[1,16,4,4] y) {{
  w = Constant <value = {some(16, 16, 1, 1)}> ()
  y = If (c) <
    then_branch = t () => (float[1,16,4,4] p) {{
      v = Constant <value = {some(16, 16, 3, 3)}> ()
      n = Constant <value = {some(1, 16, 1, 1)}> ()
      a = Conv (x, w)
      b = Relu (a)
      d = Conv <pads = [1, 1, 1, 1]> (b, v)
      h = Mul (d, n)
      p = Add (h, a)
    }},
    else_branch = e () => (float[1,16,4,4] q) {{
      f = Conv (x, w)
      q = Neg (f)
    }}>
}}""", (flag(True), floats(1, 16, 4, 4)), (flag(False), floats(1, 16, 4, 4)))

# The loop multiplies by weights of the graph around it, and an If in the loop by the same ones.
case("loop_of_products", f"""
g (int64 n, float[2,4] x) => (float[2,4] y) {{
  t = Constant <value = bool {{1}}> ()
  w = Constant <value = {some(4, 4)}> ()
  y = Loop (n, t, x) <body = b (int64 i, bool c, float[2,4] p) => (bool d, float[2,4] r) {{
    one = Constant <value = int64 {{1}}> ()
    d = Identity (c)
    a = MatMul (p, w)
    f = Less (i, one)
    r = If (f) <
      then_branch = s () => (float[2,4] h) {{
        g1 = MatMul (a, w)
        h = Relu (g1)
      }},
      else_branch = e () => (float[2,4] k) {{ k = Neg (a) }}>
  }}>
}}""", (number(0), floats(2, 4)), (number(3), floats(2, 4)))

# The branches capture a copy of weights, and what is computed from constants. A copy is left out, and the other work is
# done when the model is loaded.
case("branches_capture_work_on_constants", f"""
g (bool c, float[1,16,4,4] x) => (float[1,16,4,4] y) {{
  w = Constant <value = {some(16, 16, 1, 1)}> ()
  s = Constant <value = {some(1, 16, 1, 1)}> ()
  k = Identity (w)
  m = Mul (s, s)
  v = Mul (w, w)
  y = If (c) <
    then_branch = t () => (float[1,16,4,4] p) {{
      a = Conv (x, k)
      b = Conv (a, v)
      p = Mul (b, m)
    }},
    else_branch = e () => (float[1,16,4,4] q) {{ q = Add (x, m) }}>
}}""", (flag(True), floats(1, 16, 4, 4)), (flag(False), floats(1, 16, 4, 4)))

# All that is packed is a copy, so nothing else is done when the model is loaded.
case("only_weights_are_packed_in_a_branch", f"""
g (bool c, float[1,16,4,4] x) => (float[1,16,4,4] y) {{
  w = Constant <value = {some(16, 16, 1, 1)}> ()
  k = Identity (w)
  y = If (c) <
    then_branch = t () => (float[1,16,4,4] p) {{ p = Conv (x, k) }},
    else_branch = e () => (float[1,16,4,4] q) {{ q = Neg (x) }}>
}}""", (flag(True), floats(1, 16, 4, 4)), (flag(False), floats(1, 16, 4, 4)))
