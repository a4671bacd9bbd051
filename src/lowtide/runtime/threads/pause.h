// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::runtime_internal {

// Tells the processor that a loop waits for another thread.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How the processor rounds and treats tiny numbers on the calling thread. Results depend on it, so the threads of a
// team compute in the same mode. 0 where it is not known.
inline std::uint32_t float_mode() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr();
#else
  return 0;
#endif
}
inline void set_float_mode([[maybe_unused]] std::uint32_t mode) noexcept {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(mode);
#endif
}

}  // namespace lowtide::runtime_internal
