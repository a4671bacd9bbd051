// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/base/bytes.h"

namespace lowtide {

// The plan of the graph that a target with integer kernels would run (lower/estimate/integer_operators.h).
struct IntegerEstimate {
  Bytes arena;
  Bytes bound;
  bool is_proven = false;  // arena == bound, and all memory is counted
};

// Operators of a quantized model that are planned with floating-point tensors.
struct QuantizedFacts {
  std::int64_t operators = 0;  // between DequantizeLinear and QuantizeLinear
  // nullopt: the graph is too large for a second plan, or other operators run on integers already
  std::optional<IntegerEstimate> estimate;
  bool are_others_on_integers = false;  // the pass `quantized` has run, and has left these
};

// A paragraph: why the plan needs as much as it does, and what a target with integer kernels would need.
[[nodiscard]] std::string quantized_text(const QuantizedFacts& facts);

}  // namespace lowtide
