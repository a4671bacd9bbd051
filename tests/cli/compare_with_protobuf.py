#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares both forms of NetDef that Lowtide writes with those of the protobuf library, on random nets.

usage: compare_with_protobuf.py --lowtide PROGRAM [--cases N] [--seed N]
"""

import argparse
import pathlib
import random
import re
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

TYPES = descriptor_pb2.FieldDescriptorProto
# The fields of each message: name, number, type, repeated, and the name of the message type.
FIELDS = {
    "DeviceOption": [
        ("device_type", 1, TYPES.TYPE_INT32, False, ""),
        ("device_id", 2, TYPES.TYPE_INT32, False, ""),
        ("random_seed", 3, TYPES.TYPE_UINT32, False, ""),
        ("node_name", 4, TYPES.TYPE_STRING, False, ""),
    ],
    "Argument": [
        ("name", 1, TYPES.TYPE_STRING, False, ""),
        ("f", 2, TYPES.TYPE_FLOAT, False, ""),
        ("i", 3, TYPES.TYPE_INT64, False, ""),
        ("s", 4, TYPES.TYPE_BYTES, False, ""),
        ("floats", 5, TYPES.TYPE_FLOAT, True, ""),
        ("ints", 6, TYPES.TYPE_INT64, True, ""),
        ("strings", 7, TYPES.TYPE_BYTES, True, ""),
        ("n", 8, TYPES.TYPE_MESSAGE, False, "NetDef"),
        ("nets", 9, TYPES.TYPE_MESSAGE, True, "NetDef"),
    ],
    "OperatorDef": [
        ("input", 1, TYPES.TYPE_STRING, True, ""),
        ("output", 2, TYPES.TYPE_STRING, True, ""),
        ("name", 3, TYPES.TYPE_STRING, False, ""),
        ("type", 4, TYPES.TYPE_STRING, False, ""),
        ("arg", 5, TYPES.TYPE_MESSAGE, True, "Argument"),
        ("device_option", 6, TYPES.TYPE_MESSAGE, False, "DeviceOption"),
        ("engine", 7, TYPES.TYPE_STRING, False, ""),
        ("control_input", 8, TYPES.TYPE_STRING, True, ""),
        ("is_gradient_op", 9, TYPES.TYPE_BOOL, False, ""),
    ],
    "NetDef": [
        ("name", 1, TYPES.TYPE_STRING, False, ""),
        ("op", 2, TYPES.TYPE_MESSAGE, True, "OperatorDef"),
        ("type", 3, TYPES.TYPE_STRING, False, ""),
        ("num_workers", 4, TYPES.TYPE_INT32, False, ""),
        ("device_option", 5, TYPES.TYPE_MESSAGE, False, "DeviceOption"),
        ("arg", 6, TYPES.TYPE_MESSAGE, True, "Argument"),
        ("external_input", 7, TYPES.TYPE_STRING, True, ""),
        ("external_output", 8, TYPES.TYPE_STRING, True, ""),
    ],
}


def net_class():
    file = descriptor_pb2.FileDescriptorProto(name="net.proto", package="net", syntax="proto2")
    for message, fields in FIELDS.items():
        described = file.message_type.add(name=message)
        for name, number, kind, is_repeated, inner in fields:
            label = TYPES.LABEL_REPEATED if is_repeated else TYPES.LABEL_OPTIONAL
            field = described.field.add(name=name, number=number, type=kind, label=label)
            if inner:
                field.type_name = f".net.{inner}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("net.NetDef"))


def value_of(kind, source):
    if kind == TYPES.TYPE_STRING:
        return "".join(source.choice("ab1_/\"'\\\n\té") for _ in range(source.randrange(8)))
    if kind == TYPES.TYPE_BYTES:
        return source.randbytes(source.randrange(8))
    if kind == TYPES.TYPE_FLOAT:
        return source.choice((0.0, -1.5, 0.1, 1e-30, 3e38, source.uniform(-1, 1), float(source.randrange(10**6))))
    if kind == TYPES.TYPE_BOOL:
        return source.random() < 0.5
    bits = 64 if kind == TYPES.TYPE_INT64 else 32
    if kind == TYPES.TYPE_UINT32:
        return source.choice((0, 1, 2**32 - 1, source.randrange(2**32)))
    return source.choice((0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), source.randrange(1000)))


def fill(message, name, source, depth):
    for field, _, kind, is_repeated, inner in FIELDS[name]:
        for _ in range(source.randrange(4) if is_repeated else source.randrange(2)):
            if kind != TYPES.TYPE_MESSAGE:
                value = value_of(kind, source)
                if is_repeated:
                    getattr(message, field).append(value)
                else:
                    setattr(message, field, value)
            elif depth < 5 or inner != "NetDef":
                held = getattr(message, field)
                held = held.add() if is_repeated else held
                held.SetInParent()
                fill(held, inner, source, depth + 1)
    return message


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    source = random.Random(options.seed)
    kind = net_class()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)

        def convert(content, suffix, other):
            (here / f"in{suffix}").write_bytes(content)
            subprocess.run([options.lowtide, "convert", here / f"in{suffix}", here / f"out{other}", "-q"], check=True)
            return (here / f"out{other}").read_bytes()

        for case in range(options.cases):
            net = fill(kind(), "NetDef", source, 0)
            net.op.add(type="Relu", input=["x"], output=["y"])  # an operator with a type, so that it is a NetDef
            net.op.sort(key=lambda op: not op.type)
            binary = net.SerializeToString(deterministic=True)
            # Python prints 2.0 where C++ prints 2.
            text = re.sub(r"(: -?\d+)\.0$", r"\1", text_format.MessageToString(net, as_utf8=False), flags=re.M).encode()
            written = convert(binary, ".pb", ".pbtxt")
            assert text_format.Parse(written, kind()) == net, f"case {case}: the text form has another meaning"
            assert written == text, f"case {case}: the text forms differ\n{written.decode()}\n{text.decode()}"
            assert kind.FromString(convert(text, ".pbtxt", ".pb")) == net, f"case {case}: the binary form differs"
            assert convert(binary, ".pb", ".pb") == binary, f"case {case}: the binary form is not kept"
    print(f"{options.cases} nets agree in both forms")


if __name__ == "__main__":
    main()
