// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/kernels/library/convolution.h"
#include "lowtide/kernels/library/description.h"
#include "lowtide/kernels/library/pool.h"
#include "lowtide/kernels/library/product.h"
#include "lowtide/kernels/library/reordering.h"

namespace lowtide::kernels_internal {

// How several threads run one kernel of the library. The library would start threads of its own, but a run has those of
// its team. So a problem is divided into smaller problems of the same kind, one per thread, and each gets a primitive:
//
//   a convolution with 64 results in nchw16c:   weights 0..31, results 0..31 | weights 32..63, results 32..63
//
// The tensors of a part are contiguous ranges of those of the whole problem. So nothing is copied, packed weights exist
// once, and the parts may run in any order. All parts together write each byte of the result exactly once, with
// the bits that one primitive would write.

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

// The parts for a number of threads, in the order of their results. Of several ways to divide a problem, the one whose
// slowest part is the fastest is taken, by an estimate. Empty if the tensors of parts would not be contiguous, or if a
// second thread saves too little time. Requires: the order of weights is known.
[[nodiscard]] std::vector<Part<Convolution>> parts_of(const Convolution& convolution, int threads);
[[nodiscard]] std::vector<Part<Pool>> parts_of(const Pool& pool, int threads);
[[nodiscard]] std::vector<Part<Product>> parts_of(const Product& product, int threads);
[[nodiscard]] std::vector<Part<Reordering>> parts_of(const Reordering& reordering, int threads);

// A primitive that does all of the work or a part of it.
struct PrimitivePart {
  PrimitiveDescription description;
  PartOffsets offsets = {};
};

// Where the scratchpad of each part begins, in bytes, at multiples of 64. One more entry is the end of the last one.
[[nodiscard]] std::vector<std::int64_t> scratch_offsets(const std::vector<PrimitivePart>& parts);

// Takes the orders of tensors that the library has chosen into the problem. Returns false if one of them has no name.
[[nodiscard]] bool fix_orders(Convolution& convolution, const PrimitiveDescription& whole);
template <typename Problem>
[[nodiscard]] bool fix_orders(Problem& /*problem*/, const PrimitiveDescription& /*whole*/) {
  return true;  // the problem states all orders
}

// Whether implementations may round differently.
template <typename Problem>
inline constexpr bool kRounds = true;
template <>
inline constexpr bool kRounds<Reordering> = false;

// The primitives for a number of threads: one per part, or a single one. If implementations may round differently, all
// primitives are of the one that the library chooses for the whole problem. Empty if the library has no suitable
// primitive.
template <typename Problem>
[[nodiscard]] std::vector<PrimitivePart> primitives_of(Problem problem, int threads) {
  std::vector<PrimitivePart> all;
  PrimitiveDescription whole = describe(problem);
  if (whole == nullptr) return all;
  if (threads > 1 && fix_orders(problem, whole)) {
    for (Part<Problem>& part : parts_of(problem, threads)) {
      all.push_back({describe(part.problem), std::move(part.offsets)});
      const std::string_view name = implementation_of(all.back().description);
      if (name == implementation_of(whole) || (!kRounds<Problem> && !name.empty())) continue;
      all.clear();
      break;
    }
  }
  if (all.empty()) all.push_back({std::move(whole)});
  return all;
}

}  // namespace lowtide::kernels_internal
