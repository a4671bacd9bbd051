# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Model files whose numbers and shapes are hostile."""

from corpus import MODEL, MODEL_AND_PLAN, case
from onnx_bytes import (
    COMPLEX64,
    FLOAT,
    INT4,
    INT64,
    LEAST,
    MOST,
    STRING,
    f32,
    field,
    graph,
    i64,
    integer,
    ints,
    net,
    node,
    of_tensor,
    tensor,
    text,
    value,
    wrap,
)

RELU = [node("Relu", ["x"], ["y"], "relu")]


@case(MODEL_AND_PLAN, "extents that are too large", refused=r"'x'.*(4611686018427387904|4294967296)")
def large_extents():
    yield "2_to_the_62_squared", net(RELU, x=[2**62, 2**62])
    yield "2_to_the_32_squared", net(RELU, x=[2**32, 2**32])
    yield "2_to_the_62", net(RELU, x=[2**62])
    yield "2_to_the_46_of_float", net(
        RELU, x=[2**46]
    ), r"'x'.*f32\[70368744177664\].*140737488355327 bytes \(kMaxTensorBytes\)"
    yield "that_wrap_to_zero", net(RELU, x=[2**16] * 4), r"'x'.*more than 2\^63 - 1 elements"
    yield "that_wrap_beside_a_zero", net(RELU, x=[0, 2**63 - 1]), r"'x'.*9223372036854775807"


@case(MODEL, "declared sizes that contradict the operators", accepted=r"1 declared size contradicts the operators")
def stale_sizes():
    """The sizes that the operators compute count, however large those in the file are."""
    relus = [node("Relu", ["x"], ["m"]), node("Relu", ["m"], ["y"])]
    yield "of_an_output", net(RELU, y=[2**62, 2**62]), r"'y' is declared as f32\[4611686018427387904,46116.*\]"
    yield "of_a_value", net(relus, values=[value("m", [2**62])]), r"'m' is declared as f32\[4611686018427387904\]"
    yield "of_another_rank", net(RELU, x=[2, 3], y=[6]), r"'y' is declared as f32\[6\].*f32\[2,3\]"


@case(MODEL, "extents whose product overflows 32 bits", accepted=r"17,180,131,328 B")
def product_of_32_bits():
    """65,537 x 65,536 x 4 bytes."""
    return net(RELU, x=[65537, 65536])


@case(MODEL, "sums of sizes that overflow", refused=r"4611686018427387903 .*\(kMaxTotalBytes\)|kMaxTotalBytes")
def sum_of_sizes():
    """A tensor of 2^47 - 4 bytes is accepted, but 40,000 of them have more than 2^62 bytes."""
    names = ["x", *(f"t{at}" for at in range(40_000)), "y"]
    return net([node("Relu", names[at : at + 1], names[at + 1 : at + 2]) for at in range(40_001)], x=[2**45 - 1])


@case(MODEL, "negative extents", refused=r"'x'.*-5|-1|-9223372036854775808")
def negative_extents():
    yield "input", net(RELU, x=[-5]), r"input 'x'.*extent 0.*-5"
    yield "input_of_minus_1", net(RELU, x=[2, -1]), r"input 'x' is f32\[2,.*give --shape x=2x\?"
    yield "input_of_the_least", net(RELU, x=[LEAST]), r"input 'x'.*-9223372036854775808"
    yield "output", net(RELU, y=[-5, 3]), r"'y'.*extent 0.*-5"


@case(MODEL, "ranks", refused=r"rank")
def ranks():
    yield "65", net(RELU, x=[1] * 65), r"input 'x'.*rank 65.*64 \(kMaxRank\)"
    yield "a_million", net(RELU, x=[1] * 1_000_000), r"input 'x'.*rank 1000000.*64 \(kMaxRank\)|parse_budget"
    yield "of_weights", net(RELU, tensors=[tensor("w", [1] * 65, raw=b"\0\0\0\0")]), r"'w'.*rank 65.*kMaxRank"


@case(MODEL, "tensors of rank 0 and of no elements", accepted=r"nodes?,")
def small_shapes():
    yield "rank_0", net(RELU, x=[])
    yield "rank_64", net(RELU, x=[1] * 64)
    yield "no_elements", net(RELU, x=[0])
    yield "no_elements_between_others", net([node("Relu", ["x"], ["m"]), node("Relu", ["m"], ["y"])], x=[3, 0, 2])
    yield "no_elements_reshaped", net([node("Reshape", ["x", "s"], ["y"])], [i64("s", [0, 7])], x=[0, 7])
    yield "no_elements_concatenated", net([node("Concat", ["x", "x"], ["y"], "", [integer("axis", 0)])], x=[0, 2])


