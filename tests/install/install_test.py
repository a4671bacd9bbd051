#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into empty folders and uses it from projects that know only what is installed.

It is installed as static libraries, as one shared library and as the packer alone, and found with CMake and pkg-config.
"""
import argparse
import os
import pathlib
import re
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
    "share/doc/lowtide/LICENSE",
    "share/doc/lowtide/LICENSE-onnx",
    "share/man/man1/lowtide.1",
    "share/bash-completion/completions/lowtide",
    "share/zsh/site-functions/_lowtide",
    "share/fish/vendor_completions.d/lowtide.fish",
]
# With oneDNN.
EXPECTED_LIBRARY = [
    "share/doc/lowtide/LICENSE-onednn",
    "share/doc/lowtide/THIRD-PARTY-PROGRAMS-onednn",
    "lib/lowtide/libdnnl.so.3",
]


# The caller's environment must not help to find a library.
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, **{"env": ENVIRONMENT, **options})
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def readme_example():
    """The C++ program in README.md."""
    text = (HERE.parent.parent / "README.md").read_text()
    return text.split("```cpp\n", 1)[1].split("```", 1)[0]


def check_readme_example(program, folder):
    """The program plans model.onnx for a batch of 8, and says why if it cannot."""
    missing = subprocess.run([program], cwd=folder, text=True, capture_output=True, env=ENVIRONMENT)
    assert missing.returncode == 1 and "model.onnx: cannot be opened" in missing.stderr, missing
    (folder / "model.onnx").write_bytes(small_models.small("batch"))
    shown = run(program, cwd=folder)
    assert shown == f"{8 * 131072} bytes fit\n", shown


def check_installed(prefix, foreign_paths):
    """No header includes another library, and no package file names a folder of the machine that built it."""
    for header in (prefix / "include").rglob("*.h"):
        text = header.read_text()
        for foreign in ("onnx/", "nlohmann/", "CLI/", "toml++/", "google/protobuf", "oneapi/"):
            includes = re.search(rf'#include [<"]{re.escape(foreign)}', text)
            assert not includes, f"{header} includes {foreign}"
    package_files = [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]
    assert package_files, "no package files"
    for file in package_files:
        for path in foreign_paths:
            assert path not in file.read_text(), f"{file} names {path}"


def needed(program):
    """The shared libraries that the program or library names."""
    shown = run("readelf", "-d", program).splitlines()
    return [line.split("[")[1].split("]")[0] for line in shown if "(NEEDED)" in line]


class Strangers:
    """Builds projects that know Lowtide only by an installed prefix."""

    def __init__(self, folder, given):
        self.folder = folder
        self.given = given

    def with_cmake(self, source, prefix, name):
        build = self.folder / f"build-{name}"
        run("cmake", "-S", source, "-B", build, "-G", self.given.generator,
            f"-DCMAKE_CXX_COMPILER={self.given.compiler}", f"-DCMAKE_CXX_FLAGS={self.given.flags}",
            f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", build)
        return build

    def with_pkg_config(self, source, prefix, package):
        place = next(prefix.rglob(f"{package}.pc")).parent
        environment = {**ENVIRONMENT, "PKG_CONFIG_PATH": str(place)}
        words = run("pkg-config", "--cflags", "--libs", package, env=environment).split()
        program = self.folder / f"pkg-config-{package}"
        run(self.given.compiler, *self.given.flags.split(), "-std=c++20", source, "-o", program, *words)
        return program


def check_stranger(program, folder):
    # 2 x 64 bytes that live together. 2 x 1,024, since MatMul cannot write over its input. 2 x 65,536 for the model.
    shown = run(program, folder / "model.onnx")
    assert shown == "packed 128\nown 2048\nmodel 131072\n", shown


def check_packer(program, without):
    # 2 x 64 bytes live together. The 128 bytes that live later get the same addresses.
    shown = run(program)
    assert shown == "packed 128\n", shown
    for library in without:
        assert not any(library in name for name in needed(program)), f"{program} needs {library}"


def check_static(strangers, prefix, folder):
    build = strangers.with_cmake(folder / "stranger", prefix, "static")
    check_stranger(build / "stranger", folder)
    (folder / "empty").mkdir()
    check_readme_example(build / "readme", folder / "empty")
    check_stranger(strangers.with_pkg_config(HERE / "stranger/main.cc", prefix, "lowtide"), folder)

    without = ("protobuf", "crypto", "onnx", "dnnl", "gomp")
    build = strangers.with_cmake(HERE / "packer", prefix, "packer")
    check_packer(build / "packer", without)
    check_packer(strangers.with_pkg_config(HERE / "packer/main.cc", prefix, "lowtide-pack"), without)


def check_shared(strangers, prefix, folder):
    build = strangers.with_cmake(folder / "stranger", prefix, "shared")
    check_stranger(build / "stranger", folder)
    names = needed(build / "stranger")
    assert any(name.startswith("liblowtide.so") for name in names), names
    assert not any("protobuf" in name for name in names), names
    library = next(prefix.rglob("liblowtide.so"))
    shown = run("nm", "-D", "--defined-only", "--no-demangle", library)
    symbols = [line.split()[-1] for line in shown.splitlines()]
    assert len(symbols) > 100 and all(re.search("N[KRO]*7lowtide", symbol) for symbol in symbols), symbols


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="", help="of the build, since a sanitizer must be linked here too")
    parser.add_argument("--onnx", required=True, help="where the build found onnx, which strangers do not see")
    parser.add_argument("--onednn", help="where the build found oneDNN, if it has it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "prefix"
        run("cmake", "--install", given.build, "--prefix", prefix)
        run("cmake", "--install", given.build, "--prefix", prefix, "--component", "lowtide_static")
        for path in EXPECTED + (EXPECTED_LIBRARY if given.onednn else []):
            assert (prefix / path).is_file(), f"{path} is not installed"
        shared_prefix = folder / "shared"
        for component in ("lowtide_headers", "lowtide_shared"):
            run("cmake", "--install", given.build, "--prefix", shared_prefix, "--component", component)
        foreign = [given.onnx, given.onednn, str(given.build), str(HERE.parent.parent)]
        for place in (prefix, shared_prefix):
            check_installed(place, [path for path in foreign if path])

        (folder / "model.onnx").write_bytes(small_models.small())
        shutil.copytree(HERE / "stranger", folder / "stranger")
        (folder / "stranger/readme.cc").write_text(readme_example())
        strangers = Strangers(folder, given)
        check_static(strangers, prefix, folder)
        check_shared(strangers, shared_prefix, folder)
        assert "arena" in run(prefix / "bin/lowtide", "plan", folder / "model.onnx")
    print("the installed package works")


if __name__ == "__main__":
    main()
