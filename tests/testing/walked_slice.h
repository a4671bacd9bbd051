// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lowtide::testing {

// The positions that a Slice of an axis takes, as ONNX defines it. Negative positions count from the end. A start is
// moved into [0, extent] for a positive step and into [0, extent - 1] for a negative one. An end is a limit that the
// walk does not reach. Requires: step != 0, and sums that do not overflow.
inline std::vector<std::int64_t> walked_slice(std::int64_t extent, std::int64_t start, std::int64_t end,
                                              std::int64_t step) {
  std::vector<std::int64_t> taken;
  if (extent == 0) return taken;
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  std::int64_t at = std::clamp<std::int64_t>(start, 0, step > 0 ? extent : extent - 1);
  for (; at >= 0 && at < extent && (step > 0 ? at < end : at > end); at += step) taken.push_back(at);
  return taken;
}

}  // namespace lowtide::testing
