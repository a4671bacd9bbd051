# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Model files whose bytes, headers or names are hostile."""

import gzip
import io
import os
import random
import zipfile

from corpus import MODEL, MODEL_AND_PLAN, case
from onnx_bytes import INT64, LEAST, MOST, chain, field, graph, net, node, opset, tag, tensor, value, varint, wrap

SMALL = net([node("Relu", ["x"], ["y"], "relu")])


@case(MODEL_AND_PLAN, "an empty file", refused=r"the file is empty")
def empty_model():
    return b""


@case(MODEL, "truncated files", refused=r"not an ONNX model: .*(cut off|bytes? left|no graph|is empty)")
def model_cut_at_every_byte():
    """The graph comes last, so that no prefix of the file is a valid model."""
    for length in range(1, len(SMALL)):
        yield str(length), SMALL[:length]


@case(MODEL, "random bytes", refused=r"not an ONNX model: .*byte \d+|byte \d+: not an ONNX model")
def random_bytes():
    for seed in range(8):
        yield str(seed), random.Random(seed).randbytes(100 * 4**seed)


@case(MODEL, "lengths beyond the end of the message", refused=r"has length \d+, but .* bytes? left")
def model_lengths():
    yield "of_2_to_the_63", tag(7, 2) + varint(MOST), r"byte \d+.*has length 9223372036854775807, but .* only 0 bytes"
    yield "of_2_to_the_64", tag(7, 2) + varint(2**64 - 1), r"has length 18446744073709551615, but .* only 0 bytes"
    yield "of_one_too_many", field(7, tag(1, 2) + varint(1)), r"has length 1, but .* only 0 bytes"


@case(MODEL, "varints longer than 10 bytes", refused=r"longer than 10 bytes")
def long_varints():
    eleven = b"\x80" * 10 + b"\x01"
    yield "as_a_tag", eleven, r"tag is cut off or longer than 10 bytes"
    yield "as_a_length", tag(7, 2) + eleven, r"length is cut off or longer than 10 bytes"
    yield "as_a_number", tag(1, 0) + eleven, r"number is cut off or longer than 10 bytes"
    yield "that_hides_a_length", tag(7, 2) + b"\x85" + b"\x80" * 8 + b"\x00x", r"has length 5, but .* only 1 byte left"


@case(MODEL, "varints longer than necessary", accepted=r"1 node")
def padded_varints():
    inner = graph([node("Relu", ["x"], ["y"])], [value("x", [2])], [value("y", None)])
    length = bytearray(varint(len(inner)).ljust(4, b"\x80"))
    length[1:4] = b"\x81\x80\x00" if len(inner) > 127 else b"\x80\x80\x00"
    length[0] |= 0x80
    yield "length", wrap(b"")[:-2] + tag(7, 2) + bytes(length) + inner
    yield "tag", wrap(b"")[:-2] + b"\xba\x80\x00" + varint(len(inner)) + inner


@case(MODEL, "unknown fields", accepted=r"1 node")
def unknown_fields():
    yield "bytes", SMALL + field(30, b"x" * 100_000)
    yield "number", SMALL + field(536_870_911, 5)
    yield "group", SMALL + tag(30, 3) + tag(30, 4)


@case(MODEL, "deeply nested groups and messages", refused=r"nested deeper than 128, the limit \(kMaxMessageDepth\)")
def deep_nesting():
    yield "groups", tag(30, 3) * 100_000
    closed = tag(30, 3) * 100_000 + tag(30, 4) * 100_000
    yield "groups_that_are_closed", closed
    kind = b""
    for _ in range(1000):
        kind = field(4, field(1, kind))  # a sequence of a sequence of ...
    yield "types", wrap(graph([], [field(1, "x") + field(2, kind)]))


@case(MODEL, "fields that do not exist in protobuf", refused=r"does not exist|was not open")
def impossible_fields():
    yield "number_zero", b"\x00\x00", r"field number 0 does not exist"
    yield "wire_type_6", tag(1, 6), r"wire type 6 does not exist"
    yield "end_of_no_group", tag(30, 4), r"the end of a group has no matching start"


@case(MODEL, "a field repeated a million times", accepted=r"1 node")
def repeated_number():
    """The last field is used."""
    return field(1, 9999) * 1_000_000 + SMALL


