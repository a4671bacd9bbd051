// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/earlier/baselines/ports/plain_net.h"

namespace lowtide::testing {

// Ports of PyTorch's Static Runtime, which share no code with the baselines.

// The storage groups of later versions. Groups are freed in the order of the first uses of their tensors; the original
// frees them in that of a hash table.
[[nodiscard]] std::vector<std::set<std::string>> ported_storage_groups(const PlainNet& net);

using PortedSizes = std::map<std::string, std::int64_t>;

struct PortedRun {
  std::int64_t block = 0;
  std::int64_t outputs_block = 0;
  std::int64_t outside = 0;
  int grown = 0;
  std::int64_t held = 0;  // the most at any moment
};

// Runs the operators one after another: each takes memory for its results, which stays until the end of the run. Each
// name has a storage, which is its own, or in the later versions that of its group. Views have none.
[[nodiscard]] std::vector<PortedRun> ported_runs(const PlainNet& net, const std::vector<PortedSizes>& runs,
                                                 bool has_groups, bool manages_outputs);

}  // namespace lowtide::testing
