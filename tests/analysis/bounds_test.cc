// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/bounds.h"

#include <gtest/gtest.h>

#include "lowtide/share/load.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

LoadBound bound_of(const Graph& graph, const ChosenKernels& kernels, const BoundOptions& options = {}) {
  const AliasOptions aliases{.alignment = options.alignment, .inputs_live_throughout = options.inputs_live_throughout};
  const std::vector<NodeId> order = given_order(graph);
  return live_set_bound(graph, kernels, order,
                        load_profile(alias_classes(graph, kernels, order, aliases), kernels, order, aliases), options);
}

// s must be live while k runs, whatever the order, because it is produced before k and read after it.
TEST(LiveSetBound, CountsASkipConnectionAcrossTheLargestNode) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    s = Conv(x) : f32[10]
    h = Conv(s) : f32[100]
    k = Conv(h) : f32[50]
    y = Conv(k, s) : f32[1]
    output y
  })");
  const LoadBound bound = bound_of(graph, dense_kernels(graph));
  EXPECT_EQ(bound.bytes, Bytes(4 * (10 + 100 + 50)));  // while k runs
  EXPECT_EQ(bound.node, NodeId(2));
  EXPECT_EQ(working_set_bound(graph, dense_kernels(graph), BoundScope::run_once).bytes, Bytes(4 * (100 + 50)));
}

TEST(LiveSetBound, CountsOutputsOfEarlierNodes) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    s = Conv(x) : f32[10]
    h = Conv(s) : f32[3]
    k = Conv(h) : f32[2]
    output s, k
  })");
  EXPECT_EQ(bound_of(graph, dense_kernels(graph)).bytes, Bytes(4 * (10 + 3 + 2)));
}

TEST(LiveSetBound, OmitsAResultThatMayBeInPlace) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    s = Conv(x) : f32[10]
    h = Relu(s) : f32[10]
    output h
  })");
  EXPECT_EQ(bound_of(graph, dense_kernels(graph)).bytes, Bytes(40));
}

// s is read again after the Relu, so the result of the Relu needs bytes of its own.
TEST(LiveSetBound, CountsAResultWhoseInputIsNeededLater) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    s = Conv(x) : f32[10]
    h = Relu(s) : f32[10]
    k = Conv(h, s) : f32[1]
    output k
  })");
  EXPECT_EQ(bound_of(graph, dense_kernels(graph)).bytes, Bytes(4 * (10 + 10 + 1)));
}

// Each node alone needs only its own output, but both outputs are live at the end, in either order.
TEST(LiveSetBound, CountsAllOutputsAtTheEndOfTheRun) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[8]
    a = Relu(x) : f32[8]
    b = Conv(x) : f32[20]
    output a, b
  })");
  const LoadBound bound = bound_of(graph, dense_kernels(graph), {.alignment = Bytes(64)});
  EXPECT_EQ(bound.bytes, Bytes(64 + 128));
  EXPECT_EQ(bound.node, std::nullopt);
  EXPECT_EQ(working_set_bound(graph, dense_kernels(graph), BoundScope::run_once, {.alignment = Bytes(64)}).bytes,
            Bytes(128));
}

// a and b are the same 40 bytes of x, but two outputs never share bytes. While the nodes run, a or b may still be the
// bytes of x, so only the bound at the end counts both.
TEST(LiveSetBound, CountsSharedContentOfTwoOutputsTwice) {
  const Graph graph = graph_of(R"(graph "g" {
    input i : f32[1]
    x = Conv(i) : f32[10]
    a = Identity(x) : f32[10]
    b = Identity(x) : f32[10]
    output a, b
  })");
  const LoadBound bound = bound_of(graph, dense_kernels(graph));
  EXPECT_EQ(bound.bytes, Bytes(80));
  EXPECT_FALSE(bound.node.has_value());
  const LiveSet set = live_set(graph, dense_kernels(graph), std::nullopt);
  EXPECT_EQ(set.bytes, Bytes(80));
  ASSERT_EQ(set.tensors.size(), 2U);
  EXPECT_EQ(set.tensors[0].bytes, Bytes(40));
  EXPECT_EQ(set.tensors[1].bytes, Bytes(40));
}

