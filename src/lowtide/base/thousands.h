// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace lowtide {

// "1,234,567"
[[nodiscard]] std::string with_thousands(std::int64_t number);

// A time: "12,345 ns", or from a millisecond on "1,234 us".
[[nodiscard]] std::string shown_nanoseconds(std::int64_t nanoseconds);

}  // namespace lowtide
