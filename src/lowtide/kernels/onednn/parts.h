// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/kernels/onednn/convolution.h"
#include "lowtide/kernels/onednn/description.h"
#include "lowtide/kernels/onednn/product.h"
#include "lowtide/kernels/onednn/reordering.h"

namespace lowtide::kernels_internal {

// How several threads run one kernel of oneDNN. oneDNN would start threads of its own, but a run has those of
// its team. So a problem is divided into smaller problems of the same kind, one per thread, and each gets a primitive:
//
//   a convolution with 64 results in nchw16c:   weights 0..31, results 0..31 | weights 32..63, results 32..63
//
// The tensors of a part are contiguous ranges of those of the whole problem. So nothing is copied, packed weights exist
// once, and the parts may run in any order. All parts together write each byte of the result exactly once. Whether they
// write the bits that one primitive would write is known from a trial only (same_bits.h).

// Where the tensors of a part begin, in bytes from the begin of those of the whole problem.
struct PartOffsets {
  std::vector<std::int64_t> reads = {};  // by operand of the node; 0 for the operands after the last entry
  std::int64_t write = 0;                // of result 0
};

template <typename Problem>
struct Part {
  Problem problem;
  PartOffsets offsets;
};

// The parts for a number of threads, or fewer, in the order of their results. Of several ways to divide a problem, the
// one whose slowest part is the fastest is taken, by an estimate. Empty if the tensors of parts would not be
// contiguous, or if a second thread saves too little time. Requires: the order of weights is known.
[[nodiscard]] std::vector<Part<Convolution>> parts_of(const Convolution& convolution, int threads);
[[nodiscard]] std::vector<Part<Product>> parts_of(const Product& product, int threads);
[[nodiscard]] std::vector<Part<Reordering>> parts_of(const Reordering& reordering, int threads);

// A primitive that does all of the work or a part of it.
struct PrimitivePart {
  PrimitiveDescription description;
  PartOffsets offsets = {};
};

// Where the scratchpad of each part begins, in bytes, at multiples of 64. One more entry is the end of the last one.
[[nodiscard]] std::vector<std::int64_t> scratch_offsets(const std::vector<PrimitivePart>& parts);

}  // namespace lowtide::kernels_internal
