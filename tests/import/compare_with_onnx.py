#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the sizes of tensors and the bytes of constants with those of the onnx library.

    tests/import/compare_with_onnx.py --print-tensors build/tests/import/print_tensors [--dims FILE.json] FOLDER...

Lowtide and the library both import every *.onnx below the folders, with the same symbols bound. The declared types of
node outputs are removed first, so that the library cannot copy them. Wherever the library knows an element
type, a rank or an extent, in the graph or in a body, Lowtide must have the same. Every constant must have the bytes
that the library reads. The exit code is 1 if anything differs or a model is not imported.

FILE.json gives options for models: {"model.onnx": ["--dim", "batch=2", "--shape", "x=1x3x64x64"]}. A symbol without an
option becomes 2.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import onnx
import onnx.numpy_helper
import onnx.shape_inference

NAMES = {
    "FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16", "INT64": "i64", "INT32": "i32",
    "INT16": "i16", "INT8": "i8", "INT4": "i4", "INT2": "i2", "UINT64": "u64", "UINT32": "u32", "UINT16": "u16",
    "UINT8": "u8", "UINT4": "u4", "UINT2": "u2", "BOOL": "bool", "COMPLEX64": "c64", "COMPLEX128": "c128",
    "STRING": "string", "FLOAT8E4M3FN": "f8e4m3fn", "FLOAT8E4M3FNUZ": "f8e4m3fnuz", "FLOAT8E5M2": "f8e5m2",
    "FLOAT8E5M2FNUZ": "f8e5m2fnuz", "FLOAT8E8M0": "f8e8m0", "FLOAT4E2M1": "f4e2m1",
}


def bindings(options):
    """Returns the symbols and shapes of command line options."""
    dims, shapes = {}, {}
    for option, value in zip(options[::2], options[1::2]):
        name, _, extents = value.rpartition("=")
        if option == "--dim":
            dims[name] = int(extents)
        elif option == "--shape":
            shapes[name] = [int(extent) for extent in extents.split("x")]
        else:
            raise SystemExit(f"unknown option {option}")
    return dims, shapes


def bind(model, dims, shapes):
    """Writes sizes into the inputs of the model. Returns everything that was bound, as arguments of print_tensors."""
    constants = {tensor.name for tensor in model.graph.initializer}
    symbols = {}
    for value in model.graph.input:
        if value.name in constants or not value.type.tensor_type.HasField("shape"):
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value >= 0:
                continue
            extent = shapes.get(value.name, {axis: -1})[axis]
            if extent == -1:
                if not dim.dim_param:
                    raise SystemExit(f"extent {axis} of input {value.name} has no symbol: give its --shape")
                extent = symbols.setdefault(dim.dim_param, dims.get(dim.dim_param, 2))
            dim.dim_value = extent
    arguments = [f"{symbol}={extent}" for symbol, extent in {**symbols, **dims}.items()]
    # A shape with one extent ends in an x, because "a=8" would bind the symbol a.
    return arguments + [f"{name}={'x'.join(map(str, extents))}{'x' if len(extents) == 1 else ''}"
                        for name, extents in shapes.items()]


def forget_declared(graph):
    """Removes the declared types of node outputs, also in bodies."""
    del graph.value_info[:]
    for value in graph.output:
        if value.type.tensor_type.HasField("shape"):
            value.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                forget_declared(attribute.g)


def known_types(graph, path, known):
    """Maps (path, name) to (element type or None, extents or None) for all graphs. An unknown extent is None."""
    for value in [*graph.input, *graph.value_info, *graph.output]:
        if value.type.WhichOneof("value") != "tensor_type":
            continue
        tensor = value.type.tensor_type
        dtype = NAMES.get(onnx.TensorProto.DataType.Name(tensor.elem_type)) if tensor.elem_type else None
        extents = None
        if tensor.HasField("shape"):
            extents = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        known[path, value.name] = dtype, extents
    for tensor in graph.initializer:
        known[path, tensor.name] = NAMES.get(onnx.TensorProto.DataType.Name(tensor.data_type)), list(tensor.dims)
    for node in graph.node:
        made = next((output for output in node.output if output), "")
        for attribute in node.attribute:
            if attribute.HasField("g"):
                known_types(attribute.g, f"{path}/{made}:{attribute.name}", known)
    return known


