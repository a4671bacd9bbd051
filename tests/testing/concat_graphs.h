// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// The first row of `input`, by a Slice.
inline void add_first_row(GraphBuilder& builder, TensorId input, TensorId output) {
  builder.add_node({.type = "Slice",
                    .inputs = {input},
                    .outputs = {output},
                    .attributes = {{"starts", std::vector<std::int64_t>{0}},
                                   {"ends", std::vector<std::int64_t>{1}},
                                   {"axes", std::vector<std::int64_t>{0}}}});
}

// A tensor with a number of rows.
struct RowsOf {
  TensorId id;
  std::int64_t rows;
  bool is_given;
};

// A concat of one to three tensors that `any` chooses. `result` makes a tensor with a number of rows.
template <typename Any, typename Result>
GraphBuilder::NodeSpec make_concat(Random& random, const Any& any, const Result& result) {
  std::vector<std::optional<TensorId>> operands;
  std::int64_t rows = 0;
  const auto count = random.between(1, 3);
  for (std::int64_t operand = 0; operand < count; ++operand) {
    const RowsOf one = any();
    operands.emplace_back(one.id);
    rows += one.rows;
  }
  return {.type = "Concat",
          .inputs = std::move(operands),
          .outputs = {result(rows)},
          .attributes = {{"axis", std::int64_t{0}}}};
}

// A random graph that consists mostly of concats. Their operands are inputs, constants, outputs, results of kernels, of
// slices and of other concats. Often one tensor is in several concats, or several times in one. Sizes are multiples of
// one row of four floats.
inline Graph random_concat_graph(Random& random, int nodes) {
  GraphBuilder builder("concats");
  std::vector<RowsOf> made;
  int names = 0;
  const auto result = [&](std::int64_t rows, Role role = Role::temporary) {
    const TensorId id = builder.add_tensor({.name = "t" + std::to_string(names++), .shape = Shape({rows, 4})}, role);
    made.push_back({id, rows, role != Role::temporary});
    return id;
  };
  const auto any = [&] {
    const std::size_t back = std::min<std::size_t>(made.size() - 1, random.below(5));
    return random.chance(60) ? made[made.size() - 1 - back] : made[random.below(made.size())];
  };
  result(random.between(1, 3), Role::input);
  result(random.between(1, 3), Role::constant);
  for (int at = 0; at < nodes; ++at) {
    const RowsOf first = any();
    switch (random.below(8)) {
      case 0: builder.add_node({.type = "Relu", .inputs = {first.id}, .outputs = {result(first.rows)}}); break;
      case 1:
      case 2:
        builder.add_node({.type = "Conv", .inputs = {first.id}, .outputs = {result(random.between(1, 4))}});
        break;
      case 3: builder.add_node({.type = "Reshape", .inputs = {first.id}, .outputs = {result(first.rows)}}); break;
      case 4: add_first_row(builder, first.id, result(1)); break;
      default: builder.add_node(make_concat(random, any, result));
    }
  }
  std::vector<TensorId> outputs;
  for (const RowsOf& one : made) {
    if (!one.is_given && random.chance(15)) outputs.push_back(one.id);
  }
  if (outputs.empty()) outputs.push_back(made.back().id);
  builder.set_outputs(std::move(outputs));
  return std::move(builder).build().value();
}

}  // namespace lowtide::testing
