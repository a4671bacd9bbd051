# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Nets of Caffe2 (NetDef), in text and in binary form, that are hostile."""

import random

from cases_model_bytes import make_sparse, special_files
from corpus import CLUSTER, COMPARED_NET, GRAPHDEF, LEAN, NET, NET_BINARY, REWRITTEN, SIZED_NET, SWAPPED, case
from mutants import GPU
from onnx_bytes import MOST, field, tag, varint


def op(kind, inputs=(), output="y", more=""):
    listed = " ".join(f'input: "{name}"' for name in inputs)
    return f'op {{ type: "{kind}" {listed} output: "{output}" {more} }}\n'


def integers(name, numbers):
    return f'arg {{ name: "{name}" ints: [{", ".join(map(str, numbers))}] }}'


def integer(name, number):
    return f'arg {{ name: "{name}" i: {number} }}'


def binary_op(kind="Relu", more=b""):
    return field(2, field(1, "x") + field(2, "y") + field(4, kind) + more)


SMALL = 'op { type: "Relu" input: "x" output: "y" arg { name: "a" floats: [1.5, -2] } }'
SMALL_BINARY = binary_op(more=field(5, field(1, "a") + field(3, 7)))


@case(NET, "an empty file", refused=r"the file is empty")
def empty_net():
    return b""


@case(NET, "truncated files", refused=r"bad\.pbtxt(:1:\d+)?: (expected|(OperatorDef|NetDef|Argument) has no|not an)")
def net_cut_at_every_byte():
    for length in range(1, len(SMALL)):
        yield str(length), SMALL[:length]


@case(NET_BINARY, "truncated files", refused=r"cut off|bytes? (is|are) left|not an ONNX model")
def binary_net_cut_at_every_byte():
    for length in range(1, len(SMALL_BINARY)):
        yield str(length), SMALL_BINARY[:length]


@case(NET, "random bytes", refused=r"not an ONNX model|expected|has no field|cut off|null byte")
def random_net_bytes():
    for seed in range(4):
        yield str(seed), random.Random(seed).randbytes(100 * 4**seed)
    yield "after_a_net", SMALL.encode() + random.Random(4).randbytes(1000)


@case(NET_BINARY, "lengths and numbers that are wrong", refused=r"byte \d+: ")
def net_numbers():
    yield "length_of_2_to_the_63", SMALL_BINARY + tag(2, 2) + varint(MOST)
    yield "length_of_one_too_many", SMALL_BINARY + tag(2, 2) + varint(1)
    yield "inner_length", SMALL_BINARY + field(2, tag(1, 2) + varint(9)), r"OperatorDef\.input has length 9, but only 0"
    yield "long_varint", SMALL_BINARY + b"\x80" * 10 + b"\x01"
    yield "group", SMALL_BINARY + tag(2, 3) + tag(2, 4)
    yield "inner_group", SMALL_BINARY + field(2, tag(1, 3) + tag(1, 4)), r"wire type 3"
    yield "other_wire_type", SMALL_BINARY + field(2, field(4, 5)), r"OperatorDef\.type has wire type 0"
    yield "field_zero", SMALL_BINARY + b"\x00\x00"


@case(NET, "deeply nested messages", refused=r"kMaxProtoDepth")
def deep_net():
    yield "closed", "op { type: 'A' arg { n { " * 100_000 + "} } } " * 100_000
    yield "open", "op { type: 'A' arg { n { " * 100_000


@case(NET_BINARY, "deeply nested messages", refused=r"kMaxProtoDepth")
def deep_binary_net():
    inner = binary_op()
    for _ in range(200):
        inner = field(2, field(4, "A") + field(5, field(1, "n") + field(8, inner)))
    return inner


@case(NET, "nets in texts in nets", refused=r"kMaxBodyNesting|kMaxProtoDepth|not a NetDef")
def nested_texts():
    """Each level doubles the backslashes, so that 16 levels have a million characters."""
    text = 'op { type: "A" typ: 3 }'
    for _ in range(14):
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        text = f'op {{ type: "RecurrentNetwork" arg {{ name: "step_net" s: "{quoted}" }} }}'
    return text


