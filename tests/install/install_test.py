#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into an empty folder and uses it as somebody who has never seen the source tree."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
import small_models  # noqa: E402

EXPECTED = [
    "bin/lowtide",
    "include/lowtide/pipeline/plan_graph.h",
    "share/man/man1/lowtide.1",
    "share/bash-completion/completions/lowtide",
    "share/zsh/site-functions/_lowtide",
    "share/fish/vendor_completions.d/lowtide.fish",
]


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def readme_example():
    """The C++ program that README.md shows, as it would be copied."""
    text = (HERE.parent.parent / "README.md").read_text()
    return text.split("```cpp\n", 1)[1].split("```", 1)[0]


def check_readme_example(program, folder):
    """Plans model.onnx for a batch of 8, and says why where it cannot."""
    missing = subprocess.run([program], cwd=folder, text=True, capture_output=True)
    assert missing.returncode == 1 and "model.onnx: cannot be opened" in missing.stderr, missing
    (folder / "model.onnx").write_bytes(small_models.small("batch"))
    shown = run(program, cwd=folder)
    assert shown == f"{8 * 131072}\n", shown


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="", help="of the build, since a sanitizer must be linked here too")
    parser.add_argument("--prefix-path", default="", help="where find_package looks for what Lowtide needs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "prefix"
        run("cmake", "--install", given.build, "--prefix", prefix)
        for path in EXPECTED:
            assert (prefix / path).is_file(), f"{path} is not installed"
        for header in (prefix / "include").rglob("*.h"):
            text = header.read_text()
            for foreign in ("onnx/", "nlohmann/", "CLI/", "toml++/", "google/protobuf"):
                assert f"#include <{foreign}" not in text and f'#include "{foreign}' not in text, f"{header} includes {foreign}"

        (folder / "model.onnx").write_bytes(small_models.small())
        source = folder / "stranger"
        shutil.copytree(HERE / "stranger", source)
        (source / "readme.cc").write_text(readme_example())
        run("cmake", "-S", source, "-B", folder / "build", "-G", given.generator,
            f"-DCMAKE_CXX_COMPILER={given.compiler}", f"-DCMAKE_CXX_FLAGS={given.flags}",
            f"-DCMAKE_PREFIX_PATH={prefix};{given.prefix_path.replace(':', ';')}")
        run("cmake", "--build", folder / "build")
        shown = run(folder / "build" / "stranger", folder / "model.onnx")
        # 2 x 64 bytes that live together; 2 x 1,024, since MatMul cannot write over its input; 2 x 65,536 for the small model.
        assert shown == "packed 128\nown 2048\nmodel 131072\n", shown
        (folder / "empty").mkdir()
        check_readme_example(folder / "build" / "readme", folder / "empty")
        assert "arena" in run(prefix / "bin/lowtide", "plan", folder / "model.onnx")
    print("the installed package works")


if __name__ == "__main__":
    main()
