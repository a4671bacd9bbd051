// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/graph/text.h"
#include "tests/baselines/ports/plain_net.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

struct Range {
  std::string name;
  int defined = -1;
  std::optional<int> used;
  std::int64_t size = 0;
};

// Ports of Caffe2's greedy assignment and of Static Runtime's storage groups, which share no code with the baselines.
std::vector<std::vector<Range>> ported_assignments(const PlainNet& net) {
  std::vector<Range> ranges;
  const auto range = [&](const std::string& name) -> Range& {
    const auto found = std::find_if(ranges.begin(), ranges.end(), [&](const Range& one) { return one.name == name; });
    if (found != ranges.end()) return *found;
    ranges.push_back({.name = name, .used = std::nullopt, .size = net.bytes.at(name)});
    return ranges.back();
  };
  int last = 0;
  for (int at = 0; at < static_cast<int>(net.ops.size()); ++at) {
    const PlainNet::Op& op = net.ops[static_cast<std::size_t>(at)];
    for (const std::string& name : op.inputs) range(name).used = last = at;
    for (const std::string& name : op.outputs) {
      if (range(name).defined < 0) range(name).defined = at;
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Range& a, const Range& b) { return a.used && (!b.used || *a.used < *b.used); });
  std::vector<std::vector<Range>> slots;
  for (Range& one : ranges) {
    const bool is_static = std::count(net.inputs.begin(), net.inputs.end(), one.name) > 0 ||
                           net.outputs.contains(one.name) || net.constants.contains(one.name);
    if (is_static) continue;
    one.used = one.used.value_or(last + 1);
    std::vector<Range>* best = nullptr;
    std::int64_t nearest = INT64_MAX;
    for (std::vector<Range>& slot : slots) {
      if (one.defined <= *slot.back().used) continue;
      std::int64_t most = 0;
      for (const Range& other : slot) most = std::max(most, other.size);
      if (std::abs(most - one.size) >= nearest) continue;
      nearest = std::abs(most - one.size);
      best = &slot;
    }
    if (best == nullptr) best = &slots.emplace_back();
    best->push_back(one);
  }
  return slots;
}

using NamedSlots = std::map<std::string, std::set<std::string>>;

NamedSlots slots_of(const Net& net, const BaselineOutcome& outcome) {
  NamedSlots slots;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place) slots[outcome.blocks[place->block].name].insert(net.graph.tensor(id).name);
  }
  return slots;
}

Net random_net(Random& random) {
  return random_plain_net(random, {.nodes = static_cast<int>(random.between(1, 24)),
                                   .inputs = 3,
                                   .read_twice = 10,
                                   .constants = 10,
                                   .sizes = random.chance(50) ? 3 : 30});
}

TEST(InterferencePort, GreedyGivesTheSameSlotsAndNames) {
  Random random(51);
  std::size_t shared = 0;
  for (int round = 0; round < 2000; ++round) {
    const Net net = random_net(random);
    SCOPED_TRACE(print_graph(net.graph));
    NamedSlots expected;
    std::int64_t bytes = 0;
    const PlainNet plain = plain_net_of(net);
    for (const std::vector<Range>& slot : ported_assignments(plain)) {
      std::int64_t most = 0;
      for (const Range& one : slot) most = std::max(most, one.size);
      bytes += most;
      for (const Range& one : slot) {
        if (slot.size() > 1) expected[slot.back().name].insert(one.name);
      }
    }
    for (const std::string& name : plain.outputs) bytes += plain.bytes.at(name);
    const BaselineOutcome outcome = outcome_of(net, "caffe2_interference_greedy");
    EXPECT_EQ(slots_of(net, outcome), expected);
    EXPECT_EQ(outcome.bytes.count(), bytes);
    shared += expected.size();
    if (HasFailure()) return;
  }
  EXPECT_GT(shared, 2000U);
}

