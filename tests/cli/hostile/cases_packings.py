# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packing problems as CSV."""

from cases_model_bytes import special_files
from corpus import PACKING, SLOTS, case

HEADER = "id,lower,upper,size\n"
WIDE = "id,lower,upper,size,alignment,offset,gaps\n"


@case(PACKING, "an empty file", refused=r"line 1: there is no header")
def empty_packing():
    yield "of_no_bytes", b""
    yield "of_a_line_end", "\n"


@case(PACKING, "files that are too large or not regular files", refused=r"bad\.csv")
def special_packings():
    yield from special_files(2**31 - 1, r"2147483647 \(kMaxFileBytes\)")


@case(PACKING, "truncated files", refused=r"line \d")
def packing_cut():
    text = HEADER + "a,0,3,64\nb,2,10,128\n"
    for length in [*range(1, len(HEADER) - 1), *range(len(HEADER) + 1, len(HEADER) + 7)]:
        yield str(length), text[:length]


@case(PACKING, "headers", refused=r"line 1")
def packing_headers():
    yield "unknown_column", "id,lower,upper,size,colour\na,0,1,1,red\n", r"'colour': this column is unknown; .*id"
    yield "column_twice", "id,lower,upper,size,size\n", r"line 1, column 'size': .*twice"
    yield "column_missing", "id,lower,upper\na,0,1\n", r"line 1, column 'size': the header lacks this required column"
    yield "other_case", "ID,lower,upper,size\n", r"line 1, column 'ID'"
    yield "with_a_blank", "id, low er, upper, size\n", r"line 1, column 'low er'"
    yield "a_million_columns", "id," * 1_000_000, r"line 1, column 'id': this column appears twice"
    yield "column_of_20_MB", "x" * 20_000_000, r"line 1, column 'x+"
    yield "other_file", b"\x89PNG\r\n\x1a\n\0\0\0", r"line 1"


@case(PACKING, "invalid numbers", refused=r"line 2, column")
def packing_numbers():
    for label, number in (
        ("nan", "NaN"),
        ("infinity", "inf"),
        ("negative", "-1"),
        ("plus", "+1"),
        ("real", "1.5"),
        ("exponent", "1e308"),
        ("comma", '"1'),
        ("empty", ""),
        ("blank", "1 0"),
        ("hex", "0x10"),
        ("unit", "64KiB"),
        ("other_digits", "\u0661"),
        ("grouped", "1_000"),
        ("minus_zero", "-0"),
        ("2_to_the_63", str(2**63)),
        ("2_to_the_64", str(2**64)),
        ("a_million_digits", "9" * 1_000_000),
        ("terminal_codes", "\x1b[31m"),
        ("format", "%s%n"),
    ):
        yield f"{label}_as_size", f"{HEADER}a,0,1,{number}\n", r"line 2, column 'size': '.* is not a whole number"
        yield f"{label}_as_lower", f"{HEADER}a,{number},9,1\n", r"line 2, column 'lower': '.* is not a whole number"


@case(PACKING, "sizes, alignments and offsets that overflow", refused=r"line \d, column")
def packing_limits():
    yield "sum", HEADER + f"a,0,1,{2**61}\nb,0,1,{2**61}\n", r"line 3, column 'size': .*\(kMaxTotalBytes\)"
    yield "size", HEADER + f"a,0,1,{2**63 - 1}\n", r"line 2, column 'size': .*\(kMaxTotalBytes\)"
    for number in (0, 3, 2**31, 2**40, 2**63 - 1):
        says = rf"line 2, column 'alignment': {number} is not a power of two of at most 1073741824 \(kMaxAlignment\)"
        yield f"alignment_{number}", WIDE + f"a,0,1,1,{number},,\n", says
    yield "offset", WIDE + f"a,0,1,1,1,{2**63 - 1},\n", r"line 2, column 'offset': .*\(kMaxTotalBytes\)"
    yield "offset_misaligned", WIDE + "a,0,1,1,64,32,\n", r"column 'offset': offset 32 .* the alignment 64"
    yield "empty_lifespan", HEADER + "a,5,5,1\n", r"line 2, column 'upper': upper 5 is not above lower 5"
    yield "reversed_lifespan", HEADER + "a,5,4,1\n", r"line 2, column 'upper': upper 4 is not above lower 5"


@case(PACKING, "rows and ids", refused=r"line \d")
def packing_rows():
    yield "too_few_fields", HEADER + "a,0,1\n", r"line 2: the line has 3 fields, but the header has 4"
    yield "too_many_fields", HEADER + "a,0,1,1,1\n", r"line 2: the line has 5 fields, but the header has 4"
    yield "a_million_fields", HEADER + "," * 1_000_000, r"line 2: the line has 1000001 fields, but the header has 4"
    yield "empty_line_between", HEADER + "a,0,1,1\n\nb,0,1,1\n", r"line 3: this line is empty"
    yield "empty_id", HEADER + ",0,1,1\n", r"line 2, column 'id': the id is empty"
    yield "id_twice", HEADER + "a,0,1,1\na,2,3,1\n", r"line 3, column 'id': 'a' is also the id of line 2"
    long_id = "n" * 70000
    yield "id_of_70000_bytes", f"{HEADER}{long_id},0,1,1\n", r"column 'id': .* 70000 bytes; .* 65536 \(kMaxNameBytes\)"
    yield "zero_byte", HEADER + "a\0b,0,1,1\n", r"line 2: there is a zero byte at position 2"
    yield "old_line_ends", HEADER.replace("\n", "\r") + "a,0,1,1\r", r"line 1"
    yield "fault_in_the_last_of_200000_lines", HEADER + "".join(
        f"b{at},0,1,1\n" for at in range(200_000)
    ) + "c,0,1\n", r"line 200002: the line has 3 fields"


