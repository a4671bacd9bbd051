// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_bound.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "lowtide/verify/bounds/downset_walk.h"
#include "lowtide/verify/bounds/order_count.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/verify/order_facts.h"

namespace lowtide::testing {
namespace {

using verify_internal::Chain;
using verify_internal::DownsetWalk;

constexpr std::int64_t kEffort = 100'000'000;

// Counts by definition, byte by byte, for alignment 1. Each computed byte has a number. A view repeats the numbers of
// what it is a view of. A concat has new numbers for the copies of operands that cannot lie in it. Inputs and constants
// cost nothing. A step costs the different numbers that are live, less what a result may overwrite.
class ByteCount {
 public:
  explicit ByteCount(const Graph& graph, const OrderFacts& facts)
      : graph_(graph), facts_(facts), bytes_(graph.tensors().size()), copies_(graph.nodes().size(), 0) {
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      if (!graph.tensor(id).producer) number(id, -1);
    }
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) fill(id);
  }

  [[nodiscard]] std::int64_t load(const std::vector<NodeId>& order) const {
    IdVector<NodeId, std::size_t> at(order.size());
    for (std::size_t step = 0; step < order.size(); ++step) at[order[step]] = step;
    std::int64_t most = at_end();
    for (std::size_t step = 0; step < order.size(); ++step) {
      std::set<std::int64_t> live;
      std::set<std::int64_t> later;
      for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
        const Tensor& tensor = graph_.tensor(id);
        if (!tensor.producer || at[*tensor.producer] > step || is_outside(id)) continue;
        std::size_t last = tensor.role == Role::output ? order.size() : at[*tensor.producer];
        for (NodeId reader : graph_.readers(id)) last = std::max(last, at[reader]);
        if (last >= step) live.insert(bytes_[id].begin(), bytes_[id].end());
        if (last > step) later.insert(bytes_[id].begin(), bytes_[id].end());
      }
      most = std::max(most, static_cast<std::int64_t>(live.size()) - saved(order[step], live, later));
    }
    return most;
  }

  // Whether the count is exact. It is too high if two copies may share their bytes.
  [[nodiscard]] bool is_exact() const { return brought_ < 2 && copied_.empty(); }

 private:
  // No two outputs share a byte.
  [[nodiscard]] std::int64_t at_end() const {
    std::int64_t sum = 0;
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.producer && tensor.role == Role::output) sum += tensor.size.count();
    }
    return sum;
  }

  [[nodiscard]] bool is_outside(TensorId id) const {
    return !bytes_[id].empty() && bytes_[id].front() < 0 && graph_.tensor(id).role != Role::output &&
           is_row(bytes_[id]);
  }

  static bool is_row(const std::vector<std::int64_t>& bytes) {
    for (std::size_t at = 1; at < bytes.size(); ++at) {
      if (bytes[at] != bytes[at - 1] - 1) return false;
    }
    return true;
  }

  void number(TensorId id, int sign) {
    for (std::int64_t at = 0; at < graph_.tensor(id).size.count(); ++at) bytes_[id].push_back(sign * ++last_);
    ++last_;  // so that the bytes of two outside tensors are never consecutive
  }

  void fill(NodeId id) {
    const verify_internal::AliasMeaning meaning = verify_internal::alias_meaning(graph_, id);
    bool computes = !meaning.obstacle.empty();
    const bool is_concat = graph_.op(id).type == "Concat";
    for (const verify_internal::SameBytes& part : meaning.parts) computes = computes || (!is_concat && are_kept(part));
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (computes) number(*output, 1);
      if (!computes) bytes_[*output].resize(static_cast<std::size_t>(graph_.tensor(*output).size.count()));
    }
    if (computes) return;
    std::map<TensorId, std::size_t> times;
    for (const verify_internal::SameBytes& part : meaning.parts) {
      const std::size_t copies = is_concat ? times[part.input]++ + (are_kept(part) ? 1 : 0) : 0;
      const bool is_given = !graph_.tensor(part.input).producer;
      const std::vector<std::int64_t>& from =
          copies > 0 && !is_given ? copy_of(part.input, copies) : bytes_[part.input];
      for (std::int64_t at = 0; at < part.length; ++at) {
        bytes_[part.output][static_cast<std::size_t>(part.output_begin + at)] =
            from[static_cast<std::size_t>(part.input_begin + at)];
      }
    }
    copies_[id] = 1;
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) bring_in(*output);
  }

  // Whether the result is an output and the input is one too, or has no producer. Then they cannot share bytes.
  [[nodiscard]] bool are_kept(const verify_internal::SameBytes& part) const {
    const Tensor& input = graph_.tensor(part.input);
    return (!input.producer || input.role == Role::output) && graph_.tensor(part.output).role == Role::output;
  }

  // The bytes of one more copy of an operand. All concats use the same first copy, the same second one, and so on.
  const std::vector<std::int64_t>& copy_of(TensorId id, std::size_t copy) {
    std::vector<std::int64_t>& bytes = copied_[{id, copy}];
    while (bytes.size() < bytes_[id].size()) bytes.push_back(++last_);
    return bytes;
  }

  // What cannot stay outside as a whole is copied into the arena.
  void bring_in(TensorId id) {
    if (is_outside(id)) return;
    bool is_brought = false;
    for (std::int64_t& byte : bytes_[id]) {
      if (byte < 0) is_brought = true, byte = ++last_;
    }
    brought_ += is_brought ? 1 : 0;
  }

  [[nodiscard]] std::int64_t saved(NodeId id, const std::set<std::int64_t>& live,
                                   const std::set<std::int64_t>& later) const {
    std::int64_t most = 0;
    if (copies_[id] != 0) return 0;
    for (const auto& [input, output] : facts_.in_place[id]) {
      const std::set<std::int64_t> mine(bytes_[input].begin(), bytes_[input].end());
      std::int64_t dies = 0;
      for (std::int64_t byte : mine) dies += live.contains(byte) && !later.contains(byte) ? 1 : 0;
      most = std::max(most, std::min(dies, graph_.tensor(output).size.count()));
    }
    return most;
  }

  const Graph& graph_;
  const OrderFacts& facts_;
  IdVector<TensorId, std::vector<std::int64_t>> bytes_;
  IdVector<NodeId, char> copies_;
  std::map<std::pair<TensorId, std::size_t>, std::vector<std::int64_t>> copied_;
  std::int64_t last_ = 0;
  int brought_ = 0;
};

