// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide {

// The values of a symbolic extent for which a model is planned.
struct DimRange {
  std::string symbol;                 // "batch"
  std::vector<std::int64_t> extents;  // in ascending order, each once; at most kMaxPlansPerFile
};

}  // namespace lowtide
