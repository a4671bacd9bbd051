// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/kernels/cpu_target.h"

namespace lowtide::testing {

// Whether oneDNN has products of two tensors that change on this machine. Without AVX-512, it has only one that packs
// both tensors in memory of its own, which no kernel uses.
inline bool has_library_products() { return machine_key().isa.starts_with("avx512"); }

// The kernel that such a node gets if nothing chooses another one.
inline std::string first_kernel(const std::string& of_library) { return has_library_products() ? of_library : "plain"; }

}  // namespace lowtide::testing
