# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Model files whose graphs, bodies and functions are hostile."""

from corpus import MODEL, MODEL_AND_PLAN, case
from onnx_bytes import (
    BOOL,
    INT64,
    LOCAL,
    MOST,
    call,
    chain,
    f32,
    field,
    function,
    graph,
    i64,
    integer,
    ints,
    net,
    node,
    of_graph,
    tensor,
    value,
)


@case(MODEL_AND_PLAN, "cycles", refused=r"cycle of \d+ nodes?")
def cycles():
    yield "of_1", net([node("Add", ["x", "y"], ["y"], "self")]), r"node 0 'self' \(Add\).*cycle of 1 node$"
    yield "of_2", net(
        [node("Add", ["x", "y"], ["m"], "first"), node("Relu", ["m"], ["y"], "second")]
    ), r"node 0 'first' \(Add\).*cycle of 2 nodes"
    nodes = chain(100_000)
    nodes[0] = node("Add", ["x", "y"], ["t0000001"], "first")
    yield "of_100000_nodes", net(nodes), r"node 0 'first' \(Add\).*cycle of 100000 nodes"


@case(MODEL, "a name with two producers", refused=r"is produced twice")
def doubled_names():
    relu = node("Relu", ["x"], ["y"], "a")
    yield "two_nodes", net(
        [relu, node("Neg", ["x"], ["y"], "b")]
    ), r"name 'y' is produced twice: by an output of node 0 'a' and an output of node 1 'b'"
    yield "one_node", net(
        [node("Split", ["x"], ["y", "y"], "a", [integer("axis", 0)])]
    ), r"name 'y' is produced twice: by an output of node 0 'a' and an output of node 0 'a'"
    yield "input", net([relu, node("Neg", ["y"], ["x"], "b")]), r"'x' is .* by input 0 and an output of node 1 'b'"
    yield "initializer", net(
        [relu, node("Neg", ["y"], ["w"], "b")], [f32("w", [1])]
    ), r"name 'w' is produced twice: by initializer 0 and an output of node 1 'b'"
    yield "two_inputs", net([relu], inputs=[value("x", [2]), value("x", [3])]), r"'x' is .* by input 0 and input 1"
    yield "two_initializers", net(
        [relu], [f32("w", [1]), f32("w", [1, 2])]
    ), r"name 'w' is produced twice: by initializer 0 and initializer 1"
    body = graph([node("Relu", ["x"], ["y"])], outputs=[value("y", None)])
    outer = [relu, node("If", ["f"], ["z"], "if", [of_graph("then_branch", body), of_graph("else_branch", body)])]
    yield "around_a_body", net(
        outer, inputs=[value("x", [2]), value("f", [], BOOL)]
    ), r"produces 'y', but an outer graph already has this name"


@case(MODEL, "inputs without a producer", refused=r"node 0 'n'")
def missing_inputs():
    yield "undefined", net(
        [node("Add", ["x", "ghost"], ["y"], "n")]
    ), r"node 0 'n' \(Add\).*reads 'ghost', but no node"
    yield "left_out", net([node("Add", ["x", ""], ["y"], "n")]), r"node 0 'n' \(Add\)"
    yield "too_few", net(
        [node("Add", ["x"], ["y"], "n")]
    ), r"node 0 'n' \(Add\).*input size 1 not in range \[min=2, max=2\]"
    yield "too_many", net(
        [node("Relu", ["x"] * 3, ["y"], "n")]
    ), r"node 0 'n' \(Relu\).*input size 3 not in range \[min=1, max=1\]"
    yield "too_many_outputs", net(
        [node("Relu", ["x"], ["y", "z"], "n")]
    ), r"node 0 'n' \(Relu\).*output size 2 not in range \[min=1, max=1\]"
    yield "no_outputs", net([node("Relu", ["x"], [], "n")]), r"node 0 'n' \(Relu\).*output"
    yield "output_without_name", net([node("Relu", ["x"], [""], "n")]), r"node 0 'n' \(Relu\)|no producer"
    body = graph([node("Relu", ["ghost"], ["t"], "inner")], outputs=[value("t", None)], name="b")
    branches = [of_graph("then_branch", body), of_graph("else_branch", body)]
    yield "in_a_body", net(
        [node("If", ["f"], ["y"], "n", branches)], inputs=[value("f", [], BOOL)]
    ), r"node 0 'n' \(If\).*'ghost'"