@case(NET_BINARY, "nets in texts in nets", refused=r"kMaxBodyNesting")
def nested_binary_texts():
    """No parser sees the depth of texts, so that few bytes could make recursions arbitrarily deep."""
    inner = binary_op()
    for levels in range(1, 12_001):
        inner = field(2, field(4, "R") + field(5, field(1, "step_net") + field(4, inner)))
        if levels in (33, 12_000):
            yield str(levels), inner


@case(COMPARED_NET, "nets in texts in nets, compared", refused=r"kMaxBodyNesting")
def compared_texts():
    yield from nested_binary_texts()


@case(COMPARED_NET, "a long chain, compared", accepted=r"same", is_large=True)
def compared_chain():
    ops = (field(1, f"x{at}") + field(2, f"x{at + 1}") + field(4, "Sum") for at in range(20_000))
    yield "chain", b"".join(field(2, one) for one in ops)


@case(NET, "nets in nets up to the limit", accepted=r"1 node|Verified")
def nested_nets():
    text = op("A", ["x"])
    for _ in range(30):
        text = f'op {{ type: "If" input: "x" output: "y" arg {{ name: "then_net" n {{ {text} }} }} }}'
    return text


@case(NET, "nets nested beyond the limit", refused=r"kMaxBodyNesting")
def deep_nets():
    text = op("A", ["x"])
    for _ in range(40):
        text = f'op {{ type: "If" arg {{ name: "then_net" n {{ {text} }} }} }}'
    return text


@case(NET_BINARY, "few bytes that need much memory", refused=r"the parsed form needs more than \d+ bytes")
def net_amplifiers():
    yield "empty_names", SMALL_BINARY + b"\x3a\x00" * 5_000_000
    yield "empty_operators", SMALL_BINARY + b"\x12\x00" * 5_000_000
    yield "empty_inputs", SMALL_BINARY + field(2, b"\x0a\x00" * 5_000_000)
    yield "empty_arguments", SMALL_BINARY + field(2, b"\x2a\x00" * 5_000_000)


@case(NET, "few bytes that need much memory", refused=r"the parsed form needs more than|has no type")
def net_text_amplifiers():
    yield "empty_operators", "op{}" * 1_000_000
    yield "empty_lists", SMALL + "op{type:''" + "arg{}" * 2_000_000 + "}"


@case(NET, "texts that are wrong", refused=r"bad\.pbtxt:1:\d+: ")
def net_texts():
    yield "unknown_field", SMALL + " operators: 3", r"NetDef has no field 'operators'"
    yield "number_too_large", op("A", more=integer("i", 2**63)), r"'9223372036854775808' is no value"
    yield "second_value", 'name: "a" name: "b" ' + SMALL, r"the field 'name' has a second value"
    yield "open_text", 'name: "' + "x" * 100_000, r"without its closing quote"
    yield "escape", 'name: "\\xzz"', r"malformed escape"
    yield "extension", SMALL + " [a.b]: 3", r"expected a field of NetDef"


@case(NET, "a text with null bytes", refused=r"byte \d+: the text has a null byte")
def net_with_null_bytes():
    yield "one", SMALL + "\0"
    yield "two_gigabytes", make_sparse(SMALL.encode(), 2**31 - 1)


@case(NET_BINARY, "large files of another kind are not read", refused=r"byte \d+: a field is cut off")
def large_files_that_begin_as_nets():
    yield "zeros", make_sparse(SMALL_BINARY, 2**31 - 1)


@case(NET, "files that are too large or not regular files", refused=r"bad\.pbtxt")
def special_nets():
    for label, content, says in special_files(2**31 - 1, r"2147483647 \(kMaxFileBytes\)"):
        if label != "link_to_itself":
            yield label, content, says


