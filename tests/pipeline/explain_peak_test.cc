// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/pipeline/plan_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

// A plan and its explanation.
struct Explained {
  explicit Explained(Graph made, const PlanOptions& options = {})
      : graph(std::move(made)),
        planned(plan_graph(graph, dense_target(), options).value()),
        labels(labels_of(graph)),
        levels(explain_peak(graph, labels, dense_target(), options, planned.plan)) {}
  explicit Explained(const char* text, const PlanOptions& options = {}) : Explained(graph_of(text), options) {}
  Explained(const Explained&) = delete;
  Explained& operator=(const Explained&) = delete;

  [[nodiscard]] const PeakExplanation& top() const { return levels.front(); }
  [[nodiscard]] const PeakBuffer& buffer(std::string_view name) const {
    for (const PeakBuffer& one : top().buffers) {
      const std::optional<ValueId>& named = top().peak.uses[one.live.buffer].name;
      if (named && graph.tensor(tensor_of(*named)).name == name) return one;
    }
    throw std::runtime_error("no buffer has the name " + std::string(name));
  }
  [[nodiscard]] TensorId tensor_of(ValueId value) const { return planned.plan.program.values[value].tensor; }
  [[nodiscard]] Bytes size(const PeakBuffer& one) const { return planned.plan.layout.buffers[one.live.buffer].size; }

  Graph graph;
  PlannedGraph planned;
  Labels labels;
  std::vector<PeakExplanation> levels;
};

// The alignment is 64 bytes, or 16 floats. Loads in units of 64 bytes: s 1; s h 11; s h k 16; k s y 7.
constexpr const char* kSkip = R"(graph "g" {
  input x : f32[1]
  s = Conv(x) : f32[16]
  h = Conv(s) : f32[160]
  k = Conv(h) : f32[80]
  y = Conv(k, s) : f32[16]
  output y
})";

TEST(ExplainPeak, SaysWhereThePeakIsAndWhatIsLiveInEveryOrder) {
  const Explained explained(kSkip);
  const PeakExplanation& top = explained.top();
  EXPECT_EQ(top.peak.bytes, Bytes(64 * 16));
  ASSERT_EQ(top.ranges.size(), 1U);
  EXPECT_EQ(top.ranges[0], (Interval<StepId>{StepId(2), StepId(3)}));
  EXPECT_EQ(*top.peak.step, StepId(2));
  EXPECT_EQ(top.next_load, Bytes(64 * 11));
  EXPECT_EQ(top.next_step, StepId(1));
  EXPECT_EQ(top.witness_node, NodeId(2));
  EXPECT_EQ(top.witness.bytes, Bytes(64 * 16));
  ASSERT_EQ(top.buffers.size(), 3U);
  EXPECT_EQ(explained.buffer("h").use, PeakUse::read);
  EXPECT_EQ(explained.buffer("h").next_read, std::nullopt);
  EXPECT_EQ(explained.buffer("k").use, PeakUse::written);
  EXPECT_EQ(explained.buffer("s").use, PeakUse::kept);
  EXPECT_EQ(explained.buffer("s").written, StepId(0));
  EXPECT_EQ(explained.buffer("s").next_read, StepId(3));
  for (const PeakBuffer& one : top.buffers) {
    EXPECT_EQ(one.must, explained.size(one));
    EXPECT_EQ(one.held, explained.size(one));
    EXPECT_EQ(one.freedom, PeakFreedom::none);
  }
}

// s is touched at steps 1 and 3. Without it, step 2 has 15 units, which is still the most.
TEST(ExplainPeak, SaysWhichLoadIsLeftWithoutAKeptBuffer) {
  const Explained explained(kSkip);
  EXPECT_EQ(explained.buffer("s").load_without, Bytes(64 * 15));
  EXPECT_EQ(explained.buffer("h").load_without, std::nullopt);
  EXPECT_EQ(explained.top().largest_touched, Bytes(64 * 15));
  EXPECT_EQ(explained.top().largest_touched_step, StepId(2));
}

