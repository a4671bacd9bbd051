// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// What is to be small besides the load. Each is a sum; lower is better.
enum class SecondGoal : std::uint8_t {
  // Over all steps, the bytes that live: bytes x time. What is low here leaves room to others, step by step.
  bytes_time,
  // Over all reads of what a node made, bytes x steps from its writer to the reader: what is low finds more in a cache.
  locality,
  // Pairs of nodes that are not in the order of the graph.
  nearness,
};

// Names, in the order of the enumeration.
[[nodiscard]] const std::vector<std::string>& second_goals();
[[nodiscard]] std::string_view to_string(SecondGoal goal);
[[nodiscard]] std::optional<SecondGoal> second_goal_named(std::string_view name);

// How far an order is from the goal; at most 2^63 - 1, however much more it is. O(nodes log nodes + edges).
[[nodiscard]] std::int64_t value_of(SecondGoal goal, const Graph& graph, const std::vector<NodeId>& order,
                                    const std::vector<Bytes>& profile);

// An order and what it costs with the aliases that are chosen for it.
struct MeasuredOrder {
  std::vector<NodeId> order;
  AliasClasses aliases;
  Bytes load;
  std::int64_t value = 0;  // of the goal
};

// Changes an order so that the goal falls and the load does not rise: single nodes and runs of neighbours move to the
// best place among those that they can reach, earlier or later, without lifting any step above the load, as long as that
// helps. In between the real aliases are chosen and measured; the one with the lowest load, and of these the lowest
// value, is the answer, `start` if none is better. So no answer is worse than the start, none of more effort worse than
// one of less, and none need be the best there is. Require: start.value is that of its order.
// `effort`: values looked at, about 10 ns each with the measuring in between.
[[nodiscard]] MeasuredOrder improve(SecondGoal goal, const Graph& graph, const ChosenKernels& kernels,
                                    const AliasOptions& options, MeasuredOrder start, std::int64_t effort);

}  // namespace lowtide