@case(NET, "names that are harmful to print", accepted=r"nodes?|left")
def odd_net_names():
    yield "control", 'op { type: "\\033[31m\\n" input: "\\377\\000" output: "\\r" name: "\\t" }'
    yield "versions", op("A", ["x"], "y@1") + op("A", ["x"]) + op("A", ["y"])


@case(NET, "names that are too long", refused=r"kMaxNameBytes")
def long_net_names():
    yield "blob", op("A", ["x"], "y" * 70000)


@case(NET, "nets that contradict themselves", refused=r"")
def contradictions():
    yield "no_type", 'op { input: "x" output: "y" }', r"operator 0 \(''\): the operator has no type"
    yield "not_an_input", SMALL + ' external_input: "z"', r"no operator before it writes the input 'x'"
    yield "not_an_output", SMALL + ' external_output: "z"', r"no operator writes the external output 'z'"
    yield "two_outputs", 'op { type: "A" output: "y" output: "y" }', r"two outputs have the name 'y'"
    both = f"n {{ {SMALL} }} s: 'op {{ }}'"
    yield "two_encodings", op("RecurrentNetwork", more=f'arg {{ name: "step_net" {both} }}'), r"the net is there twice"


@case(NET, "reads before writes", accepted=r"node|left")
def reads_before_writes():
    """What would be a cycle in a graph: each operator reads what the other writes. The first read is from outside."""
    yield "two", op("A", ["b"], "a") + op("B", ["a"], "b")
    yield "itself", op("A", ["a"], "a")
    yield "control", 'op { type: "A" output: "a" control_input: "b" } op { type: "A" output: "b" control_input: "a" }'


@case(SIZED_NET, "extents that are too large", refused=r"")
def large_net_extents():
    fill = op("ConstantFill", output="x", more=integers("shape", [2**62, 4]))
    yield "elements", fill, r"'x'"
    yield "bytes", op("ConstantFill", output="x", more=integers("shape", [2**50])), r"kMaxTensorBytes|140737488355327"
    negative = op("ConstantFill", output="x", more=integers("shape", [-1]))
    yield "negative", negative, r"results 'x' of operator 0"
    ones = op("ConstantFill", output="x", more=integers("shape", [1] * 65))
    yield "rank", ones, r"kMaxRank|rank 65"
    many = "".join(op("ConstantFill", output=f"x{at}", more=integers("shape", [2**44])) for at in range(1 << 17))
    yield "sum", many, r"kMaxTotalBytes|4611686018427387903"


@case(SIZED_NET, "windows", refused=r"operator 1 ")
def net_windows():
    image = op("ConstantFill", output="x", more=integers("shape", [1, 3, 9, 9]))

    def pool(*arguments):
        return image + op("MaxPool", ["x"], more=" ".join(arguments))

    yield "no_kernel", pool(), r"kernel 0"
    yield "kernel_of_2_to_the_62", pool(integer("kernel", 2**62)), r"out of range"
    yield "negative_pad", pool(integer("kernel", 3), integer("pad", -5)), r"pads -5"
    yield "stride_zero", pool(integer("kernel", 3), integer("stride", 0)), r"stride 0"
    yield "dilation", pool(integer("kernel", 2**30), integer("dilation", 2**30)), r"does not fit into"
    yield "group", image + op("ConstantFill", output="w", more=integers("shape", [4, 2**62, 1, 1])), r"operator 1|'w'"


@case(SIZED_NET, "axes and parts", refused=r"")
def net_axes():
    image = op("ConstantFill", output="x", more=integers("shape", [2, 3, 4]))
    yield "axis", image + op("Concat", ["x", "x"], more=integer("axis", 2**63 - 1)), r"results 'y' of operator 1"
    yield "parts", image + op("Split", ["x"], more=integers("split", [2**63 - 1])), r"do not add up"
    yield "shape", image + op("Reshape", ["x"], more=integers("shape", [2**62, 4])), r"results 'y' of operator 1"
    yield "zero", image + op("Reshape", ["x"], more=integers("shape", [0, 0, 0, 0])), r"cannot have the given shape"
    yield "permutation", image + op("Transpose", ["x"], more=integers("axes", [0, 0, 9])), r"results 'y' of operator 1"