def constants(graph, path, found):
    """Maps (path, name) to the tensor of each initializer and Constant node of all graphs."""
    for tensor in graph.initializer:
        found[path, tensor.name] = tensor
    for node in graph.node:
        made = next((output for output in node.output if output), "")
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                found[path, made] = attribute.t
            if attribute.HasField("g"):
                constants(attribute.g, f"{path}/{made}:{attribute.name}", found)
    return found


def wrong_constants(ours, tensors, model):
    """Returns one line per constant whose bytes or place differ. Elements below 8 bits are not compared."""
    lines = []
    for (graph, name), tensor in tensors.items():
        own = ours.get((graph, name))
        if own is None or own["dtype"] in ("i4", "u4", "i2", "u2", "f4e2m1", "string"):
            continue  # in a branch that never runs, or not compared
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            place = {entry.key: entry.value for entry in tensor.external_data}
            same = (own.get("file"), own.get("offset")) == (place["location"], int(place.get("offset", 0)))
        else:
            expected = onnx.numpy_helper.to_array(tensor).tobytes()
            if "bytes" in own:
                same = bytes.fromhex(own["bytes"]) == expected
            else:
                begin = own.get("offset", len(model))
                same = own.get("file") == "" and model[begin:begin + len(expected)] == expected
        if not same:
            lines.append(f"{graph}: {name}: the bytes of the constant differ")
    return lines


def bytes_of(text):
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def our_types(program, path, arguments):
    run = subprocess.run([program, path, *arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, run.stderr.strip()
    types = {}
    for line in run.stdout.splitlines():
        tensor = json.loads(line)
        types[bytes_of(tensor["graph"]), bytes_of(tensor["name"])] = tensor
    return types, ""


def differences(ours, known):
    """Returns one line per tensor that differs, and the number of extents that were compared."""
    lines, compared = [], 0
    graphs = {graph for graph, _ in ours}
    for (graph, name), (dtype, extents) in known.items():
        if graph not in graphs:  # a branch that never runs
            continue
        tensor = ours.get((graph, name))
        if tensor is None:
            lines.append(f"{graph}: {name}: missing")
            continue
        if dtype is not None and dtype != tensor["dtype"]:
            lines.append(f"{graph}: {name}: {tensor['dtype']}, the library says {dtype}")
        if extents is None:
            continue
        shape = tensor["shape"]
        compared += sum(extent is not None for extent in extents)
        same = len(shape) == len(extents) and all(b is None or a == b for a, b in zip(shape, extents))
        if not same:
            lines.append(f"{graph}: {name}: {shape}, the library says {extents}")
    return lines, compared


def compare(program, path, options):
    model = onnx.load(path, load_external_data=False)
    dims, shapes = bindings(options)
    arguments = bind(model, dims, shapes)
    forget_declared(model.graph)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    ours, error = our_types(program, path, arguments)
    if ours is None:
        return [error], 0, 0
    lines, compared = differences(ours, known_types(inferred.graph, "main", {}))
    lines += wrong_constants(ours, constants(model.graph, "main", {}), path.read_bytes())
    return lines, compared, len(ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--print-tensors", required=True)
    parser.add_argument("--dims", type=pathlib.Path)
    arguments = parser.parse_args()
    options = json.loads(arguments.dims.read_text()) if arguments.dims else {}
    paths = sorted(path for folder in arguments.folders for path in folder.rglob("*.onnx"))
    if not paths:
        raise SystemExit("no .onnx files in the folders")
    failed = 0
    for path in paths:
        lines, compared, tensors = compare(arguments.print_tensors, path, options.get(path.name, []))
        print(f"{path.name:40} {tensors:6} tensors, {compared:6} extents compared, {len(lines)} differences")
        for line in lines[:20]:
            print("    " + line)
        failed += bool(lines)
    print(f"{len(paths) - failed} of {len(paths)} models agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
