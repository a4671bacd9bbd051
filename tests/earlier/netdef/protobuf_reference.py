#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts random nets between their two forms, and compares what comes out with what the protobuf library reads.

usage: protobuf_reference.py --lowtide PROGRAM [--nets N]

The schema below is written down a second time, from Caffe2's caffe2.proto.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

KINDS = descriptor_pb2.FieldDescriptorProto
NUMBERS = {
    "int32": KINDS.TYPE_INT32,
    "int64": KINDS.TYPE_INT64,
    "uint32": KINDS.TYPE_UINT32,
    "bool": KINDS.TYPE_BOOL,
    "float": KINDS.TYPE_FLOAT,
    "double": KINDS.TYPE_DOUBLE,
    "string": KINDS.TYPE_STRING,
    "bytes": KINDS.TYPE_BYTES,
}
# Each field: its name, number and type, and "*" if it is repeated, "+" if it is also packed.
SCHEMA = {
    "DeviceOption": "device_type 1 int32, device_id 2 int32, random_seed 3 uint32, node_name 4 string, "
    "numa_node_id 5 int32, extra_info 6 string *",
    "Segment": "begin 1 int64, end 2 int64",
    "TensorProto": "dims 1 int64 *, float_data 3 float +, int32_data 4 int32 +, byte_data 5 bytes, "
    "string_data 6 bytes *, name 7 string, device_detail 8 DeviceOption, double_data 9 double +, "
    "int64_data 10 int64 +, segment 11 Segment, raw_data 13 bytes",
    "QTensorProto": "dims 1 int64 *, precision 2 int32, scale 3 double, bias 4 double, is_signed 5 bool, "
    "data 6 int32 +, name 7 string",
    "Argument": "name 1 string, f 2 float, i 3 int64, s 4 bytes, floats 5 float *, ints 6 int64 *, strings 7 bytes *, "
    "n 8 NetDef, nets 9 NetDef *, t 10 TensorProto, tensors 11 TensorProto *, qtensors 12 QTensorProto *",
    "OperatorDef": "input 1 string *, output 2 string *, name 3 string, type 4 string, arg 5 Argument *, "
    "device_option 6 DeviceOption, engine 7 string, control_input 8 string *, is_gradient_op 9 bool, "
    "debug_info 10 string, domain 11 string, op_version 12 string",
    "NetDef": "name 1 string, op 2 OperatorDef *, type 3 string, num_workers 4 int32, device_option 5 DeviceOption, "
    "arg 6 Argument *, external_input 7 string *, external_output 8 string *",
}


def net_class():
    """The class of NetDef, made from the schema."""
    file = descriptor_pb2.FileDescriptorProto(name="net.proto", package="reference", syntax="proto2")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for field in fields.split(", "):
            label, number, kind, *more = field.split()
            added = message.field.add(name=label, number=int(number), label=KINDS.LABEL_OPTIONAL)
            if more:
                added.label = KINDS.LABEL_REPEATED
                added.options.packed = more == ["+"]
            added.type = NUMBERS.get(kind, KINDS.TYPE_MESSAGE)
            if kind in SCHEMA:
                added.type_name = f".reference.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("reference.NetDef"))


def whole(draw, bits):
    return draw.choice([0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), draw.randint(-1000, 1000)])


def scalar(draw, kind):
    """A value of the field's type, with those at the ends of its range among them."""
    if kind in (KINDS.TYPE_INT32, KINDS.TYPE_INT64):
        return whole(draw, 32 if kind == KINDS.TYPE_INT32 else 64)
    if kind == KINDS.TYPE_UINT32:
        return draw.choice([0, 2**32 - 1, draw.randint(0, 1000)])
    if kind == KINDS.TYPE_BOOL:
        return draw.random() < 0.5
    if kind == KINDS.TYPE_FLOAT:
        ends = [0.0, -0.0, 1e-45, 3.4028234663852886e38, float("inf"), -float("inf")]
        return draw.choice([*ends, 0.1, draw.uniform(-9, 9)])
    if kind == KINDS.TYPE_DOUBLE:
        return draw.choice([0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, float("inf"), draw.uniform(-9, 9)])
    if kind == KINDS.TYPE_STRING:
        return draw.choice(["", "x", "fc1_w", "ä→\U0001f600", "a'b\"c\\d", "tab\tline\n", "\x7f\x01"])
    return bytes(draw.randrange(256) for _ in range(draw.randrange(12)))


def fill(draw, message, depth):
    """Sets some fields of a message."""
    for field in message.DESCRIPTOR.fields:
        if draw.random() < (0.5 if depth < 2 else 0.75):
            continue
        values = getattr(message, field.name)
        if field.type == field.TYPE_MESSAGE:
            if depth > 5:
                continue
            for _ in range(draw.randint(1, 2) if field.is_repeated else 1):
                inner = values.add() if field.is_repeated else values
                inner.SetInParent()
                fill(draw, inner, depth + 1)
        elif field.is_repeated:
            values.extend(scalar(draw, field.type) for _ in range(draw.randint(1, 4)))
        else:
            setattr(message, field.name, scalar(draw, field.type))


def convert(lowtide, given, made):
    subprocess.run([lowtide, "convert", given, made, "-q"], check=True)
    return made.read_bytes()


def check(lowtide, net_type, seed, folder):
    """What is wrong with one net."""
    draw = random.Random(seed)
    net = net_type()
    net.op.add(type="Relu", input=["x"], output=["y"])
    fill(draw, net, 0)
    (folder / "a.pb").write_bytes(net.SerializeToString())
    (folder / "b.pbtxt").write_text(text_format.MessageToString(net, as_utf8=draw.random() < 0.5))
    text = convert(lowtide, folder / "a.pb", folder / "a.pbtxt")
    binary = convert(lowtide, folder / "b.pbtxt", folder / "b.pb")
    copy = convert(lowtide, folder / "a.pb", folder / "copy.pb")
    faults = []
    if text_format.Parse(text, net_type()) != net:
        faults.append(f"net {seed}: the text is another net")
    for name, content in (("binary form", binary), ("copy", copy)):
        if net_type.FromString(content) != net:
            faults.append(f"net {seed}: the {name} is another net")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--nets", type=int, default=200)
    options = parser.parse_args()
    net_type = net_class()
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(options.nets)
        faults = [text for seed in seeds for text in check(options.lowtide, net_type, seed, pathlib.Path(folder))]
    for text in faults:
        print(text)
    print(f"{options.nets} nets, {len(faults)} faults")
    return 1 if faults or options.nets == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