// In the given order of kTwoBranches, a, b and c are live together: 4 x (100 + 100 + 1) = 804. If one branch runs after
// the other, c, b and d are live: 4 x (1 + 100 + 1) = 408. One Conv alone, with what it reads and writes, takes 404.
TEST(CheckOrderBound, ConfirmsByTheLiveSet) {
  const Graph graph = graph_of(kTwoBranches);
  const OrderBoundCheck check = check_order_bound(graph, dense_facts(graph), Bytes(404), NodeId(2), 0);
  EXPECT_EQ(check.verdict, OrderBoundVerdict::confirmed);
  EXPECT_FALSE(check.is_by_search);
  EXPECT_EQ(check.live_set, Bytes(404));
}

TEST(CheckOrderBound, ConfirmsBySearchWhatNoLiveSetProves) {
  const Graph graph = graph_of(kTwoBranches);
  EXPECT_EQ(check_order_bound(graph, dense_facts(graph), Bytes(408), NodeId(2), 0).verdict,
            OrderBoundVerdict::undecided);
  const OrderBoundCheck check = check_order_bound(graph, dense_facts(graph), Bytes(408), NodeId(2), kEffort);
  EXPECT_EQ(check.verdict, OrderBoundVerdict::confirmed);
  EXPECT_TRUE(check.is_by_search);
}

TEST(CheckOrderBound, RefutesWithAnOrder) {
  const Graph graph = graph_of(kTwoBranches);
  const OrderBoundCheck check = check_order_bound(graph, dense_facts(graph), Bytes(409), NodeId(2), kEffort);
  EXPECT_EQ(check.verdict, OrderBoundVerdict::refuted);
  EXPECT_EQ(check.counted, Bytes(408));
  EXPECT_TRUE(is_topological(graph, check.order));
}

// x (64 bytes) is split into a (16) and b (48), and c (8) is computed from a while b waits. Whatever the plan does with
// x, the bytes of b are needed, so 16 + 48 + 8 bytes are live at c.
TEST(CheckOrderBound, CountsEachPartOfASplit) {
  const Graph graph = graph_of(R"(graph "g" {
    input i : f32[1]
    x = Conv(i) : f32[4,4]
    a, b = Split(x) {axis = 0, split = [1, 3]} : f32[1,4], f32[3,4]
    c = Conv(a) : f32[2]
    d = Conv(c, b) : f32[1]
    output d
  })");
  const OrderBoundCheck check = check_order_bound(graph, dense_facts(graph), Bytes(72), NodeId(2), 0);
  EXPECT_EQ(check.verdict, OrderBoundVerdict::confirmed);
  EXPECT_EQ(check.live_set, Bytes(72));
}

