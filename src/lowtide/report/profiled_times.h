// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/report/styled_text.h"

namespace lowtide {

// Times of the nodes of a model, one after another and side by side.
struct ProfiledFigures {
  std::int64_t nodes = 0;
  std::int64_t waves = 0;  // if each node starts when its inputs are there
  double one_stream_ms = 0;
  double all_streams_ms = 0;
  double percentile_70_ms = 0;  // of the times of single nodes
  double percentile_90_ms = 0;
  double percentile_95_ms = 0;
  double longest_ms = 0;
};

// A heading and sentences.
[[nodiscard]] StyledText profiled_times_summary(const ProfiledFigures& figures);

}  // namespace lowtide
