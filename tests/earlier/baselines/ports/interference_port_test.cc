// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/graph/text.h"
#include "tests/earlier/baselines/ports/interference_port.h"
#include "tests/earlier/baselines/ports/plain_net.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using NamedSlots = std::map<std::string, std::set<std::string>>;

NamedSlots named_slots_of(const Net& net, const BaselineOutcome& outcome) {
  NamedSlots slots;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place) slots[outcome.blocks[place->block].name].insert(net.graph.tensor(id).name);
  }
  return slots;
}

Net random_interference_net(Random& random) {
  return random_plain_net(random, {.nodes = static_cast<int>(random.between(1, 24)),
                                   .inputs = 3,
                                   .read_twice = 10,
                                   .constants = 10,
                                   .sizes = random.chance(50) ? 3 : 30});
}

// The blocks and bytes of the port's slots.
struct Expected {
  NamedSlots slots;
  std::int64_t bytes = 0;
};

Expected expected_of(const PlainNet& plain, const PortedSlots& slots) {
  Expected expected;
  for (const PortedSlot& slot : slots) {
    std::int64_t most = 0;
    for (const PortedRange& one : slot) most = std::max(most, one.size);
    expected.bytes += most;
    for (const PortedRange& one : slot) {
      if (slot.size() > 1) expected.slots[slot.back().name].insert(one.name);
    }
  }
  for (const std::string& name : plain.outputs) expected.bytes += plain.bytes.at(name);
  return expected;
}

TEST(InterferencePort, GreedyGivesTheSameSlotsAndNames) {
  Random random(51);
  std::size_t shared = 0;
  for (int round = 0; round < 2000; ++round) {
    const Net net = random_interference_net(random);
    SCOPED_TRACE(print_graph(net.graph));
    const PlainNet plain = plain_net_of(net);
    const Expected expected = expected_of(plain, ported_assignments(plain));
    const BaselineOutcome outcome = outcome_of(net, "caffe2_interference_greedy");
    EXPECT_EQ(named_slots_of(net, outcome), expected.slots);
    EXPECT_EQ(outcome.bytes.count(), expected.bytes);
    shared += expected.slots.size();
    if (HasFailure()) return;
  }
  EXPECT_GT(shared, 2000U);
}

