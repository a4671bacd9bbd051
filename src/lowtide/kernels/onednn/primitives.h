// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lowtide/kernels/onednn/parts.h"
#include "lowtide/kernels/onednn/same_bits.h"

namespace lowtide::kernels_internal {

// Takes the orders of tensors that oneDNN has chosen into the problem. Returns false if one of them has no name.
[[nodiscard]] bool fix_orders(Convolution& convolution, const PrimitiveDescription& whole);
template <typename Problem>
[[nodiscard]] bool fix_orders(Problem& /*problem*/, const PrimitiveDescription& /*whole*/) {
  return true;  // the problem states all orders
}

// Whether implementations may round differently, which is all that a trial can find.
template <typename Problem>
inline constexpr bool kRounds = !std::is_same_v<Problem, Reordering>;

// The primitives of the parts. Empty if oneDNN has no suitable primitive for one of them, or if all of them
// together may not give the bits of the whole problem.
template <typename Problem>
[[nodiscard]] std::vector<PrimitivePart> divided(const Problem& problem, const PrimitiveDescription& whole,
                                                 int threads) {
  std::vector<PrimitivePart> all;
  std::vector<Part<Problem>> parts = parts_of(problem, threads);
  for (Part<Problem>& part : parts) {
    all.push_back({describe(part.problem), part.offsets});
    const std::string_view name = implementation_of(all.back().description);
    if (name.empty() || (kRounds<Problem> && name != implementation_of(whole))) return {};
  }
  if constexpr (kRounds<Problem>) {
    if (!all.empty() && !give_same_bits(problem, parts, threads)) return {};
  }
  return all;
}

// The primitives for a number of threads: one per part, or a single one. A problem is divided only if the result has
// the same bits. If it does not, it is divided among half of the threads. Empty if oneDNN has no suitable
// primitive.
template <typename Problem>
[[nodiscard]] std::vector<PrimitivePart> primitives_of(Problem problem, int threads) {
  std::vector<PrimitivePart> all;
  PrimitiveDescription whole = describe(problem);
  if (whole == nullptr) return all;
  if (threads > 1 && !fix_orders(problem, whole)) threads = 1;
  for (; threads > 1 && all.empty(); threads /= 2) all = divided(problem, whole, threads);
  if (all.empty()) all.push_back({std::move(whole)});
  return all;
}

}  // namespace lowtide::kernels_internal
