// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/earlier/baselines/ports/plain_net.h"

namespace lowtide::testing {

// AITemplate's planners as they were, quadratic, for comparison.
struct AitemplatePlan {
  std::map<std::string, std::int64_t> offsets;  // of tensors with a record of their own
  std::int64_t bytes = 0;
};

// Numbers of nodes.
using ParallelOps = std::vector<std::vector<std::size_t>>;

[[nodiscard]] ParallelOps ported_waves(const PlainNet& net, std::size_t most);
// Greedy by size. Each step has the nodes that run at the same time. A node with k results is in k steps of its own if
// there are no waves.
[[nodiscard]] AitemplatePlan ported_greedy(const PlainNet& net);
[[nodiscard]] AitemplatePlan ported_multistream(const PlainNet& net, std::size_t most);

}  // namespace lowtide::testing
