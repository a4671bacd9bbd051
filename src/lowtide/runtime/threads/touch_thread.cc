// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/threads/touch_thread.h"

#include <cstddef>

#include "lowtide/kernels/initialize.h"

namespace lowtide::runtime_internal {
namespace {

constexpr std::size_t kStackPage = 4096;  // the smallest page of a system that Lowtide runs on
constexpr std::size_t kStack = std::size_t{128} * 1024;

}  // namespace

[[gnu::noinline]] void touch_thread() {
  prepare_kernel_thread();
  std::byte below[kStack];  // the stack of kernels
  volatile std::byte* stack = below;
  for (std::size_t at = 0; at < kStack; at += kStackPage) stack[at] = std::byte{0};
  stack[kStack - 1] = std::byte{0};
}

}  // namespace lowtide::runtime_internal
