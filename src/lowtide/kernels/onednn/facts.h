// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/bytes.h"
#include "lowtide/kernels/onednn/convolution.h"
#include "lowtide/kernels/onednn/integer_product.h"
#include "lowtide/kernels/onednn/product.h"
#include "lowtide/kernels/onednn/reordering.h"
#include "lowtide/kernels/onednn/strided_product.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// What a plan needs to know about a kernel, from oneDNN's own description.
struct PrimitiveFacts {
  Bytes scratch;
  std::optional<PackedConstant> weights;  // of a convolution
};

// The facts for a number of threads, of which only the scratch depends on it. Returns nullopt if oneDNN has no
// suitable primitive. A description takes 0.1 to 1 ms, so the last 4,096 answers are kept until
// forget_facts(). Thread-safe.
[[nodiscard]] std::optional<PrimitiveFacts> facts_of(const Convolution& convolution, int threads);
[[nodiscard]] std::optional<PrimitiveFacts> facts_of(const Product& product, int threads);
[[nodiscard]] std::optional<PrimitiveFacts> facts_of(const Reordering& reordering, int threads);
// For one thread.
[[nodiscard]] std::optional<PrimitiveFacts> facts_of(const StridedProduct& product);
[[nodiscard]] std::optional<PrimitiveFacts> facts_of(const IntegerProduct& product);

// Forgets all answers. Thread-safe.
void forget_facts();

// Whether a problem that differs from another one in its epilogue has a primitive with the same weights, and no more
// scratch.
template <typename Problem>
[[nodiscard]] bool is_as_light(const Problem& problem, const Problem& other) {
  const std::optional<PrimitiveFacts> own = facts_of(problem, 1);
  const std::optional<PrimitiveFacts> others = facts_of(other, 1);
  return own && others && own->weights == others->weights && own->scratch <= others->scratch;
}

}  // namespace lowtide::kernels_internal
