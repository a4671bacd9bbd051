#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Collects the licences of what a wheel contains besides Lowtide, for scripts/build_wheel.

    collect_licenses.py FOLDER BINARY...

Writes to FOLDER the licence of each Debian package from which the binaries load a shared library, except for those that
every Linux has, and the licences of libraries that are compiled in. SOURCES.txt names the packages with their versions
and sources: libgomp is under the GPL with the GCC Runtime Library Exception, so a copy of it must name its source.
"""
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys

# auditwheel leaves these to the system: the libraries of C and C++, and zlib.
OF_EVERY_LINUX = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}
# Header-only libraries of Debian that are compiled into the extension.
COMPILED_IN = ["libtomlplusplus-dev"]
DOCUMENTS = pathlib.Path("/usr/share/doc")


def output_of(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def package_of(library):
    """The Debian package of a shared library, which may be listed below / or below /usr."""
    path = str(pathlib.Path(library).resolve())
    for listed in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "--search", listed], text=True, capture_output=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit(f"{library} is in no Debian package, so its licence is not known")


def packages_of(binaries):
    loaded = {path for binary in binaries for path in re.findall(r"=> (/\S+) \(", output_of("ldd", binary))}
    return sorted({package_of(path) for path in loaded} - OF_EVERY_LINUX)


def copy_debian(folder, package):
    """Copies the licence of a package, with the common texts that it refers to. Returns its line of SOURCES.txt."""
    text = DOCUMENTS / package / "copyright"
    if not text.is_file():
        raise SystemExit(f"{text} is missing, so the wheel would lack the licence of {package}")
    shutil.copyfile(text, folder / f"{package}.txt")
    for path in set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text.read_text())):
        common = pathlib.Path("/usr/share/common-licenses") / path
        if common.is_file():
            shutil.copyfile(common, folder / f"{path}.txt")
    fields = "${Version}\t${source:Package}\t${source:Version}"
    version, source, source_version = output_of("dpkg-query", "--show", f"--showformat={fields}", package).split("\t")
    return (f"{package} {version}, from the source package {source} {source_version}: "
            f"https://snapshot.debian.org/package/{source}/{source_version}/")


def copy_nanobind(folder):
    """Copies the licences of nanobind, and of the hash table that it contains, which is a comment in its header."""
    distribution = importlib.metadata.distribution("nanobind")
    texts = [path.locate() for path in distribution.files if "LICENSE" in path.name]
    headers = [path.locate() for path in distribution.files if path.name == "robin_map.h"]
    if not texts or not headers:
        raise SystemExit("the licences in the package nanobind are not where they were")
    shutil.copyfile(texts[0], folder / "nanobind.txt")
    (folder / "robin-map.txt").write_text(pathlib.Path(headers[0]).read_text().split("*/")[0] + "*/\n")
    return f"nanobind {distribution.version}: https://github.com/wjakob/nanobind"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    lines = [copy_debian(folder, package) for package in [*packages_of(sys.argv[2:]), *COMPILED_IN]]
    lines.append(copy_nanobind(folder))
    head = "Libraries in this wheel, from Debian and the Python package index:"
    (folder / "SOURCES.txt").write_text("\n".join([head, "", *lines, ""]))
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
