# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The metadata with which a .tflite file gives TFLite Micro the offsets of its tensors: reads it, writes it, breaks it.

Its buffer has integers of 32 bits: a version, the number of subgraphs, the number of tensors of all subgraphs, and one
offset per tensor, or -1 for a tensor that the runtime places.
"""
import numpy as np
import rule
from rule import ONLINE
from schema import Table

NAME = "OfflineMemoryAllocation"
VERSION = 1
LARGEST_END = 2 ** 31 - 1  # the runtime computes in integers of 32 bits


def tensor_count(model):
    return sum(len(graph.tensors) for graph in model.subgraphs)


def entries(model):
    """The entries of the metadata's name. The runtime obeys the last one."""
    return [one for one in model.metadata or [] if one.name == NAME]


def integers(model):
    """All integers of the metadata, or None if the model has none."""
    found = entries(model)
    if not found:
        return None
    data = model.buffers[found[-1].buffer].data
    return [] if data is None else np.asarray(data, "u1")[:len(data) // 4 * 4].view("<i4").tolist()


def offsets(model):
    """One offset per tensor, or None if the model has no metadata. Raises ValueError if it has the wrong length."""
    values = integers(model)
    if values is None:
        return None
    if len(values) < 3 or values[2] != tensor_count(model) or len(values) - 3 < values[2]:
        raise ValueError(f"{NAME} has {len(values)} integers for {tensor_count(model)} tensors")
    return values[3:3 + values[2]]


def attach(model, values):
    """Gives the model the metadata with these offsets, in place of any that it has."""
    attach_raw(model, integers_bytes([VERSION, len(model.subgraphs), len(values), *values]))


def attach_raw(model, data, name=NAME):
    """Adds a buffer with these bytes, which the entry of a name points at."""
    model.buffers.append(Table("Buffer", data=np.frombuffer(bytes(data), "u1")))
    model.metadata = [one for one in model.metadata or [] if one.name != name]
    model.metadata.append(Table("Metadata", name=name, buffer=len(model.buffers) - 1))


def integers_bytes(values):
    return np.asarray(values, np.int64).astype("<i4").tobytes()


def planned(model, scratch, generator=None):
    """Valid offsets of all tensors of the head: those of the runtime's own plan, or first fit in a drawn order."""
    found = rule.buffers(model, scratch)
    if generator is None:
        rule.place(found)
    else:
        placed = []
        for number in generator.permutation(len(found)):
            one = found[number]
            one.offset = 0
            for other in placed:
                if other.overlaps(one):
                    if other.offset - one.offset >= one.size:
                        break
                    one.offset = max(one.offset, other.end)
            rule.insert(placed, one)
    values = [ONLINE] * tensor_count(model)
    for one in found:
        if one.tensor is not None:
            values[one.tensor] = one.offset
    return values


def fault(model, scratch):
    """Why outputs may be wrong with the metadata of a model, or None. Sharing of bytes counts as a fault."""
    try:
        values = offsets(model)
    except (ValueError, IndexError) as error:
        return str(error)
    if values is None:
        return None
    found = rule.buffers(model, scratch, values)
    if any(one.given < ONLINE or (one.given != ONLINE and one.given % rule.ALIGNMENT) for one in found):
        return "an offset is negative or not aligned"
    variables = variable_numbers(model)
    if any(values[one] != ONLINE for one in variables):
        return "a variable has an offset"
    if lost_variable(model, values):
        return "a variable has no memory"
    rule.place(found)
    found.sort(key=lambda one: one.offset)
    if any(one.end > LARGEST_END for one in found):
        return "a tensor ends behind 2 GiB"
    for number, one in enumerate(found):
        for other in found[number + 1:]:
            if other.offset >= one.end:
                break
            if one.overlaps(other):
                return f"tensors {one.tensor} and {other.tensor} share bytes"
    return None


def variable_numbers(model):
    """The tensors, among those of all subgraphs, that keep their value."""
    everything = [tensor for graph in model.subgraphs for tensor in graph.tensors]
    return [number for number, tensor in enumerate(everything) if tensor.is_variable]


def lost_variable(model, values):
    """A variable of a later subgraph gets no memory if the tensor of its number in subgraph 0 has an offset: the
    runtime looks there.
    """
    base = 0
    for graph in model.subgraphs:
        for local, tensor in enumerate(graph.tensors):
            if tensor.is_variable and values[local] != ONLINE and values[base + local] == ONLINE:
                return True
        base += len(graph.tensors)
    return False


# Mutations. Each takes the integers of valid metadata and a generator, and returns bytes.

def some(values, generator):
    """The position of an offset that is set."""
    return int(generator.choice([one for one in range(3, len(values)) if values[one] != ONLINE] or [3]))


def change(function):
    """A mutation of one offset."""
    def mutate(values, generator):
        at = some(values, generator)
        values[at] = function(values, values[at], generator)
        return integers_bytes(values)
    return mutate


def swap(values, generator):
    one, other = some(values, generator), some(values, generator)
    values[one], values[other] = values[other], values[one]
    return integers_bytes(values)


def rotate(values, generator):
    return integers_bytes([*values[:3], *np.roll(values[3:], 1)])


def drop(values, generator):
    """Fewer integers than tensors, while their number says otherwise."""
    return integers_bytes(values[:int(generator.integers(3, len(values)))])


def header(values, generator):
    values[int(generator.integers(0, 3))] += int(generator.choice([-1, 1, 98, -2 ** 31]))
    return integers_bytes(np.asarray(values, np.int64).astype(np.int32))


def flip(values, generator):
    data = bytearray(integers_bytes(values))
    data[int(generator.integers(12, len(data)))] ^= 1 << int(generator.integers(0, 8))
    return data


def several(values, generator):
    for _ in range(int(generator.integers(2, 6))):
        at = some(values, generator)
        values[at] = max(0, values[at] + 16 * int(generator.integers(-8, 9)))
    return integers_bytes(values)


def compress(values, generator):
    """All offsets nearer to 0."""
    factor = generator.uniform(0.5, 1)
    return integers_bytes([*values[:3], *(int(one * factor) // 16 * 16 if one > 0 else one for one in values[3:])])


def unset(values, generator):
    """The runtime places some of the tensors."""
    keep = generator.random(len(values)) < generator.random()
    return integers_bytes([*values[:3], *(one if kept else ONLINE for one, kept in zip(values[3:], keep))])


def anyone(values, generator):
    """An offset for any tensor, also for one that is not in the head."""
    values[int(generator.integers(3, len(values)))] = 16 * int(generator.integers(0, 64))
    return integers_bytes(values)


MUTATIONS = {
    "nothing": lambda values, generator: integers_bytes(values),
    "a step away": change(lambda values, one, generator: max(0, one + 16 * int(generator.choice([-2, -1, 1, 2])))),
    "far away": change(lambda values, one, generator: 16 * int(generator.integers(0, max(values[3:]) // 16 + 2))),
    "that of another": change(lambda values, one, generator: values[some(values, generator)]),
    "not aligned": change(lambda values, one, generator: one + int(generator.integers(1, 16))),
    "negative": change(lambda values, one, generator: -int(generator.integers(2, 1 << 20))),
    "huge": change(lambda values, one, generator: int(generator.choice([1 << 24, 1 << 30, 2 ** 31 - 16]))),
    "swap": swap, "rotate": rotate, "drop": drop, "header": header, "flip": flip, "several": several,
    "compress": compress, "unset": unset, "anyone": anyone,
    "empty": lambda values, generator: b"",
}


def mutated(values, generator):
    """The name of a mutation, and the bytes of the metadata that it makes of valid offsets."""
    name = str(generator.choice(list(MUTATIONS)))
    return name, MUTATIONS[name]([VERSION, 1, len(values), *values], generator)
