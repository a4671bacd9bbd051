// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model/c_model.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/cli/commands/tflite/micro_file.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/import/import.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/tflite_program/c_type.h"
#include "lowtide/tflite/tflite_program/program_of_tflite.h"

namespace lowtide::cli_internal {

namespace {

bool is_other_format(const std::string& path) {
  const Result<std::string> begin = read_beginning(path, 8);
  return begin && !is_tflite(*begin);
}

// The names of the first signature count before those of tensors.
std::vector<CModelPort> ports_of(const TfliteSubgraph& graph, const std::vector<std::uint32_t>& tensors,
                                 const std::vector<std::pair<std::string, std::uint32_t>>& names) {
  std::vector<CModelPort> ports;
  for (const std::uint32_t number : tensors) {
    const TfliteTensor& tensor = graph.tensors[number];
    ports.push_back({.name = tensor.name, .tensor = number, .type = c_type(tensor.type), .shape = tensor.shape});
    for (const auto& [name, named] : names) {
      if (named == number) ports.back().name = name;
    }
  }
  return ports;
}

}  // namespace

std::optional<CModelPorts> c_ports_of_tflite(const std::string& path) {
  if (is_other_format(path)) return std::nullopt;
  const TfliteModel model = read_micro_file(path).model;
  const auto signature = std::ranges::find(model.signatures, 0U, &TfliteSignature::subgraph);
  const TfliteSignature names = signature != model.signatures.end() ? *signature : TfliteSignature();
  const TfliteSubgraph& graph = model.subgraphs.front();
  return CModelPorts{.inputs = ports_of(graph, graph.inputs, names.inputs),
                     .outputs = ports_of(graph, graph.outputs, names.outputs)};
}

std::optional<CModel> c_model_of_tflite(const std::string& path, const CModelOptions& options) {
  if (is_other_format(path)) return std::nullopt;
  const MicroFile file = read_micro_file(path);
  ProgramOfTflite made = take(program_of_tflite(file.model, file.bytes,
                                                {.name = options.name,
                                                 .cmsis = options.cmsis,
                                                 .order_effort = options.order_effort,
                                                 .allocate_effort = options.allocate_effort,
                                                 .stop = options.stop}),
                              path);
  return CModel{.format = "tflite", .program = std::move(made.program), .bound = made.bound};
}

}  // namespace lowtide::cli_internal