@case(NET, "long chains", accepted=r"nodes|left", is_large=True)
def long_net():
    return "".join(op("Sum", [f"x{at}"], f"x{at + 1}") for at in range(20_000))


@case(NET, "a name that is written many times", accepted=r"nodes|left", is_large=True)
def name_written_again():
    return "".join(op("Sum", ["x", "y"], "y") for at in range(20_000))


def graph_node(name, kind="Relu", *inputs, more=""):
    listed = " ".join(f'input: "{one}"' for one in inputs)
    return f'node {{ name: "{name}" op: "{kind}" {listed} {more} }}\n'


def attribute(key, value):
    return f'attr {{ key: "{key}" value {{ {value} }} }} '


@case(GRAPHDEF, "graphs of TensorFlow that are wrong", refused=r"")
def wrong_graphdefs():
    yield "cycle", graph_node("a", "Relu", "b") + graph_node("b", "Relu", "a"), r"node 'a' .*in a cycle"
    yield "itself", graph_node("a", "Relu", "a"), r"node 'a' .*in a cycle"
    yield "control_cycle", graph_node("a", "NoOp", "^b") + graph_node("b", "NoOp", "^a"), r"in a cycle"
    yield "absent", graph_node("a", "Relu", "b:1"), r"its input 'b:1' does not exist"
    yield "port", graph_node("b", "Split") + graph_node("a", "Relu", "b:9999999999"), r"is no output of node 'b'"
    yield "twice", graph_node("a") + graph_node("a"), r"two nodes have this name"
    yield "loop", graph_node("a", "NextIteration"), r"has a loop"
    yield "no_operator", 'node { name: "a" }', r"has no operator"
    huge = attribute("dtype", "type: DT_FLOAT") + attribute("shape", "shape { dim { size: 4611686018427387904 } }")
    yield "extent", graph_node("a", "Placeholder", more=huge) + graph_node("b", "Relu", "a"), r"'a'"
    window = attribute("ksize", "list { i: [1, 0, -1, 1] }") + attribute("padding", "s: 'VALID'")
    image = attribute("dtype", "type: DT_FLOAT") + attribute("shape", "shape { " + "dim { size: 9 } " * 4 + "}")
    pool = graph_node("a", "Placeholder", more=image) + graph_node("b", "MaxPool", "a", more=window)
    yield "window", pool, r"node 'b' .*out of range"
    yield "depth", "node { " + "attr { value { func { " * 100_000, r"kMaxProtoDepth"
    yield "field", graph_node("a") + "nodes: 3", r"GraphDef has no field 'nodes'"


@case(GRAPHDEF, "long chains", accepted=r"nodes", is_large=True)
def long_graphdef():
    return graph_node("a0") + "".join(graph_node(f"a{at + 1}", "Assign", f"a{at}") for at in range(20_000))


@case(REWRITTEN, "graphs of TensorFlow that are wrong", refused=r"")
def wrong_rewritten_graphdefs():
    yield "rewritten_cycle", graph_node("a", "Relu", "b") + graph_node("b", "Relu", "a"), r"node 'a' .*in a cycle"
    yield "rewritten_absent", graph_node("a", "Relu", "b:1"), r"its input 'b:1' does not exist"
    yield "rewritten_twice", graph_node("a") + graph_node("a"), r"two nodes have this name"
    again = graph_node("a", "Relu") + graph_node("Recomputed/a") + graph_node("gradients/b", "Relu", "a")
    yield "rewritten_before", again, r"rewritten before"
    shared = "".join(graph_node(f"a{at}", "Relu") for at in range(5_000))
    targets = graph_node("gradients/b", "AddN", *(f"a{at}" for at in range(5_000)))
    yield "rewritten_shared", shared + targets, r"many groups share a target"
    yield "rewritten_merge", graph_node("a", "NextIteration", "m") + graph_node("m", "Merge", "a"), r"in a cycle"