@case(
    MODEL, "operators that do not exist", refused=r"3 operators are not supported.*Never.*Nope.*Nothing"
)
def unknown_operators():
    nodes = [
        node("Nope", ["x"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("Never", ["b"], ["c"]),
        node("Nothing", ["c"], ["y"]),
    ]
    return net(nodes)


@case(
    MODEL,
    "operators on values other than dense tensors of numbers",
    refused=r"SequenceConstruct|SequenceEmpty|StringNormalizer",
)
def other_values():
    yield "sequence", net(
        [node("SequenceConstruct", ["x"], ["s"], "n"), node("SequenceAt", ["s", "i"], ["y"])], [i64("i", [0], [])]
    ), r"SequenceConstruct.*'n'"
    yield "empty_sequence", net(
        [node("SequenceEmpty", [], ["s"], "n"), node("Relu", ["x"], ["y"])]
    ), r"SequenceEmpty.*'n'"


@case(MODEL, "nodes that are not in order", accepted=r"not in topological order")
def unsorted_nodes():
    yield "two", net([node("Relu", ["m"], ["y"]), node("Relu", ["x"], ["m"])])
    yield "backwards", net(chain(10_000)[::-1])


@case(MODEL, "outputs of the graph", refused=r"'z'")
def hostile_outputs():
    relu = [node("Relu", ["x"], ["y"])]
    yield "never_made", net(relu, outputs=[value("z", None)]), r"output 'z' of the graph has no producer"
    yield "without_name", net(relu, outputs=[value("", None)]), r"an output of the graph has no name"


@case(MODEL, "outputs that are inputs, constants or repeated", accepted=r"nodes?")
def odd_outputs():
    relu = [node("Relu", ["x"], ["y"])]
    yield "twice", net(relu, outputs=[value("y", None), value("y", None)])
    yield "input", net(relu, outputs=[value("y", None), value("x", None)])
    yield "initializer", net(relu, [f32("w", [1, 2])], outputs=[value("y", None), value("w", None)])
    yield "nothing_but_an_input", net([], outputs=[value("x", None)])


@case(MODEL_AND_PLAN, "wide nodes and long chains", refused=r"'ghost'", is_large=True)
def large_graphs_with_a_fault():
    """The graph is valid except for one name at the end."""
    yield "chain_of_100000", net(
        chain(100_000) + [node("Relu", ["ghost"], ["z"], "last")]
    ), r"node 100000 'last'.*'ghost'"
    readers = [node("Relu", ["x"], [f"r{at}"]) for at in range(50_000)]
    yield "one_tensor_read_50000_times", net(
        readers + [node("Relu", ["ghost"], ["y"], "last")]
    ), r"node 50000 'last'.*'ghost'"
    split = node("Split", ["x"], [f"y{at}" for at in range(200_000)], "wide", [integer("axis", 0)])
    yield "node_of_200000_outputs", net(
        [split], outputs=[value("y0", None)]
    ), r"node 0 'wide' \(Split\).*not evenly splittable"
    yield "node_of_200000_inputs", net(
        [node("Concat", ["x"] * 200_000 + ["ghost"], ["y"], "wide", [integer("axis", 0)])]
    ), r"node 0 'wide'.*'ghost'"


@case(MODEL, "wide nodes and long chains", refused=r"node 0 'wide'")
def wide_nodes():
    many = [integer(f"a{at}", 1) for at in range(300_000)]
    yield "300000_attributes", net([node("Relu", ["x"], ["y"], "wide", many)]), r"node 0 'wide' \(Relu\).*a0"
    yield "one_attribute_300000_times", net(
        [node("Concat", ["x"], ["y"], "wide", [integer("axis", 0)] * 300_000)]
    ), r"node 0 'wide' \(Concat\).*'axis' appeared multiple times"


@case(MODEL, "wide nodes and long chains", accepted=r"nodes?,")
def large_graphs():
    yield "chain_of_20000", net(chain(20_000))
    yield "node_of_20000_inputs", net([node("Concat", ["x"] * 20_000, ["y"], "wide", [integer("axis", 0)])])
    readers = [node("Relu", ["x"], [f"r{at}"]) for at in range(5_000)]
    yield "one_tensor_read_5000_times", net(readers, outputs=[value(f"r{at}", None) for at in range(5_000)])


def nested_ifs(depth, is_in_both=False):
    """Nested Ifs: the innermost graph is inside `depth` others."""
    leaf = graph([node("Relu", ["x"], ["out"])], outputs=[value("out", None)], name="leaf")
    body = leaf
    for level in range(depth - 1):
        names = [f"t{level}"]
        other = (
            body if is_in_both else graph([node("Neg", ["x"], names)], outputs=[value(names[0], None)], name="other")
        )
        branches = [of_graph("then_branch", body), of_graph("else_branch", other)]
        body = graph(
            [node("If", ["f"], [f"o{level}"], f"if{level}", branches)],
            outputs=[value(f"o{level}", None)],
            name=f"g{level}",
        )
    choose = node("If", ["f"], ["y"], "top", [of_graph("then_branch", body), of_graph("else_branch", leaf)])
    return net([choose], inputs=[value("x", [2]), value("f", [], BOOL)])


@case(MODEL, "bodies nested up to the limit", accepted=r"nodes,")
def nested_bodies():
    yield "20", nested_ifs(20)
    yield "32", nested_ifs(32)
    yield "8_in_both_branches", nested_ifs(8, is_in_both=True)


@case(MODEL_AND_PLAN, "bodies nested beyond the limit", refused=r"nested deeper than 32, the limit \(kMaxBodyNesting\)")
def deep_bodies():
    yield "33", nested_ifs(33)
    yield "90", nested_ifs(90)
    yield "3000", nested_ifs(3000)


def function_model(functions, first="f0"):
    return net([call(first, ["x"], ["y"])], functions=functions, opsets=LOCAL)


@case(MODEL_AND_PLAN, "functions that call themselves", refused=r"calls itself|call.* itself")
def recursive_functions():
    yield "directly", function_model([function("f0", ["a"], ["b"], [call("f0", ["a"], ["b"])])]), r"f0"
    ring = [function(f"f{at}", ["a"], ["b"], [call(f"f{(at + 1) % 3}", ["a"], ["b"])]) for at in range(3)]
    yield "in_a_ring", function_model(ring), r"f0.*f1.*f2|f1.*f2.*f0|f2.*f0.*f1"
    body = graph([call("f0", ["a"], ["t"])], outputs=[value("t", None)])
    leaf = graph([node("Relu", ["a"], ["u"])], outputs=[value("u", None)])
    branches = [of_graph("then_branch", body), of_graph("else_branch", leaf)]
    yield "inside_a_branch", function_model(
        [function("f0", ["a"], ["b"], [node("If", ["a"], ["b"], "", branches)])]
    ), r"f0"
    long_ring = [
        function(f"f{at}", ["a"], ["b"], [call(f"f{(at + 1) % 20_000}", ["a"], ["b"])]) for at in range(20_000)
    ]
    yield "in_a_ring_of_20000", function_model(long_ring), r"f\d+"


def doubling(depth, leaf=None):
    """f0 calls f1 twice, f1 calls f2 twice, ..."""
    functions = [
        function(f"f{at}", ["a"], ["b"], [call(f"f{at + 1}", ["a"], ["t"]), call(f"f{at + 1}", ["t"], ["b"])])
        for at in range(depth)
    ]
    return function_model([*functions, function(f"f{depth}", ["a"], ["b"], leaf or [node("Relu", ["a"], ["b"])])])


@case(MODEL, "functions that multiply nodes", accepted=r"nodes,")
def small_doubling():
    return doubling(10)


@case(MODEL_AND_PLAN, "functions that multiply nodes", refused=r"f0|f\d+|nodes")
def function_bombs():
    """A few thousand bytes that would become at least 2^40 nodes."""
    yield "20", doubling(20), r"1048576|nodes"
    yield "40", doubling(40), r"nodes"
    yield "62", doubling(62), r"nodes"
    yield "90", doubling(90), r"nodes"
    # Raw data would stay in the file. A list of numbers is part of the node.
    listed_floats = tensor("c", [25_000], more=field(4, bytes(100_000)))
    yield "of_large_constants", doubling(
        12,
        [
            node("Constant", [], ["c"], "", [field(1, "value") + field(5, listed_floats) + field(20, 4)]),
            node("Add", ["a", "c"], ["b"]),
        ],
    ), r"bytes|nodes"
    wide = [
        function(
            f"f{at}",
            ["a"],
            ["b"],
            [call(f"f{at + 1}", ["a"], ["b"] if copy == 0 else [f"t{copy}"]) for copy in range(100)],
        )
        for at in range(5)
    ]
    yield "by_hundreds", function_model([*wide, function("f5", ["a"], ["b"], [node("Relu", ["a"], ["b"])])]), r"nodes"


@case(MODEL, "functions that multiply nodes", refused=r"bodies|nodes|kMaxBodyNesting")
def branching_bombs():
    """Both branches of an If call the next function: 2^40 leaves, and 40 nested bodies."""
    functions = []
    for at in range(40):
        branches = [
            of_graph(f"{side}_branch", graph([call(f"f{at + 1}", ["a"], [side])], outputs=[value(side, None)]))
            for side in ("then", "else")
        ]
        functions.append(function(f"f{at}", ["a"], ["b"], [node("If", ["a"], ["b"], "", branches)]))
    return function_model([*functions, function("f40", ["a"], ["b"], [node("Relu", ["a"], ["b"])])])


@case(MODEL, "deeply nested calls", refused=r"100.*\(kMaxCallDepth\)")
def deep_calls():
    for depth in (101, 20_000):
        ring = [function(f"f{at}", ["a"], ["b"], [call(f"f{at + 1}", ["a"], ["b"])]) for at in range(depth)]
        yield str(depth), function_model([*ring, function(f"f{depth}", ["a"], ["b"], [node("Relu", ["a"], ["b"])])])


@case(MODEL, "invalid functions", refused=r"f0|ghost")
def odd_functions():
    relu = [node("Relu", ["a"], ["b"])]
    yield "twice", function_model([function("f0", ["a"], ["b"], relu)] * 2), r"f0"
    yield "missing", function_model([]), r"f0"
    yield "with_more_inputs", net(
        [call("f0", ["x", "x"], ["y"])], functions=[function("f0", ["a"], ["b"], relu)], opsets=LOCAL
    ), r"f0"
    yield "output_not_made", function_model([function("f0", ["a"], ["ghost"], relu)]), r"ghost|'y'"


def loop(count, body, carried=("x",), outputs=("y",), condition=""):
    return net(
        [node("Loop", ["n", condition, *carried], list(outputs), "loop", [of_graph("body", body)])],
        [i64("n", [count], [])],
    )


def loop_body(result, more=()):
    inputs = [value("i", [], INT64), value("c", [], BOOL), value("s", None)]
    nodes = [node("Identity", ["c"], ["d"]), *result]
    return graph(nodes, inputs, [value("d", [], BOOL), value("t", None), *more], name="body")


RELU = [node("Relu", ["s"], ["t"])]


@case(MODEL, "infinite loops", accepted=r"nodes")
def endless_loops():
    """The body is planned once."""
    return loop(MOST, loop_body(RELU))


@case(MODEL, "infinite loops", refused=r"'loop'.*--at-most")
def doubling_loops():
    """A size of 2^1000 is not followed, and inspect shows it as unknown."""
    return loop(1000, loop_body([node("Concat", ["s", "s"], ["t"], "", [integer("axis", 0)])]))


@case(MODEL_AND_PLAN, "infinite loops", refused=r"'loop'|'scan'")
def growing_loops():
    yield "that_collect", loop(
        MOST, loop_body(RELU, [value("t", None)]), outputs=("y", "all")
    ), r"node 0 'loop' \(Loop\)|'all'"
    yield "of_another_count", net(
        [node("Loop", ["n", "", "x"], ["y", "z"], "loop", [of_graph("body", loop_body(RELU))])], [i64("n", [1], [])]
    ), r"node 0 'loop'"
    yield "without_a_body", net(
        [node("Loop", ["n", "", "x"], ["y"], "loop")], [i64("n", [1], [])]
    ), r"node 0 'loop'.*body"
    body = graph([node("Relu", ["e"], ["o"])], [value("e", None)], [value("o", None)])
    yield "scan_of_minus_1_inputs", net(
        [node("Scan", ["x"], ["y"], "scan", [of_graph("body", body), integer("num_scan_inputs", -1)])]
    ), r"node 0 'scan' \(Scan\).*num_scan_inputs.*-1"
    yield "scan_of_many_inputs", net(
        [node("Scan", ["x"], ["y"], "scan", [of_graph("body", body), integer("num_scan_inputs", 5)])]
    ), r"node 0 'scan' \(Scan\)"
    yield "scan_along_no_axis", net(
        [
            node(
                "Scan",
                ["x"],
                ["y"],
                "scan",
                [of_graph("body", body), integer("num_scan_inputs", 1), ints("scan_input_axes", [7])],
            )
        ]
    ), r"node 0 'scan' \(Scan\).*axis|node 0 'scan' \(Scan\)"


@case(MODEL, "nested loops with growing states", refused=r"node_visits_left|'loop|depend")
def nested_growing_loops():
    """Each level is inferred until its sizes are stable, so the work multiplies."""

    def body(depth):
        c, d, i, inner, outer = (f"{name}{depth}" for name in "cdist")
        if depth == 1:
            grow = node("Concat", [inner, inner], [outer], "", [integer("axis", 0)])
        else:
            grow = node("Loop", ["n", "", inner], [outer], f"loop{depth}", [of_graph("body", body(depth - 1))])
        inputs = [value(i, [], INT64), value(c, [], BOOL), value(inner, None)]
        return graph(
            [node("Identity", [c], [d]), grow], inputs, [value(d, [], BOOL), value(outer, None)], name=f"b{depth}"
        )

    for depth in (2, 12, 30):
        yield str(depth), net(
            [node("Loop", ["n", "", "x"], ["y"], "loop", [of_graph("body", body(depth))])], [i64("n", [5], [])]
        )


@case(MODEL, "bodies with hostile inputs and outputs", refused=r"'if'|'then_branch'|'b'")
def odd_bodies():
    def choose(*branches, outputs=("y",)):
        attributes = [of_graph(name, body) for name, body in branches]
        return net([node("If", ["f"], list(outputs), "if", attributes)], inputs=[value("x", [2]), value("f", [], BOOL)])

    relu = graph([node("Relu", ["x"], ["t"])], outputs=[value("t", None)], name="b")
    whole = graph([node("Cast", ["x"], ["t"], "", [integer("to", INT64)])], outputs=[value("t", None)], name="b")
    yield "no_else", choose(("then_branch", relu)), r"node 0 'if' \(If\).*else_branch"
    yield "other_types", choose(("then_branch", relu), ("else_branch", whole)), r"node 0 'if' \(If\)"
    yield "no_outputs", choose(("then_branch", relu), ("else_branch", graph([], name="b"))), r"node 0 'if' \(If\)"
    with_input = graph([node("Relu", ["q"], ["t"])], [value("q", [2])], [value("t", None)], name="b")
    yield "with_inputs", choose(("then_branch", relu), ("else_branch", with_input)), r"node 0 'if' \(If\)"
    yield "cycle_inside", choose(
        ("then_branch", relu),
        ("else_branch", graph([node("Relu", ["t"], ["t"], "self")], outputs=[value("t", None)], name="b")),
    ), r"node 0 'self'.*cycle of 1 node"
