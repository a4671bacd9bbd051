// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/testing/violations.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

//   x - a - b - d - o
//        `- c ---'
constexpr const char* kDiamond = R"(graph "diamond" {
  input x : u8[8]
  constant w : u8[8]
  a = F(x, w) : u8[8]
  b = F(a) : u8[8]
  c = F(a) : u8[8]
  d = G(b, c) : u8[8]
  o = F(d) : u8[8]
  output o
})";

class SharingCheckTest : public ::testing::Test {
 protected:
  SharingCheckTest() : graph_(graph_of(kDiamond)) {
    claim_.order = given_order(graph_);
    claim_.places = IdVector<TensorId, std::optional<SharingPlace>>(graph_.tensors().size());
    claim_.blocks = {Bytes(8), Bytes(8)};
  }
  TensorId tensor(const char* name) const { return tensor_named(graph_, name); }
  void put(const char* name, std::uint32_t block, std::int64_t offset = 0) {
    claim_.places[tensor(name)] = SharingPlace{block, Offset(offset)};
  }
  void run_in_waves(const std::vector<std::uint32_t>& waves) {
    claim_.execution = ExecutionModel::waves;
    claim_.wave = {};
    for (std::uint32_t wave : waves) claim_.wave.push_back(wave);
  }
  std::vector<std::string> found() const { return testing::messages_of(check_sharing(graph_, claim_)); }

  Graph graph_;
  SharingClaim claim_;
};

TEST_F(SharingCheckTest, RefusesAClaimForStreams) {
  claim_.execution = ExecutionModel::streams;
  EXPECT_THAT(found(), ElementsAre("the claim is for streams, which it cannot list; use sequence, waves or dataflow"));
}

// The node that reads a and writes b has scratch. a is at 0, b at 8 and the scratch at 16 of an arena of 24 bytes.
TEST_F(SharingCheckTest, ScratchIsInUseWhileItsNodeRuns) {
  claim_.blocks = {Bytes(24)};
  put("a", 0);
  put("b", 0, 8);
  claim_.scratch = IdVector<NodeId, ScratchPlace>(graph_.nodes().size());
  ScratchPlace& scratch = claim_.scratch[*graph_.tensor(tensor("b")).producer];
  scratch = {.place = {0, Offset(16)}, .size = Bytes(8)};
  EXPECT_THAT(found(), IsEmpty());
  scratch.place.offset = Offset(15);
  EXPECT_THAT(found(), ElementsAre(::testing::AllOf(HasSubstr("scratch of node 1"), HasSubstr("b"))));
  scratch = {.place = {0, Offset(17)}, .size = Bytes(8)};
  EXPECT_THAT(found(), ElementsAre("the scratch of node 1 has 8 bytes at offset 17 of a block of 24"));
  scratch = {.place = {3, Offset(0)}, .size = Bytes(8)};
  EXPECT_THAT(found(), ElementsAre("the scratch of node 1 is in block 3, but the number of blocks is 1"));
  scratch = {.place = {0, Offset(0)}, .size = Bytes(8)};  // over a, which the node reads
  EXPECT_EQ(found().size(), 1U);
  claim_.places[tensor("a")].reset();
  EXPECT_THAT(found(), IsEmpty());
  claim_.execution = ExecutionModel::dataflow;
  const std::string refusal =
      "the claim has scratch in its blocks, which dataflow does not allow; use sequence or waves";
  EXPECT_THAT(found(), ElementsAre(refusal));
  claim_.scratch.push_back({});
  EXPECT_THAT(found(), ::testing::Contains("6 entries of scratch, expected 5"));
}

// b and c are written in any order, and d reads both.
TEST_F(SharingCheckTest, StatesTheKindAndTheTensors) {
  put("b", 0);
  put("c", 0);
  claim_.execution = ExecutionModel::dataflow;
  const std::vector<Violation> unordered = check_sharing(graph_, claim_);
  ASSERT_FALSE(unordered.empty());
  EXPECT_EQ(unordered[0].kind, ViolationKind::race);
  EXPECT_THAT(unordered[0].tensors, ElementsAre(tensor("c"), tensor("b")));
  claim_.execution = ExecutionModel::sequence;
  const std::vector<Violation> shared = check_sharing(graph_, claim_);
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].kind, ViolationKind::overlap);
}

