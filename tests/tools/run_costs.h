// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// Counts what a run must not do. A program that links run_costs.cc has that file's malloc.
namespace lowtide::testing {

struct RunCosts {
  std::int64_t allocations = 0;   // calls of malloc, calloc, realloc and their aligned forms, by all threads
  std::int64_t system_calls = 0;  // by all threads, those of the C library included, such as mmap, brk and futex
  std::int64_t page_faults = 0;   // by all threads, minor and major ones
  int first_call = -1;            // the number of the first system call; -1 if there was none
};

// Makes every system call of the process a signal, whose handler counts the call and makes it. This cannot be undone.
// Returns false if the system does not allow it.
[[nodiscard]] bool trap_system_calls();

// Counts from begin_counting() to end_counting(). Only one thread may count.
void begin_counting();
[[nodiscard]] RunCosts end_counting();

}  // namespace lowtide::testing
