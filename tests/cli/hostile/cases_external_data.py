# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Model files that refer to other files. Planning does not read those, so they need not exist."""

from corpus import MODEL, case
from onnx_bytes import external, net, node

RELU = [node("Relu", ["x"], ["y"])]


def located(location, *entries, dims=(4,)):
    return net(RELU, [external("w", dims, [("location", location), *entries])])


@case(MODEL, "external data outside the folder of the model", refused=r"initializer 'w'.*external data: location")
def outside_locations():
    for label, location in (
        ("parent", "../w.bin"),
        ("parent_later", "a/../../w.bin"),
        ("backslashes", "a\\..\\..\\w.bin"),
        ("encoded", "%2e%2e/w.bin"),
        ("half_encoded", "a/.%2E/w.bin"),
    ):
        yield label, located(location), r"initializer 'w'.*location '.*' (leaves|may leave) the folder of the model"
    for label, location in (("absolute", "/etc/passwd"), ("drive", "C:\\w.bin"), ("share", "\\\\host\\w.bin")):
        yield label, located(location), r"initializer 'w'.*location '.*' is an absolute path"
    yield "address", located("*/_ORT_MEM_ADDR_/*"), r"initializer 'w'.*address in the memory of another program"
    yield "empty", located(""), r"initializer 'w'.*location '' is empty"
    yield "folder", located("."), r"initializer 'w'.*names a folder"
    yield "zero_byte", located("w.bin\0.txt"), r"initializer 'w'.*contains a zero byte"
    yield "long", located("w" * 5_000_000), r"initializer 'w'.*longer than the limit of 4096 bytes \(kMaxPathBytes\)"


@case(MODEL, "external data with invalid positions", refused=r"initializer 'w'.*external data")
def places_in_external_data():
    yield "offset_that_wraps", located(
        "w.bin", ("offset", str(2**63 - 8))
    ), r"offset 9223372036854775800 plus 16 bytes exceeds"
    yield "offset_of_2_to_the_64", located(
        "w.bin", ("offset", str(2**64 - 32))
    ), r"offset '18446744073709551584' is not a number"
    yield "offset_negative", located("w.bin", ("offset", "-4")), r"offset '-4' is not a number"
    yield "offset_no_number", located("w.bin", ("offset", "0x10")), r"offset '0x10' is not a number"
    yield "length_too_short", located("w.bin", ("length", "12")), r"the length is 12 bytes, but type and dims need 16"
    yield "length_negative", located("w.bin", ("length", "-1")), r"length '-1' is not a number"
    yield "dims_that_wrap", located("w.bin", dims=(2**32, 2**32)), r"initializer 'w'.*4294967296"
    yield "location_twice", located("w.bin", ("location", "v.bin")), r"the key 'location' appears twice"
    yield "location_missing", net(RELU, [external("w", [4], [("offset", "0")])]), r"the key 'location' is missing"


@case(MODEL, "external data that planning does not need", accepted=r"1 node")
def unread_external_data():
    yield "that_is_not_there", located("w.bin")
    yield "that_overlaps", net(
        RELU, [external(name, [4], [("location", "w.bin"), ("offset", "0")]) for name in ("v", "w")]
    )
    yield "at_an_odd_offset", located("w.bin", ("offset", "3"))
    yield "with_unknown_keys", located("w.bin", ("checksum", "wrong"), ("speed", "high"))
    yield "of_a_terabyte", located("w.bin", dims=(2**38,))
    yield "in_the_model_itself", located("bad.onnx")
    yield "behind_a_folder_and_back", located("sub/../w.bin")
    yield "in_a_folder_below", located("a/b/w.bin")
