// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>

namespace lowtide {

// Calls work(0), ..., work(count - 1), each once, on at most `threads` threads, the calling one among them; they are
// taken in ascending order. Returns when all are done. With one thread it is a loop. What a call throws is thrown here,
// of several the one with the lowest index; the others are done all the same.
// A thread that the system refuses is done without.
void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace lowtide
