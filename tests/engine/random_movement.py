# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators of random models that move data, count, or work on integers."""
import numpy as np
from random_graphs import MOST_ELEMENTS, Growth, Tensor, elements

INDEX = np.dtype(np.int64)


def pick_ranked(g: Growth, least: int = 1) -> Tensor:
    return g.pick(lambda tensor: tensor.is_real and len(tensor.shape) >= least)


def reshape(g: Growth) -> None:
    x = g.pick_real()
    count = elements(x.shape)
    if count == 0:
        return  # an extent of 0 in the operand means that of the tensor
    first = g.choose([divisor for divisor in range(1, count + 1) if count % divisor == 0])
    shape = g.choose([(count,), (first, count // first), (1, first, count // first)])
    words = list(shape)
    if g.chance(0.5):
        words[g.number(0, len(words) - 1)] = -1
    g.one("Reshape", [x.name, g.integers(words)], x, x.is_exact, shape=shape)


def computed_reshape(g: Growth) -> None:
    """The new shape is computed from the shape of the tensor, as exporters do."""
    x = pick_ranked(g, 2)
    if elements(x.shape) == 0:
        return
    shape = g.one("Shape", [x.name], x, True, shape=(len(x.shape),), dtype=INDEX)
    first = g.one("Gather", [shape.name, g.constant(np.array(0))], shape, True, shape=(), axis=0)
    first = g.one("Unsqueeze", [first.name, g.integers([0])], shape, True, shape=(1,))
    target = g.one("Concat", [first.name, g.integers([-1])], shape, True, shape=(2,), axis=0)
    y = g.one("Reshape", [x.name, target.name], x, x.is_exact, shape=(x.shape[0], elements(x.shape[1:])))
    g.one("Reshape", [y.name, shape.name], x, x.is_exact)


def squeeze(g: Growth) -> None:
    x = g.pick_real()
    ones = [at for at, extent in enumerate(x.shape) if extent == 1]
    if ones and g.chance(0.6):
        at = g.choose(ones)
        g.one("Squeeze", [x.name, g.integers([at])], x, x.is_exact, shape=x.shape[:at] + x.shape[at + 1:])
    elif len(x.shape) < 5:
        at = g.number(0, len(x.shape))
        g.one("Unsqueeze", [x.name, g.integers([at])], x, x.is_exact, shape=(*x.shape[:at], 1, *x.shape[at:]))


def transpose(g: Growth) -> None:
    x = pick_ranked(g, 2)
    order = g.random.permutation(len(x.shape)).tolist()
    g.one("Transpose", [x.name], x, x.is_exact, shape=tuple(x.shape[at] for at in order), perm=order)


def concat(g: Growth) -> None:
    x = pick_ranked(g)
    axis = g.number(0, len(x.shape) - 1)

    def fits(tensor: Tensor) -> bool:
        return (tensor.dtype == x.dtype and len(tensor.shape) == len(x.shape)
                and tensor.shape[:axis] + tensor.shape[axis + 1:] == x.shape[:axis] + x.shape[axis + 1:])

    parts = [x, *(g.pick(fits) for _ in range(g.number(1, 3)))]
    extent = sum(part.shape[axis] for part in parts)
    shape = (*x.shape[:axis], extent, *x.shape[axis + 1:])
    if elements(shape) <= MOST_ELEMENTS:
        g.one("Concat", [part.name for part in parts], x, all(part.is_exact for part in parts), shape=shape,
              axis=axis if g.chance(0.5) else axis - len(x.shape))


def split(g: Growth) -> None:
    x = pick_ranked(g)
    axis = g.number(0, len(x.shape) - 1)
    extent = x.shape[axis]
    if extent < 2:
        return
    first = g.number(1, extent - 1)
    sizes = [first, extent - first]
    names = g.node("Split", [x.name, g.integers(sizes)], 2, axis=axis)
    for name, size in zip(names, sizes, strict=True):
        g.add(name, x.dtype, (*x.shape[:axis], size, *x.shape[axis + 1:]), x.is_exact)


def cut(g: Growth) -> None:
    x = pick_ranked(g)
    axis = g.number(0, len(x.shape) - 1)
    begin, end, step = g.choose([(0, 2, 1), (1, 2**62, 1), (-1, -(2**62), -1), (-2, 2**62, 1), (0, 2**62, 2)])
    extent = len(range(x.shape[axis])[slice(begin, end if end > -(2**61) else None, step)])
    if extent > 0:
        g.one("Slice", [x.name, *(g.integers([one]) for one in (begin, end, axis, step))], x, x.is_exact,
              shape=(*x.shape[:axis], extent, *x.shape[axis + 1:]))


def gather(g: Growth) -> None:
    x = g.pick(lambda tensor: tensor.is_real and any(extent >= 2 for extent in tensor.shape))
    axis = g.choose([at for at, extent in enumerate(x.shape) if extent >= 2])
    index = next(tensor for tensor in g.tensors if tensor.name == "index")
    g.one("Gather", [x.name, "index"], x, x.is_exact, shape=(*x.shape[:axis], *index.shape, *x.shape[axis + 1:]),
          axis=axis)


def pad(g: Growth) -> None:
    x = pick_ranked(g)
    before, after = ([g.number(0, 1) for _ in x.shape] for _ in range(2))
    shape = tuple(a + b + extent for a, b, extent in zip(before, after, x.shape, strict=True))
    mode = g.choose(["constant", "edge", "reflect"]) if min(x.shape) > 1 else "constant"
    if elements(shape) <= MOST_ELEMENTS:
        g.one("Pad", [x.name, g.integers(before + after)], x, x.is_exact, shape=shape, mode=mode)


def repeat(g: Growth) -> None:
    x = pick_ranked(g)
    times = [g.choose([1, 1, 2]) for _ in x.shape]
    shape = tuple(a * b for a, b in zip(times, x.shape, strict=True))
    if elements(shape) > MOST_ELEMENTS:
        return
    if g.chance(0.5):
        g.one("Tile", [x.name, g.integers(times)], x, x.is_exact, shape=shape)
    else:
        wide = tuple(3 if extent == 1 else extent for extent in x.shape)
        if elements(wide) <= MOST_ELEMENTS:
            g.one("Expand", [x.name, g.integers(list(wide))], x, x.is_exact, shape=wide)


def rearrange(g: Growth) -> None:
    x = g.pick_real(4)
    if x is None:
        return
    n, c, h, w = x.shape
    if c % 4 == 0 and g.chance(0.5):
        g.one("DepthToSpace", [x.name], x, x.is_exact, shape=(n, c // 4, h * 2, w * 2), blocksize=2,
              mode=g.choose(["DCR", "CRD"]))
    elif h % 2 == 0 and w % 2 == 0:
        g.one("SpaceToDepth", [x.name], x, x.is_exact, shape=(n, c * 4, h // 2, w // 2), blocksize=2)
    elif elements(x.shape) * 4 <= MOST_ELEMENTS:
        mode = g.choose(["nearest", "linear"])
        scales = g.constant(np.array([1, 1, 2, 2], np.float32))
        g.one("Resize", [x.name, "", scales], x, x.is_exact and mode == "nearest", shape=(n, c, h * 2, w * 2),
              mode=mode,
              coordinate_transformation_mode=g.choose(["asymmetric", "half_pixel"]), nearest_mode="floor")


def positions(g: Growth) -> None:
    """Integers that follow from exact tensors."""
    x = g.pick(lambda tensor: tensor.is_real and tensor.is_exact and len(tensor.shape) >= 1 and min(tensor.shape) > 0)
    if x is None:
        return
    axis = g.number(0, len(x.shape) - 1)
    flat = (*x.shape[:axis], 1, *x.shape[axis + 1:])
    kind = g.choose(["ArgMax", "TopK", "Cast", "CumSum", "OneHot"])
    if kind == "ArgMax":
        g.one(g.choose(["ArgMax", "ArgMin"]), [x.name], x, True, shape=flat, dtype=INDEX, axis=axis)
    elif kind == "TopK":
        names = g.node("TopK", [x.name, g.integers([1])], 2, axis=axis)
        g.add(names[0], x.dtype, flat, True)
        g.add(names[1], INDEX, flat, True)
    elif kind == "Cast":
        y = g.one("Mul", [x.name, g.constant(np.array(8, x.dtype))], x, True)
        g.one("Cast", [y.name], y, True, dtype=np.dtype(np.int32), to=6)
    elif kind == "CumSum":
        g.one("CumSum", [x.name, g.constant(np.array(axis))], x, exclusive=g.number(0, 1), reverse=g.number(0, 1))
    elif elements(x.shape) < 200:
        y = g.one("ArgMax", [x.name], x, True, shape=flat, dtype=INDEX, axis=axis)
        values = g.constant(np.array([0, 1], x.dtype))
        g.one("OneHot", [y.name, g.integers([5]), values], x, True, shape=(*flat, 5))


def integer_math(g: Growth) -> None:
    x = g.pick(lambda tensor: tensor.dtype in (np.int64, np.int32) and len(tensor.shape) > 0)
    kind = g.choose(["Add", "Sub", "Mul", "Div", "Mod", "Equal", "Concat", "Cast"])
    other = g.constant(np.array([g.choose([2, 3, -5])], x.dtype))
    if kind == "Cast":
        g.one("Cast", [x.name], x, True, dtype=g.real, to={np.float32: 1, np.float16: 10}[g.real.type])
    elif kind == "Equal":
        g.one(kind, [x.name, other], x, True, dtype=np.dtype(bool))
    elif kind == "Concat":
        g.one(kind, [x.name, x.name], x, True, shape=(x.shape[0] * 2, *x.shape[1:]), axis=0)
    else:
        g.one(kind, [x.name, other], x, True)


MOVEMENT = (reshape, reshape, computed_reshape, squeeze, transpose, transpose, concat, concat, split, cut, gather, pad,
            repeat, rearrange, positions, integer_math)