@case(MODEL, "symbols for extents", refused=r"--shape x=")
def symbols():
    yield "unbound", net(RELU, x=["n", 3]), r"input 'x' is f32\[n,3\]: give --shape x=\?x3, with a number for each \?"
    yield "without_name", net(RELU, x=["", 3]), r"input 'x' is .*give --shape x="
    yield "of_open_rank", net(RELU, x=None), r"input 'x' is .*give --shape x="
    yield "of_the_shell", net(RELU, x=["$(reboot)"]), r"input 'x' is f32\[\$\(reboot\)\]: give --shape x=\?"


@case(MODEL, "symbols for extents", refused=r"", words=("--dim", "n=4"))
def symbols_that_disagree():
    """n is 4 and also another number."""
    add = [node("Add", ["x", "w"], ["y"], "add")]
    yield "with_a_weight", net(
        add, [f32("w", [1, 2, 3])], x=["n"]
    ), r"node 0 'add' \(Add\).*'x' is f32\[4\], 'w' is f32\[3\]"
    yield "with_another_input", net(
        [node("Add", ["x", "b"], ["y"], "add")], inputs=[value("x", ["n"]), value("b", [5])]
    ), r"node 0 'add' \(Add\).*'x' is f32\[4\], 'b' is f32\[5\]"


@case(MODEL, "symbols for extents", accepted=r"'y' is declared as f32\[5\].*f32\[4\]", words=("--dim", "n=4"))
def symbol_beside_a_number():
    """The output is declared as 5 but computed as 4."""
    return net(RELU, x=["n"], y=[5])


@case(MODEL, "symbols for extents", accepted=r"f32\[8\]", words=("--dim", "n=4"))
def symbol_of_an_output():
    """The output is declared as n but computed as 8. The computed extent is used."""
    double = node("Concat", ["x", "x"], ["y"], "double", [integer("axis", 0)])
    return net([double], x=["n"], y=["n"])


@case(MODEL, "initializers whose data do not fit their dims", refused=r"initializer 'w'")
def initializer_sizes():
    def weights(content):
        return net(RELU, tensors=[content])

    yield "shorter", weights(tensor("w", [4], raw=b"\0" * 12)), r"initializer 'w'.*12 bytes.*16"
    yield "longer", weights(tensor("w", [4], raw=b"\0" * 20)), r"initializer 'w'.*20 bytes.*16"
    yield "missing", weights(tensor("w", [4])), r"initializer 'w'.*16|initializer 'w'.*no data|initializer 'w'.* 0 "
    yield "fewer_numbers", weights(tensor("w", [4], INT64, more=field(7, 1) * 3)), r"initializer 'w'.*3.*4"
    yield "of_another_type", weights(tensor("w", [1], FLOAT, more=field(7, 1))), r"initializer 'w'.*int64_data"
    yield "negative_dims", weights(tensor("w", [-4], raw=b"")), r"initializer 'w'.*-4"
    yield "huge_dims", weights(tensor("w", [2**40, 2**40], raw=b"\0")), r"initializer 'w'.*1099511627776"
    yield "dims_that_wrap", weights(tensor("w", [2**32, 2**32], raw=b"")), r"initializer 'w'.*4294967296"
    yield "both_raw_and_typed", weights(
        tensor("w", [1], INT64, raw=b"\0" * 8, more=field(7, 1))
    ), r"initializer 'w'.*raw_data.*int64_data|initializer 'w'.*twice|initializer 'w'.*both"
    yield "in_segments", weights(
        tensor("w", [1], raw=b"\0" * 4, more=field(3, field(1, 0) + field(2, 9)))
    ), r"initializer 'w'.*segment"
    yield "of_a_constant", net(
        [node("Constant", [], ["c"], "make", [of_tensor("value", tensor("c", [2**40, 2**40], raw=b"\0"))]), *RELU]
    ), r"node 0 'make'.*1099511627776"


