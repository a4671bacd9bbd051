// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

#include "lowtide/analysis/copies_left.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide {

// "gives the elements another order"
[[nodiscard]] std::string_view reason_text(CopyReason reason);

// The sum, and a table of the largest copies with their reasons. A sentence if there are none.
[[nodiscard]] StyledText copies_text(const std::vector<CopyLeft>& copies, const SummaryOptions& options = {});

}  // namespace lowtide
