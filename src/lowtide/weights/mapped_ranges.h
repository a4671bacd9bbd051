// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "lowtide/base/id.h"

namespace lowtide::weights_internal {

using RangeId = Id<struct RangeTag>;

// The mapped files of this process, in a table that a signal handler may read. It has 1,024 places.
// Returns nullopt if all are taken.
[[nodiscard]] std::optional<RangeId> add_range(std::span<const std::byte> range) noexcept;
void remove_range(RangeId id) noexcept;

// Whether the handler has replaced bytes of the range by zeros.
[[nodiscard]] bool has_lost_bytes(RangeId id) noexcept;

}  // namespace lowtide::weights_internal
