// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::rewrite_internal {

struct SumParts {
  std::vector<DefNode> nodes;
  std::vector<std::string> sums;  // the names of the sums that are in parts
};

// Each AddN and AccumulateNV2 of more than two operands as additions of two, one after another, so that the operands
// need not be live at once:
//
//   s = AddN(a, b, c)     s/part_1 = AddV2(a, b)     s = AddV2(s/part_1, c)
//
// Operands are added by rank of their nodes, and those of equal rank as they are listed. With equal ranks, the sum is
// the same to the last bit, except where TensorFlow itself begins with another operand. Sums of types other than
// floating-point ones and i64 stay as they are, and so do nodes that no name in `needed` asks for. The last node keeps
// its name. O(nodes + inputs, log).
[[nodiscard]] SumParts split_sums(const std::vector<DefNode>& nodes, const std::vector<bool>& is_needed,
                                  const std::function<std::int64_t(const std::string& node)>& rank);

}  // namespace lowtide::rewrite_internal
