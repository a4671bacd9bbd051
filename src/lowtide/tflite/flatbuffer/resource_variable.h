// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstddef>
#include <map>
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

// Numbers the variables of a model as TensorFlow Lite Micro does when it meets their handles, from 0 on.
class TfliteVariableNumbers {
 public:
  // O(log variables).
  [[nodiscard]] std::size_t number_of(const TfliteVariable& handle);
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::map<TfliteVariable, std::size_t> numbers_;
  std::map<std::string, std::size_t> first_of_name_;
  std::size_t count_ = 0;
};

// Whether the operator makes the handle of a resource variable.
[[nodiscard]] bool is_var_handle(const TfliteOperator& op);

// Requires: is_var_handle(op).
[[nodiscard]] TfliteVariable variable_of(const TfliteOperator& op);

}  // namespace lowtide