@case(MODEL, "a field repeated a million times", refused=r"parse_budget")
def repeated_messages():
    yield "that_are_merged", field(7, b"") * 1_000_000 + SMALL
    yield "that_are_listed", field(8, b"") * 3_000_000 + SMALL


def make_special(kind):
    def make(path):
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            os.mkdir(path)
        elif kind == "nothing":
            pass
        elif isinstance(kind, str):
            os.symlink(kind, path)
        else:
            with open(path, "wb") as file:
                file.truncate(kind)

    return make


def special_files(limit, of_limit):
    """Cases for every kind of file. `limit` is the largest size, and `of_limit` matches the message about it."""
    yield "one_byte_too_many", make_special(limit + 1), of_limit
    yield "a_terabyte", make_special(2**40), of_limit
    yield "pipe", make_special("fifo"), r"is a pipe|not a regular file"
    yield "folder", make_special("folder"), r"is a folder|is a directory"
    yield "device", make_special("/dev/zero"), r"is a device|not a regular file"
    yield "link_to_itself", make_special("bad.onnx"), r"cannot be opened|symbolic links"
    yield "nothing", make_special("nothing"), r"No such file"


@case(MODEL_AND_PLAN, "files that are too large or not regular files", refused=r"bad\.onnx")
def special_models():
    yield from special_files(2**31 - 1, r"2147483647 \(kMaxFileBytes\)")


def make_sparse(head, size):
    def make(path):
        with open(path, "wb") as file:
            file.write(head)
            file.truncate(size)

    return make


@case(MODEL_AND_PLAN, "large files of another kind are not read", refused=r"not an ONNX model: ")
def large_files_of_another_kind():
    """The files are sparse and small on disk, so memory for the whole file would exceed the limit."""
    yield "zeros", make_sparse(b"", 2**31 - 1), r"byte 1: not an ONNX model: field number 0 does not exist"
    yield "gzip", make_sparse(b"\x1f\x8b\x08", 2**30), r"not an ONNX model: wire type 7 .*a gzip file"
    late = field(1, 8) * 5_000 + b"\x00"  # the fault is at byte 10,000
    yield "fault_after_some_fields", make_sparse(late, 2**30), r"byte 10001: not an ONNX model: field number 0"


@case(MODEL, "few bytes that need much memory", refused=r"64 MB \+ 16 x the file \(parse_budget\)")
def amplifiers():
    header = wrap(b"")[:-2]
    empty_nodes = b"\x0a\x00" * 5_000_000
    yield "empty_nodes", header + field(7, empty_nodes)
    yield "empty_attributes", header + field(7, field(1, b"\x2a\x00" * 3_000_000))
    yield "empty_inputs", header + field(7, field(1, b"\x0a\x00" * 5_000_000))
    yield "empty_dimensions", header + field(7, field(11, field(2, field(1, field(2, b"\x0a\x00" * 3_000_000)))))
    yield "empty_external_data", header + field(7, field(5, b"\x6a\x00" * 3_000_000))
    yield "empty_functions", header + b"\xca\x01\x00" * 2_000_000


@case(MODEL, "packed numbers of one byte each", refused=r"parse_budget|'w'.*dims|rank 4000000")
def packed_numbers():
    many = 4_000_000
    packed = field(7, b"\x01" * many) + field(2, INT64) + field(8, "w") + field(1, many + 1)
    relu = [node("Relu", ["x"], ["y"])]
    yield "data", net(relu, tensors=[packed]), r"'w'.*4000001|'w'.*4000000"
    yield "dims", net(relu, tensors=[field(1, b"\x01" * many) + field(2, INT64) + field(8, "w")]), r"'w'.*kMaxRank"


@case(MODEL, "other files", refused=r"not an ONNX model: .*it looks like")
def other_files():
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.onnx", b"\0" * 10_000_000)
    yield "gzip", gzip.compress(b"\0" * 10_000_000), r"looks like a gzip file"
    yield "zip", zipped.getvalue(), r"looks like a zip archive"
    yield "tflite", b"\x18\0\0\0TFL3", r"the flatbuffer is damaged"
    yield "json", b'{"ir_version": 8}', r"looks like .*JSON"
    yield "text", b"ir_version: 8\ngraph {\n}\n", r"looks like .*text"


