# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/plan.schema.json: it accepts what Lowtide writes, and refuses what the reader refuses for its form."""

import copy
import json
import pathlib
import re
import sys
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: the Python that runs this has no jsonschema (tests/requirements.txt)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/plan.schema.json").read_text())
SMALL = json.loads((ROOT / "tests/files/plans/small.json").read_text())

# Changes to the small plan that make it invalid: the path of a value, and another value.
DAMAGES = [
    (["format"], "other"),
    (["schema_version"], 2),
    (["features"], ["telepathy"]),
    (["features"], ["copies", "copies"]),
    (["columns", "nodes"], ["name", "op"]),
    (["unknown"], 1),
    (["provenance", "nodes"], -1),
    (["provenance", "tool"], None),
    (["machine", "regions", 0, "alignment"], 48),
    (["machine", "regions", 0, "capacity"], -1),
    (["machine", "regions", 0, "capacity"], 2**55),
    (["machine", "regions", 0, "capacity"], 1.5),
    (["machine", "regions", 0, "read_only"], None),
    (["machine", "constants"], None),
    (["machine", "links"], [{"from": 0, "to": 1, "bytes_per_second": 0, "latency_picoseconds": 0}]),
    (["machine", "workers", 0, "count"], 0),
    (["machine", "workers", 0, "addressable"], None),
    (["execution"], "free"),
    (["kernels", 0], 0),
    (["arena", 0], "64"),
    (["claims", "load"], 2**62),
    (["claims", "bounds", 0, "scope"], "all"),
    (["claims", "bounds", 0, "bytes"], 2**62),
    (["claims", "allocate_optimal"], 1),
    (["claims", "shortfall"], -1),
    (["claims", "uncounted"], [1]),
    (["nodes", 0], ["one column"]),
    (["nodes", 0], ["three", "columns", "here"]),
    (["nodes", 0, 0], "a \\ alone"),
    (["nodes", 0, 0], "\\xg0"),
    (["tensors", 1, 1], "f32[2,-4]"),
    (["tensors", 1, 1], "float[2]"),
    (["tensors", 1, 1], "f32"),
    (["tensors", 1, 2], "inputs"),
    (["streams"], []),
    (["streams"], [[0, None]] * 1025),
    (["streams", 0], [0, 0]),
    (["streams", 0], [None, None]),
    (["buffers", 0, 0], "temp"),
    (["buffers", 0, 5], 0),
    (["buffers", 0, 6], [[1, 0, 1], [1, 0, 1]]),
    (["buffers", 3, 6], [[64, 0, 3]]),
    (["buffers", 3, 6], [[0, 0, 1], [64, 0, 3]]),
    (["buffers", 3, 6], [[16, 0], [48, 0]]),
    (["buffers", 3, 6], None),
    (["buffers", 3], ["temporary", 64, 0, 3, 0, 0]),
    (["values", 0, 0], None),
    (["values", 0, 0], 2**32),
    (["steps", 0, 0], "view"),
    (["steps", 0, 1], None),
    (["steps", 0, 2], None),
    (["steps", 0, 3], [0, 64]),
    (["steps", 0, 4, 0], -1),
    (["steps", 0, 7], -1),
    (["steps", 0, 7], 1024),
    (["steps", 0, 8], None),
    (["steps", 1, 2], 0),
    (["outputs"], None),
    (["updates"], [-1]),
    (["bodies", 0, "parent"], -1),
    (["body_plans", 0, "offset"], None),
    (["body_plans", 0, "machine"], None),
]


# Changes to the small plan after which it is still valid.
ADDITIONS = [
    (["features"], ["buffer_parts", "copies", "links", "recompute", "state_updates", "streams"]),
    (["machine", "links"], [{"from": 0, "to": 1, "bytes_per_second": 10**9, "latency_picoseconds": 0}]),
    (["machine", "workers", 0, "addressable"], [0]),
    (["machine", "constants"], 1),
    (["machine", "regions", 1, "read_only"], True),
    (["execution"], "dataflow"),
    (["streams"], [[0, None], [None, 0]]),
    (["claims", "bounds"], []),
    (["buffers", 0, 4], 1),  # the home of a buffer that is not placed
    (["buffers", 3, 6], [[16, 0, 1], [48, 0, 3]]),
    (["steps", 1], ["copy", None, None, [0, 32], [3], [4], None, 1, [0]]),
    (["updates"], [4]),
]


# Changes to a valid copy step that make it invalid.
COPY_DAMAGES = [
    (["steps", 1, 1], 0),
    (["steps", 1, 3], None),
    (["steps", 1, 3], [0]),
    (["steps", 1, 3], [-1, 32]),
    (["steps", 1, 4], [3, 3]),
    (["steps", 1, 5], []),
    (["steps", 1, 6], 5),
]


def damaged(path, value, whole=SMALL):
    tree = copy.deepcopy(whole)
    at = tree
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return tree


def objects(tree, path=()):
    """Every object in the tree, with the path to it."""
    if isinstance(tree, dict):
        yield path, tree
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield from objects(child, (*path, key))


class PlanSchema(unittest.TestCase):
    validator = jsonschema.Draft202012Validator(SCHEMA)

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_accepts_the_golden_file(self):
        self.validator.validate(SMALL)

    def test_refuses_damage(self):
        for path, value in DAMAGES:
            with self.subTest(path=path, value=value):
                self.assertFalse(self.validator.is_valid(damaged(path, value)))

    def test_accepts_every_optional_value(self):
        for path, value in ADDITIONS:
            with self.subTest(path=path, value=value):
                self.validator.validate(damaged(path, value))

    def test_refuses_damaged_copies(self):
        tree = damaged(["steps", 1], ["copy", None, None, [0, 32], [3], [4], None, 1, [0]])
        self.validator.validate(tree)
        for path, value in COPY_DAMAGES:
            with self.subTest(path=path, value=value):
                self.assertFalse(self.validator.is_valid(damaged(path, value, tree)))

    def test_knows_the_features_of_the_source(self):
        source = (ROOT / "src/lowtide/plan/plan_form.h").read_text()
        names = re.findall(r'"(\w+)"', re.search(r"kFeatures = \{([^}]*)\}", source).group(1))
        self.assertEqual(SCHEMA["properties"]["features"]["items"]["enum"], names)

    def test_every_key_is_needed(self):
        removed = 0
        for path, found in objects(SMALL):
            for key in found:
                tree = copy.deepcopy(SMALL)
                at = tree
                for step in path:
                    at = at[step]
                del at[key]
                with self.subTest(path=path, key=key):
                    self.assertFalse(self.validator.is_valid(tree))
                removed += 1
        self.assertGreater(removed, 50)

    def test_knows_the_types_of_the_source(self):
        source = (ROOT / "src/lowtide/graph/dtype.h").read_text()
        names = set(re.findall(r'\{DType::\w+, "(\w+)"\}', source)) - {"string"}
        self.assertEqual(len(names), 25)
        in_schema = set(re.match(r"\^\(([a-z0-9|]+)\)", SCHEMA["$defs"]["type"]["pattern"]).group(1).split("|"))
        self.assertEqual(in_schema, names)


if __name__ == "__main__":
    unittest.main()