// Loads as given: p 2, p a 6, p a b 10, p b c 7, p c d 4. If p were written later, a and b would need 8.
TEST(ExplainPeak, NamesBuffersThatLiveThereOnlyInThisOrder) {
  const Explained explained(R"(graph "g" {
    input x : f32[1]
    p = Conv(x) : f32[32]
    a = Conv(x) : f32[64]
    b = Conv(a) : f32[64]
    c = Conv(b) : f32[16]
    d = Conv(c, p) : f32[16]
    output d
  })",
                            {.order = "as_given"});
  EXPECT_EQ(explained.top().peak.bytes, Bytes(64 * 10));
  EXPECT_EQ(explained.buffer("p").freedom, PeakFreedom::written_later);
  EXPECT_EQ(explained.buffer("p").must, Bytes(0));
  EXPECT_EQ(explained.buffer("a").freedom, PeakFreedom::none);
  EXPECT_EQ(explained.top().must.bytes, Bytes(64 * 8));
  EXPECT_EQ(explained.buffer("p").load_without, Bytes(64 * 8));
}

// a lives at f only because r has not run yet. Only the last node needs r.
TEST(ExplainPeak, NamesBuffersThatMayBeReadEarlier) {
  const Explained explained(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[64]
    f = Conv(a) : f32[16]
    g = Conv(f) : f32[160]
    h = Conv(g) : f32[16]
    r = Conv(a) : f32[16]
    y = Conv(h, r) : f32[16]
    output y
  })",
                            {.order = "as_given"});
  EXPECT_EQ(explained.top().peak.bytes, Bytes(64 * (4 + 1 + 10)));  // a f g, and then a g h
  EXPECT_EQ(explained.buffer("a").freedom, PeakFreedom::read_earlier);
}

// b cannot be written over a, which d reads again, and e is too small. While b is written, a has 4 units, e 1 and b 4.
// Then d is written over b.
TEST(ExplainPeak, SaysWhyAResultIsNotWrittenOverAnInput) {
  const char* text = R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[64]
    e = Conv(x) : f32[1]
    b = Add(a, e) : f32[64]
    d = Add(b, a) : f32[64]
    output d
  })";
  const Explained explained(text);
  ASSERT_EQ(*node_of(explained.planned.plan.program.steps[*explained.top().peak.step]), NodeId(2));
  ASSERT_EQ(explained.top().refusals.size(), 1U);
  const InPlaceRefusal& refusal = explained.top().refusals[0];
  EXPECT_EQ(refusal.input, tensor_named(explained.graph, "a"));
  EXPECT_EQ(refusal.output, tensor_named(explained.graph, "b"));
  EXPECT_EQ(refusal.bytes, Bytes(256));
  EXPECT_EQ(refusal.reason, InPlaceRefusal::Reason::read_later);
  EXPECT_EQ(refusal.reader, StepId(3));
  const Explained off(text, {.in_place = false});
  EXPECT_EQ(off.top().refusals[0].reason, InPlaceRefusal::Reason::switched_off);
}

// p and r are in a, and p is an output. Without parts, r cannot end before p, so s gets its own buffer. r itself is
// not an output.
TEST(ExplainPeak, NamesAnOutputInTheBufferOfAnInput) {
  const Explained explained(R"(graph "g" {
    input x : f32[64]
    a = Relu(x) : f32[64]
    p, r = Split(a) {axis = 0, split = [32, 32]} : f32[32], f32[32]
    s = Relu(r) : f32[32]
    output p, s
  })",
                            {.parts = false});
  ASSERT_EQ(explained.top().refusals.size(), 1U);
  const InPlaceRefusal& refusal = explained.top().refusals[0];
  EXPECT_EQ(refusal.input, tensor_named(explained.graph, "r"));
  EXPECT_EQ(refusal.reason, InPlaceRefusal::Reason::with_output);
}