TEST_F(SharingCheckTest, DeadTensorsMayBeWrittenOver) {
  put("a", 0);
  put("d", 0);
  for (ExecutionModel order : {ExecutionModel::sequence, ExecutionModel::dataflow}) {
    claim_.execution = order;
    EXPECT_THAT(found(), IsEmpty()) << to_string(order);
  }
  run_in_waves({0, 1, 1, 2, 3});
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SharingCheckTest, OperandsOfTheSameNodeMayNotBeWrittenOver) {
  put("d", 0);
  put("b", 0);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("share")));
  claim_.execution = ExecutionModel::dataflow;
  EXPECT_THAT(
      found(),
      ElementsAre(HasSubstr("'d' shares a block with tensor 'b', but node 3 may write the first before node 3")));
}

// In a sequence, a is dead when c is computed. Otherwise b, which reads a, and c may run at once.
TEST_F(SharingCheckTest, BranchesThatMayRunAtOnceDoNotShare) {
  graph_ = graph_of(R"(graph "branches" {
    input x : u8[8]
    a = F(x) : u8[8]
    b = F(a) : u8[8]
    c = F(x) : u8[8]
    d = F(c) : u8[8]
    o = G(b, d) : u8[8]
    output o
  })");
  claim_.order = given_order(graph_);
  claim_.places = IdVector<TensorId, std::optional<SharingPlace>>(graph_.tensors().size());
  put("a", 0);
  put("c", 0);
  EXPECT_THAT(found(), IsEmpty());
  claim_.execution = ExecutionModel::dataflow;
  EXPECT_THAT(found(), ::testing::Contains(HasSubstr("node 2 may write the first before node 0 has used the second")));
  run_in_waves({0, 1, 2, 3, 4});
  EXPECT_THAT(found(), IsEmpty());
  run_in_waves({0, 1, 1, 2, 3});
  EXPECT_THAT(found(), ElementsAre(HasSubstr("share")));
}

TEST_F(SharingCheckTest, AdjacentTensorsShareNoBytes) {
  claim_.blocks = {Bytes(16)};
  put("b", 0, 0);
  put("c", 0, 8);
  EXPECT_THAT(found(), IsEmpty());
  put("c", 0, 7);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("share")));
}

TEST_F(SharingCheckTest, InputsLiveFromTheStartAndOutputsToTheEnd) {
  put("x", 0);
  put("o", 0);
  for (ExecutionModel order : {ExecutionModel::sequence, ExecutionModel::dataflow}) {
    claim_.execution = order;
    EXPECT_THAT(found(), IsEmpty()) << to_string(order);
  }
  claim_.places[tensor("o")].reset();
  put("a", 0);
  for (ExecutionModel order : {ExecutionModel::sequence, ExecutionModel::dataflow}) {
    claim_.execution = order;
    EXPECT_THAT(found(), ElementsAre(HasSubstr("share"))) << to_string(order);
  }
}

TEST_F(SharingCheckTest, ReportsPlacesOutsideTheirBlock) {
  put("a", 7);
  put("b", 0, 1);
  put("c", 0, -1);
  put("w", 1);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("constant"), HasSubstr("in block 7, but the number of blocks is 2"),
                                   HasSubstr("8 bytes at offset 1 of a block of 8"), HasSubstr("at offset -1")));
}

TEST_F(SharingCheckTest, OrdersAndWavesMustKeepDependencies) {
  std::swap(claim_.order[0], claim_.order[1]);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("node 1 comes before node 0")));
  claim_.order = given_order(graph_);
  run_in_waves({0, 1, 1, 1, 2});
  EXPECT_THAT(found(),
              ::testing::Contains(HasSubstr("node 3 is in wave 1, but node 1, on which it depends, is in wave 1")));
  claim_.order.pop_back();
  EXPECT_THAT(found(), ElementsAre(HasSubstr("4 nodes in the order, expected 5")));
}

TEST_F(SharingCheckTest, TensorsOnTwoDevicesMustNotShareABlock) {
  claim_.devices = IdVector<TensorId, std::uint32_t>(graph_.tensors().size(), 0);
  claim_.devices[tensor("d")] = 1;
  put("a", 0);
  put("d", 0);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("are on devices 1 and 0")));
}

