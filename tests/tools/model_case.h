// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/engine/npy.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide::testing {

// The inputs of a run. The tensors refer to the bytes and extents, which keep their addresses when it is moved.
struct CaseInputs {
  std::vector<std::string> bytes;
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<TensorRef> tensors;  // in the order of the model
};

// Reads the inputs `input_0.npy`, `input_1.npy` and so on beside the model, which tests/tools/model_case.py writes. An
// input without such a file is synthetic, with seed 1. Throws std::runtime_error.
inline CaseInputs case_inputs(const std::string& model, const Executable& executable) {
  const auto require = [](const Result<void>& result) {
    if (!result.ok()) throw std::runtime_error(result.error().describe());
  };
  const std::vector<Port>& ports = executable.inputs();
  CaseInputs inputs{std::vector<std::string>(ports.size()), std::vector<std::vector<std::int64_t>>(ports.size()), {}};
  for (std::size_t at = 0; at < ports.size(); ++at) {
    const Port& port = ports[at];
    std::string& bytes = inputs.bytes[at];
    const auto path = std::filesystem::path(model).replace_filename("input_" + std::to_string(at) + ".npy");
    if (std::ifstream file(path, std::ios::binary); file) {
      bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      Result<NpyHead> head = read_npy_head(std::as_bytes(std::span(bytes)), path.string());
      if (!head) throw std::runtime_error(head.error().describe());
      inputs.extents[at] = head->extents;
      inputs.tensors.push_back({head->dtype, inputs.extents[at], std::as_bytes(std::span(bytes)).subspan(head->begin)});
      continue;
    }
    bytes.resize(static_cast<std::size_t>(port.size.count()));
    inputs.extents[at].assign(port.shape.extents().begin(), port.shape.extents().end());
    require(fill_synthetic({port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}}, 1,
                           std::as_writable_bytes(std::span(bytes))));
    inputs.tensors.push_back({port.dtype, inputs.extents[at], std::as_bytes(std::span(bytes))});
  }
  return inputs;
}

}  // namespace lowtide::testing
