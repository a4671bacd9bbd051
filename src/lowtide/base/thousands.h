// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace lowtide {

// "1,234,567"
[[nodiscard]] std::string with_thousands(std::int64_t number);

// A time: "0.35 us", from a millisecond on "12.35 ms", from a second on "1.23 s".
[[nodiscard]] std::string shown_nanoseconds(std::int64_t nanoseconds);

}  // namespace lowtide
