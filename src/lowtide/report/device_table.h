// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/analysis/device_figures.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// A table of what operators write on each device: a line per device, and below it at most `top` lines of its
// operators. Requires: `names` has the devices of the figures.
[[nodiscard]] StyledText device_table(const std::vector<DeviceFigures>& figures, const std::vector<std::string>& names,
                                      std::size_t top);

}  // namespace lowtide
