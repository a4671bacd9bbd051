// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lowtide/earlier/graphdef/node_walk.h"

namespace lowtide::graphdef_internal {

// Why no conversion makes the node run, and the way out: "is random; ...". Empty: there is a conversion.
[[nodiscard]] std::string why_not_run(const WalkedNode& node);

// How many data inputs a conversion needs at least.
[[nodiscard]] std::size_t least_operands(std::string_view op);

}  // namespace lowtide::graphdef_internal