// After the last read, the original counts results without readers as dead, so it puts a and b into one slot.
TEST(InterferencePort, UnreadResultsOfOneNodeDoNotShare) {
  const Net net = net_of("F x -> p; F p -> o; F -> c; F -> a,b", {.outputs = {"o"}});
  const std::vector<std::vector<Range>> slots = ported_assignments(plain_net_of(net));
  EXPECT_EQ(slots.size(), 1U);  // p, c, a and b
  EXPECT_EQ(slots_of(net, outcome_of(net, "caffe2_interference_greedy")), (NamedSlots{{"c", {"c", "p"}}}));
}

TEST(InterferencePort, UnreadResultsAreLiveToTheEnd) {
  const Net net = net_of("F x -> a,unread; F a -> b; F b -> c; F c -> d; F d -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_interference_greedy");
  EXPECT_EQ(block_of(net, outcome, "unread"), -1);
  EXPECT_EQ(slots_of(net, outcome), (NamedSlots{{"c", {"a", "c"}}, {"d", {"b", "d"}}}));
}

// Groups are freed in the order of the first uses of their tensors; the original frees them in that of a hash table.
TEST(StaticRuntimePort, GivesTheSameGroups) {
  Random random(52);
  for (int round = 0; round < 2000; ++round) {
    const Net net = random_net(random);
    SCOPED_TRACE(print_graph(net.graph));
    const PlainNet plain = plain_net_of(net);
    std::map<std::string, std::size_t> last;
    std::vector<std::string> by_use;
    for (std::size_t at = 0; at < plain.ops.size(); ++at) {
      for (const std::vector<std::string>& list : {plain.ops[at].inputs, plain.ops[at].outputs}) {
        for (const std::string& name : list) {
          if (!last.contains(name)) by_use.push_back(name);
          last[name] = at;
        }
      }
    }
    std::vector<std::set<std::string>> groups;
    std::map<std::string, std::size_t> group_of;
    std::vector<std::size_t> free;
    std::int64_t managed = 0;
    for (std::size_t at = 0; at < plain.ops.size(); ++at) {
      for (const std::string& name : plain.ops[at].outputs) {
        if (plain.outputs.contains(name)) continue;
        managed += (plain.bytes.at(name) + 63) / 64 * 64;
        if (free.empty()) {
          free.push_back(groups.size());
          groups.emplace_back();
        }
        group_of[name] = free.back();
        groups[free.back()].insert(name);
        free.pop_back();
      }
      for (const std::string& name : by_use) {
        if (group_of.contains(name) && last[name] == at) free.push_back(group_of[name]);
      }
    }
    NamedSlots expected;
    std::int64_t outputs = 0;
    for (const std::string& name : plain.outputs) outputs += (plain.bytes.at(name) + 63) / 64 * 64;
    std::int64_t bytes = outputs;
    for (std::size_t at = 0; at < groups.size(); ++at) {
      std::int64_t most = 0;
      for (const std::string& name : groups[at]) most = std::max(most, (plain.bytes.at(name) + 63) / 64 * 64);
      bytes += most;
      expected["group " + std::to_string(at)] = groups[at];
    }
    const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
    EXPECT_EQ(slots_of(net, outcome), expected);
    EXPECT_EQ(outcome.bytes.count(), bytes);
    EXPECT_EQ(outcome_of(net, "static_runtime_side_by_side").bytes.count(), managed + outputs);
    if (HasFailure()) return;
  }
}

// Neither the input nor the output is managed, and neither is a view of them. b and c take 64 bytes each.
TEST(StaticRuntimeSideBySide, HasManagedTensorsOnly) {
  const Net net = net_of("Flatten x -> v; F v -> b; F b -> c; F c -> out",
                         {.outputs = {"out"}, .bytes = {{"b", 1}, {"c", 64}, {"out", 65}}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_side_by_side");
  EXPECT_EQ(outcome.blocks.front().size, Bytes(128));
  EXPECT_EQ(outcome.bytes, Bytes(128 + 128));
  EXPECT_EQ(offset_of(net, outcome, "b"), 0);
  EXPECT_EQ(offset_of(net, outcome, "c"), 64);
  EXPECT_EQ(block_of(net, outcome, "v"), -1);
  EXPECT_EQ(block_of(net, outcome, "out"), -1);
}

}  // namespace
}  // namespace lowtide::testing
