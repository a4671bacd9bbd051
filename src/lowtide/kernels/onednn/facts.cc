// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/facts.h"

#include <utility>
#include <vector>

#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/onednn/answers.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/primitives.h"

namespace lowtide::kernels_internal {
namespace {

// By a problem and the number of threads.
template <typename Problem>
using FactsByProblem = Answers<std::pair<Problem, int>, std::optional<PrimitiveFacts>>;

template <typename Problem>
FactsByProblem<Problem>& answers() {
  static FactsByProblem<Problem> the_answers;
  return the_answers;
}

template <typename Problem>
std::optional<PrimitiveFacts> ask(const Problem& problem, int threads) {
  const std::vector<PrimitivePart> parts = primitives_of(problem, threads);
  if (parts.empty()) return std::nullopt;
  return PrimitiveFacts{.scratch = Bytes(scratch_offsets(parts).back()), .weights = std::nullopt};
}

// The scratch of a problem that is not divided.
template <typename Problem>
std::optional<PrimitiveFacts> ask_for_scratch(const Problem& problem) {
  const PrimitiveDescription primitive = describe(problem);
  if (primitive == nullptr) return std::nullopt;
  return PrimitiveFacts{.scratch = scratch_of(primitive.get()), .weights = std::nullopt};
}

// Adds the order of the weights, which a plan has to pack. It does not depend on the number of threads.
std::optional<PrimitiveFacts> ask_alone(const Convolution& convolution) {
  const PrimitiveDescription primitive = describe(convolution);
  if (primitive == nullptr) return std::nullopt;
  const_dnnl_memory_desc_t weights = tensor_of(primitive.get(), dnnl_query_weights_md);
  std::optional<std::string> order = order_of(weights);
  if (!order) return std::nullopt;
  const std::int64_t elements = size_of(weights).count() / static_cast<std::int64_t>(sizeof(float));
  return PrimitiveFacts{.scratch = scratch_of(primitive.get()),
                        .weights = PackedConstant{DType::f32, Shape({elements}), *std::move(order)}};
}

}  // namespace

std::optional<PrimitiveFacts> facts_of(const Convolution& convolution, int threads) {
  std::optional<PrimitiveFacts> alone =
      answers<Convolution>().get({convolution, 1}, [&] { return ask_alone(convolution); });
  if (!alone || threads == 1) return alone;
  return answers<Convolution>().get({convolution, threads}, [&] {
    std::optional<PrimitiveFacts> facts = ask(convolution, threads);
    if (facts) facts->weights = std::move(alone->weights);
    return facts;
  });
}

std::optional<PrimitiveFacts> facts_of(const Product& product, int threads) {
  return answers<Product>().get({product, threads}, [&] { return ask(product, threads); });
}

std::optional<PrimitiveFacts> facts_of(const Reordering& reordering, int threads) {
  return answers<Reordering>().get({reordering, threads}, [&] { return ask(reordering, threads); });
}

std::optional<PrimitiveFacts> facts_of(const StridedProduct& product) {
  return answers<StridedProduct>().get({product, 1}, [&] { return ask_for_scratch(product); });
}

std::optional<PrimitiveFacts> facts_of(const IntegerProduct& product) {
  return answers<IntegerProduct>().get({product, 1}, [&] { return ask_for_scratch(product); });
}

void forget_facts() {
  answers<Convolution>().forget();
  answers<Product>().forget();
  answers<Reordering>().forget();
  answers<StridedProduct>().forget();
  answers<IntegerProduct>().forget();
}

}  // namespace lowtide::kernels_internal

namespace lowtide {

void release_kernel_caches() {
  kernels_internal::forget_facts();
  if (!kernels_internal::is_dnnl_loaded()) return;
  // A cache of no primitives releases those that it has. Its size is that of oneDNN or of its environment.
  const kernels_internal::Dnnl& library = kernels_internal::dnnl();
  int capacity = 0;
  if (library.get_primitive_cache_capacity(&capacity) != dnnl_success) return;
  static_cast<void>(library.set_primitive_cache_capacity(0));
  static_cast<void>(library.set_primitive_cache_capacity(capacity));
}

}  // namespace lowtide