// A plan may copy x, and the outputs are then parts of the copy. So the 4 bytes of each are not rounded up to 64.
TEST(CheckOrderBound, DoesNotRoundOutputsThatMayBePartsOfACopy) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : i8[16]
    a, b, c, d = Split(x) {axis = 0, split = [4, 4, 4, 4]} : i8[4], i8[4], i8[4], i8[4]
    output a, b, c, d
  })");
  OrderFacts facts = dense_facts(graph);
  facts.alignment = Bytes(64);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(64), std::nullopt, 0).live_set, Bytes(64));
  EXPECT_NE(check_order_bound(graph, facts, Bytes(65), std::nullopt, kEffort).verdict, OrderBoundVerdict::confirmed);
}

// s and t lie in the constant w. The concats c and d both put the second half of w first, so each brings w into the
// arena. Between the two, nothing of w need be in the arena. r takes 64 bytes, and c and d take 16 each.
TEST(CheckOrderBound, WhatIsBroughtInTwiceNeedNotStay) {
  const Graph graph = graph_of(kSwappedHalves);
  // While u runs: r 64 and u 4.
  EXPECT_EQ(check_order_bound(graph, dense_facts(graph), Bytes(68), std::nullopt, kEffort).verdict,
            OrderBoundVerdict::confirmed);
  const OrderBoundCheck above = check_order_bound(graph, dense_facts(graph), Bytes(69), std::nullopt, kEffort);
  EXPECT_EQ(above.verdict, OrderBoundVerdict::refuted);
  EXPECT_EQ(above.counted, Bytes(68));
}

// Whether each subproblem between two cuts has an order within `most`, by a walk from its beginning.
bool stays_within(const verify_internal::OrderCount& count, const std::vector<Chain>& chains, std::int64_t most) {
  const std::vector<Chain::Index> cuts = cuts_of(chains);
  for (std::size_t at = 1; at < cuts.size(); ++at) {
    std::int64_t bytes_left = 1 << 20;
    DownsetWalk walk({count, chains, cuts[at - 1], cuts[at]}, most, bytes_left);
    const DownsetWalk::End end = walk.run(kEffort);
    EXPECT_NE(end, DownsetWalk::End::open);
    if (end == DownsetWalk::End::exhausted) return false;
  }
  return true;
}

// Compares with all orders of small random graphs with views and in-place kernels. The lowest peak by definition is
// confirmed. One byte more is refuted by an order that reaches this peak. Both hold for a search from either end.
TEST(CheckOrderBound, IsRightAboutRandomSmallGraphs) {
  Random random(71);
  int searched = 0;
  int exact = 0;
  std::size_t joined = 0;
  for (int round = 0; round < 600; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 7)));
    const OrderFacts facts = dense_facts(graph);
    const ByteCount bytes(graph, facts);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const verify_internal::OrderCount count = verify_internal::order_count(graph, facts);
    for_every_order(graph, [&](const std::vector<NodeId>& order) {
      const std::int64_t load = bytes.load(order);
      const std::int64_t counted = verify_internal::counted_load(count, order).count();
      ASSERT_LE(counted, load) << "round " << round << print_graph(graph);
      ASSERT_TRUE(counted == load || !bytes.is_exact()) << "round " << round << print_graph(graph);
      least = std::min(least, counted);
    });
    const OrderBoundCheck met = check_order_bound(graph, facts, Bytes(least), std::nullopt, kEffort);
    ASSERT_EQ(met.verdict, OrderBoundVerdict::confirmed) << "round " << round << print_graph(graph);
    const OrderBoundCheck above = check_order_bound(graph, facts, Bytes(least + 1), std::nullopt, kEffort);
    ASSERT_EQ(above.verdict, OrderBoundVerdict::refuted) << "round " << round << print_graph(graph);
    ASSERT_TRUE(is_topological(graph, above.order));
    ASSERT_EQ(verify_internal::counted_load(count, above.order), Bytes(least));
    for (NodeId node : all_ids<NodeId>(graph.nodes().size())) {
      ASSERT_LE(check_order_bound(graph, facts, Bytes(least), node, 0).live_set, Bytes(least));
    }
    const verify_internal::OrderCount back = verify_internal::turned(count);
    // A walk counts the bytes at steps, not those at the end of the run.
    const bool is_of_end = count.at_end == least;
    for (const std::vector<Chain>& chains : {single_chains(count), joined_chains(count)}) {
      joined += count.nodes.size() - chains.size();
      const std::vector<Chain> turned_chains = verify_internal::turned(chains, count.nodes.size());
      for (std::int64_t most : {least - (is_of_end ? 0 : 1), least}) {
        ASSERT_EQ(stays_within(count, chains, most), most == least) << "round " << round << print_graph(graph);
        ASSERT_EQ(stays_within(back, turned_chains, most), most == least) << "round " << round << print_graph(graph);
      }
    }
    searched += met.is_by_search ? 1 : 0;
    exact += bytes.is_exact() ? 1 : 0;
  }
  EXPECT_GT(searched, 300);
  EXPECT_GT(exact, 400);
  EXPECT_GT(joined, 500U);
}

