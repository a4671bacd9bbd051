// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Calls of the heap of C that chosen libraries of the process make. Their import entries are replaced by functions that
// count the bytes, and that let placed blocks (placed_heap.h) take part. All other blocks are those of the heap.
namespace lowtide::python {

// Redirects the libraries whose file names begin with one of the names. Returns the names for which one was found.
// Libraries that are loaded later are not redirected until the next call. `for_good`: end_redirection() leaves them.
// Throws Failure if a name is empty, or if `for_good` and other code has replaced some of the entries.
std::vector<std::string> redirect_heap_calls(const std::vector<std::string>& names, bool for_good);

// Puts the entries back, except those that are redirected for good.
void end_redirection();

// Bytes that were taken minus bytes that were released since the start of the process, through redirected entries only.
// Negative if more were released.
std::int64_t heap_live();

// The largest value of heap_live() since the last call of reset_heap_peak().
std::int64_t heap_peak();
void reset_heap_peak();

}  // namespace lowtide::python
