// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/plan/transfers.h"

namespace lowtide::cli_internal {

// --link, --link-latency and --cost-unit. `nanoseconds_per_cost` of the link is that of --cost-unit, or 0 without it.
// nullopt without --link. Every invalid value stops with a usage error that shows a valid one, and so does an option
// without the one that it belongs to. `budget` is the option that says how much memory there is, and `example` a value.
[[nodiscard]] std::optional<TransferLink> read_link(const Arguments& arguments, const std::string& budget = "--budget",
                                                    const std::string& example = "4GiB");

}  // namespace lowtide::cli_internal