@case(REWRITTEN, "long chains", accepted=r"nodes", is_large=True)
def long_rewritten_graphdef():
    forward = graph_node("a0") + "".join(graph_node(f"a{at + 1}", "Relu", f"a{at}") for at in range(20_000))
    return forward + graph_node("gradients/b", "Relu", "a20000")


# Each assignment reaches all after it, and none is free.
@case(REWRITTEN, "long chains", accepted=r"nodes", is_large=True)
def long_rewritten_assignments():
    chain = "".join(graph_node(f"a{at + 1}", "Assign", f"a{at}") for at in range(40_000))
    return graph_node("a0") + chain + graph_node("b", "Relu", "a40000", more='device: "/gpu:0"')


@case(LEAN, "graphs of TensorFlow that are wrong", refused=r"")
def wrong_lean_graphdefs():
    yield "lean_cycle", graph_node("a", "Relu", "b") + graph_node("b", "Relu", "a"), r"in a cycle"
    yield "lean_fetch", graph_node("b", "Relu"), r"no node 'a' that could be fetched"
    yield "lean_loop", graph_node("a", "NextIteration"), r"has a loop"
    yield "lean_port", graph_node("b", "Relu") + graph_node("a", "Relu", "b:9999999999"), r"is no output of node 'b'"
    huge = attribute("dtype", "type: DT_FLOAT") + attribute("shape", "shape { dim { size: 4611686018427387904 } }")
    yield "lean_extent", graph_node("b", "Placeholder", more=huge) + graph_node("a", "Relu", "b"), r"2\^60 bytes"
    shapes = graph_node("b", "VariableV2", more=floats(3)) + graph_node("c", "VariableV2", more=floats(5))
    yield "lean_shapes", shapes + graph_node("a", "Mul", "b", "c"), r"do not fit together"


def floats(count):
    return attribute("dtype", "type: DT_FLOAT") + attribute("shape", f"shape {{ dim {{ size: {count} }} }}")


@case(SWAPPED, "graphs of TensorFlow that are wrong", refused=r"")
def wrong_swap_hints():
    for label, inputs in ("swapped_beyond", "2"), ("swapped_negative", "-1"), ("swapped_huge", "9223372036854775807"):
        hint = attribute("_swap_to_host", f"list {{ i: {inputs} }}")
        graph = graph_node("x", "VariableV2", more=floats(4)) + graph_node("a", "Mul", "x", "x", more=hint)
        yield label, graph, r"a hint must name one of its data inputs"


@case(LEAN, "long chains", accepted=r"nodes", is_large=True)
def long_lean_graphdef():
    nodes = graph_node("c0", "VariableV2", more=floats(64))
    nodes += "".join(graph_node(f"c{at + 1}", "AddN", f"c{at}", f"c{at}", f"^c{at}") for at in range(10_000))
    return nodes + graph_node("a", "AddN", *(f"c{at}" for at in range(10_000)))


@case(CLUSTER, "clusters that are wrong", refused=r"")
def wrong_clusters():
    yield "cluster_empty", "", r"bad.cluster:1:1: expected an object"
    yield "cluster_cut", GPU[:60], r"bad.cluster:1:"
    yield "cluster_key", GPU.replace("cores", "kernels"), r"kernels"
    yield "cluster_huge", GPU.replace("1073741824", "99999999999999999999"), r"a size"
    yield "cluster_text", GPU.replace("1073741824", '"1GiB"'), r"a size"
    yield "cluster_twice", GPU.replace("]}", ", " + GPU.split("[")[1]), r"bad.cluster: two devices have the name"
    yield "cluster_speed", GPU.replace('"cores": 1', '"cores": 0'), r"needs cores and frequency"
    device = GPU.split("[")[1].split("]")[0]
    many = ", ".join(device.replace("gpu:0", f"gpu:{at}") for at in range(1025))
    yield "cluster_many", '{"devices": [' + many + "]}", r"more than 1024 devices"