@case(MODEL, "element types that do not exist or are not numeric", refused=r"'w'|'x'")
def element_types():
    yield "0", net(
        RELU, tensors=[tensor("w", [1], 0, raw=b"\0")]
    ), r"initializer 'w'.*element type|initializer 'w'.*no element type|initializer 'w'.*UNDEFINED"
    yield "9999", net(
        RELU, tensors=[tensor("w", [1], 9999, raw=b"\0")]
    ), r"initializer 'w'.*element type 9999 does not exist"
    yield "of_an_input", net(RELU, inputs=[value("x", [1], 9999)]), r"input 'x'.*element type 9999 does not exist"
    yield "negative", net(RELU, inputs=[value("x", [1], -1)]), r"input 'x'.*element type -1 does not exist"
    yield "text", net(
        [node("Identity", ["x"], ["y"])], inputs=[value("x", [1], STRING)]
    ), r"node 0 .*'y': is declared as f32.*string\[1\]"
    yield "beyond_32_bits", net(RELU, tensors=[tensor("w", [1], 2**32 + 1, raw=b"\0" * 5)]), r"initializer 'w'"
    yield "sequence", net(
        [node("Identity", ["x"], ["y"])], inputs=[field(1, "x") + field(2, field(4, field(1, field(1, field(1, 1)))))]
    ), r"node 0 .*'y': is declared as f32.*a sequence"
    yield "none", net(RELU, inputs=[field(1, "x")]), r"input 'x' is a tensor of unknown type.*must state"


@case(MODEL, "element types smaller than a byte", accepted=r"1 node")
def odd_counts_of_4_bits():
    return net(RELU, tensors=[tensor("w", [3], INT4, raw=b"\0\0"), tensor("v", [1], COMPLEX64, raw=b"\0" * 8)])


@case(MODEL, "element types smaller than a byte", refused=r"initializer 'w'.*3 bytes.*2|initializer 'w'.*1 bytes.*2")
def wrong_counts_of_4_bits():
    yield "longer", net(RELU, tensors=[tensor("w", [3], INT4, raw=b"\0" * 3)])
    yield "shorter", net(RELU, tensors=[tensor("w", [3], INT4, raw=b"\0")])


def sparse(dims, places, numbers=2, index_dims=None):
    values = tensor("w", [numbers], raw=b"\0" * 4 * numbers)
    body = field(1, values) + field(2, i64("", places, index_dims))
    return net(RELU, sparse=[body + b"".join(field(3, d) for d in dims)])


@case(MODEL, "sparse initializers", refused=r"sparse initializer 'w'|initializer 'w'")
def sparse_initializers():
    yield "index_outside", sparse([4], [0, 9]), r"'w'.*9.*4|'w'.*\b9\b"
    yield "index_negative", sparse([4], [-1, 2]), r"'w'.*-1"
    yield "unsorted", sparse([4], [2, 1]), r"'w'.*sorted and distinct"
    yield "twice", sparse([4], [2, 2]), r"'w'.*sorted and distinct"
    yield "product_that_wraps", sparse([2**32, 2**32], [0, 1]), r"'w'.*4294967296"
    yield "index_of_2_to_the_62", sparse([4, 4], [0, 0, 1, 2**62], index_dims=[2, 2]), r"'w'.*4611686018427387904"
    yield "fewer_indices_than_values", sparse([4], [1]), r"'w'"
    yield "negative_dims", sparse([-4], [0, 1]), r"'w'.*-4"


def sizes(op, s, more=(), attributes=(), x=(1,)):
    """A node whose second input is the constant s."""
    return net([node(op, ["x", "s", *more], ["y"], "grow", attributes)], [s], x=x)


def shape_only(op, s):
    return net([node(op, ["s"], ["y"], "grow"), node("Relu", ["x"], ["z"])], [s])


