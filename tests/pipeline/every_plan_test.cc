// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/pipeline/every_plan.h"
#include "tests/testing/after_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/graph/builder.h"
#include "lowtide/lower/memory/inputs_in_arena.h"
#include "lowtide/target/add_link.h"
#include "lowtide/target/cost.h"
#include "tests/campaign.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

constexpr std::size_t kMostStates = 10'000;
constexpr std::int64_t kMostCapacity = 9;

// Makes graphs of two to seven nodes. Tensors have one axis of one to three bytes, and results of Concat up to five.
class SmallGraphs {
 public:
  SmallGraphs(Random& random, bool has_parts) : random_(random), has_parts_(has_parts) {}

  Graph make() {
    GraphBuilder builder("small");
    made_.clear();
    tensor(builder, random_.between(1, 3), Role::input);
    if (random_.chance(25)) {
      add_training(builder);
    } else {
      for (std::int64_t at = random_.between(2, 7); at > 0; --at) add(builder);
    }
    std::vector<TensorId> outputs = {made_.back().id};
    for (std::size_t at = 1; at + 1 < made_.size(); ++at) {
      if (random_.chance(10)) outputs.push_back(made_[at].id);
    }
    builder.set_outputs(outputs);
    Result<Graph> graph = std::move(builder).build();
    EXPECT_TRUE(graph.ok());
    return random_.chance(30) ? after_pass(*graph, place_inputs_in_arena(*graph)) : *std::move(graph);
  }

 private:
  struct Made {
    TensorId id;
    std::int64_t size;
  };
  static constexpr std::int64_t kMostSize = 5;

  TensorId tensor(GraphBuilder& builder, std::int64_t size, Role role = Role::temporary) {
    const std::string name = "t" + std::to_string(made_.size());
    made_.push_back({builder.add_tensor({.name = name, .dtype = DType::u8, .shape = Shape({size})}, role), size});
    return made_.back().id;
  }
  // The last tensors are likelier.
  Made any() { return made_[made_.size() - 1 - std::min<std::size_t>(random_.below(4), random_.below(made_.size()))]; }

  void add(GraphBuilder& builder) {
    const Made first = any();
    const Made second = any();
    const auto node = [&](const char* type, std::vector<std::optional<TensorId>> inputs, std::int64_t size) {
      builder.add_node({.type = type, .inputs = std::move(inputs), .outputs = {tensor(builder, size)}});
    };
    switch (random_.below(has_parts_ ? 9 : 6)) {
      case 0: return node("Relu", {first.id}, first.size);
      case 1:
        if (first.size == second.size) return node("Add", {first.id, second.id}, first.size);
        return node("Conv", {first.id, second.id}, random_.between(1, 3));
      case 2: return node("Reshape", {first.id}, first.size);
      case 3: return add_top(builder, first);
      case 6: return add_slice(builder, first);
      case 7: return add_concat(builder, first, second);
      case 8:
        if (first.size > 1) return add_split(builder, first);
        [[fallthrough]];
      default: return node("Conv", {first.id}, random_.between(1, 3));
    }
  }

  // f0, f1, f2, then b2 reads f2, b1 reads b2 and f1, b0 reads b1 and f0.
  void add_training(GraphBuilder& builder) {
    for (int at = 0; at < 3; ++at) {
      const TensorId read = made_.back().id;
      builder.add_node({.type = "Conv", .inputs = {read}, .outputs = {tensor(builder, random_.between(1, 3))}});
    }
    for (std::size_t at = 3; at > 0; --at) {
      std::vector<std::optional<TensorId>> reads = {made_.back().id};
      if (at < 3) reads.emplace_back(made_[at].id);
      builder.add_node(
          {.type = "Conv", .inputs = std::move(reads), .outputs = {tensor(builder, random_.between(1, 2))}});
    }
  }

