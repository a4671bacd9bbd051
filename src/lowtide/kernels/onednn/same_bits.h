// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/kernels/onednn/parts.h"

namespace lowtide::kernels_internal {

// Whether the parts of a problem write the bits that one primitive writes. oneDNN does not say in which order it
// adds products, and the same implementation chooses it by the extents: its convolutions with a window of 1 x 1 add up
// 80 or 512 channels at a time, depending on how many results there are. So both are run once on numbers that look
// random, and the results are compared. Another order of sums gives other bits for some of the thousands of results.
//
// The first call for a problem and a number of threads takes about as long as two runs of the kernel. It needs memory
// for two results and 1 MiB for all operands, or as much as the largest one (KernelProcess::makes_memory_files).
// Answers are kept. They do not depend on the numbers of an epilogue, such as the bounds of a Clip. Thread-safe. Throws
// std::bad_alloc. Requires: `parts` are parts_of(problem, threads).
[[nodiscard]] bool give_same_bits(const Convolution& convolution, const std::vector<Part<Convolution>>& parts,
                                  int threads);
[[nodiscard]] bool give_same_bits(const Product& product, const std::vector<Part<Product>>& parts, int threads);

}  // namespace lowtide::kernels_internal
