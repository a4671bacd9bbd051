// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <optional>
#include <string>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

// What the handle of a VAR_HANDLE names. Equal ones name one variable. Runtimes differ in what a handle without a
// container names: TensorFlow Lite Micro takes the first variable of that name, in whatever container it is.
struct TfliteVariable {
  std::optional<std::string> container;  // nullopt: the file has none
  std::string name;
  friend auto operator<=>(const TfliteVariable&, const TfliteVariable&) = default;
};

// Whether the operator makes the handle of a resource variable.
[[nodiscard]] bool is_var_handle(const TfliteOperator& op);

// Requires: is_var_handle(op).
[[nodiscard]] TfliteVariable variable_of(const TfliteOperator& op);

}  // namespace lowtide
