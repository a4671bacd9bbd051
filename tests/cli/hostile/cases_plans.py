# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plan files that are not plans, contradict themselves, or are wrong for their model."""

import json

from cases_model_bytes import special_files
from corpus import PLAN, SHOWN_PLAN, WRONG_PLAN, case

MOST_BYTES = 2**55


@case(SHOWN_PLAN, "an empty file", refused=r"bad\.json:1:1: not a plan file: expected an object, found the end")
def empty_plan():
    return b""


@case(PLAN, "truncated files", refused=r"bad\.json:\d+:\d+.*(expected|ends inside|needs four)")
def plan_cut(base):
    """At every byte of the beginning, and at every 64th after that."""
    text = base.plan_text.rstrip()
    for length in [*range(1, 120), *range(120, len(text), 64)]:
        yield str(length), text[:length]


@case(SHOWN_PLAN, "files that are too large or not regular files", refused=r"bad\.json")
def special_plans():
    yield from special_files(2**32, r"exceeds the limit of 4,294,967,296 B")


@case(PLAN, "another form or version", refused=r"bad\.json")
def other_versions(base):
    yield "version_4", base.plan_with(
        (("schema_version",), 4)
    ), r"schema_version 4 is not understood; this program reads version 1:"
    yield "version_0", base.plan_with((("schema_version",), 0)), r"schema_version 0 is not understood"
    yield "version_of_2_to_the_64", base.plan_with((("schema_version",), 2**64)), r"18446744073709551616"
    yield "version_as_text", base.plan_with((("schema_version",), "1")), r"\$?.*a version.*found"
    yield "another_format", base.plan_with((("format",), "lowtide.graph")), r"'format' is 'lowtide.graph'"
    yield "no_version", json.dumps({"format": "lowtide.plan"}), r"'schema_version' is missing"
    yield "another_legend", base.plan_with(
        (("columns", "buffers", 1), "size")
    ), r"\$\.columns\.buffers.*expected 'bytes', found 'size'"
    yield "a_list", "[]", r"not a plan file: expected an object"


@case(PLAN, "invalid or too deeply nested JSON", refused=r"bad\.json:\d+:\d+")
def bad_json(base):
    text = base.plan_text
    yield "depth_100000", "[" * 100_000, r"expected an object"
    yield "depth_100000_inside", text.replace(
        '"dims": []', '"dims": ' + "[" * 100_000
    ), r"nested deeper than the limit of 64 \(kMaxTextDepth\)"
    yield "objects_of_depth_100000", '{"a":' * 100_000, r"nested deeper than the limit of 64 \(kMaxTextDepth\)"
    yield "key_twice", text.replace(
        '"schema_version": 1,', '"schema_version": 1, "schema_version": 1,'
    ), r"key 'schema_version' is repeated"
    yield "number_of_1e400", text.replace('"arena": [', '"arena": [1e400, '), r"\$\.arena\[0\].*found '1e400'"
    yield "number_of_1e3", text.replace('"arena": [', '"arena": [1e3, '), r"\$\.arena\[0\].*found '1e3'"
    yield "number_of_1.0", text.replace('"arena": [', '"arena": [1.0, '), r"\$\.arena\[0\].*found '1.0'"
    yield "leading_zero", text.replace('"arena": [', '"arena": [007, '), r"found '007"
    yield "a_million_zeros", text.replace(
        '"arena": [', '"arena": [' + "0, " * 1_000_000
    ), r"\$\.arena.*length 1000001;.*regions"
    yield "a_number_of_a_million_digits", text.replace(
        '"arena": [', '"arena": [' + "9" * 1_000_000 + ", "
    ), r"\$\.arena\[0\].*found '9+"
    yield "not_a_number", text.replace('"arena": [', '"arena": [NaN, '), r"found 'NaN'"
    yield "infinity", text.replace('"arena": [', '"arena": [-Infinity, '), r"found '-Infinity'"
    yield "text_after_the_end", text + "x", r"expected the end of the text, found 'x'"
    yield "comment", "// a plan\n" + text, r"1:1.*expected an object"
    yield "byte_order_mark", b"\xef\xbb\xbf" + text.encode(), r"1:1.*expected an object"
    yield "no_utf8", text.encode().replace(b'"dense"', b'"\xff\xfe"'), r"a string is not UTF-8"
    yield "zero_byte", text.replace('"dense"', '"de\0nse"'), r"a string has an unescaped control character"
    yield "half_a_surrogate", text.replace('"dense"', '"\\ud800"'), r"half of a surrogate pair"
    yield "unknown_escape", text.replace('"dense"', '"\\q"'), r"escape that JSON does not know"
    yield "backslash_alone", text.replace('"dense"', '"\\\\q"'), r"\$\.provenance\.target.*backslash in a name"
    yield "a_string_of_20_MB", text.replace(
        '"dense"', '"' + "x" * 20_000_000
    ), r"ends inside a string|control character"
    yield "20_MB_of_blanks", " " * 20_000_000, r"found the end of the text"