// A plan may copy x, and the outputs are then parts of the copy. So the 4 bytes of each are not rounded up to 64.
TEST(LiveSetBound, DoesNotRoundOutputsThatMayBePartsOfACopy) {
  const Graph of_input = graph_of(R"(graph "g" {
    input x : i8[16]
    a, b, c, d = Split(x) {axis = 0, split = [4, 4, 4, 4]} : i8[4], i8[4], i8[4], i8[4]
    output a, b, c, d
  })");
  EXPECT_EQ(bound_of(of_input, dense_kernels(of_input), {.alignment = Bytes(64)}).bytes, Bytes(64));
  const Graph of_output = graph_of(R"(graph "g" {
    input i : i8[16]
    x = Conv(i) : i8[16]
    a, b, c, d = Split(x) {axis = 0, split = [4, 4, 4, 4]} : i8[4], i8[4], i8[4], i8[4]
    output x, a, b, c, d
  })");
  EXPECT_EQ(bound_of(of_output, dense_kernels(of_output), {.alignment = Bytes(64)}).bytes, Bytes(64 + 64));
}

// a and b are both outputs, so b is a copy: 40 bytes of a and 20 of b are live while l reads 24 and writes 4.
TEST(LiveSetBound, CountsAViewAsACopyIfBothAreOutputs) {
  const Graph graph = graph_of(R"(graph "g" {
    input i : f32[1]
    a = Conv(i) : f32[2,5]
    b, c = Split(a) {axis = 0, split = [1, 1]} : f32[1,5], f32[1,5]
    k = Conv(b) : f32[6]
    l = Conv(k) : f32[1]
    output a, b, l
  })");
  const LoadBound bound = bound_of(graph, dense_kernels(graph));
  EXPECT_EQ(bound.bytes, Bytes(40 + 20 + 24 + 4));
  EXPECT_EQ(bound.node, NodeId(3));
}

// The bytes of the largest node in plans of a scope.
Bytes working_set(const std::string& lines, BoundScope scope) {
  const Graph graph = graph_of("graph \"g\" {\n" + lines + "\n}");
  return working_set_bound(graph, dense_kernels(graph), scope).bytes;
}

// x and y share no bytes at the end of the run. A plan with a copy at the end may share them until then. The last node
// reads 40 bytes of x and 40 of y, and writes 4.
TEST(WorkingSetBound, CountsTwoOutputsOnceIfOneIsCopiedLate) {
  const std::string lines = R"(input i : f32[1]
    x = Conv(i) : f32[10]
    y = Reshape(x) : f32[2,5]
    g = Gemm(x, y) : f32[1]
    output x, y, g)";
  EXPECT_EQ(working_set(lines, BoundScope::run_once), Bytes(40 + 40 + 4));
  EXPECT_EQ(working_set(lines, BoundScope::all_plans), Bytes(40 + 4));
}

// y is the bytes of the input, which is not in the arena, until a copy at the end.
TEST(WorkingSetBound, OmitsAViewOfAnInputThatIsCopiedLate) {
  const std::string lines = R"(input x : f32[10]
    y = Reshape(x) : f32[2,5]
    g = Conv(y) : f32[1]
    output y, g)";
  EXPECT_EQ(working_set(lines, BoundScope::run_once), Bytes(40 + 4));
  EXPECT_EQ(working_set(lines, BoundScope::all_plans), Bytes(4));
}

// c has 40 bytes of a and 20 of b. The last node reads c and writes 4 bytes.
TEST(WorkingSetBound, CountsAnOperandOnceIfItIsCopiedLate) {
  const std::string lines = R"(input i : f32[1]
    a = Conv(i) : f32[10]
    b = Conv(i) : f32[5]
    c = Concat(a, b) {axis = 0} : f32[15]
    g = Conv(c) : f32[1]
    output a, c, g)";
  EXPECT_EQ(working_set(lines, BoundScope::run_once), Bytes(40 + 40 + 20 + 4));
  EXPECT_EQ(working_set(lines, BoundScope::all_plans), Bytes(40 + 20 + 4));
}

// n is in the bytes of the state until a copy at the end.
TEST(WorkingSetBound, OmitsANextContentThatIsCopiedLate) {
  const std::string lines = R"(input x : f32[1]
    state h : f32[10]
    n = Conv(x) : f32[10]
    g = Conv(n) : f32[1]
    output n, g
    update h = n)";
  EXPECT_EQ(working_set(lines, BoundScope::run_once), Bytes(40 + 4));
  EXPECT_EQ(working_set(lines, BoundScope::all_plans), Bytes(4));
}

