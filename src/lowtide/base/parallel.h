// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>

namespace lowtide {

// Calls work(0), ..., work(count - 1) once each, on at most `threads` threads. The calling thread is one of them. Calls
// start in ascending order. Returns after all calls have ended. With one thread, it is a plain loop.
//
// If calls throw, the exception of the call with the lowest index is thrown after all calls have ended. If the system
// refuses a thread, the calls run on fewer threads.
void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace lowtide