@case(PLAN, "keys and rows that are missing, unknown or too long", refused=r"\$")
def bad_keys(base):
    def without(key):
        plan = dict(base.plan)
        del plan[key]
        return json.dumps(plan)

    for key in ("features", "provenance", "machine", "streams", "buffers", "steps", "outputs", "body_plans"):
        yield f"without_{key}", without(key), rf"key '{key}' is missing"
    yield "unknown_key", base.plan_with((("scores",), 1)), r"unknown key 'scores'; the keys here are format"
    yield "unknown_key_inside", base.plan_with((("claims", "speed"), 1)), r"\$\.claims.*unknown key 'speed'"
    row = base.plan["buffers"][0]
    yield "short_row", base.plan_with((("buffers", 0), row[:-1])), r"\$\.buffers\[0\].*6 columns instead of 7"
    yield "long_row", base.plan_with((("buffers", 0), row + [1])), r"\$\.buffers\[0\].*more than 7 columns"
    yield "row_of_text", base.plan_with((("steps", 1), "nothing")), r"\$\.steps\[1\].*expected a row, found"
    yield "unknown_kind", base.plan_with((("buffers", 0, 0), "secret")), r"\$\.buffers\[0\]\.kind.*found 'secret'"
    yield "unknown_kind_of_step", base.plan_with((("steps", 0, 0), "secret")), r"\$\.steps\[0\]\.kind.*found 'secret'"
    yield "unknown_feature", base.plan_with((("features",), ["telepathy"])), r"\$\.features\[0\].*needs 'telepathy'"
    yield "feature_that_is_not_used", base.plan_with(
        (("features",), sorted({*base.plan["features"], "recompute"}))
    ), r"\$\.features.*the plan uses"
    yield "unknown_execution", base.plan_with((("execution",), "free")), r"\$\.execution.*found 'free'"
    yield "unknown_scope", base.plan_with((("claims", "bounds", 0, "scope"), "all")), r"\$\.claims.*found 'all'"
    yield "unknown_type", base.plan_with((("tensors", 0, 1), "f31[1]")), r"\$\.tensors\[0\]\.type.*found 'f31\[1\]'"


def id_columns(base):
    """The places of the columns whose numbers refer to other tables."""
    step = next(at for at, row in enumerate(base.plan["steps"]) if row[4])
    return {
        "steps_node": ("steps", 0, 1),
        "steps_kernel": ("steps", next(at for at, row in enumerate(base.plan["steps"]) if row[0] == "compute"), 2),
        "reads": ("steps", step, 4, 0),
        "writes": ("steps", 0, 5, 0),
        "scratch": ("steps", 0, 6),
        "stream": ("steps", 0, 7),
        "values_tensor": ("values", 0, 0),
        "values_written": ("values", 0, 1),
        "values_buffer": ("values", 0, 2),
    }


