// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/earlier/baselines/ports/plain_net.h"

namespace lowtide::testing {

struct PortedRange {
  std::string name;
  int defined = -1;
  std::optional<int> used;
  std::int64_t size = 0;
};
using PortedSlot = std::vector<PortedRange>;
using PortedSlots = std::vector<PortedSlot>;
using GivenNames = std::vector<std::vector<std::string>>;

// A port of Caffe2's greedy assignment, which shares no code with the baselines. It begins with `given`, as the
// original does with its argument init_assignments. Inputs, outputs and constants are static, and not in the result.
[[nodiscard]] PortedSlots ported_assignments(const PlainNet& net, const GivenNames& given = {});

}  // namespace lowtide::testing
