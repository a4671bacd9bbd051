// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "lowtide/earlier/graphdef/op_rules.h"

// What the rules for values share (op_values.cc), and those that compute (op_arithmetic.cc).
namespace lowtide::graphdef_internal {

using Number = std::optional<std::int64_t>;  // nullopt: unknown
using Content = std::optional<Extents>;

// Calls `visit` with the place of each element, in row-major order: its index along each axis.
template <typename Visit>
void for_each_place(const Extents& extents, const Visit& visit) {
  if (std::ranges::find(extents, 0) != extents.end()) return;
  Extents place(extents.size(), 0);
  for (;;) {
    visit(std::as_const(place));
    std::size_t axis = extents.size();
    while (axis > 0 && ++place[axis - 1] == extents[axis - 1]) place[--axis] = 0;
    if (axis == 0) return;
  }
}

// The number of the element at a place, in row-major order. Axes that the place has before those of the tensor are left
// out, and an axis of extent 1 has one index, as in a broadcast. Requires: the place is in the tensor otherwise.
[[nodiscard]] std::size_t number_at(const Extents& extents, const Extents& place);

inline void set_content(NodeTypes& types, Content content, std::size_t output = 0) {
  if (output < types.outputs.size()) types.outputs[output].content = std::move(content);
}

// Compute with two operands, with broadcasting. Require: the extents of output 0 are those of the result.
void add_values(NodeTypes& types);
void subtract_values(NodeTypes& types);
void multiply_values(NodeTypes& types);
void floor_divide_values(NodeTypes& types);
void floor_remainder_values(NodeTypes& types);
void truncate_divide_values(NodeTypes& types);
void truncate_remainder_values(NodeTypes& types);
void maximum_values(NodeTypes& types);
void minimum_values(NodeTypes& types);

// Along the axes that input 1 lists. Require: as above.
void sum_values(NodeTypes& types);
void prod_values(NodeTypes& types);
void max_values(NodeTypes& types);
void min_values(NodeTypes& types);

void negate_values(NodeTypes& types);
void absolute_values(NodeTypes& types);

}  // namespace lowtide::graphdef_internal
