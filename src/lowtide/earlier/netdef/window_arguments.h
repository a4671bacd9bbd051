// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide::netdef_internal {

// Values of the argument legacy_pad.
namespace legacy_pad {
inline constexpr std::int64_t kValid = 1;
inline constexpr std::int64_t kSame = 2;
inline constexpr std::int64_t kCaffePooling = 3;
}  // namespace legacy_pad

// An argument for one axis of `count`: `name` for all axes, `name_h` and `name_w` for two, `names` for any number.
[[nodiscard]] std::int64_t of_axis(const OpView& op, const std::string& name, std::size_t axis, std::size_t count,
                                   std::int64_t otherwise);

[[nodiscard]] std::int64_t pad_of(const OpView& op, std::size_t axis, std::size_t count, bool at_end);

}  // namespace lowtide::netdef_internal