@case(MODEL_AND_PLAN, "operators with outputs of 2^40 to 2^62 elements", refused=r"node 0 'grow'")
def growing_operators():
    for power in (47, 62):
        yield f"constant_of_shape_{power}", shape_only(
            "ConstantOfShape", i64("s", [2**power])
        ), rf"node 0 'grow' \(ConstantOfShape\).*{2**power}"
        yield f"expand_{power}", sizes("Expand", i64("s", [2**power])), rf"node 0 'grow' \(Expand\).*{2**power}"
        yield f"tile_{power}", sizes("Tile", i64("s", [2**power]), x=[3]), rf"node 0 'grow' \(Tile\).*{2**power}"
        yield f"pad_{power}", sizes("Pad", i64("s", [0, 2**power])), rf"node 0 'grow' \(Pad\).*{2**power}"
        yield f"onehot_{power}", net(
            [node("OneHot", ["i", "d", "v"], ["y"], "grow")],
            [i64("i", [0]), i64("d", [2**power], []), f32("v", [0, 1])],
        ), rf"node 0 'grow' \(OneHot\).*{2**power}"
        numbers = [i64("a", [0], []), i64("b", [2**power], []), i64("c", [1], [])]
        yield f"range_{power}", net(
            [node("Range", ["a", "b", "c"], ["y"], "grow")], numbers
        ), rf"node 0 'grow' \(Range\).*{2**power}"
    yield "resize", net(
        [node("Resize", ["x", "", "s"], ["y"], "grow")], [f32("s", [1e30])], x=[4]
    ), r"node 0 'grow' \(Resize\).*scale"
    yield "resize_to_sizes", net(
        [node("Resize", ["x", "", "", "s"], ["y"], "grow")], [i64("s", [2**62])], x=[4]
    ), r"node 0 'grow' \(Resize\).*4611686018427387904"
    yield "nonzero", net(
        [node("Expand", ["x", "s"], ["m"], "expand"), node("NonZero", ["m"], ["y"], "grow")],
        [i64("s", [2**44, 1])],
        x=[1, 1],
    ), r"node 1 'grow' \(NonZero\)|'y'"
    yield "a_million_dims", shape_only(
        "ConstantOfShape", i64("s", [1] * 1_000_000)
    ), r"node 0 'grow' \(ConstantOfShape\).*1000000"
    yield "of_no_count", net(
        [node("ConstantOfShape", ["s"], ["y"], "grow")], inputs=[value("s", [2**40], INT64)]
    ), r"node 0 'grow'.*1099511627776"


@case(MODEL, "large constants that are never allocated", accepted=r"4,294,967,296 B")
def constant_of_4_gb():
    """A hundred bytes that represent 4 GiB."""
    return net([node("ConstantOfShape", ["s"], ["m"]), node("Add", ["x", "m"], ["y"])], [i64("s", [2**30])], x=[1])


def conv(*attributes, x=(1, 4, 9, 9), w=(4, 4, 3, 3)):
    count = 1
    for extent in w:
        count *= extent
    return net([node("Conv", ["x", "w"], ["y"], "conv", attributes)], [tensor("w", w, raw=b"\0" * 4 * count)], x=x)


@case(MODEL, "attributes of convolutions", refused=r"node 0 'conv' \(Conv\)")
def convolutions():
    yield "stride_0", conv(ints("strides", [0, 1])), r"node 0 'conv'.*'strides'.*\b0\b"
    yield "group_0", conv(integer("group", 0)), r"node 0 'conv'.*'group'.*\b0\b"
    yield "kernel_0", conv(ints("kernel_shape", [0, 3])), r"node 0 'conv'.*'kernel_shape'.*\b0\b"
    yield "dilations", conv(ints("dilations", [MOST, 1])), r"node 0 'conv'.*'dilations'.*9223372036854775807"
    yield "pads", conv(ints("pads", [MOST, 0, 0, 0])), r"node 0 'conv'.*'pads'.*9223372036854775807"
    yield "negative_pads", conv(ints("pads", [LEAST, 0, 0, 0])), r"node 0 'conv'.*'pads'.*-9223372036854775808"
    yield "too_few_strides", conv(ints("strides", [1])), r"node 0 'conv'.*strides"
    yield "auto_pad_of_nothing", conv(text("auto_pad", "GARBAGE")), r"node 0 'conv'.*auto_pad.*GARBAGE"
    yield "unknown_attribute", conv(integer("magic", 1)), r"node 0 'conv'.*magic"
    yield "attribute_of_another_type", conv(integer("strides", 1)), r"node 0 'conv'.*strides"
    yield "attribute_twice", conv(integer("group", 1), integer("group", 2)), r"node 0 'conv'.*group"
    yield "attribute_without_type", conv(field(1, "group") + field(3, 2)), r"node 0 'conv'.*group"


def one(op, attributes=(), inputs=("x",), tensors=(), x=(2, 3), outputs=("y",)):
    return net([node(op, list(inputs), list(outputs), "n", attributes)], tensors, x=x)