@case(PACKING, "gaps", refused=r"line 2, column 'gaps'")
def packing_gaps():
    for label, gaps in (
        ("outside", "8-12"),
        ("empty", "4-4"),
        ("backwards", "6-4"),
        ("overlapping", "2-5 4-6"),
        ("malformed", "4:6"),
        ("negative", "-1-4"),
        ("that_wrap", f"2-{2**63}"),
        ("blanks", "2-3  4-5"),
        ("half", "4-"),
    ):
        yield label, WIDE + f"a,0,10,1,1,,{gaps}\n"
    yield "windows", WIDE + "a,0,10,1,1,,4-6@0:64\n", r"line 2, column 'gaps': '4-6@0:64' keeps a part of the buffer"
    many = " ".join(f"{at + 1}-{at + 3}" for at in range(100_000))
    yield "100000_that_overlap", WIDE + f"a,0,1000000,1,1,,{many}\n", r"line 2, column 'gaps': two gaps overlap at 2"


@case(PACKING, "unusual problems with a solution", accepted=r"buffers?|B")
def odd_packings():
    yield "no_buffers", HEADER
    yield "byte_order_mark", b"\xef\xbb\xbf" + HEADER.encode() + b"a,0,1,5\n"
    yield "sizes_of_0", HEADER + "a,0,1,0\nb,0,1,0\n"
    yield "far_apart", HEADER + f"a,0,1,5\nb,{2**63 - 2},{2**63 - 1},7\n"
    harmful = [b"\x1b[31m", b"\xff\xfe", b"../../x", b"=1+1"]
    yield "ids_that_harm_what_prints_them", HEADER.encode() + b"".join(name + b",0,1,64\n" for name in harmful)
    yield "no_last_line_end", HEADER + "a,0,1,5"
    yield "other_line_ends", (HEADER + "a,0,1,5\n").replace("\n", "\r\n")
    yield "large_sizes", HEADER + f"a,0,1,{2**60}\nb,1,2,{2**60}\n"


@case(
    PACKING,
    "offsets that contradict each other",
    refused=r"buffer 'b': fixed at bytes \[32, 96\), it collides with buffer 'a'",
)
def packing_offsets():
    return WIDE + "a,0,2,64,1,0,\nb,1,3,64,1,32,\n"


@case(PACKING, "problems without a solution", wrong=r"fit|capacity", words=("--capacity", "64"))
def infeasible_packings():
    yield "two", HEADER + "a,0,2,64\nb,1,3,64\n"
    # The witness lists ten of them, whatever their names contain.
    harmful = b"".join(b"\x1b[31m\xff%d" % at + b"x" * 4000 + b",0,2,64\n" for at in range(200))
    yield "with_names_that_harm_what_prints_them", HEADER.encode() + harmful
    yield "fixed_above", WIDE + f"a,0,1,1,1,{2**61},\n", r"'?a'? is fixed at 2,305,843,009,213,693,952"
    yield "padding", WIDE + "".join(f"b{at},0,1,1,{2**30},,\n" for at in range(1000)), r"padding that alignment forces"


@case(PACKING, "more threads than the machine has", accepted=r"buffers", words=("--threads", "256"))
def many_threads():
    yield "for_two_buffers", HEADER + "a,0,2,64\nb,1,3,64\n"
    yield "for_none", HEADER


@case(SLOTS, "slots with fixed addresses", refused=r"bad\.csv")
def slots_and_offsets():
    yield "fixed", WIDE + "a,0,2,64,1,0,\n", r"bad\.csv.*fixed"
    yield "a_column_of_slots", HEADER.replace("\n", ",slot\n") + "a,0,2,64,0\n", r"'slot': this column is unknown"


@case(SLOTS, "slots of unusual problems with a solution", accepted=r"slots?|largest")
def odd_slots():
    yield "no_buffers", HEADER
    yield "sizes_of_0", HEADER + "a,0,1,0\nb,0,1,0\n"
    yield "far_apart", HEADER + f"a,0,1,5\nb,{2**63 - 2},{2**63 - 1},7\n"
    yield "large_sizes", HEADER + f"a,0,1,{2**60}\nb,1,2,{2**60}\n"
    yield "nothing_but_gaps", WIDE + "a,0,9,64,1,,0-9\nb,0,9,64,1,,0-4 4-9\n"
    yield "a_thousand_at_once", HEADER + "".join(f"b{at},0,1,{at}\n" for at in range(1000))


@case(SLOTS, "slots that do not fit", wrong=r"no slots fit", words=("--capacity", "127"))
def infeasible_slots():
    return HEADER + "a,0,2,64\nb,1,3,64\n"
