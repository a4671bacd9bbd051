// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include "lowtide/c_source/graph_program/node_calls.h"

namespace lowtide::graph_program_internal {

// How an operator of ONNX becomes calls. All tensors of the node have sizes that are known and fit 32 bits, types of C,
// and output 0 has elements.
struct Rule {
  std::string_view type;
  Result<NodeCalls> (*calls)(const NodeFacts& node);
};

// The rules by kind. Names are unique over all of them.
[[nodiscard]] std::span<const Rule> elementwise_rules();
[[nodiscard]] std::span<const Rule> movement_rules();
[[nodiscard]] std::span<const Rule> normalization_rules();
[[nodiscard]] std::span<const Rule> pooling_rules();
[[nodiscard]] std::span<const Rule> product_rules();
[[nodiscard]] std::span<const Rule> reduction_rules();
[[nodiscard]] std::span<const Rule> resampling_rules();

}  // namespace lowtide::graph_program_internal