@case(MODEL, "headers", refused=r"")
def headers():
    body = graph([node("Relu", ["x"], ["y"])], [value("x", [2])], [value("y", None)])
    yield "no_opset", wrap(body, opsets=b""), r"no opset_import"
    yield "opset_0", wrap(body, opsets=opset(0)), r"'ai.onnx': version 0 does not exist"
    yield "opset_negative", wrap(body, opsets=opset(LEAST)), r"version -9223372036854775808 does not exist"
    yield "opset_9999", wrap(body, opsets=opset(9999)), r"version 9999 is newer than \d+"
    yield "opset_of_2_to_the_32", wrap(body, opsets=opset(2**32 + 17)), r"version 4294967313 does not exist"
    yield "opset_twice", wrap(body, opsets=opset(17) + opset(16)), r"version 16 contradicts version 17 of an earlier"
    yield "only_an_unknown_domain", wrap(
        body, opsets=opset(1, "unknown")
    ), r"Relu: the model imports no opset of its domain.*node 0"
    yield "ir_version_9999", wrap(body, ir=9999), r"ir_version 9999 is newer than \d+"
    yield "ir_version_0", wrap(body, ir=0), r"ir_version 0 does not exist"
    yield "ir_version_negative", wrap(body, ir=-1), r"ir_version -1 does not exist"
    yield "no_graph", wrap(b"")[:-2], r"no graph"
    yield "no_ir_version", wrap(body)[2:], r"no ir_version"


def named(name):
    return net([node("Relu", ["x"], [name], name), node("Relu", [name], ["y"])])


@case(MODEL, "names that are harmful to print", accepted=r"2 nodes")
def odd_names():
    yield "zero_byte", named("a\0b")
    yield "no_utf8", named(b"\xff\xfe\xc0\x80")
    yield "terminal_codes", named("\x1b]0;owned\x07\x1b[2J\x1b[31m")
    yield "terminal_codes_of_8_bits", named(b"\xc2\x9b31m\x9b2J")
    yield "format", named("%s%n%p{}{0}")
    yield "false_line", named("a\nerror: all is well\n")
    yield "right_to_left", named("\u202egnp.exe")
    yield "path", named("../../../../etc/passwd")
    yield "markup", named("</script><script>alert(1)</script><!--")
    yield "65536_bytes", named("n" * 65536)


@case(MODEL, "names that are too long", refused=r"65536 bytes \(kMaxNameBytes\)")
def long_names():
    yield "node", named("n" * 65537), r"node 0 'n+.*\(65537 bytes\).*65536 bytes \(kMaxNameBytes\)"
    yield "node_of_50_MB", net(
        [node("Relu", ["x"], ["y"], "n" * 50_000_000)]
    ), r"node 0 'n+.*65536 bytes \(kMaxNameBytes\)"
    yield "tensor_of_50_MB", net([node("Relu", ["x"], ["t" * 50_000_000])])
    yield "operator", net([node("R" * 50_000_000, ["x"], ["y"])]), r"kMaxNameBytes|not.*known|unsupported|not supported"
    yield "symbol", net(
        [node("Relu", ["x"], ["y"])], x=["s" * 50_000_000]
    ), r"input 'x'.*extent 0 has 50000000 bytes; .*4096 \(kMaxSymbolBytes\)"
    yield "graph", wrap(
        graph([node("Relu", ["x"], ["y"])], [value("x", [2])], [value("z", None)], name="g" * 50_000_000)
    ), r"'z'"


@case(MODEL, "wide nodes and long chains", refused=r"node 999999 'last' \(Relu\): reads 'missing'", is_large=True)
def a_million_nodes():
    """A chain whose last node reads a name without a producer."""
    nodes = chain(1_000_000)
    nodes[-1] = node("Relu", ["missing"], ["y"], "last")
    return net(nodes)


@case(MODEL, "a name with two producers", refused=r"the name 'w' is produced twice: by initializer 0 and initializer 1")
def many_initializers():
    return net([node("Relu", ["x"], ["y"])], tensors=[tensor("w", [], raw=b"\0\0\0\0")] * 200_000)
