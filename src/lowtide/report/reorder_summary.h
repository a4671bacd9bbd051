// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// What ONNX Runtime needs in one order.
struct ReorderLine {
  std::string order;  // "its own"
  Bytes first_run;    // the most bytes that are live
  Bytes pattern;      // the block for all temporaries of later runs
  std::string note = {};
};

// The summary of `reorder`: a row per order, and the options of the session that keep the last one.
[[nodiscard]] StyledText reorder_summary(const std::string& path, const std::vector<ReorderLine>& lines);

}  // namespace lowtide
