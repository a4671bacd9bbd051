# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Random quantized networks, the same for the same seed: chains, residuals, branches, cells, wired graphs, U-shapes,
and graphs of arbitrary operators.
"""
import numpy as np
from layers import Layers
from schema import NONE, RELU, RELU6, SAME, VALID
from single import Draw


def make(seed):
    """The network of a seed. Families take turns."""
    generator = np.random.default_rng([seed, 1])
    net, draw = Layers(generator), Draw(generator)
    family = list(FAMILIES)[seed % len(FAMILIES)]
    return net.finish(f"{family} {seed}", FAMILIES[family](net, draw), shuffle=draw.chance(0.7))


def large(seed, nodes):
    """A wired network of many small operators, for the time that a plan takes."""
    net = Layers(np.random.default_rng([seed, 2]))
    draw = Draw(net.generator)
    values, unread = [net.conv(net.input((1, 4, 4, 2)), 4, (1, 1))], [0]

    def choose(candidates):
        """One of these, mostly one without a reader, so that few of them remain at the end."""
        fresh = [one for one in candidates if one in unread]
        one = draw.choice(fresh if fresh and draw.chance(0.8) else candidates)
        if one in unread:
            unread.remove(one)
        return one

    for number in range(1, nodes):
        recent = range(max(0, number - 40), number)
        one = choose([*recent, *unread])
        if draw.chance(0.3):
            values.append(net.conv(values[one], draw.choice([4, 6]), (1, 1), fused=draw.choice([NONE, RELU])))
        else:
            other = choose([one, *(other for other in recent if values[other].shape == values[one].shape)])
            values.append(net.binary("ADD", values[one], values[other], RELU6))  # sums of sums stay small
        unread.append(number)
    return net.finish(f"large {seed}", [values[one] for one in unread])


# Parts.

def block(net, draw, x, filters):
    """A convolution, alone or in two parts."""
    kernel = draw.choice([(1, 1), (3, 3), (3, 3), (5, 5), (1, 3), (3, 1)])
    fused = draw.choice([NONE, RELU, RELU6])
    if draw.chance(0.4):
        x = net.depthwise(x, 1, kernel, fused=fused, bias=draw.chance(0.9))
        return net.conv(x, filters, (1, 1), fused=draw.choice([NONE, RELU]))
    dilations = draw.choice([(1, 1), (1, 1), (1, 1), (2, 2)]) if kernel != (1, 1) else (1, 1)
    return net.conv(x, filters, kernel, dilations=dilations, fused=fused, bias=draw.chance(0.9))


def shrink(net, draw, x):
    """Fewer rows and columns."""
    kind = draw.number(0, 3)
    if kind == 0:
        return net.pool("MAX_POOL_2D", x, padding=SAME)
    if kind == 1:
        return net.pool("AVERAGE_POOL_2D", x, (3, 3), (2, 2), SAME)
    strides = draw.choice([(2, 2), (2, 1), (1, 2)])
    if kind == 2 and min(x.shape[1:3]) >= 3:
        return net.conv(x, draw.number(4, 16), (3, 3), strides, VALID, fused=RELU)
    return net.depthwise(x, draw.number(1, 2), (3, 3), strides, SAME, fused=RELU)


def curve(net, draw, x):
    """An operator of one input that is not a product."""
    kind = draw.choice(["RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "PRELU"])
    if kind == "LEAKY_RELU":
        return net.leaky_relu(x, 0.1)
    return net.prelu(x) if kind == "PRELU" else net.unary(kind, x)


def classify(net, draw, x):
    """The end of a classifier."""
    if draw.chance(0.5):
        x = net.reduce("MEAN", x, (1, 2), keep_dims=draw.chance(0.5))
    elif draw.chance(0.5):
        x = net.pool("AVERAGE_POOL_2D", x, x.shape[1:3], (1, 1), VALID)
    if draw.chance(0.5):
        x = net.reshape(x, (1, int(np.prod(x.shape))))
    x = net.fully_connected(x, draw.number(3, 12))
    return [soft(net, draw, x) if draw.chance(0.5) else x]


def soft(net, draw, x):
    """SOFTMAX of values that it does not all send to 0 or 1."""
    if x.shape[-1] == 1:
        return curve(net, draw, x)
    return net.softmax(x, float(np.float32(2 / max(float(x.estimate.std()), 1e-3))))


def image(net, draw, low=8, high=20):
    return net.input((1, draw.number(low, high), draw.number(low, high), draw.number(1, 4)))


# Families.

def chain(net, draw):
    x = image(net, draw)
    for _ in range(draw.number(3, 10)):
        x = draw.choice([block, block, lambda *all_of: shrink(*all_of[:3])])(net, draw, x, draw.number(3, 16))
        if draw.chance(0.3):
            x = curve(net, draw, x)
    return classify(net, draw, x)


def residual(net, draw):
    x = block(net, draw, image(net, draw), draw.number(4, 12))
    for _ in range(draw.number(2, 4)):
        y = x
        for _ in range(draw.number(1, 3)):
            y = block(net, draw, y, x.shape[3])
        x = net.binary(draw.choice(["ADD", "ADD", "SUB"]), x, y, draw.choice([NONE, RELU]))
        if draw.chance(0.4):
            x = shrink(net, draw, x)
        if draw.chance(0.3):  # squeeze and excite
            gate = net.reduce("MEAN", x, (1, 2))
            gate = net.unary("LOGISTIC", net.conv(gate, x.shape[3], (1, 1)))
            x = net.binary("MUL", x, gate)
    return classify(net, draw, x)


def inception(net, draw):
    x = shrink(net, draw, block(net, draw, image(net, draw), draw.number(4, 8)))
    for _ in range(draw.number(1, 3)):
        branches = []
        for _ in range(draw.number(2, 4)):
            y = x
            if draw.chance(0.2):
                y = net.pool(draw.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"]), y, (3, 3), (1, 1), SAME)
            for _ in range(draw.number(0 if branches else 1, 3)):
                y = block(net, draw, y, draw.number(2, 10))
            branches.append(y)
        x = net.concat(branches)
        if draw.chance(0.4):
            x = shrink(net, draw, x)
    return classify(net, draw, x)


def wired(net, draw):
    """Nodes that add some of the earlier ones."""
    x = block(net, draw, image(net, draw), draw.number(4, 10))
    for _ in range(draw.number(1, 2)):
        nodes, read = [x], set()
        for _ in range(draw.number(4, 10)):
            chosen = sorted({draw.number(max(0, len(nodes) - 5), len(nodes) - 1) for _ in range(draw.number(1, 3))})
            read |= set(chosen)
            y = nodes[chosen[0]]
            for other in chosen[1:]:
                y = net.binary("ADD", y, nodes[other])
            nodes.append(block(net, draw, y, x.shape[3]))
        ends = [node for number, node in enumerate(nodes) if number not in read]
        x = net.concat(ends) if draw.chance(0.5) else ends[0]
        for other in ends[1:] if x is ends[0] else []:
            x = net.binary("ADD", x, other, draw.choice([NONE, RELU]))
    return classify(net, draw, x)


def cell(net, draw):
    """Cells that read the results of the two before them."""
    before = x = block(net, draw, image(net, draw, 8, 14), draw.number(4, 8))
    for _ in range(draw.number(1, 3)):
        width = x.shape[3]
        states = [net.conv(before, width, (1, 1), fused=RELU), net.conv(x, width, (1, 1), fused=RELU)]
        for _ in range(draw.number(2, 4)):
            one, other = (states[draw.number(0, len(states) - 1)] for _ in range(2))
            kind = draw.number(0, 2)
            if kind == 0:
                one = block(net, draw, one, width)
            elif kind == 1:
                one = net.pool("MAX_POOL_2D", one, (3, 3), (1, 1), SAME)
            states.append(net.binary(draw.choice(["ADD", "ADD", "MUL", "SUB"]), one, other))
        before, x = x, net.concat(states[2:])
    return classify(net, draw, x)


def u_shape(net, draw):
    x, skips = net.input((1, 16, 16, draw.number(1, 3))), []
    for _ in range(draw.number(1, 3)):
        x = block(net, draw, x, draw.number(3, 8))
        skips.append(x)
        x = net.pool("MAX_POOL_2D", x)
    x = block(net, draw, x, draw.number(4, 12))
    for skip in reversed(skips):
        if draw.chance(0.4):
            x = net.transpose_conv(x, skip.shape[3], fused=draw.choice([NONE, RELU]))
        else:
            name = draw.choice(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
            x = net.resize(name, x, skip.shape[1:3], half_pixel=draw.chance(0.5))
        x = block(net, draw, net.concat([x, skip]), skip.shape[3])
    x = net.conv(x, draw.number(1, 3), (1, 1))
    return [net.unary("LOGISTIC", x) if draw.chance(0.5) else x]


def soup(net, draw):
    """Any operator on any value so far. Some results are read much later, some never, and some are outputs."""
    values = [image(net, draw, 4, 10) for _ in range(draw.number(1, 3))]
    read, inputs = set(), len(values)
    for _ in range(draw.number(6, 24)):
        number = draw.number(max(0, len(values) - 8), len(values) - 1)
        made = STIRS[draw.number(0, len(STIRS) - 1)](net, draw, values[number], values)
        read.add(number)
        values += [one for one in made if one.estimate.size <= 4000]
    ends = [one for number, one in enumerate(values) if number >= inputs and number not in read]
    # An operator whose result is not read stays in the file.
    kept = [one for one in ends if draw.chance(0.7)] or ends[-1:] or values[-1:]
    return kept[:6]


def same_shape(net, draw, x, values):
    """Another value of the same shape, perhaps the value itself."""
    return draw.choice([one for one in values if one.shape == x.shape])


def stir_slice(net, draw, x, values):
    begin = [draw.number(0, (extent - 1) // 2) for extent in x.shape]
    end = [draw.number(first + 1, extent) for first, extent in zip(begin, x.shape)]
    return [net.strided_slice(x, begin, end, [1, draw.number(1, 2), draw.number(1, 2), 1])]


def stir_split(net, draw, x, values):
    if x.shape[3] == 1:
        return [curve(net, draw, x)]
    if x.shape[3] % 2 == 0 and draw.chance(0.5):
        return net.split(x, 2)
    first = draw.number(1, x.shape[3] - 1)
    return net.split_v(x, [first, x.shape[3] - first])


STIRS = [
    lambda net, draw, x, values: [block(net, draw, x, draw.number(1, 12))],
    lambda net, draw, x, values: [shrink(net, draw, x)],
    lambda net, draw, x, values: [curve(net, draw, x)],
    lambda net, draw, x, values: [net.binary(draw.choice(["ADD", "SUB", "MUL"]), x, same_shape(net, draw, x, values))],
    lambda net, draw, x, values: [net.binary("MUL", x, net.constant((1, 1, 1, x.shape[3])))],
    lambda net, draw, x, values: [net.extreme("MAXIMUM", x, same_shape(net, draw, x, values))],
    lambda net, draw, x, values: [net.concat([x, same_shape(net, draw, x, values)])],
    lambda net, draw, x, values: [net.pad(x, [(0, 0), (1, 0), (draw.number(0, 2), 1), (0, draw.number(0, 1))])],
    lambda net, draw, x, values: [net.transpose(x, [0, 2, 1, 3])],
    lambda net, draw, x, values: [net.reshape(x, (1, x.shape[2], x.shape[1], x.shape[3]))],
    lambda net, draw, x, values: [net.requantize(x, float(np.float32(x.scale * 1.3)), draw.number(-30, 30))],
    lambda net, draw, x, values: [net.resize("RESIZE_NEAREST_NEIGHBOR", x, (draw.number(3, 9), draw.number(3, 9)))],
    lambda net, draw, x, values: [net.resize("RESIZE_BILINEAR", x, (draw.number(3, 9), draw.number(3, 9)))],
    lambda net, draw, x, values: [soft(net, draw, x)],
    lambda net, draw, x, values: [net.reduce("MEAN", x, (draw.number(1, 3),))],
    lambda net, draw, x, values: [net.transpose_conv(x, draw.number(1, 6), strides=(1, 2))],
    stir_slice, stir_split,
]

FAMILIES = {"chain": chain, "residual": residual, "inception": inception, "wired": wired, "cell": cell,
            "U-shape": u_shape, "soup": soup, "soup of more": soup}