@case(PLAN, "ids that refer to nothing", refused=r"\$\.(steps|values)\[\d+\].*does not exist|\$\.(steps|values)\[\d+\]")
def bad_ids(base):
    for label, path in id_columns(base).items():
        yield f"{label}_beyond", base.plan_with(
            (path, 6000)
        ), rf"\$\.{path[0]}\[{path[1]}\].* 6000 does not exist; the number of [a-z]+ is \d+"
        yield f"{label}_of_2_to_the_32", base.plan_with(
            (path, 2**32)
        ), rf"\$\.{path[0]}\[{path[1]}\].*found '4294967296'"
        yield f"{label}_negative", base.plan_with((path, -1)), rf"\$\.{path[0]}\[{path[1]}\].*found '-1'"
        yield f"{label}_as_text", base.plan_with((path, "0")), rf"\$\.{path[0]}\[{path[1]}\].*found"
    yield "region", base.plan_with(
        (("buffers", 1, 4), 7), (("buffers", 1, 5), 0)
    ), r"\$\.buffers\[1\].*region 7 does not exist; the number of regions is 1"


@case(PLAN, "invalid sizes and offsets", refused=r"\$")
def bad_sizes(base):
    placed = next(at for at, row in enumerate(base.plan["buffers"]) if row[4] is not None)
    columns = {
        "bytes": ("buffers", placed, 1),
        "offset": ("buffers", placed, 5),
        "value_offset": ("values", 0, 3),
        "arena": ("arena", 0),
        "capacity": ("machine", "regions", 0, "capacity"),
    }
    for label, path in columns.items():
        place = r"\$\.machine\.regions\[0\]" if path[0] == "machine" else rf"\$\.{path[0]}\[{path[1]}\]"
        yield f"{label}_negative", base.plan_with((path, -64)), rf"{place}.*found '-64'"
        yield f"{label}_of_2_to_the_55", base.plan_with(
            (path, MOST_BYTES)
        ), rf"{place}.*36028797018963967\]\), found '36028797018963968'"
        yield f"{label}_of_2_to_the_63", base.plan_with((path, 2**63)), rf"{place}.*found '9223372036854775808'"
        yield f"{label}_of_2_to_the_64", base.plan_with((path, 2**64 - 64)), rf"{place}.*found '18446744073709551552'"
        yield f"{label}_real", base.plan_with((path, 0.5)), rf"{place}.*found '0.5'"
    for number in (0, 3, -8, 2**31, 2**40):
        yield f"alignment_{number}", base.plan_with(
            (("machine", "regions", 0, "alignment"), number)
        ), rf"\$\.machine\.regions\[0\]\.alignment.*{number}"
    yield "tensor_of_other_bytes", base.plan_with((("tensors", 0, 3), 1)), r"\$\.tensors\[0\]\.bytes.*found '1'"
    yield "extent_that_wraps", base.plan_with(
        (("tensors", 0, 1), "f32[4294967296,4294967296]")
    ), r"\$\.tensors\[0\]\.type"
    yield "sum_that_wraps", base.plan_with(
        *((("buffers", at, 1), MOST_BYTES - 1) for at in range(len(base.plan["buffers"]))),
        (("buffers",), [["temporary", MOST_BYTES - 1, 0, 1, 0, 0, []]] * 200),
    ), r"all arenas and buffers must add up to at most 4611686018427387903 \(kMaxTotalBytes\)"
    yield "empty_lifespan", base.plan_with(
        (("buffers", placed, 2), 3), (("buffers", placed, 3), 3)
    ), rf"\$\.buffers\[{placed}\]"
    yield "reversed_lifespan", base.plan_with(
        (("buffers", placed, 2), 3), (("buffers", placed, 3), 2)
    ), rf"\$\.buffers\[{placed}\]"
    yield "lifespan_beyond_the_end", base.plan_with(
        (("buffers", placed, 3), 4_000_000_000)
    ), rf"\$\.buffers\[{placed}\].*4000000000"
    yield "offset_without_region", base.plan_with(
        (("buffers", placed, 4), None)
    ), rf"\$\.buffers\[{placed}\]\.offset.*null"
    yield "other_counts", base.plan_with((("provenance", "nodes"), 3)), r"\$\.provenance\.nodes.*says 3"
    yield "counts_of_2_to_the_40", base.plan_with(
        (("provenance", "tensors"), 2**40)
    ), r"\$\.provenance\.tensors.*1099511627776"


