# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the table of README.md agrees with the cases."""

import re


def table(cases):
    """One row for each class and kind of file, in the order of the cases."""
    rows = {}
    for case in cases:
        kind = {"bad.onnx": "model", "bad.json": "plan", "bad.csv": "packing", "bad.toml": "target",
                "bad.pbtxt": "net", "bad.pb": "net",
                "bad.cluster": "target"}[case.kind.file]
        answer = {0: "accepted", 1: "no (1)", 3: "refused (3)"}[case.code]
        rows.setdefault((kind, case.hostile, answer), []).append(f"`{case.name}`")
    return [
        f"| {kind} | {hostile} | {answer} | {', '.join(names)} |" for (kind, hostile, answer), names in rows.items()
    ]


def faults(path, cases):
    written = re.findall(r"^\| (?:model|net|plan|packing|target) \|.*\|$", path.read_text(), re.MULTILINE)
    missing = [f"README.md lacks the row {row}" for row in table(cases) if row not in written]
    return missing + [f"README.md has a row without a case: {row}" for row in written if row not in table(cases)]