// The body of a Loop holds its inputs, even if it only returns them.
TEST(LiveSetBound, CountsTheInputsOfABodyWithoutNodes) {
  const Graph graph = graph_of("graph \"g\" {\n input a : f32[8]\n input b : f32[20]\n output b, a\n}");
  EXPECT_EQ(bound_of(graph, {}, {.alignment = Bytes(64), .inputs_live_throughout = true}).bytes, Bytes(64 + 128));
  EXPECT_EQ(bound_of(graph, {}, {.alignment = Bytes(64)}).bytes, Bytes(0));
}

// c holds 300 tensors of 16 bytes. While the last node runs, c and y are live.
std::string wide_graph() {
  std::string text = "graph \"g\" {\n input x : f32[4]\n";
  std::string parts;
  for (int at = 0; at < 300; ++at) {
    const std::string name = "p" + std::to_string(at);
    text += name + " = Conv(x) : f32[4]\n";
    parts += (at == 0 ? "" : ", ") + name;
  }
  return text + "c = Concat(" + parts + ") {axis = 0} : f32[1200]\n y = Conv(c) : f32[1]\n output y\n}";
}

TEST(LiveSetBound, CountsAllOperandsOfALargeConcat) {
  const Graph graph = graph_of(wide_graph());
  EXPECT_EQ(bound_of(graph, dense_kernels(graph)).bytes, Bytes(300 * 16 + 4));
}

// Some models reorder the gates of the weights of an LSTM. The constant occupies no bytes of the arena, but a reordered
// copy does. In the original order, the result is the constant itself.
TEST(LiveSetBound, CountsReorderedSlicesOfAConstant) {
  const auto bound_with = [](const std::string& parts) {
    const Graph graph = graph_of(R"(graph "g" {
      constant w : f32[6]
      constant two : i64[3] = [1, 2, 3]
      s, t, u = Split(w, two) {axis = 0} : f32[1], f32[2], f32[3]
      c = Concat()" + parts + R"() {axis = 0} : f32[6]
      r = Reshape(c) : f32[6,1]
      y = Conv(r) : f32[1]
      output y
    })");
    return bound_of(graph, dense_kernels(graph)).bytes;
  };
  EXPECT_EQ(bound_with("s, t, u"), Bytes(4));
  EXPECT_EQ(bound_with("u, s, t"), Bytes(4 * 6 + 4));
}

// Without any effort for live sets, the bound still counts what each node reads and writes.
TEST(LiveSetBound, IsNeverBelowTheWorkingSetBound) {
  const Graph graph = graph_of(wide_graph());
  EXPECT_EQ(bound_of(graph, dense_kernels(graph), {.effort = 0}).bytes, Bytes(300 * 16 + 4));
}

// Limits on content that are so low that no source is divided.
constexpr ContentLimits kUndivided{.segments_of_one = 1, .further = 0, .touched = 0};

// On random graphs, the bound is not above the peak of any order with any choice of aliases. Every subset of the
// aliases that the planner may use is tried by removing permissions from the kernels.
TEST(LiveSetBound, NeverExceedsThePeakOfAPlan) {
  Random random(23);
  int tight = 0;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(1, 5)));
    const ChosenKernels all = dense_kernels(graph);
    const Bytes alignment(round % 2 == 0 ? 1 : 64);
    const BoundOptions options{.alignment = alignment};
    const Bytes bound = bound_of(graph, all, options).bytes;
    const Bytes undivided = bound_of(graph, all, {.alignment = alignment, .content = kUndivided}).bytes;
    EXPECT_LE(working_set_bound(graph, all, BoundScope::run_once, options).bytes, bound);
    Bytes best(std::int64_t{1} << 60);
    const auto count = static_cast<std::uint32_t>(graph.nodes().size());
    for (std::uint32_t mask = 0; mask < (1U << count) * (1U << count); ++mask) {
      ChosenKernels kernels = all;
      bool is_needless = false;
      for (NodeId id : all_ids<NodeId>(count)) {
        const bool no_views = ((mask >> id.value()) & 1U) != 0;
        const bool no_in_place = ((mask >> (count + id.value())) & 1U) != 0;
        is_needless = is_needless || (no_views && graph.op(id).traits.view == ViewKind::none) ||
                      (no_in_place && kernels[id].in_place.empty());
        if (no_views) kernels[id].may_alias_views = false;
        if (no_in_place) kernels[id].in_place.clear();
      }
      if (is_needless) continue;
      for_every_order(graph, [&](const std::vector<NodeId>& order) {
        const AliasOptions aliases{.alignment = alignment};
        best = std::min(best,
                        largest(load_profile(alias_classes(graph, kernels, order, aliases), kernels, order, aliases)));
      });
    }
    ASSERT_LE(bound, best) << print_graph(graph);
    ASSERT_LE(undivided, best) << print_graph(graph);
    if (bound == best) ++tight;
  }
  EXPECT_GE(tight, kRounds * 6 / 10);  // a bound that no plan reaches would be of little use
}

