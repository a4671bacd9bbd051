// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// Adds random nodes to a graph. Sizes are small multiples of one row of four floats, so that tensors often have the
// same size.
class RandomNodes {
 public:
  RandomNodes(GraphBuilder& builder, Random& random) : builder_(builder), random_(random) {
    tensor(random_.between(1, 3), Role::input);
  }

  void add() {
    // Recent tensors are likelier, as in real networks.
    const std::size_t back = std::min<std::size_t>(made_.size() - 1, random_.below(4));
    const Made first = made_[made_.size() - 1 - back];
    const Made second = made_[random_.below(made_.size())];
    switch (random_.below(7)) {
      case 0: return add_unary("Relu", first);
      case 1:
        if (first.rows != second.rows) return add_conv(first);
        builder_.add_node({.type = "Add", .inputs = {first.id, second.id}, .outputs = {tensor(first.rows)}});
        return;
      case 2: return add_conv(first);
      case 3: return add_unary("Reshape", first);
      case 4: return add_slice(first);
      case 5: return first.rows >= 2 ? add_split(first) : add_concat(first, second);
      default: return add_concat(first, second);
    }
  }

  // Some of the tensors, at least one.
  std::vector<TensorId> outputs() {
    std::vector<TensorId> outputs;
    for (const Made& one : made_) {
      if (!one.is_input && random_.chance(15)) outputs.push_back(one.id);
    }
    if (outputs.empty()) outputs.push_back(made_.back().id);
    return outputs;
  }

 private:
  struct Made {
    TensorId id;
    std::int64_t rows;
    bool is_input;
  };

  TensorId tensor(std::int64_t rows, Role role = Role::temporary) {
    const TensorId id = builder_.add_tensor({.name = "t" + std::to_string(names_++), .shape = Shape({rows, 4})}, role);
    made_.push_back({id, rows, role != Role::temporary});
    return id;
  }

  TensorId number(std::int64_t content) {
    const TensorId id = builder_.add_tensor(
        {.name = "c" + std::to_string(names_++), .dtype = DType::i64, .shape = Shape({1})}, Role::constant);
    builder_.set_known_integers(id, {content});
    return id;
  }

  void add_unary(const char* type, const Made& input) {
    builder_.add_node({.type = type, .inputs = {input.id}, .outputs = {tensor(input.rows)}});
  }

  void add_conv(const Made& input) {
    builder_.add_node({.type = "Conv", .inputs = {input.id}, .outputs = {tensor(random_.between(1, 4))}});
  }

  void add_slice(const Made& input) {
    const std::int64_t begin = random_.between(0, input.rows - 1);
    const std::int64_t end = random_.between(begin + 1, input.rows);
    const TensorId starts = number(begin);
    const TensorId ends = number(end);
    const TensorId axes = number(0);
    builder_.add_node({.type = "Slice", .inputs = {input.id, starts, ends, axes}, .outputs = {tensor(end - begin)}});
  }

  void add_split(const Made& input) {
    const TensorId a = tensor(1);
    const TensorId b = tensor(input.rows - 1);
    builder_.add_node(
        {.type = "Split",
         .inputs = {input.id},
         .outputs = {a, b},
         .attributes = {{"axis", std::int64_t{0}}, {"split", std::vector<std::int64_t>{1, input.rows - 1}}}});
  }

  void add_concat(const Made& first, const Made& second) {
    builder_.add_node({.type = "Concat",
                       .inputs = {first.id, second.id},
                       .outputs = {tensor(first.rows + second.rows)},
                       .attributes = {{"axis", std::int64_t{0}}}});
  }

  GraphBuilder& builder_;
  Random& random_;
  std::vector<Made> made_;
  int names_ = 0;
};

// A random graph of operators that may alias: chains and joins of Relu, Add, Reshape, Slice, Split, Concat, Conv.
inline Graph random_graph(Random& random, int nodes) {
  GraphBuilder builder("random");
  RandomNodes made(builder, random);
  for (int at = 0; at < nodes; ++at) made.add();
  builder.set_outputs(made.outputs());
  Result<Graph> graph = std::move(builder).build();
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

}  // namespace lowtide::testing
