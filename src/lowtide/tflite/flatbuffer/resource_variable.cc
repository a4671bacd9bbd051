// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/resource_variable.h"

namespace lowtide {

std::size_t TfliteVariableNumbers::number_of(const TfliteVariable& handle) {
  const auto found = handle.container ? numbers_.find(handle) : numbers_.end();
  if (found != numbers_.end()) return found->second;
  const auto [first, is_new] = first_of_name_.emplace(handle.name, count_);
  if (!handle.container && !is_new) return first->second;
  numbers_.emplace(handle, count_);
  return count_++;
}

bool is_var_handle(const TfliteOperator& op) { return is_builtin(op, "VAR_HANDLE"); }

TfliteVariable variable_of(const TfliteOperator& op) {
  const auto* container = find_option<std::string>(op, "container");
  const auto* name = find_option<std::string>(op, "shared_name");
  return {.container = container != nullptr ? std::optional(*container) : std::nullopt,
          .name = name != nullptr ? *name : ""};
}

}  // namespace lowtide
