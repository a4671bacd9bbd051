// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide::cli_internal {

struct CModelOptions {
  std::string name;                            // CProgram::name
  std::optional<CmsisSet> cmsis = {};          // of a TFLite model: calls CMSIS-NN
  std::int64_t order_effort = 5'000'000'000;   // as in PlanOptions
  std::int64_t allocate_effort = 200'000'000;  // as in PlanOptions
  const std::atomic<bool>* stop = nullptr;     // as in PlanOptions
};

// A model that is planned as a program in C.
struct CModel {
  std::string format;  // "tflite" or "onnx"
  CProgram program;
  Bytes bound;                          // no arena is smaller
  std::vector<std::string> notes = {};  // remarks for the user
};

// An input or output of a TFLite model, as its program in C has it.
struct CModelPort {
  std::string name;           // not always unique
  std::uint32_t tensor = 0;   // its number in the file; one tensor may be listed twice
  std::optional<CType> type;  // nullopt: C source has no such type, so the model has no program
  std::vector<std::int64_t> shape;
};

struct CModelPorts {
  std::vector<CModelPort> inputs;
  std::vector<CModelPort> outputs;
};

}  // namespace lowtide::cli_internal
