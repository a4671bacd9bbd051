// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/facts.h"

#include <map>
#include <mutex>
#include <utility>

namespace lowtide::kernels_internal {
namespace {

// The answers for one kind of problem. If there are too many, it forgets all of them.
template <typename Problem>
class Answers {
 public:
  template <typename Ask>
  std::optional<PrimitiveFacts> get(const Problem& problem, Ask ask) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(problem); found != known_.end()) return found->second;
    if (known_.size() == kMost) known_.clear();
    return known_.emplace(problem, ask()).first->second;
  }

 private:
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex_;
  std::map<Problem, std::optional<PrimitiveFacts>> known_;
};

std::optional<PrimitiveFacts> ask_convolution(const Convolution& convolution) {
  const PrimitiveDescription primitive = describe(convolution);
  if (primitive == nullptr) return std::nullopt;
  const_dnnl_memory_desc_t weights = tensor_of(primitive, dnnl_query_weights_md);
  std::optional<std::string> order = order_of(weights);
  if (!order) return std::nullopt;
  const std::int64_t elements = size_of(weights).count() / static_cast<std::int64_t>(sizeof(float));
  return PrimitiveFacts{.scratch = scratch_of(primitive),
                        .weights = PackedConstant{DType::f32, Shape({elements}), *std::move(order)}};
}

// A primitive without weights that a plan would have to pack.
template <typename Problem>
std::optional<PrimitiveFacts> ask_scratch(const Problem& problem) {
  const PrimitiveDescription primitive = describe(problem);
  if (primitive == nullptr) return std::nullopt;
  return PrimitiveFacts{.scratch = scratch_of(primitive), .weights = std::nullopt};
}

}  // namespace

std::optional<PrimitiveFacts> facts_of(const Convolution& convolution) {
  static Answers<Convolution> answers;
  return answers.get(convolution, [&] { return ask_convolution(convolution); });
}

std::optional<PrimitiveFacts> facts_of(const Product& product) {
  static Answers<Product> answers;
  return answers.get(product, [&] { return ask_scratch(product); });
}

std::optional<PrimitiveFacts> facts_of(const Pool& pool) {
  static Answers<Pool> answers;
  return answers.get(pool, [&] { return ask_scratch(pool); });
}

std::optional<PrimitiveFacts> facts_of(const StridedProduct& product) {
  static Answers<StridedProduct> answers;
  return answers.get(product, [&] { return ask_scratch(product); });
}

}  // namespace lowtide::kernels_internal