TEST_F(SharingCheckTest, ListedTensorsMayBeWrittenInPlaceButNotTooSoon) {
  claim_.same_place = {{tensor("d"), tensor("c")}};  // G writes d over c
  put("c", 0);
  put("d", 0);
  EXPECT_THAT(found(), IsEmpty());
  claim_.same_place = {{tensor("a"), tensor("b")}};  // c is computed from a afterwards
  EXPECT_THAT(found(), ElementsAre(HasSubstr("'b' is written over tensor 'a', which node 2 reads later")));
  claim_.same_place = {{tensor("d"), tensor("c")}};
  put("d", 1);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("has another place")));
  claim_.same_place = {{tensor("d"), tensor("d")}};
  EXPECT_THAT(found(), ElementsAre(HasSubstr("twice")));
  claim_.same_place = {{tensor("d"), tensor("o")}, {tensor("x"), TensorId(99)}};
  EXPECT_THAT(found(), ElementsAre(HasSubstr("does not exist")));
}

// The graphs with which an earlier verifier was tested: y and z are computed from x, u from y, v from z, and then their
// sum.
class TwoBranches : public ::testing::Test {
 protected:
  TwoBranches()
      : graph_(graph_of(R"(graph "two branches" {
          input data : u8[8]
          x = F(data) : u8[8]
          y = F(x) : u8[8]
          z = F(x) : u8[8]
          u = F(y) : u8[8]
          v = F(z) : u8[8]
          out = Sum(u, v) : u8[8]
          output out
        })")) {
    claim_.order = given_order(graph_);
    claim_.places = IdVector<TensorId, std::optional<SharingPlace>>(graph_.tensors().size());
    claim_.blocks = {Bytes(8), Bytes(8)};
  }
  TensorId tensor(const char* name) const { return tensor_named(graph_, name); }
  void put(const char* name, std::uint32_t block) { claim_.places[tensor(name)] = SharingPlace{block, Offset(0)}; }
  std::vector<std::string> found(ExecutionModel order) {
    claim_.execution = order;
    return testing::messages_of(check_sharing(graph_, claim_));
  }

  Graph graph_;
  SharingClaim claim_;
};

TEST_F(TwoBranches, MayEachBeWrittenInPlace) {
  claim_.same_place = {{tensor("y"), tensor("u")}, {tensor("z"), tensor("v")}};
  for (const auto& [name, block] : {std::pair("y", 0U), {"u", 0U}, {"z", 1U}, {"v", 1U}}) put(name, block);
  EXPECT_THAT(found(ExecutionModel::sequence), IsEmpty());
  EXPECT_THAT(found(ExecutionModel::dataflow), IsEmpty());
}

TEST_F(TwoBranches, MayNotBothBeWrittenInOnePlace) {
  put("y", 0);
  put("z", 0);
  EXPECT_THAT(found(ExecutionModel::sequence), ElementsAre(HasSubstr("share")));
  EXPECT_THAT(found(ExecutionModel::dataflow),
              ElementsAre(HasSubstr("'z' shares a block with tensor 'y', but node 2 may write the first before node 1"),
                          HasSubstr("node 2 may write the first before node 3")));
}

// In the given order, u reads y before v is written. Other orders do not guarantee this.
TEST_F(TwoBranches, MayUseEachOthersPlacesOnlyInSequence) {
  put("y", 0);
  put("v", 0);
  EXPECT_THAT(found(ExecutionModel::sequence), IsEmpty());
  EXPECT_THAT(found(ExecutionModel::dataflow),
              ElementsAre(HasSubstr("'v' shares a block with tensor 'y', but node 4 may write the first before node 1"),
                          HasSubstr("node 4 may write the first before node 3")));
  std::swap(claim_.order[3], claim_.order[4]);
  EXPECT_THAT(found(ExecutionModel::sequence), ElementsAre(HasSubstr("share")));
  claim_.same_place = {{tensor("y"), tensor("v")}};
  EXPECT_THAT(found(ExecutionModel::sequence),
              ElementsAre(HasSubstr("written over tensor 'y', which node 3 reads later")));
}

// An earlier verifier did not check this.
TEST_F(SharingCheckTest, TwoResultsOfOneNodeMustNotShare) {
  graph_ = graph_of(R"(graph "split" {
    input x : u8[8]
    a, b = Split(x) : u8[8], u8[8]
    o = Sum(a, b) : u8[8]
    output o
  })");
  claim_.order = given_order(graph_);
  claim_.places = IdVector<TensorId, std::optional<SharingPlace>>(graph_.tensors().size());
  put("a", 0);
  put("b", 0);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("share")));
  claim_.execution = ExecutionModel::dataflow;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("node 0 may write the first before node 0"),  // itself
                                   HasSubstr("node 0 may write the first before node 1")));
  run_in_waves({0, 1});
  EXPECT_THAT(found(), ElementsAre(HasSubstr("share")));
  claim_.execution = ExecutionModel::sequence;
  claim_.same_place = {{tensor("a"), tensor("b")}};
  EXPECT_THAT(found(), ElementsAre(HasSubstr("written at the same time in the same place")));
}