  void add_slice(GraphBuilder& builder, Made from) {
    const std::int64_t begin = random_.between(0, from.size - 1);
    const std::int64_t end = random_.between(begin + 1, from.size);
    builder.add_node({.type = "Slice",
                      .inputs = {from.id},
                      .outputs = {tensor(builder, end - begin)},
                      .attributes = {{"starts", std::vector<std::int64_t>{begin}},
                                     {"ends", std::vector<std::int64_t>{end}},
                                     {"axes", std::vector<std::int64_t>{0}}}});
  }

  void add_split(GraphBuilder& builder, Made from) {
    const TensorId a = tensor(builder, 1);
    const TensorId b = tensor(builder, from.size - 1);
    builder.add_node(
        {.type = "Split",
         .inputs = {from.id},
         .outputs = {a, b},
         .attributes = {{"axis", std::int64_t{0}}, {"split", std::vector<std::int64_t>{1, from.size - 1}}}});
  }

  void add_concat(GraphBuilder& builder, Made first, Made second) {
    std::vector<std::optional<TensorId>> inputs = {first.id};
    std::int64_t size = first.size;
    if (size + second.size <= kMostSize) {
      inputs.emplace_back(second.id);
      size += second.size;
    }
    builder.add_node({.type = "Concat",
                      .inputs = std::move(inputs),
                      .outputs = {tensor(builder, size)},
                      .attributes = {{"axis", std::int64_t{0}}}});
  }

  void add_top(GraphBuilder& builder, Made from) {
    const TensorId values = tensor(builder, random_.between(1, 2));
    const TensorId indices = tensor(builder, random_.between(1, 2));
    builder.add_node({.type = "TopK", .inputs = {from.id}, .outputs = {values, indices}});
  }

  Random& random_;
  const bool has_parts_;
  std::vector<Made> made_;
};

// Two kernels for every Conv, one of them with a byte of scratch.
class FastWithScratch final : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, node);
    if (graph.op(node).type != "Conv") return kernels;
    kernels.push_back(kernels.front());
    kernels[0].name = "fast";
    kernels[0].scratch = Bytes(1);
    kernels[0].cost_seconds = 1e-6;
    kernels[1].name = "small";
    kernels[1].cost_seconds = 4e-6;
    return kernels;
  }
};

Target any_target(Random& random) {
  Target target = dense_target();
  target.machine.regions[0].alignment = Bytes(random.chance(30) ? 2 : 1);
  if (random.chance(30)) target.catalogue = std::make_shared<const FastWithScratch>();
  return target;
}

// The smallest capacity that some plan keeps.
struct Smallest {
  Bytes capacity;
  std::int64_t least_time = 0;
};

std::optional<Smallest> smallest_of(const Graph& graph, const Target& target, bool has_link = false) {
  const std::int64_t step = target.machine.regions[0].alignment.count();
  for (std::int64_t capacity = step; capacity <= kMostCapacity; capacity += step) {
    const EveryPlan every = try_every_plan(graph, target, static_cast<std::size_t>(capacity), kMostStates, has_link);
    if (!every.is_complete) return std::nullopt;
    if (every.least_time) return Smallest{Bytes(capacity), *every.least_time};
  }
  return std::nullopt;
}

PlanOptions options_for(Bytes budget) {
  return {.budget = budget, .order_effort = 10'000'000, .allocate_effort = 1'000'000, .recompute_effort = 10'000'000};
}

