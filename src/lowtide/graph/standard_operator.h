// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/graph/graph.h"

namespace lowtide {

// Whether an operator belongs to the standard domain of ONNX, which has the names "" and "ai.onnx".
[[nodiscard]] inline bool is_standard(const Operator& op) { return op.domain.empty() || op.domain == "ai.onnx"; }

// Whether it is the operator of this type there.
[[nodiscard]] inline bool is_standard(const Operator& op, std::string_view type) {
  return is_standard(op) && op.type == type;
}

}  // namespace lowtide