// y is an output, so the next node cannot write over it.
TEST(ExplainPeak, NamesAnInputThatIsAnOutput) {
  const Explained explained(R"(graph "g" {
    input x : f32[64]
    y = Relu(x) : f32[64]
    z = Relu(y) : f32[64]
    output y, z
  })");
  ASSERT_EQ(explained.top().refusals.size(), 1U);
  EXPECT_EQ(explained.top().refusals[0].reason, InPlaceRefusal::Reason::output);
}

// In units of 64 bytes: a and b are parts of c (8). While v is written, the half with a (4), w (8) and v (1) are live.
TEST(ExplainPeak, CountsOnlyLiveParts) {
  const Explained explained(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[1,64]
    w = Conv(a) : f32[128]
    v = Conv(w, a) : f32[16]
    b = Conv(x) : f32[1,64]
    c = Concat(a, b) {axis = 1} : f32[1,128]
    y = Conv(c, v) : f32[16]
    output y
  })",
                            {.order = "as_given"});
  EXPECT_EQ(explained.top().peak.bytes, Bytes(64 * 13));
  EXPECT_EQ(*explained.top().peak.step, StepId(2));
  EXPECT_EQ(explained.size(explained.buffer("c")), Bytes(64 * 8));
  EXPECT_EQ(explained.buffer("c").live.bytes, Bytes(64 * 4));
  EXPECT_EQ(explained.buffer("c").held, Bytes(64 * 4));
  EXPECT_EQ(explained.buffer("c").must, Bytes(64 * 4));
  ASSERT_EQ(explained.buffer("c").live.values.size(), 1U);
  EXPECT_EQ(explained.tensor_of(explained.buffer("c").live.values[0]), tensor_named(explained.graph, "a"));
}

TEST(ExplainPeak, DescendsIntoTheBodyThatNeedsMost) {
  const Explained explained(R"(graph "branches" {
    input condition : bool[]
    input x : f32[64]
    y = Relu(x) : f32[64]
    z = If(condition) "if" {
      then_branch = graph "then" captures (inner = y) {
        captured input inner : f32[64]
        p = Relu(inner) "p" : f32[64]
        q = Sigmoid(inner) "q" : f32[64]
        r = Add(p, q) "r" : f32[64]
        output r
      },
      else_branch = graph "else" captures (inner = y) {
        captured input inner : f32[64]
        s = Relu(inner) "s" : f32[64]
        output s
      }
    } : f32[64]
    w = Add(y, z) "add" : f32[64]
    output w
  })");
  // y, z, and two buffers for p, q and r: r is written over p or q.
  EXPECT_EQ(explained.top().peak.bytes, Bytes(4 * 256));
  ASSERT_EQ(explained.levels.size(), 2U);
  EXPECT_EQ(explained.levels[1].peak.body, "then_branch");
  EXPECT_EQ(explained.levels[1].peak.bytes, Bytes(2 * 256));
  EXPECT_EQ(explained.top().buffers[0].use, PeakUse::scratch);
  EXPECT_EQ(explained.top().buffers[0].must, Bytes(2 * 256));
}

TEST(ExplainPeak, HandlesGraphsWithoutNodesOrWithoutBytes) {
  const Explained empty(R"(graph "g" {
    input x : f32[4]
    output x
  })");
  EXPECT_EQ(empty.top().peak.bytes, Bytes(0));
  EXPECT_TRUE(empty.top().ranges.empty());
  EXPECT_TRUE(empty.top().buffers.empty());
  const Explained zero(R"(graph "g" {
    input x : f32[0]
    y = Relu(x) : f32[0]
    output y
  })");
  EXPECT_EQ(zero.top().peak.bytes, Bytes(0));
  EXPECT_EQ(zero.top().witness.bytes, Bytes(0));
}

// Loads by their definition: for each step, the sum of the placed buffers or parts whose lifespan contains it.
std::vector<Bytes> loads_of(const Plan& plan) {
  std::vector<Bytes> loads(plan.program.steps.size());
  for (StepId step : all_ids<StepId>(plan.program.steps.size())) {
    for (const Buffer& buffer : plan.layout.buffers) {
      if (!buffer.placement) continue;
      if (buffer.parts.empty() && buffer.lifespan.contains(step)) loads[step.index()] += buffer.size;
      for (const BufferPart& part : buffer.parts) {
        if (part.lifespan.contains(step)) loads[step.index()] += part.size;
      }
    }
  }
  return loads;
}

