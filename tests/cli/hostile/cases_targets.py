# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Target files."""

from cases_model_bytes import special_files
from corpus import TARGET, case
from mutants import MACHINE


def changed(before, after):
    assert before in MACHINE, before
    return MACHINE.replace(before, after)


@case(TARGET, "an empty file", refused=r"bad\.toml:\d+:\d+: target: (name|region) is missing")
def empty_target():
    return b""


@case(TARGET, "files that are too large or not regular files", refused=r"bad\.toml")
def special_targets():
    yield from special_files(2**20, r"1048576|1,048,576")


@case(TARGET, "truncated files", refused=r"bad\.toml:\d+:\d+")
def target_cut():
    text = '[[region]]\nname = "sram"\ncapacity = "256KiB"\n'
    for length in range(1, len(text)):
        yield str(length), text[:length]


@case(TARGET, "invalid or too deeply nested TOML", refused=r"bad\.toml:\d+:\d+")
def bad_toml():
    yield "arrays_100000_deep", "a = " + "[" * 100_000, r"bad\.toml:1:"
    yield "tables_10000_deep", "a = " + "{a=" * 10_000, r"bad\.toml:1:"
    yield "keys_100000_deep", "a" + ".a" * 100_000 + " = 1", r"kMaxTextDepth"
    yield "headers_100000_deep", "[a" + ".a" * 100_000 + "]", r"kMaxTextDepth"
    most = 2**20 - 20
    yield "many_dots", "".join(
        f"[t{at}" + ".a" * 60 + "]\n" for at in range(7500)
    ), r"bad\.toml:\d+:\d+: more than 65536 dots in the file \(kMostDots\)"
    yield "many_numbers", "a = [" + "1," * (most // 2) + "]", r"unknown key"
    yield "many_arrays", "a = [" + "[]," * (most // 3) + "]", r"unknown key"
    yield "many_tables", "a = [" + "{}," * (most // 3) + "]", r"unknown key"
    yield "many_tables_of_one_key", "a = [" + "{a=1}," * (most // 6) + "]", r"unknown key"
    yield "many_tables_in_tables", "a = [" + "{a={}}," * (most // 7) + "]", r"unknown key"
    yield "many_regions", "[[region]]\n" * (most // 11), r"region 0: name is missing|target: name is missing"
    yield "many_keys", "".join(f"{at:x}=1\n" for at in range(most // 8)), r"unknown key"
    yield "zero_byte", changed('"sram"', '"sr\0am"'), r"bad\.toml:6:.*control character"
    yield "no_utf8", MACHINE.encode().replace(b'"sram"', b'"\xff\xfe"'), r"bad\.toml:6:|UTF-8"
    yield "key_twice", changed("alignment = 16", "alignment = 16\nalignment = 16"), r"bad\.toml:9:"
    yield "text_without_end", changed('"sram"', '"sram'), r"bad\.toml:[67]:"
    yield "three_quotes", changed('"sram"', '"""sram"""'), r"bad\.toml:6:8: a text in three quotes"
    yield "old_line_ends", MACHINE.replace("\n", "\r"), r"bad\.toml:1:.*control character"
    yield "a_text_of_1_MB", 'name = "' + "x" * 1_000_000 + '"', r"1000000 bytes is above .* 65536 \(kMaxNameBytes\)"
    yield "json", '{"name": "sram"}', r"bad\.toml:1:"
    yield "binary", b"\x7fELF\x02\x01\x01\0", r"bad\.toml:1:1.*control character"


@case(TARGET, "keys that are missing, unknown, or of another type", refused=r"bad\.toml:\d+:\d+")
def bad_keys_of_targets():
    yield "unknown", changed("count = 2", "cuont = 2"), r"worker 0: unknown key 'cuont'; the keys here are name, count"
    yield "unknown_at_the_top", "speed = 1\n" + MACHINE, r"target: unknown key 'speed'"
    yield "no_name", changed('name = "core"\n', ""), r"worker 0: name is missing"
    yield "no_region", 'name = "m"\n', r"target: region is missing"
    yield "a_table_for_a_list", 'name = "m"\n[region]\nname = "r"\n', r"region should be written \[\[region\]\]"
    yield "a_number_for_a_name", changed('"sram"', "5"), r"region 0: name should be a text in quotes, not the integer 5"
    yield "a_text_for_a_boolean", changed(
        "in_place = false", 'in_place = "no"'
    ), r"kernel 0: in_place should be true or false, not the text 'no'"
    yield "name_twice", changed('"flash"', '"sram"'), r"region 1: name 'sram' is also the name of region 0"
    yield "link_to_nowhere", changed(
        'to = "flash"', 'to = "disk"'
    ), r"link 0: to refers to the region 'disk', which does not exist; the regions are 'sram', 'flash'"
    yield "link_to_itself", changed('to = "flash"', 'to = "sram"'), r"link 0: to is the same region as from"
    yield "version_2", changed(
        "schema_version = 1", "schema_version = 2"
    ), r"target: schema_version should be an integer from 1 to 1, not the integer 2"
    yield "malformed_operator", changed('"Conv"', '"::"'), r"kernel 0: operator should be .*not '::'"
    yield "empty_name", changed('"sram"', '""'), r"region 0: name is empty"


@case(
    TARGET,
    "invalid costs and rates",
    refused=r"bad\.toml:1[5-9]:\d+: link 0: (bytes_per_second|latency_seconds)",
)
def bad_reals():
    for label, number in (
        ("nan", "nan"),
        ("infinity", "inf"),
        ("minus_infinity", "-inf"),
        ("negative", "-1.0"),
        ("1e308", "1e308"),
        ("text", '"1,5"'),
        ("empty", '""'),
        ("boolean", "true"),
        ("date", "1979-05-27"),
    ):
        yield f"{label}_as_rate", changed(
            "1e6", number
        ), r"link 0: bytes_per_second should be a number from 1 to 1e\+18, not"
        yield f"{label}_as_latency", changed(
            "0.5", number
        ), r"link 0: latency_seconds should be a number from 0 to 1e\+06, not"
    yield "1e400", changed("1e6", "1e400"), r"bad\.toml:16:"
    yield "0_as_rate", changed("1e6", "0"), r"bytes_per_second should be a number from 1"
    yield "comma", changed("1e6", "1,5"), r"bad\.toml:16:"


@case(TARGET, "invalid capacities", refused=r"bad\.toml:7:\d+")
def capacities():
    for label, size in (
        ("0", "0"),
        ("1_negative", "-1"),
        ("2_to_the_55", str(2**55)),
        ("2_to_the_63_less_1", str(2**63 - 1)),
    ):
        yield label, changed(
            '"256KiB"', size
        ), r"region 0: capacity is .* and should be from 1 to 36028797018963967 bytes"
    for label, size in (
        ("text_of_0", '"0"'),
        ("half_a_unit", '"64Gi"'),
        ("other_unit", '"256KB"'),
        ("overflow_in_the_unit", '"9223372036854775807KiB"'),
        ("overflow_to_a_small_number", '"18014398509481985KiB"'),
        ("negative_text", '"-1KiB"'),
        ("real", "1.5"),
        ("nan", "nan"),
        ("nan_text", '"nan"'),
        ("empty", '""'),
        ("exponent", '"1e3"'),
        ("boolean", "true"),
    ):
        yield label, changed('"256KiB"', size), r"region 0: capacity "
    for label, size in (("2_to_the_63", str(2**63)), ("2_to_the_64", str(2**64)), ("a_thousand_digits", "9" * 1000)):
        yield label, changed('"256KiB"', size), r"bad\.toml:7:\d+: (not TOML|region 0: capacity)"


@case(TARGET, "alignments, counts and factors", refused=r"bad\.toml:\d+:\d+: ")
def counts():
    for number in (0, 3, -8, 2**31, 2**40):
        yield f"alignment_{number}", changed(
            "alignment = 16", f"alignment = {number}"
        ), rf"bad\.toml:8:\d+: region 0: alignment is {number}"
    yield "workers_0", changed(
        "count = 2", "count = 0"
    ), r"worker 0: count should be an integer from 1 to 1000000, not the integer 0"
    yield "workers_2_to_the_32", changed(
        "count = 2", "count = 4294967297"
    ), r"worker 0: count .*not the integer 4294967297"
    yield "factor_negative", changed("byte = 9", "byte = -9"), r"kernel 0: scratch_per_input_byte .*not the integer -9"
    yield "factor_2_to_the_62", changed(
        "byte = 9", f"byte = {2**62}"
    ), r"kernel 0: scratch_per_input_byte .*not the integer 4611686018427387904"
    yield "scratch_2_to_the_48", changed(
        '"1KiB"', '"256TiB"'
    ), r"kernel 0: scratch is 281474976710656 .*\(kMaxTensorBytes\)"


@case(TARGET, "machines on which nothing fits", wrong=r"1,\d{3}|fit|Proven|short")
def small_machines():
    machine = MACHINE.replace('name = "flash"', 'name = "flash"\ncapacity = 64')
    yield "of_1_byte", machine.replace('"256KiB"', "1")
    yield "of_huge_scratch", machine.replace("byte = 9", "byte = 1000000")