// While k runs, s is kept for y: 10 + 100 + 50. k itself reads 100 and writes 50. At the end, only y is live.
constexpr const char* kKeptForLater = R"(graph "g" {
  input x : f32[1]
  s = Conv(x) : f32[10]
  h = Conv(s) : f32[100]
  k = Conv(h) : f32[50]
  y = Conv(k, s) : f32[1]
  output y
})";

TEST(LiveSetBound, WithoutEffortIsLowerAndIncomplete) {
  const Graph graph = graph_of(kKeptForLater);
  const LoadBound full = bound_of(graph, dense_kernels(graph));
  EXPECT_EQ(full.bytes, Bytes(4 * (10 + 100 + 50)));
  EXPECT_TRUE(full.is_complete);
  const LoadBound none = bound_of(graph, dense_kernels(graph), {.effort = 0});
  EXPECT_EQ(none.bytes, Bytes(4 * (100 + 50)));
  EXPECT_FALSE(none.is_complete);
}

TEST(LiveSet, ListsTheTensorsThatTheBoundCounts) {
  const Graph graph = graph_of(kKeptForLater);
  const LiveSet set = live_set(graph, dense_kernels(graph), NodeId(2));
  ASSERT_EQ(set.tensors.size(), 3U);
  EXPECT_EQ(set.tensors[0].tensor, tensor_named(graph, "h"));
  EXPECT_EQ(set.tensors[0].bytes, Bytes(400));
  EXPECT_EQ(set.tensors[1].tensor, tensor_named(graph, "k"));
  EXPECT_EQ(set.tensors[2].tensor, tensor_named(graph, "s"));
  EXPECT_EQ(set.bytes, Bytes(4 * 160));
  const LiveSet end = live_set(graph, dense_kernels(graph), std::nullopt);
  ASSERT_EQ(end.tensors.size(), 1U);
  EXPECT_EQ(end.bytes, Bytes(4));
}

// Whether a tensor is already written and still needed at the step of a node, in one order.
bool lives_at(const Graph& graph, const IdVector<NodeId, std::size_t>& position, TensorId id, NodeId node) {
  const Tensor& tensor = graph.tensor(id);
  if (position[*tensor.producer] > position[node]) return false;
  if (tensor.role == Role::output || tensor.producer == node) return true;
  const auto readers = graph.readers(id);
  return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return position[reader] >= position[node]; });
}

TEST(LiveSet, LivesInEveryOrderAndAddsUpToTheBound) {
  Random random(17);
  std::size_t looked_at = 0;
  for (int round = 0; round < 150; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 7)));
    const ChosenKernels kernels = dense_kernels(graph);
    const BoundOptions options{.alignment = Bytes(random.chance(50) ? 64 : 1)};
    Bytes largest = live_set(graph, kernels, std::nullopt, options).bytes;
    std::vector<LiveSet> sets;
    for (NodeId node : all_ids<NodeId>(graph.nodes().size())) {
      sets.push_back(live_set(graph, kernels, node, options));
      Bytes sum = sets.back().scratch;
      for (const LiveSet::Member& member : sets.back().tensors) sum += member.bytes;
      ASSERT_EQ(sets.back().bytes, round_up(sum, options.alignment));
      largest = std::max(largest, sets.back().bytes);
    }
    ASSERT_EQ(largest, bound_of(graph, kernels, options).bytes) << "round " << round;
    for_every_order(graph, [&](const std::vector<NodeId>& order) {
      IdVector<NodeId, std::size_t> position(order.size());
      for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = at;
      for (NodeId node : order) {
        for (const LiveSet::Member& member : sets[node.index()].tensors) {
          ASSERT_TRUE(lives_at(graph, position, member.tensor, node))
              << "round " << round << " tensor " << graph.tensor(member.tensor).name;
          ++looked_at;
        }
      }
    });
  }
  EXPECT_GT(looked_at, 10'000U);
}

}  // namespace
}  // namespace lowtide::testing