@case(PLAN, "bodies without their node or step", refused=r"\$\.(bodies|body_plans)")
def bad_bodies(base):
    yield "parent_of_its_own", base.plan_with((("bodies", 0, "parent"), 0)), r"\$\.bodies\[0\]"
    yield "parent_after_it", base.plan_with((("bodies", 0, "parent"), 1)), r"\$\.bodies\[0\]"
    yield "parent_negative", base.plan_with(
        (("body_plans", 0, "parent"), -1)
    ), r"\$\.body_plans\[0\]\.parent.*found '-1'"
    yield "node", base.plan_with((("bodies", 0, "node"), 99)), r"\$\.bodies\[0\]\.node.*node 99 does not exist"
    yield "step", base.plan_with((("body_plans", 0, "step"), 99)), r"\$\.body_plans\[0\]\.step.*step 99 does not exist"
    yield "step_of_another_node", base.plan_with(
        (("body_plans", 0, "step"), 0)
    ), r"\$\.body_plans\[0\]\.body.*no such body"
    yield "name", base.plan_with((("body_plans", 0, "body"), "both")), r"\$\.body_plans\[0\]\.body.*'both'"
    deep = [dict(base.plan["bodies"][0], parent=None if at == 0 else at - 1, node=0) for at in range(40)]
    yield "nested_40_deep", base.plan_with((("bodies",), deep)), r"\$\.bodies\[32\].*32 \(kMaxBodyNesting\)"
    many = [dict(base.plan["body_plans"][0], parent=None if at == 0 else at - 1) for at in range(3000)]
    yield "nested_3000_deep", base.plan_with((("body_plans",), many)), r"\$\.body_plans\[32\].*32 \(kMaxBodyNesting\)"


@case(WRONG_PLAN, "plans that are wrong for their model", wrong=r"")
def wrong_plans(base):
    plan = base.plan
    steps, buffers = plan["steps"], plan["buffers"]
    placed = [at for at, row in enumerate(buffers) if row[4] is not None and row[1] > 0]
    largest = max(placed, key=lambda at: buffers[at][1])
    yield "another_model", base.plan_with((("provenance", "model_sha256"), "0" * 64)), r"wrong_model.*'000000000000'"
    yield "of_unknown_model", base.plan_with((("provenance", "model_sha256"), ""), (("arena", 0), 0)), r"out_of_region"
    yield "steps_swapped", base.plan_with((("steps", 0), steps[1]), (("steps", 1), steps[0])), r"step \d"
    recompute = sorted({*plan["features"], "recompute"})
    yield "step_twice", base.plan_with(
        (("features",), recompute), (("steps",), [*steps[:-1], steps[0]])
    ), r"missing_step"
    yield "offset_misaligned", base.plan_with((("buffers", largest, 5), buffers[largest][5] + 1)), r"align"
    yield "offset_beyond_the_arena", base.plan_with((("buffers", largest, 5), MOST_BYTES - 64)), r"out_of_region"
    yield "end_that_wraps", base.plan_with(
        (("buffers", largest, 5), MOST_BYTES - 64), (("buffers", largest, 1), MOST_BYTES - 64)
    ), r"out_of_region|wrong"
    yield "arena_too_small", base.plan_with((("arena", 0), max(0, plan["arena"][0] - 64))), r"out_of_region"
    yield "arena_of_nothing", base.plan_with((("arena", 0), 0)), r"out_of_region"
    yield "buffer_too_small", base.plan_with((("buffers", largest, 1), 1)), r"tensor|bytes"
    yield "all_at_one_offset", base.plan_with(*((("buffers", at, 5), 0) for at in placed)), r"overlap|clobber"
    yield "capacity_too_small", base.plan_with((("machine", "regions", 0, "capacity"), 64)), r"capacity|out_of_region"
    yield "claims_more", base.plan_with((("claims", "load"), 1)), r"load"
    yield "bound_above_the_arena", base.plan_with((("claims", "bounds", 0, "bytes"), 2**40)), r"bound"
