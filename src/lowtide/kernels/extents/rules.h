// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

#include "lowtide/kernels/extents/node_facts.h"

namespace lowtide::kernels_internal {

// What an operator gives. Each operator with a kernel has a row (tests/kernels/extents_test.cc).
struct OperatorRule {
  std::string_view domain;  // "" for the standard ONNX domain
  std::string_view type;    // "Conv"
  std::size_t operands;     // the first ones, which must not be omitted
  ExtentRule rule;
};

// nullptr: no rule is known for the operator. O(log operators).
[[nodiscard]] const OperatorRule* rule_of(const Operator& op);

}  // namespace lowtide::kernels_internal
