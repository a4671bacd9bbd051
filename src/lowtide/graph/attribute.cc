// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/attribute.h"

#include <algorithm>
#include <cmath>

namespace lowtide {
namespace {

bool is_same_real(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

bool operator==(const Attribute& a, const Attribute& b) {
  if (a.name != b.name || a.value.index() != b.value.index()) return false;
  if (const auto* real = std::get_if<double>(&a.value)) return is_same_real(*real, std::get<double>(b.value));
  const auto* reals = std::get_if<std::vector<double>>(&a.value);
  return reals != nullptr ? std::ranges::equal(*reals, std::get<std::vector<double>>(b.value), &is_same_real)
                          : a.value == b.value;
}

}  // namespace lowtide
