# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A net of Caffe2 while it is drawn."""
import caffe2_reference as caffe2
import numpy as np

FILLS = {"float32": "GivenTensorFill", "int32": "GivenTensorIntFill", "int64": "GivenTensorInt64Fill",
         "bool": "GivenTensorBoolFill"}


def argument(name, value):
    if isinstance(value, str):
        return f'arg {{ name: "{name}" s: "{value}" }}'
    if isinstance(value, float):
        return f'arg {{ name: "{name}" f: {value!r} }}'
    if isinstance(value, int):
        return f'arg {{ name: "{name}" i: {value} }}'
    kind = "floats" if any(isinstance(one, float) for one in value) else "ints"
    return f'arg {{ name: "{name}" ' + " ".join(f"{kind}: {one!r}" for one in value) + " }"


class Net:
    """A net while it is drawn: its operators, the values of its blobs, and what it returns."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.ops, self.init, self.inputs, self.expected = [], [], {}, {}
        self.names = 0

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def choice(self, items):
        return items[self.integer(0, len(items) - 1)]

    def chance(self, share=0.5):
        return bool(self.random.random() < share)

    def shape(self, low=1, high=4):
        return [self.integer(1, 5) for _ in range(self.integer(low, high))]

    def values(self, shape, dtype="float32"):
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if dtype.startswith("int"):
            return self.random.integers(-9, 10, shape).astype(dtype)
        return self.random.standard_normal(shape).astype(dtype)

    def name(self):
        self.names += 1
        return f"b{self.names}"

    def input(self, value):
        name = self.name()
        self.inputs[name] = np.ascontiguousarray(value)
        return name

    def parameter(self, value):
        """A blob that the init net fills."""
        name = self.name()
        values = [float(one) if value.dtype.kind == "f" else int(one) for one in value.reshape(-1)]
        self.init.append(f'op {{ type: "{FILLS[value.dtype.name]}" output: "{name}" '
                         f'{argument("shape", list(value.shape))} {argument("values", values)} }}')
        return name

    def op(self, kind, inputs, outputs=1, **arguments):
        names = [self.name() for _ in range(outputs)]
        self.write(kind, inputs, names, **arguments)
        return names[0] if outputs == 1 else names

    def write(self, kind, inputs, outputs, **arguments):
        words = [f'input: "{name}"' for name in inputs] + [f'output: "{name}"' for name in outputs]
        words += [argument(name, value) for name, value in arguments.items()]
        self.ops.append(f'op {{ type: "{kind}" {" ".join(words)} }}')

    def returns(self, name, value):
        self.expected[name] = np.asarray(value)

    def text(self):
        return "\n".join(['name: "drawn"', *self.ops, *[f'external_output: "{name}"' for name in self.expected]])


def spelled(net, name, values):
    """An argument of two axes in one of its spellings."""
    if values[0] == values[1] and net.chance():
        return {name: values[0]}
    if net.chance():
        return {f"{name}_h": values[0], f"{name}_w": values[1]}
    return {f"{name}s": list(values)}


def spelled_pads(net, pads):
    """Top, left, bottom, right."""
    if len(set(pads)) == 1 and net.chance():
        return {"pad": pads[0]}
    if net.chance():
        return dict(zip(("pad_t", "pad_l", "pad_b", "pad_r"), pads, strict=True))
    return {"pads": pads}


def image(net, channels, order, least=5):
    x = net.values([net.integer(1, 2), channels, net.integer(least, 8), net.integer(least, 8)])
    return caffe2.from_first(x, order)
