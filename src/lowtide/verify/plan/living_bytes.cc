// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/living_bytes.h"

#include <algorithm>
#include <utility>

namespace lowtide::verify_internal {
namespace {

Lifespan in_both(const Lifespan& a, const Lifespan& b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

}  // namespace

LivingBytes::LivingBytes(const Plan& plan) : plan_(plan), tree_of_(plan.layout.buffers.size(), 0) {
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    const std::vector<BufferPart>& parts = plan.layout.buffers[id].parts;
    if (parts.empty()) continue;
    Tree tree;
    std::int64_t end = 0;
    tree.common.resize(parts.size());
    for (const BufferPart& part : parts) {
      tree.ends.push_back(end += part.size.count());
      tree.common.push_back(part.lifespan);
    }
    for (std::size_t at = parts.size() - 1; at > 0; --at) {
      tree.common[at] = in_both(tree.common[2 * at], tree.common[2 * at + 1]);
    }
    trees_.push_back(std::move(tree));
    tree_of_[id] = static_cast<std::uint32_t>(trees_.size());
  }
}

Lifespan LivingBytes::common_life(BufferId buffer, const Interval<std::int64_t>& bytes) const {
  Lifespan common = plan_.layout.buffers[buffer].lifespan;
  if (tree_of_[buffer] == 0 || bytes.empty()) return common;
  const Tree& tree = trees_[tree_of_[buffer] - 1];
  const auto index_of = [&](auto found) { return static_cast<std::size_t>(found - tree.ends.begin()); };
  // The first part that ends after the first byte, and one past the part that holds the last byte.
  std::size_t first = index_of(std::upper_bound(tree.ends.begin(), tree.ends.end(), bytes.begin));
  std::size_t last = index_of(std::lower_bound(tree.ends.begin(), tree.ends.end(), bytes.end)) + 1;
  for (first += tree.ends.size(), last += tree.ends.size(); first < last; first /= 2, last /= 2) {
    if (first % 2 == 1) common = in_both(common, tree.common[first++]);
    if (last % 2 == 1) common = in_both(common, tree.common[--last]);
  }
  return {common.begin, std::max(common.begin, common.end)};
}

}  // namespace lowtide::verify_internal
