// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Imports a model and prints a line of JSON for each tensor of each graph and body:
//   {"graph": "main/if:then_branch", "name": "x", "dtype": "f32", "shape": [1, 3], "at_most": [0], "role": "input"}
// A constant also has its source: "file" and "offset", or "bytes" in hexadecimal digits.
// usage: print_tensors MODEL [symbol=extent | input=AxBxC]...
//        print_tensors --list FILE
// FILE has the path of a model per line. For each, a line comes first: {"model": "a.onnx"}, with "error" if it is
// refused. compare_with_onnx.py and node_shapes.py read the output.

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>

#include "lowtide/base/hex.h"
#include "lowtide/import/import.h"

namespace {

// JSON strings are UTF-8, and names are bytes. Bytes above ASCII are printed as Latin-1, and the reader converts
// them back.
std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\') {
      out += c;
    } else {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
      out += escape;
    }
  }
  return out + "\"";
}

// What a constant has in addition to other tensors.
std::string source_of(const lowtide::Tensor& tensor, const lowtide::ConstantTable& table) {
  if (!tensor.constant) return "";
  const lowtide::ConstantSource& source = table.sources[*tensor.constant];
  if (const auto* place = std::get_if<lowtide::ConstantSource::InFile>(&source.where)) {
    return ", \"file\": " + json_string(table.files[place->file]) + ", \"offset\": " + std::to_string(place->offset);
  }
  std::string digits;
  for (const std::byte byte : std::get<lowtide::ConstantSource::Inline>(source.where).bytes) {
    lowtide::append_hex(digits, std::to_integer<unsigned char>(byte));
  }
  return ", \"bytes\": \"" + digits + "\"";
}

void print_graph(const lowtide::Graph& graph, const std::string& path, const lowtide::ConstantTable& table) {
  for (const lowtide::Tensor& tensor : graph.tensors()) {
    if (tensor.is_captured) continue;
    std::string shape;
    std::string at_most;
    for (int axis = 0; axis < tensor.shape.rank(); ++axis) {
      shape += (axis == 0 ? "" : ", ") + std::to_string(tensor.shape[axis]);
      if (tensor.shape.is_at_most(axis)) at_most += (at_most.empty() ? "" : ", ") + std::to_string(axis);
    }
    std::printf(
        "{\"graph\": %s, \"name\": %s, \"dtype\": \"%s\", \"shape\": [%s], \"at_most\": [%s], \"role\": \"%s\"%s}\n",
        json_string(path).c_str(), json_string(tensor.name).c_str(), to_string(tensor.dtype).data(), shape.c_str(),
        at_most.c_str(), to_string(tensor.role).data(), source_of(tensor, table).c_str());
  }
  for (const lowtide::Node& node : graph.nodes()) {
    for (const lowtide::Body& body : node.bodies) {
      // A body is identified by the first tensor that its node produces, because nodes need no names.
      std::string made;
      for (const auto& output : node.outputs) {
        if (output && made.empty()) made = graph.tensor(*output).name;
      }
      print_graph(*body.graph, path + "/" + made + ":" + body.name, table);
    }
  }
}

// "batch=8" binds a symbol and "x=1x3" gives a shape. A shape of one extent ends in an x: "a=8x".
bool read_option(const std::string& argument, lowtide::ImportOptions& options) {
  const std::size_t equals = argument.rfind('=');
  if (equals == std::string::npos) return false;
  const std::string name = argument.substr(0, equals);
  const std::string value = argument.substr(equals + 1);
  if (value.find('x') == std::string::npos) {
    options.dims[name] = std::stoll(value);
    return true;
  }
  std::size_t at = 0;
  while (at < value.size()) {
    std::size_t end = value.find('x', at);
    if (end == std::string::npos) end = value.size();
    options.shapes[name].push_back(std::stoll(value.substr(at, end - at)));
    at = end + 1;
  }
  return true;
}

int print_all(const char* list) {
  std::ifstream file(list);
  for (std::string path; std::getline(file, path);) {
    const lowtide::Result<lowtide::ImportedModel> model = lowtide::import_model(path);
    const std::string error =
        model
            ? ""
            : ", \"error\": " + json_string(std::string(to_string(model.error().code)) + ": " + model.error().message);
    std::printf("{\"model\": %s%s}\n", json_string(path).c_str(), error.c_str());
    if (model) print_graph(model->graph, "main", model->constants);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--list") return print_all(argv[2]);
  lowtide::ImportOptions options;
  for (int at = 2; at < argc; ++at) {
    if (!read_option(argv[at], options)) return 2;
  }
  if (argc < 2) return 2;
  const lowtide::Result<lowtide::ImportedModel> model = lowtide::import_model(argv[1], options);
  if (!model) {
    std::fprintf(stderr, "%s: %s\n", to_string(model.error().code).data(), model.error().describe().c_str());
    return 3;
  }
  for (const std::string& note : model->notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  print_graph(model->graph, "main", model->constants);
  return 0;
}
