// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide::cli_internal {

struct CModelOptions {
  std::string name;                            // CProgram::name
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

}  // namespace lowtide::cli_internal