// When a name is written and used for the last time. Names without readers are live to the end.
struct Life {
  std::string name;
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Life> lives_of(const PlainNet& net) {
  std::map<std::string, std::size_t> read;
  for (std::size_t at = 0; at < net.ops.size(); ++at) {
    for (const std::string& name : net.ops[at].inputs) read[name] = at;
  }
  std::vector<Life> lives;
  for (std::size_t at = 0; at < net.ops.size(); ++at) {
    for (const std::string& name : net.ops[at].outputs) {
      if (net.outputs.contains(name)) continue;
      lives.push_back({name, at, read.contains(name) ? read[name] : net.ops.size()});
    }
  }
  return lives;
}

// Slots of names that are live one after another, in the order of time.
GivenNames draw_given(Random& random, const PlainNet& net) {
  std::vector<std::vector<Life>> slots(random.below(5));
  for (const Life& life : lives_of(net)) {
    if (slots.empty() || !random.chance(40)) continue;
    std::vector<Life>& slot = slots[random.below(slots.size())];
    if (slot.empty() || slot.back().last < life.first) slot.push_back(life);
  }
  GivenNames given;
  for (const std::vector<Life>& slot : slots) {
    if (slot.empty()) continue;
    given.emplace_back();
    for (const Life& life : slot) given.back().push_back(life.name);
  }
  return given;
}

// The same slots for the baseline, in which the order of the tensors does not count.
void assign(Random& random, const GivenNames& given, Net& net) {
  for (const std::vector<std::string>& slot : given) {
    std::vector<TensorId>& list = net.options.assigned.emplace_back();
    for (const std::string& name : slot) list.push_back(last_of(net, name));
    if (random.chance(50)) std::reverse(list.begin(), list.end());
  }
}

TEST(InterferencePort, GreedyGoesOnFromGivenSlots) {
  Random random(53);
  std::size_t joined = 0;  // given slots that others joined
  std::size_t changed = 0;
  for (int round = 0; round < 2000; ++round) {
    Net net = random_interference_net(random);
    const PlainNet plain = plain_net_of(net);
    const GivenNames given = draw_given(random, plain);
    assign(random, given, net);
    SCOPED_TRACE(print_graph(net.graph));
    const PortedSlots slots = ported_assignments(plain, given);
    const Expected expected = expected_of(plain, slots);
    const BaselineOutcome outcome = outcome_of(net, "caffe2_interference_greedy");
    EXPECT_EQ(named_slots_of(net, outcome), expected.slots);
    EXPECT_EQ(outcome.bytes.count(), expected.bytes);
    EXPECT_LE(outcome.bound, outcome.bytes);
    for (std::size_t at = 0; at < given.size(); ++at) joined += slots[at].size() > given[at].size() ? 1 : 0;
    changed += expected.slots != expected_of(plain, ported_assignments(plain)).slots ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(joined, 500U);
  EXPECT_GT(changed, 500U);
}

// The least bytes of all assignments in which the given slots stay and are not joined. A name may go into a slot
// whenever nothing else in it is live.
class EveryAssignment {
 public:
  EveryAssignment(const PlainNet& net, const GivenNames& given) : net_(net) {
    std::map<std::string, Life> lives;
    for (const Life& life : lives_of(net)) lives.emplace(life.name, life);
    for (const std::vector<std::string>& names : given) {
      slots_.emplace_back();
      for (const std::string& name : names) slots_.back().push_back(lives.extract(name).mapped());
    }
    for (const auto& [name, life] : lives) rest_.push_back(life);
  }

  std::int64_t least() {
    visit(0);
    return least_;
  }
  [[nodiscard]] std::size_t free_names() const { return rest_.size(); }

 private:
  static bool is_free(const std::vector<Life>& slot, const Life& life) {
    return std::all_of(slot.begin(), slot.end(),
                       [&](const Life& other) { return other.last < life.first || life.last < other.first; });
  }

  void visit(std::size_t at) {
    if (at == rest_.size()) {
      std::int64_t total = 0;
      for (const std::vector<Life>& slot : slots_) {
        std::int64_t most = 0;
        for (const Life& life : slot) most = std::max(most, net_.bytes.at(life.name));
        total += most;
      }
      least_ = std::min(least_, total);
      return;
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (!is_free(slots_[slot], rest_[at])) continue;
      slots_[slot].push_back(rest_[at]);
      visit(at + 1);
      slots_[slot].pop_back();
    }
    slots_.push_back({rest_[at]});
    visit(at + 1);
    slots_.pop_back();
  }

  const PlainNet& net_;
  std::vector<std::vector<Life>> slots_;
  std::vector<Life> rest_;
  std::int64_t least_ = INT64_MAX;
};

TEST(InterferencePort, ExactIsTheLeastWithGivenSlots) {
  Random random(54);
  int tried = 0;
  int costlier = 0;  // rounds in which the given slots cost bytes
  while (tried < 1000) {
    Net net = random_interference_net(random);
    const PlainNet plain = plain_net_of(net);
    const GivenNames given = draw_given(random, plain);
    EveryAssignment every(plain, given);
    if (every.free_names() > 7) continue;
    ++tried;
    std::int64_t bytes = every.least();
    for (const std::string& name : plain.outputs) bytes += plain.bytes.at(name);
    const std::int64_t without = outcome_of(net, "caffe2_interference_exact").bytes.count();
    assign(random, given, net);
    SCOPED_TRACE(print_graph(net.graph));
    const BaselineOutcome outcome = outcome_of(net, "caffe2_interference_exact");
    EXPECT_EQ(outcome.bytes.count(), bytes);
    EXPECT_EQ(outcome.bound.count(), bytes);
    EXPECT_TRUE(outcome.proven_optimal);
    EXPECT_LE(without, bytes);
    costlier += without < bytes ? 1 : 0;
    // The search for the greedy rule has the same least total.
    const BaselineOutcome greedy = outcome_of(net, "caffe2_interference_greedy");
    EXPECT_EQ(greedy.best, Bytes(bytes));
    EXPECT_EQ(greedy.bound, Bytes(bytes));
    if (HasFailure()) return;
  }
  EXPECT_GT(costlier, 50);
}

// After the last read, the original counts results without readers as dead, so it puts a and b into one slot.
TEST(InterferencePort, UnreadResultsOfOneNodeDoNotShare) {
  const Net net = net_of("F x -> p; F p -> o; F -> c; F -> a,b", {.outputs = {"o"}});
  const PortedSlots slots = ported_assignments(plain_net_of(net));
  EXPECT_EQ(slots.size(), 1U);  // p, c, a and b
  EXPECT_EQ(named_slots_of(net, outcome_of(net, "caffe2_interference_greedy")), (NamedSlots{{"c", {"c", "p"}}}));
}

TEST(InterferencePort, UnreadResultsAreLiveToTheEnd) {
  const Net net = net_of("F x -> a,unread; F a -> b; F b -> c; F c -> d; F d -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_interference_greedy");
  EXPECT_EQ(block_of(net, outcome, "unread"), -1);
  EXPECT_EQ(named_slots_of(net, outcome), (NamedSlots{{"c", {"a", "c"}}, {"d", {"b", "d"}}}));
}

}  // namespace
}  // namespace lowtide::testing
