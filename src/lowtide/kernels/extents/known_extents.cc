// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/extents/known_extents.h"

#include <algorithm>
#include <utility>

namespace lowtide::kernels_internal {

bool may_equal(std::span<const KnownExtent> a, std::span<const KnownExtent> b) {
  return std::ranges::equal(a, b, [](const KnownExtent& x, const KnownExtent& y) { return may_equal(x, y); });
}

KnownExtent sum_of(const KnownExtent& a, const KnownExtent& b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

KnownExtent product_of(std::span<const KnownExtent> factors) {
  if (std::ranges::find(factors, KnownExtent(0)) != factors.end()) return 0;
  std::int64_t product = 1;
  for (const KnownExtent& factor : factors) {
    if (!factor || __builtin_mul_overflow(product, *factor, &product)) return std::nullopt;
  }
  return product;
}

std::optional<KnownExtents> broadcast_known(KnownExtents a, KnownExtents b) {
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t more = a.size() - b.size();
  for (std::size_t at = 0; at < b.size(); ++at) {
    KnownExtent& extent = a[more + at];
    if (!may_equal(extent, b[at]) && extent != 1 && b[at] != 1) return std::nullopt;
    // A number that is not 1 is the extent of the result, whatever the other one will be.
    if (extent == 1 || (!extent && b[at] != 1)) extent = b[at];
  }
  return a;
}

bool may_broadcast_to(const KnownExtents& operand, const KnownExtents& to) {
  if (operand.size() > to.size()) return false;
  const std::size_t more = to.size() - operand.size();
  for (std::size_t at = 0; at < operand.size(); ++at) {
    if (operand[at] != 1 && !may_equal(operand[at], to[more + at])) return false;
  }
  return true;
}

std::optional<std::vector<std::int64_t>> all_known(std::span<const KnownExtent> extents) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(extents.size());
  for (const KnownExtent& extent : extents) {
    if (!extent) return std::nullopt;
    numbers.push_back(*extent);
  }
  return numbers;
}

KnownExtents known(std::span<const std::int64_t> extents) { return {extents.begin(), extents.end()}; }

std::string to_text(std::span<const KnownExtent> extents) {
  std::string text = "[";
  for (const KnownExtent& extent : extents) {
    if (text.size() > 1) text += ',';
    text += extent ? std::to_string(*extent) : "?";
  }
  return text + "]";
}

}  // namespace lowtide::kernels_internal