@case(MODEL, "axes, permutations and splits", refused=r"node 0 'n'")
def axes():
    yield "least", one("Softmax", [integer("axis", LEAST)]), r"node 0 'n' \(Softmax\).*'axis'.*-9223372036854775808"
    yield "rank", one("Concat", [integer("axis", 2)], ("x", "x")), r"node 0 'n' \(Concat\).*axis.*'x' is f32\[2,3\]"
    yield "2_to_the_32", one("Flatten", [integer("axis", 2**32)]), r"node 0 'n' \(Flatten\).*'axis'.*4294967296"
    yield "permutation_with_repeats", one(
        "Transpose", [ints("perm", [1, 1])]
    ), r"node 0 'n' \(Transpose\).*'perm'.*axis 1 twice"
    yield "permutation_outside", one(
        "Transpose", [ints("perm", [0, MOST])]
    ), r"node 0 'n' \(Transpose\).*9223372036854775807"
    yield "split_that_does_not_sum", one(
        "Split", [], ("x", "s"), [i64("s", [1, 5])], outputs=("y", "z")
    ), r"node 0 'n' \(Split\)"
    yield "slice_of_step_0", one(
        "Slice", [], ("x", "a", "b", "c", "d"), [i64("a", [0]), i64("b", [1]), i64("c", [0]), i64("d", [0])]
    ), r"node 0 'n' \(Slice\).*step of 0"
    yield "reshape_of_two_unknowns", one("Reshape", [], ("x", "s"), [i64("s", [-1, -1])]), r"node 0 'n' \(Reshape\).*-1"
    yield "reshape_to_another_count", one(
        "Reshape", [], ("x", "s"), [i64("s", [7])]
    ), r"node 0 'n' \(Reshape\): 'y' is f32\[7\] with 7 elements, but 'x' is .* with 6"
    yield "reshape_that_wraps", one("Reshape", [], ("x", "s"), [i64("s", [2**32, 2**32, 6])]), r"node 0 'n' \(Reshape\)"
    yield "concat_of_nothing", one("Concat", [integer("axis", 0)], ()), r"node 0 'n' \(Concat\).*input"
    yield "squeeze_of_no_1", one("Squeeze", [], ("x", "s"), [i64("s", [0])]), r"node 0 'n' \(Squeeze\)"
    yield "gather_axis", one(
        "Gather", [integer("axis", 5)], ("x", "s"), [i64("s", [0])]
    ), r"node 0 'n' \(Gather\).*axis"
    yield "einsum", one("Einsum", [text("equation", "ij,jk->->k")], ("x", "x")), r"node 0 'n' \(Einsum\)"


@case(MODEL, "slices whose step is the least integer", accepted=r"1 node")
def slice_of_the_least_step():
    constants = [i64("a", [4]), i64("b", [LEAST]), i64("c", [0]), i64("d", [LEAST])]
    return one("Slice", [], ("x", "a", "b", "c", "d"), constants, x=[5])


@case(MODEL, "shape arithmetic without a result", refused=r"node 0 'n'|node \d")
def shape_arithmetic():
    for op, a, b in (("Div", 1, 0), ("Div", LEAST, -1), ("Mod", 1, 0), ("Mod", LEAST, 0)):
        yield f"{op}_{a}_{b}", net(
            [node(op, ["a", "b"], ["s"], "n"), node("Expand", ["x", "s"], ["y"])], [i64("a", [a]), i64("b", [b])], x=[1]
        ), rf"node 0 'n' \({op}\).*{b}"
    yield "negative_size", net(
        [node("Neg", ["a"], ["s"], "n"), node("Expand", ["x", "s"], ["y"], "grow")], [i64("a", [5])], x=[1]
    ), r"'grow' \(Expand\).*-5"


@case(MODEL, "shape arithmetic that wraps around as at run time", accepted=r"f32\[0\]|2 nodes")
def shape_arithmetic_that_wraps():
    """2^32 x 2^32 in 64 bits is 0."""
    product = node("Mul", ["a", "a"], ["s"], "n")
    return net([product, node("Expand", ["x", "s"], ["y"], "grow")], [i64("a", [2**32])], x=[1])


@case(MODEL, "inputs without a reader", accepted=r"1 node")
def unused_inputs():
    return wrap(
        graph(RELU, [value("x", [2]), *(value(f"unused{at}", [2**20]) for at in range(10_000))], [value("y", None)])
    )
