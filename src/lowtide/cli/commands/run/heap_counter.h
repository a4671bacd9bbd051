// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

namespace lowtide::cli_internal {

// Counts the calls of malloc and its relatives by all threads and libraries of the program. heap_counter.cc replaces
// malloc for this purpose.
void begin_counting_allocations();
// The calls since begin_counting_allocations(). nullopt if the program has another malloc, as one with a sanitizer.
[[nodiscard]] std::optional<std::int64_t> end_counting_allocations();

}  // namespace lowtide::cli_internal