// c holds the input x and y. A plan may leave y where it is and copy x beside it: 8 + 4 bytes at c, not 8 + 4 + 8.
TEST(CheckOrderBound, CountsAnOperandInPlaceOnce) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    y = Conv(x) : f32[2]
    c = Concat(x, y) {axis = 0} : f32[3]
    d = Conv(c) : f32[1]
    output d
  })");
  const OrderFacts facts = dense_facts(graph);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(12), NodeId(1), 0).verdict, OrderBoundVerdict::confirmed);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(16), NodeId(2), 0).live_set, Bytes(16));  // c and d
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(17), NodeId(2), kEffort).verdict, OrderBoundVerdict::refuted);
}

// c holds y twice: once in place and once as a copy, 16 bytes in all. Its view v still needs both, and d needs 4 more.
TEST(CheckOrderBound, CountsAnOperandThatIsHeldTwice) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    y = Conv(x) : f32[2]
    c = Concat(y, y) {axis = 0} : f32[4]
    v = Reshape(c) : f32[2,2]
    d = Conv(v) : f32[1]
    output d
  })");
  const OrderFacts facts = dense_facts(graph);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(20), NodeId(3), 0).verdict, OrderBoundVerdict::confirmed);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(21), NodeId(3), kEffort).verdict, OrderBoundVerdict::refuted);
}

// c and d hold y twice each, and may be the same bytes: 8 bytes of y, 8 of one copy, and 4 of e.
TEST(CheckOrderBound, CountsOneCopyIfTwoConcatsRepeatATensor) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    y = Conv(x) : f32[2]
    c = Concat(y, y) {axis = 0} : f32[4]
    d = Concat(y, y) {axis = 0} : f32[4]
    e = Conv(c, d) : f32[1]
    output e
  })");
  const OrderFacts facts = dense_facts(graph);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(20), NodeId(3), kEffort).verdict, OrderBoundVerdict::confirmed);
  EXPECT_EQ(check_order_bound(graph, facts, Bytes(21), NodeId(3), kEffort).verdict, OrderBoundVerdict::refuted);
}

// Little effort never decides wrongly, and enough of it always decides.
TEST(CheckOrderBound, LittleEffortIsNeverWrong) {
  Random random(72);
  for (int round = 0; round < 200; ++round) {
    const Graph graph = random_graph(random, 12);
    const OrderFacts facts = dense_facts(graph, Bytes(64));
    Bytes low;
    Bytes high(1 << 20);  // more than everything together
    while (low + Bytes(64) < high) {
      const Bytes middle = low + Bytes((high - low).count() / 128 * 64);
      const OrderBoundCheck check = check_order_bound(graph, facts, middle, std::nullopt, kEffort);
      ASSERT_NE(check.verdict, OrderBoundVerdict::undecided);
      (check.verdict == OrderBoundVerdict::confirmed ? low : high) = middle;
    }
    const OrderBoundVerdict met = check_order_bound(graph, facts, low, std::nullopt, 100).verdict;
    const OrderBoundVerdict above = check_order_bound(graph, facts, high, std::nullopt, 100).verdict;
    ASSERT_NE(met, OrderBoundVerdict::refuted);
    ASSERT_NE(above, OrderBoundVerdict::confirmed);
  }
}

TEST(CheckOrderBound, AGraphWithoutNodesHasNothingToBound) {
  const Graph graph = graph_of("graph \"g\" {\n  input x : f32[1]\n  output x\n}");
  EXPECT_EQ(check_order_bound(graph, {}, Bytes(0), std::nullopt, 0).verdict, OrderBoundVerdict::confirmed);
  EXPECT_EQ(check_order_bound(graph, {}, Bytes(1), std::nullopt, 0).verdict, OrderBoundVerdict::refuted);
}

}  // namespace
}  // namespace lowtide::testing