// What is possible is never called impossible, and no plan is faster than the bound. What no plan keeps is never kept.
TEST(EveryPlan, NothingPossibleIsCalledImpossible) {
  Random random(7);
  int compared = 0;
  int kept = 0;
  int reruns = 0;
  int refused = 0;
  int proven = 0;
  for (int round = 0; round < testing::sampled(600); ++round) {
    const Target target = any_target(random);
    const Graph graph = SmallGraphs(random, target.machine.regions[0].alignment == Bytes(1)).make();
    const std::optional<Smallest> smallest = smallest_of(graph, target);
    if (!smallest) continue;
    ++compared;
    const PlannedGraph plain = must_plan(graph, {}, target);
    ASSERT_GE(arena_bytes(plain.plan), smallest->capacity) << print_graph(graph);

    const PlannedGraph at = must_plan(graph, options_for(plain.caller + smallest->capacity), target);
    kept += at.fits() ? 1 : 0;
    if (at.recomputation) {
      ASSERT_NE(at.recomputation->outcome, BudgetOutcome::infeasible) << print_graph(graph);
      ASSERT_LE(at.recomputation->bound_picoseconds, smallest->least_time) << print_graph(graph);
      reruns += at.fits() ? 1 : 0;
    }
    if (smallest->capacity <= target.machine.regions[0].alignment) continue;
    const Bytes below = smallest->capacity - target.machine.regions[0].alignment;
    const PlannedGraph under = must_plan(graph, options_for(plain.caller + below), target);
    ASSERT_FALSE(under.fits()) << print_graph(graph);
    ++refused;
    ASSERT_TRUE(under.recomputation);
    proven += under.recomputation->outcome == BudgetOutcome::infeasible ? 1 : 0;
  }
  // Measured: 550 graphs, of which 505 plans keep the smallest capacity, 120 of them after a search for reruns. Of 528
  // capacities that no plan keeps, 456 are proven impossible.
  EXPECT_GE(compared, testing::sampled(500));
  EXPECT_GE(kept, testing::sampled(450));
  EXPECT_GE(reruns, testing::sampled(100));
  EXPECT_GE(proven, refused * 4 / 5);
}

// The same with transfers over a link, which take 1 ns each. The state space has no time for transfers, so its least
// time is a bound, and a plan that exceeds it by less than the start of a kernel has the fastest kernels that fit.
TEST(EveryPlan, NothingPossibleWithALinkIsCalledImpossible) {
  Random random(9);
  int compared = 0;
  int searched = 0;
  int kept = 0;
  int refused = 0;
  int proven = 0;
  for (int round = 0; round < testing::sampled(200); ++round) {
    const Target target = any_target(random);
    const Target linked = *add_link(target, {.bytes_per_second = 1'000'000'000'000'000});
    const Graph graph = SmallGraphs(random, target.machine.regions[0].alignment == Bytes(1)).make();
    const std::optional<Smallest> smallest = smallest_of(graph, target, true);
    if (!smallest) continue;
    ++compared;
    const PlannedGraph plain = must_plan(graph, {}, linked);
    const PlannedGraph at = must_plan(graph, options_for(plain.caller + smallest->capacity), linked);
    if (at.recomputation) {
      ASSERT_NE(at.recomputation->outcome, BudgetOutcome::infeasible) << print_graph(graph);
      ASSERT_LE(at.recomputation->bound_picoseconds, smallest->least_time) << print_graph(graph);
      ++searched;
      kept += at.fits() ? 1 : 0;
      if (at.fits()) {
        ASSERT_GE(at.recomputation->picoseconds, smallest->least_time) << print_graph(graph);
        // With several kernels, only the fastest and the lightest ones are tried together.
        if (target.catalogue == dense_catalogue()) {
          ASSERT_LT(at.recomputation->picoseconds, smallest->least_time + cost_model::kPicosecondsToStart)
              << print_graph(graph);
        }
      }
    }
    if (smallest->capacity <= target.machine.regions[0].alignment) continue;
    const Bytes below = smallest->capacity - target.machine.regions[0].alignment;
    const PlannedGraph under = must_plan(graph, options_for(plain.caller + below), linked);
    ASSERT_FALSE(under.fits()) << print_graph(graph);
    ++refused;
    ASSERT_TRUE(under.recomputation);
    proven += under.recomputation->outcome == BudgetOutcome::infeasible ? 1 : 0;
  }
  // Measured with 400 rounds: 365 graphs. The plans of 139 need a search, and 101 of these keep the smallest capacity.
  // Of 354 capacities that no plan keeps, 339 are proven impossible.
  EXPECT_GE(compared, testing::sampled(150));
  EXPECT_GE(kept, searched * 6 / 10);
  EXPECT_GE(proven, refused * 9 / 10);
}

}  // namespace
}  // namespace lowtide::testing
