// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic of small tensors of integers. A result that does not fit into 64 bits is unknown.

#include <limits>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/graphdef/op_values.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Number floor_divided(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == kLeast)) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Number floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Number truncated(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == kLeast)) return std::nullopt;
  return a / b;
}

Number truncated_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  return b == -1 ? 0 : a % b;
}

Number larger(std::int64_t a, std::int64_t b) { return std::max(a, b); }
Number smaller(std::int64_t a, std::int64_t b) { return std::min(a, b); }

template <Number (*combine)(std::int64_t, std::int64_t)>
void binary_values(NodeTypes& types) {
  const Extents* a = types.values(0);
  const Extents* b = types.values(1);
  if (a == nullptr || b == nullptr) return;
  Content all = Extents();
  for_each_place(*types.outputs[0].extents, [&](const Extents& place) {
    const Number one = combine((*a)[number_at(*types.extents(0), place)], (*b)[number_at(*types.extents(1), place)]);
    if (!one) all = std::nullopt;
    if (all) all->push_back(*one);
  });
  set_content(types, std::move(all));
}

// Combines the elements along the axes that input 1 lists. Axes that are reduced have the extent 1 for a while, so
// number_at leaves them out.
template <Number (*combine)(std::int64_t, std::int64_t), std::int64_t kFirst, bool kMayBeEmpty>
void reduced_values(NodeTypes& types) {
  const Extents* x = types.values(0);
  const Extents* axes = types.content(1);
  if (x == nullptr || axes == nullptr || (x->empty() && !kMayBeEmpty)) return;
  Extents reduced = *types.extents(0);
  for (std::int64_t axis : *axes) {
    const std::optional<std::size_t> at = index_of_axis(axis, reduced.size());
    if (!at) return;
    reduced[*at] = 1;
  }
  std::vector<Number> all(static_cast<std::size_t>(*product(*types.outputs[0].extents)), kFirst);
  std::size_t from = 0;
  for_each_place(*types.extents(0), [&](const Extents& place) {
    Number& sum = all[number_at(reduced, place)];
    if (sum) sum = combine(*sum, (*x)[from]);
    ++from;
  });
  Extents content;
  for (const Number& one : all) {
    if (!one) return;
    content.push_back(*one);
  }
  set_content(types, std::move(content));
}

}  // namespace

std::size_t number_at(const Extents& extents, const Extents& place) {
  std::int64_t number = 0;
  const std::size_t shift = place.size() - extents.size();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    number = number * extents[axis] + (extents[axis] == 1 ? 0 : place[axis + shift]);
  }
  return static_cast<std::size_t>(number);
}

void add_values(NodeTypes& types) { binary_values<checked_add>(types); }
void subtract_values(NodeTypes& types) { binary_values<checked_subtract>(types); }
void multiply_values(NodeTypes& types) { binary_values<checked_multiply>(types); }
void truncate_divide_values(NodeTypes& types) { binary_values<truncated>(types); }
void truncate_remainder_values(NodeTypes& types) { binary_values<truncated_remainder>(types); }
void floor_divide_values(NodeTypes& types) { binary_values<floor_divided>(types); }
void floor_remainder_values(NodeTypes& types) { binary_values<floor_remainder>(types); }
void maximum_values(NodeTypes& types) { binary_values<larger>(types); }
void minimum_values(NodeTypes& types) { binary_values<smaller>(types); }

void sum_values(NodeTypes& types) { reduced_values<checked_add, 0, true>(types); }
void prod_values(NodeTypes& types) { reduced_values<checked_multiply, 1, true>(types); }
void max_values(NodeTypes& types) { reduced_values<larger, kLeast, false>(types); }
void min_values(NodeTypes& types) { reduced_values<smaller, kMost, false>(types); }

void negate_values(NodeTypes& types) {
  if (types.values(0) == nullptr) return;
  Extents content;
  for (std::int64_t one : *types.values(0)) {
    const Number negated = checked_subtract(0, one);
    if (!negated) return;
    content.push_back(*negated);
  }
  set_content(types, std::move(content));
}

void absolute_values(NodeTypes& types) {
  if (types.values(0) == nullptr) return;
  Extents content;
  for (std::int64_t one : *types.values(0)) {
    if (one == kLeast) return;
    content.push_back(one < 0 ? -one : one);
  }
  set_content(types, std::move(content));
}

}  // namespace lowtide::graphdef_internal
