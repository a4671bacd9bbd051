// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/checked.h"

#include "lowtide/base/check.h"

namespace lowtide {

std::int64_t must_add(std::int64_t a, std::int64_t b) {
  const std::optional<std::int64_t> sum = checked_add(a, b);
  LOWTIDE_CHECK(sum.has_value(), "a sum of bounded sizes fits 64 bits");
  return *sum;
}

std::int64_t must_subtract(std::int64_t a, std::int64_t b) {
  const std::optional<std::int64_t> difference = checked_subtract(a, b);
  LOWTIDE_CHECK(difference.has_value(), "a difference of bounded sizes fits 64 bits");
  return *difference;
}

std::int64_t must_multiply(std::int64_t a, std::int64_t b) {
  const std::optional<std::int64_t> product = checked_multiply(a, b);
  LOWTIDE_CHECK(product.has_value(), "a product of bounded sizes fits 64 bits");
  return *product;
}

}  // namespace lowtide
