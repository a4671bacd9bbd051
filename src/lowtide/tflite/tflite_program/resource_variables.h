// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide::tflite_program_internal {

// What a VAR_HANDLE names.
struct ResourceVariable {
  std::string name;
  std::optional<std::uint32_t> like;       // the first tensor that is read from it or assigned to it
  std::optional<std::string> initial;      // the bytes that a CALL_ONCE assigns
  const TfliteTensor* constant = nullptr;  // the tensor of the model that has these bytes
};

struct ResourceVariables {
  std::vector<ResourceVariable> variables;
  std::vector<std::optional<std::size_t>> of_tensor;  // per tensor of the first subgraph: the variable of a handle
  std::vector<bool> is_done_before;                   // per operator of it: VAR_HANDLE and CALL_ONCE
};

// Finds the resource variables of the first subgraph. A CALL_ONCE must come before them, and only assign constants.
// Errors: unsupported (another CALL_ONCE), invalid (tensors of different sizes are assigned to one variable). The place
// names the operator. O(operators + tensors).
[[nodiscard]] Result<ResourceVariables> resource_variables(const TfliteModel& model, std::string_view bytes);

}  // namespace lowtide::tflite_program_internal
