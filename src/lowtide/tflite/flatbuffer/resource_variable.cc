// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/resource_variable.h"

namespace lowtide {

bool is_var_handle(const TfliteOperator& op) { return is_builtin(op, "VAR_HANDLE"); }

TfliteVariable variable_of(const TfliteOperator& op) {
  const auto* container = find_option<std::string>(op, "container");
  const auto* name = find_option<std::string>(op, "shared_name");
  return {.container = container != nullptr ? std::optional(*container) : std::nullopt,
          .name = name != nullptr ? *name : ""};
}

}  // namespace lowtide