bool is_live(const Graph& graph, const IdVector<NodeId, std::size_t>& position, TensorId id, NodeId node) {
  const Tensor& tensor = graph.tensor(id);
  if (!tensor.producer) return false;  // the copy of an input, in the bytes of a concat
  if (position[*tensor.producer] > position[node]) return false;
  const auto readers = graph.readers(id);
  return tensor.role == Role::output || tensor.producer == node ||
         std::any_of(readers.begin(), readers.end(), [&](NodeId one) { return position[one] >= position[node]; });
}

void check_figures(const Explained& explained) {
  const PeakExplanation& top = explained.top();
  const std::vector<Bytes> loads = loads_of(explained.planned.plan);
  EXPECT_EQ(top.peak.bytes, explained.planned.plan.claims.load);
  EXPECT_EQ(top.peak.bytes, loads[top.peak.step->index()]);
  Bytes sum;
  Bytes must = top.must.scratch;
  for (const PeakBuffer& one : top.buffers) {
    sum += one.live.bytes;
    must += one.use == PeakUse::scratch ? Bytes(0) : one.must;
    EXPECT_LE(one.held, one.live.bytes);
    EXPECT_EQ(one.load_without.has_value(), one.use == PeakUse::kept);
    EXPECT_LE(one.load_without.value_or(Bytes(0)), top.peak.bytes);
    EXPECT_EQ(one.must == Bytes(0), one.freedom != PeakFreedom::none);
  }
  EXPECT_EQ(sum, top.peak.bytes);
  EXPECT_EQ(round_up(must, Bytes(64)), top.must.bytes);
  EXPECT_LE(top.largest_touched, top.peak.bytes);
  EXPECT_LE(top.must.bytes, top.witness.bytes);
  if (bound_of(explained.planned.plan).name == "live_set") {
    EXPECT_EQ(top.witness.bytes, bound_of(explained.planned.plan).bytes);
  } else {
    EXPECT_LT(top.witness.bytes, bound_of(explained.planned.plan).bytes);
  }
}

// Checks the statements about all orders against all orders.
void check_orders(const Explained& explained, int& free_seen) {
  const NodeId node = *node_of(explained.planned.plan.program.steps[*explained.top().peak.step]);
  IdVector<TensorId, char> always(explained.graph.tensors().size(), 1);
  for_every_order(explained.graph, [&](const std::vector<NodeId>& order) {
    IdVector<NodeId, std::size_t> position(order.size());
    for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = at;
    for (const PeakBuffer& one : explained.top().buffers) {
      for (ValueId value : one.live.values) {
        if (!is_live(explained.graph, position, explained.tensor_of(value), node))
          always[explained.tensor_of(value)] = 0;
      }
    }
  });
  for (const PeakBuffer& one : explained.top().buffers) {
    const bool has_always = std::any_of(one.live.values.begin(), one.live.values.end(),
                                        [&](ValueId value) { return always[explained.tensor_of(value)] != 0; });
    const bool is_free = one.freedom == PeakFreedom::written_later || one.freedom == PeakFreedom::read_earlier;
    EXPECT_EQ(has_always, !is_free);
    free_seen += is_free ? 1 : 0;
  }
}

TEST(ExplainPeak, IsTrueOfAllOrdersOfRandomGraphs) {
  Random random(23);
  int free_seen = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Explained explained(random_graph(random, static_cast<int>(random.between(3, 7))),
                              {.order = random.chance(50) ? "auto" : "breadth_first"});
    if (explained.top().peak.bytes == Bytes(0)) continue;
    check_figures(explained);
    check_orders(explained, free_seen);
    if (HasFailure()) return;
  }
  EXPECT_GT(free_seen, 20);
}

}  // namespace
}  // namespace lowtide::testing