// The body reads a after c is written.
TEST_F(SharingCheckTest, CapturedTensorsAreInUseUntilTheNodeEnds) {
  graph_ = graph_of(R"(graph "body" {
    input x : u8[8]
    a = F(x) : u8[8]
    b = F(a) : u8[8]
    c = F(b) : u8[8]
    d = If(b) {
      then_branch = graph "then" captures (a) {
        captured input a : u8[8]
        r = F(a) : u8[8]
        output r
      }
    } : u8[8]
    o = Sum(c, d) : u8[8]
    output o
  })");
  claim_.order = given_order(graph_);
  claim_.places = IdVector<TensorId, std::optional<SharingPlace>>(graph_.tensors().size());
  put("a", 0);
  for (const char* later : {"c", "d"}) {
    put(later, 0);
    for (ExecutionModel order : {ExecutionModel::sequence, ExecutionModel::dataflow}) {
      claim_.execution = order;
      EXPECT_THAT(found(), ElementsAre(HasSubstr("share"))) << later << " " << to_string(order);
    }
    claim_.places[tensor(later)].reset();
  }
  put("o", 0);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SharingCheckTest, RefusesViewsThatTheGraphDoesNotHave) {
  claim_.view_of = IdVector<TensorId, std::optional<TensorId>>(graph_.tensors().size());
  claim_.view_of[tensor("b")] = tensor("a");
  claim_.same_place = {{tensor("a"), tensor("b")}};
  EXPECT_THAT(found(), ElementsAre(HasSubstr("'b' is not a view of tensor 'a'")));
}

// The first and the last position at which a tensor is used. The first is that of its producer.
std::pair<std::size_t, std::size_t> used(const Graph& graph, const std::vector<NodeId>& order, TensorId id) {
  const auto at = [&](NodeId node) {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), node) - order.begin());
  };
  std::pair<std::size_t, std::size_t> span(at(*graph.tensor(id).producer), at(*graph.tensor(id).producer));
  for (NodeId reader : graph.readers(id)) span.second = std::max(span.second, at(reader));
  if (graph.tensor(id).role == Role::output) span.second = order.size();
  return span;
}

// Whether the same one of the two has its last use before the other is written, in every order.
bool is_one_always_first(const Graph& graph, TensorId a, TensorId b) {
  bool a_first = true;
  bool b_first = true;
  for_every_order(graph, [&](const std::vector<NodeId>& order) {
    const auto [a_begin, a_end] = used(graph, order, a);
    const auto [b_begin, b_end] = used(graph, order, b);
    a_first = a_first && a_end < b_begin;
    b_first = b_first && b_end < a_begin;
  });
  return a_first || b_first;
}

TEST(SharingCheck, DataflowAgreesWithAllOrders) {
  Random random(5);
  int right = 0;
  int wrong = 0;
  for (int round = 0; round < 300; ++round) {
    const Graph graph = random_graph(random, 6);
    SharingClaim claim;
    claim.execution = ExecutionModel::dataflow;
    claim.order = given_order(graph);
    claim.places = IdVector<TensorId, std::optional<SharingPlace>>(graph.tensors().size());
    claim.blocks = {Bytes(1024), Bytes(1024), Bytes(1024)};
    bool is_right = true;
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      if (!graph.tensor(id).producer || random.chance(40)) continue;
      claim.places[id] = SharingPlace{static_cast<std::uint32_t>(random.below(3)), Offset(0)};
      for (TensorId other : all_ids<TensorId>(id.index())) {
        if (claim.places[other] == claim.places[id]) is_right = is_right && is_one_always_first(graph, other, id);
      }
    }
    EXPECT_EQ(check_sharing(graph, claim).empty(), is_right) << round;
    ++(is_right ? right : wrong);
  }
  EXPECT_GT(right, 20);
  EXPECT_GT(wrong, 20);
}

}  // namespace
}  // namespace lowtide::testing
