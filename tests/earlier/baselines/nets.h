// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// A net as older frameworks write it, where a name may be written again:
//
//   FC data,w,b -> fc; Relu fc -> fc; Split fc -> a,b
//
// Each write is a separate tensor: "fc" and "fc@1". A name that is read before it is written is an input. All
// tensors of a name are colocated (one blob). A node may have a body that reads tensors of the outer graph: "If c
// captures a,b -> r".
struct Net {
  Graph graph;
  BaselineOptions options;  // `colocated` is set
};

struct NetFacts {
  std::vector<std::string> outputs;           // names; the last version of each
  std::map<std::string, std::int64_t> bytes;  // of names; other names have 64
  std::set<std::string> constants;            // names that no node writes, and that are constants in place of inputs
};

[[nodiscard]] Net net_of(std::string_view text, const NetFacts& facts);

// Returns the last version of a name.
[[nodiscard]] TensorId last_of(const Net& net, const std::string& name);
// Returns all versions of these names.
[[nodiscard]] std::vector<TensorId> all_of(const Net& net, const std::vector<std::string>& names);

// Applies the baseline in the given order. Throws if the baseline refuses or if its result is wrong.
[[nodiscard]] BaselineOutcome outcome_of(const Net& net, const std::string& baseline);

// Returns the block number of the last version of a name, or -1 if it has its own memory.
[[nodiscard]] int block_of(const Net& net, const BaselineOutcome& outcome, const std::string& name);
[[nodiscard]] std::vector<std::string> block_names(const BaselineOutcome& outcome);
// Returns the offset of the last version of a name. Throws if it has none.
[[nodiscard]] std::int64_t offset_of(const Net& net, const BaselineOutcome& outcome, const std::string& name);

// Returns the arena of Lowtide's own plan with alignment 1. Throws if the plan is not verified.
[[nodiscard]] std::int64_t own_arena(const Net& net);

// Texts of nets.
[[nodiscard]] std::string chain(int nodes);   // x0 -> x1 -> ... -> x<nodes>
[[nodiscard]] std::string ladder(int rungs);  // two rows that feed each other, then a Sum: "out"
// `count` rows of `depth` nodes B that start at "a", and the names of their last tensors, separated by commas.
struct Branches {
  std::string text;
  std::string ends;
};
[[nodiscard]] Branches branches(int count, int depth);
[[nodiscard]] std::string wide(int count, int depth);  // data -> a, branches from a, Sum, three more nodes: "out"
// Two branches of three FC from fc2, a Sum of both, and two losses: 37 names. With `writes_over_sum`, fc5sum is
// written again, from fc5, so the Sum is dead: 36 names.
[[nodiscard]] std::string tree(bool writes_over_sum);
// A row of FC, Relu in place, a loss, and their gradients: 39 names with 5 layers.
[[nodiscard]] std::string training(int layers);
// fc5 feeds loss1, and fc6 feeds loss2. The two gradients of fc5 are summed: 53 names.
[[nodiscard]] std::string training_tree();
[[nodiscard]] std::string resnet50();  // inference, 175 nodes, 447 names; data -> softmax

// With a loss and gradients of everything, including parameters.
struct TrainingNet {
  std::string text;
  std::vector<std::string> gradients;         // of activations, not of parameters
  std::vector<std::string> forward;           // what nodes write in the forward pass
  std::map<std::string, std::int64_t> bytes;  // of both; for four images
};
[[nodiscard]] TrainingNet resnet50_training();

}  // namespace lowtide::testing
