// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lowtide/verify/bytes/alias_meaning.h"
#include "tests/verify/small_plans.h"
#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;
using verify_internal::alias_meaning;
using verify_internal::AliasMeaning;

using Extents = std::vector<std::int64_t>;

// Returns "0+16 -> 0" if the 16 bytes from byte 0 of the input are those from byte 0 of the output, otherwise the
// obstacle.
std::string describe(const AliasMeaning& meaning) {
  if (!meaning.obstacle.empty()) return meaning.obstacle;
  std::string text;
  for (const auto& part : meaning.parts) {
    text += (text.empty() ? "" : ", ") + std::to_string(part.input_begin) + "+" + std::to_string(part.length) + " -> " +
            std::to_string(part.output_begin);
  }
  return text;
}

// A node with one input and one output; `more` adds inputs with known content.
std::string unary(const std::string& type, Extents from, Extents to, std::vector<Attribute> attributes = {},
                  std::vector<Extents> more = {}, DType dtype = DType::u8) {
  GraphMaker maker;
  std::vector<std::optional<TensorId>> inputs{maker.input("x", std::move(from), dtype)};
  for (Extents& content : more) {
    inputs.emplace_back(maker.integers("more" + std::to_string(inputs.size()), std::move(content)));
  }
  const TensorId y = maker.tensor("y", std::move(to), dtype);
  const NodeId node = maker.node(type, std::move(inputs), {y}, std::move(attributes));
  return describe(alias_meaning(maker.make({y}), node));
}

struct SliceInputs {
  Extents starts;
  Extents ends;
  Extents axes;
  Extents steps;
};

std::string slice(Extents from, Extents to, SliceInputs inputs, DType dtype = DType::u8) {
  return unary("Slice", std::move(from), std::move(to), {},
               {std::move(inputs.starts), std::move(inputs.ends), std::move(inputs.axes), std::move(inputs.steps)},
               dtype);
}

TEST(AliasMeaning, WholeViewsKeepAllBytes) {
  for (const char* type : {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout", "Expand", "Tile"}) {
    EXPECT_EQ(unary(type, {4, 4}, {16}), "0+16 -> 0") << type;
    EXPECT_EQ(unary(type, {4, 4}, {15}), "the input has 16 bytes, the output 15") << type;
  }
}

TEST(AliasMeaning, OtherOperatorsMustCompute) {
  EXPECT_THAT(unary("DepthToSpace", {4, 4}, {4, 4}), HasSubstr("its operator is not a view"));
  EXPECT_THAT(unary("Relu", {16}, {16}), HasSubstr("its operator is not a view"));
}

TEST(AliasMeaning, TransposeOfAxesOfExtentOneKeepsAllBytes) {
  const auto transpose = [](Extents from, Extents to, std::optional<Extents> perm) {
    std::vector<Attribute> attributes;
    if (perm) attributes.push_back({"perm", *std::move(perm)});
    return unary("Transpose", std::move(from), std::move(to), std::move(attributes));
  };
  EXPECT_EQ(transpose({1, 4, 1, 3}, {4, 1, 3, 1}, Extents{1, 0, 3, 2}), "0+12 -> 0");
  EXPECT_EQ(transpose({1, 5}, {5, 1}, std::nullopt), "0+5 -> 0");  // without 'perm', the axes are reversed
  EXPECT_EQ(transpose({}, {}, std::nullopt), "0+1 -> 0");
  EXPECT_EQ(transpose({4, 4}, {4, 4}, Extents{0, 1}), "0+16 -> 0");
  EXPECT_EQ(transpose({0, 2, 3}, {0, 3, 2}, Extents{0, 2, 1}), "");  // no elements
  EXPECT_EQ(transpose({4, 4}, {4, 4}, std::nullopt), "it moves axes whose extents are not 1");
  EXPECT_EQ(transpose({1, 2, 3}, {3, 1, 2}, Extents{2, 0, 1}), "it moves axes whose extents are not 1");
  EXPECT_EQ(transpose({1, 6}, {1, 6}, Extents{1, 0}), "'perm' and the shape of its output disagree");
  EXPECT_EQ(transpose({1, 6}, {6, 1}, Extents{1, 1}), "'perm' does not name each axis of its input once");
  EXPECT_EQ(transpose({1, 6}, {6, 1}, Extents{-1, 0}), "'perm' does not name each axis of its input once");
  EXPECT_EQ(transpose({1, 6}, {6, 1}, Extents{0}), "input, output and 'perm' have different ranks");
}

TEST(AliasMeaning, ReshapeIntoAnotherTypeComputes) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {4}, DType::f32);
  const TensorId y = maker.tensor("y", {4}, DType::i32);
  const NodeId node = maker.node("Reshape", {x}, {y});
  EXPECT_EQ(describe(alias_meaning(maker.make({y}), node)), "input and output have different element types");
}

TEST(AliasMeaning, DropoutComputesInTrainingOrIfItsMaskIsAnOutput) {
  const auto dropout = [](std::optional<Extents> training, bool with_mask) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {16});
    std::vector<std::optional<TensorId>> inputs{x, std::nullopt};
    if (training) inputs.emplace_back(training->empty() ? maker.constant("t", {1}) : maker.integers("t", *training));
    std::vector<std::optional<TensorId>> outputs{maker.tensor("y", {16})};
    if (with_mask) outputs.emplace_back(maker.tensor("mask", {16}));
    const NodeId node = maker.node("Dropout", inputs, outputs);
    return describe(alias_meaning(maker.make({*outputs[0]}), node));
  };
  EXPECT_EQ(dropout(std::nullopt, false), "0+16 -> 0");
  EXPECT_EQ(dropout(Extents{0}, false), "0+16 -> 0");
  EXPECT_EQ(dropout(Extents{1}, false), "it may run in training mode");
  EXPECT_EQ(dropout(Extents{}, false), "it may run in training mode");  // given, but its value is not known
  EXPECT_EQ(dropout(std::nullopt, true), "it has a second output, which must be computed");
}

// x[4,6] of f32: a row has 24 bytes.
TEST(AliasMeaning, SliceOfConsecutiveElementsIsARun) {
  EXPECT_EQ(slice({4, 6}, {2, 6}, {{1}, {3}, {0}, {1}}, DType::f32), "24+48 -> 0");             // rows 1, 2
  EXPECT_EQ(slice({4, 6}, {1, 2}, {{2, 1}, {3, 3}, {0, 1}, {1, 1}}, DType::f32), "52+8 -> 0");  // 2 * 24 + 1 * 4
  EXPECT_EQ(slice({4, 6}, {1, 6}, {{-1}, {100}, {-2}, {1}}, DType::f32), "72+24 -> 0");         // the last row
  EXPECT_EQ(slice({4, 6}, {1, 6}, {{3}, {1}, {0}, {-5}}, DType::f32), "72+24 -> 0");  // one row, whatever the step
  EXPECT_EQ(slice({4, 6}, {4, 6}, {{0}, {4}, {0}, {1}}, DType::f32), "0+96 -> 0");    // all
  EXPECT_EQ(slice({1, 6, 5}, {1, 2, 5}, {{2}, {4}, {1}, {1}}), "10+10 -> 0");         // after an axis of extent 1
  EXPECT_EQ(slice({4, 6}, {0, 6}, {{3}, {2}, {0}, {1}}), "");                         // nothing
}

TEST(AliasMeaning, SliceOfScatteredElementsComputes) {
  EXPECT_EQ(slice({4, 6}, {4, 2}, {{1}, {3}, {1}, {1}}), "its elements are not consecutive");  // columns of all rows
  EXPECT_EQ(slice({4, 6}, {2, 6}, {{0}, {4}, {0}, {2}}), "its elements are not consecutive");  // every other row
  EXPECT_EQ(slice({4}, {4}, {{3}, {-9}, {0}, {-1}}), "its elements are not consecutive");      // backwards
  EXPECT_EQ(slice({2, 2, 2}, {2, 1, 2}, {{0}, {1}, {1}, {1}}), "its elements are not consecutive");
}

TEST(AliasMeaning, SliceClampsItsBoundsAndComputesIfTheyAreInvalid) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(slice({4}, {4}, {{kLowest}, {kHighest}, {0}, {1}}), "0+4 -> 0");  // clamped
  EXPECT_EQ(slice({4}, {1}, {{kHighest}, {kLowest}, {0}, {kLowest}}), "3+1 -> 0");
  EXPECT_EQ(slice({4}, {2}, {{0}, {3}, {0}, {1}}), "its bounds and the shape of its output disagree");
  EXPECT_EQ(slice({4}, {4}, {{0}, {4}, {0}, {0}}), "a step is 0");
  EXPECT_EQ(slice({4}, {4}, {{0}, {4}, {1}, {1}}), "an axis is outside the rank of its input");
  EXPECT_EQ(slice({4}, {4}, {{0}, {4}, {kLowest}, {1}}), "an axis is outside the rank of its input");
  EXPECT_EQ(slice({4, 4}, {2, 4}, {{0, 0}, {4, 2}, {0, -2}, {1, 1}}), "an axis is given twice");
  EXPECT_EQ(slice({4, 4}, {2, 4}, {{0, 0}, {4, 2}, {0}, {1, 1}}),
            "its starts, ends, axes and steps have different lengths");
  EXPECT_EQ(unary("Slice", {4}, {2}), "its bounds are not known before the run");
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  EXPECT_EQ(slice({0, kMany, 2}, {0, kMany, 2}, {{0}, {0}, {0}, {1}}), "");
}

TEST(AliasMeaning, SliceTakesItsBoundsFromAttributesBeforeOpset10) {
  EXPECT_EQ(unary("Slice", {4, 6}, {2, 6}, {integers("starts", {1}), integers("ends", {3}), integers("axes", {0})}),
            "6+12 -> 0");
  EXPECT_EQ(unary("Slice", {4, 6}, {2, 6}, {integers("starts", {1, 0}), integers("ends", {3, 6})}), "6+12 -> 0");
}

TEST(AliasMeaning, SliceWithAnUnknownBoundComputes) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {4});
  const TensorId starts = maker.integers("starts", {1});
  const TensorId ends = maker.input("ends", {1}, DType::i64);
  const TensorId y = maker.tensor("y", {3});
  const NodeId node = maker.node("Slice", {x, starts, ends}, {y});
  EXPECT_EQ(describe(alias_meaning(maker.make({y}), node)), "its bounds are not known before the run");
}

TEST(AliasMeaning, PartsOfHalfByteElementsMustCoverWholeBytes) {
  EXPECT_EQ(slice({8}, {4}, {{2}, {6}, {0}, {1}}, DType::i4), "1+2 -> 0");
  EXPECT_EQ(slice({8}, {4}, {{1}, {5}, {0}, {1}}, DType::i4), "the part does not begin and end on whole bytes");
  EXPECT_EQ(slice({8}, {3}, {{2}, {5}, {0}, {1}}, DType::i4), "the part does not begin and end on whole bytes");
  EXPECT_EQ(slice({7}, {3}, {{4}, {7}, {0}, {1}}, DType::i4), "2+2 -> 0");  // ends where the input does
  // 7 of 8 elements are 28 bits. They need all 4 bytes of the input, but the last byte also holds element 7.
  EXPECT_EQ(slice({8}, {7}, {{0}, {7}, {0}, {1}}, DType::i4), "the part does not begin and end on whole bytes");
}

std::string split(Extents from, std::vector<Extents> to, std::vector<Attribute> attributes,
                  std::optional<Extents> sizes = std::nullopt) {
  GraphMaker maker;
  std::vector<std::optional<TensorId>> inputs{maker.input("x", std::move(from))};
  if (sizes) inputs.emplace_back(maker.integers("sizes", std::move(*sizes)));
  std::vector<std::optional<TensorId>> outputs;
  for (Extents& extents : to)
    outputs.emplace_back(maker.tensor("y" + std::to_string(outputs.size()), std::move(extents)));
  const NodeId node = maker.node("Split", inputs, outputs, std::move(attributes));
  return describe(alias_meaning(maker.make({*outputs[0]}), node));
}

TEST(AliasMeaning, SplitAlongTheOuterAxisIsConsecutive) {
  EXPECT_EQ(split({4, 6}, {{1, 6}, {3, 6}}, {}), "0+6 -> 0, 6+18 -> 0");
  EXPECT_EQ(split({1, 4, 6}, {{1, 3, 6}, {1, 1, 6}}, {integer("axis", -2)}, Extents{3, 1}), "0+18 -> 0, 18+6 -> 0");
  EXPECT_EQ(split({4}, {{0}, {4}, {0}}, {}), "0+4 -> 0");
  EXPECT_EQ(split({2, 6}, {{2, 6}, {2, 0}}, {integer("axis", 1)}), "0+12 -> 0");  // one part takes all
}

TEST(AliasMeaning, SplitComputesIfPartsInterleaveOrSizesDisagree) {
  EXPECT_EQ(split({2, 6}, {{2, 3}, {2, 3}}, {integer("axis", 1)}),
            "an extent before the axis is not 1, so the parts interleave");
  EXPECT_EQ(split({4}, {{2}, {1}}, {}), "the parts do not add up to the whole along the axis");
  EXPECT_EQ(split({4}, {{2}, {3}}, {}), "the parts are longer than the whole along the axis");
  EXPECT_EQ(split({4}, {{1}, {3}}, {}, Extents{2, 2}), "its sizes and the shapes of its outputs disagree");
  EXPECT_EQ(split({4}, {{1}, {3}}, {integers("split", {1, 2, 1})}), "its sizes and the shapes of its outputs disagree");
  EXPECT_EQ(split({4}, {{1}, {3}}, {integer("axis", 1)}), "its axis is outside the rank of its input");
  EXPECT_EQ(split({4, 4}, {{1, 4}, {3, 2}}, {}), "the parts differ in an extent other than that of the axis");
}

std::string concat(std::vector<Extents> from, Extents to, std::vector<Attribute> attributes) {
  GraphMaker maker;
  std::vector<std::optional<TensorId>> inputs;
  for (Extents& extents : from)
    inputs.emplace_back(maker.input("x" + std::to_string(inputs.size()), std::move(extents)));
  const TensorId y = maker.tensor("y", std::move(to));
  const NodeId node = maker.node("Concat", inputs, {y}, std::move(attributes));
  return describe(alias_meaning(maker.make({y}), node));
}

TEST(AliasMeaning, ConcatAlongTheOuterAxisIsConsecutive) {
  EXPECT_EQ(concat({{1, 6}, {3, 6}}, {4, 6}, {integer("axis", 0)}), "0+6 -> 0, 0+18 -> 6");
  EXPECT_EQ(concat({{1, 2}, {1, 3}}, {1, 5}, {integer("axis", -1)}), "0+2 -> 0, 0+3 -> 2");
  EXPECT_EQ(concat({{2, 2}, {2, 3}}, {2, 5}, {integer("axis", 1)}),
            "an extent before the axis is not 1, so the parts interleave");
  EXPECT_EQ(concat({{2}, {2}}, {4}, {}), "its axis is missing or outside the rank of its output");
  EXPECT_EQ(concat({{2}, {1, 2}}, {4}, {integer("axis", 0)}), "the parts have different ranks");
}

TEST(AliasMeaning, UpperBoundsAsExtentsPermitOnlyWholeViews) {
  for (const char* type : {"Slice", "Split", "Concat", "Expand", "Tile", "Reshape"}) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {8});
    const TensorId few = maker.bounded("few", {8}, 0);
    const TensorId y = maker.bounded("y", {8}, 0);
    maker.node("Compress", {x}, {few});
    std::vector<std::optional<TensorId>> inputs{few};
    if (std::string(type) == "Slice") inputs = {few, maker.integers("s", {0}), maker.integers("e", {8})};
    const NodeId node = maker.node(type, inputs, {y}, {integer("axis", 0)});
    const Graph graph = maker.make({y});
    const bool is_alias = std::string(type) == "Reshape";
    EXPECT_EQ(describe(alias_meaning(graph, node)), is_alias ? "0+8 -> 0" : "an extent is only an upper bound");
    EXPECT_EQ(view_bytes(graph, node, 0).has_value(), is_alias) << type;
  }
}

// `few` has 1 to 8 elements. If it has 1, the Expand to 8 elements repeats it 8 times, and 1 + 8 bytes are needed.
TEST(AliasMeaning, ExpandOfAnUpperBoundComputes) {
  for (const Extents& target : {Extents{8}, Extents{1, 8}}) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {8});
    const TensorId few = maker.bounded("few", {8}, 0);
    const TensorId y = maker.tensor("y", target);
    maker.node("Compress", {x}, {few});
    const NodeId node = maker.node("Expand", {few, maker.integers("target", target)}, {y});
    const Graph graph = maker.make({y});
    EXPECT_EQ(describe(alias_meaning(graph, node)), "an extent is only an upper bound");
    EXPECT_FALSE(view_bytes(graph, node, 0));
  }
}

// a -> Gemm -> b[16], c = Reshape(b), d = Gemm(c).
class AliasStep : public ::testing::Test {
 protected:
  static Graph make_graph(TensorId& b, TensorId& c, TensorId& d) {
    GraphMaker maker;
    const TensorId a = maker.input("a", {16});
    b = maker.result("b", {16}, "Gemm", {a});
    c = maker.result("c", {4, 4}, "Reshape", {b});
    d = maker.result("d", {16}, "Gemm", {c});
    return maker.make({d});
  }
  TensorId b, c, d;
  Graph graph = make_graph(b, c, d);

  Plan plan_with(std::int64_t offset_of_c, bool own_buffer = false) const {
    PlanMaker planner(graph);
    const BufferId buffer = planner.buffer(BufferKind::temporary, 32, 0, 0, 3);
    planner.put(b, buffer);
    planner.put(c, own_buffer ? planner.buffer(BufferKind::temporary, 16, 64, 1, 3) : buffer, offset_of_c);
    planner.put(d, planner.buffer(BufferKind::output, 16, 32, 2, 3));
    planner.run_in_order({NodeId(1)});
    return planner.finish();
  }
};

TEST_F(AliasStep, MayPutItsOutputWhereItsInputIs) { EXPECT_EQ(messages(verify(graph, plan_with(0))), ""); }

TEST_F(AliasStep, WithItsOutputBesideItsInputIsBadAlias) {
  const auto found = verify(graph, plan_with(16));
  EXPECT_EQ(kinds(found), "bad_alias");
  EXPECT_EQ(found[0].step, StepId(1));
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{b, c}));
  EXPECT_THAT(found[0].message,
              HasSubstr("bytes [16, 32) of region 0 'arena' of 'c' (tensor 2) must be bytes [0, 16)"));
}

TEST_F(AliasStep, WithItsOutputInAnotherBufferIsBadAlias) {
  EXPECT_EQ(kinds(verify(graph, plan_with(0, true))), "bad_alias");
}

TEST_F(AliasStep, MayNotHaveScratch) {
  Plan plan = plan_with(0);
  plan.layout.steps[StepId(1)].scratch =
      plan.layout.buffers.push_back({.kind = BufferKind::scratch,
                                     .size = Bytes(8),
                                     .lifespan = {StepId(1), StepId(2)},
                                     .placement = Placement{RegionId(0), Offset(48)}});
  make_honest(graph, plan);
  EXPECT_EQ(kinds(verify(graph, plan)), "bad_alias");
}

TEST_F(AliasStep, ViewThatAKernelComputesNeedsItsOwnBytes) {
  Plan plan = plan_with(0);
  plan.program.steps[StepId(1)].work = Compute{NodeId(1), KernelId(0)};
  EXPECT_EQ(kinds(verify(graph, plan)), "bad_in_place");
  plan = plan_with(16);
  plan.program.steps[StepId(1)].work = Compute{NodeId(1), KernelId(0)};
  EXPECT_EQ(messages(verify(graph, plan)), "");
}

TEST_F(AliasStep, OfAnOperatorThatMustComputeIsBadAlias) {
  Plan plan = plan_with(0);
  plan.program.steps[StepId(0)].work = Alias{NodeId(0)};
  // b would be the bytes that are there already, which no step wrote.
  EXPECT_EQ(kinds(verify(graph, plan)), "bad_alias");
}

// An input may be viewed in another shape. But the view may not be an output of the graph, and nothing may write over
// it.
TEST(Alias, ViewOfAnInputMustNotBeOverwritten) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {16});
  const TensorId b = maker.result("b", {4, 4}, "Reshape", {a});
  const TensorId c = maker.result("c", {4, 4}, "Relu", {b});
  const Graph graph = maker.make({c});
  PlanMaker planner(graph);
  planner.put(b, planner.buffer_of(a));
  planner.put(c, planner.buffer(BufferKind::output, 16, 0, 1, 2));
  planner.run_in_order({NodeId(0)});
  Plan plan = planner.finish();
  EXPECT_EQ(messages(verify(graph, plan)), "");
  plan.layout.values[planner.value_of(c)].buffer = planner.buffer_of(a);
  EXPECT_EQ(kinds(verify(graph, plan)), "role; role");  // c would be written there; its buffer holds no output

  GraphMaker outer;
  const TensorId x = outer.input("x", {16});
  const TensorId y = outer.tensor("y", {4, 4});
  outer.node("Reshape", {x}, {y});
  const Graph handed_out = outer.make({y});
  PlanMaker second(handed_out);
  second.put(y, second.buffer_of(x));
  second.alias(NodeId(0));
  EXPECT_EQ(kinds(verify(handed_out, second.finish())), "role");
}

// c = Concat(a, b): a and b are written where c will be, so c is never copied.
TEST(Alias, ConcatMayHaveItsInputsInItsResult) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId a = maker.result("a", {1, 16}, "Gemm", {x});
  const TensorId b = maker.result("b", {2, 16}, "Gemm", {x});
  const TensorId c = maker.result("c", {3, 16}, "Concat", {a, b}, {integer("axis", 0)});
  const Graph graph = maker.make({c});
  const auto plan_with_b_at = [&](std::int64_t offset) {
    PlanMaker planner(graph);
    const BufferId buffer = planner.buffer(BufferKind::output, 64, 0, 0, 3);
    planner.put(a, buffer, 0);
    planner.put(b, buffer, offset);
    planner.put(c, buffer, 0);
    planner.run_in_order({NodeId(2)});
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with_b_at(16))), "");
  EXPECT_EQ(kinds(verify(graph, plan_with_b_at(32))), "bad_alias");
  // One byte too low: b also destroys the last byte of a.
  const auto found = verify(graph, plan_with_b_at(15));
  EXPECT_EQ(kinds(found), "clobbered; bad_alias");
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{15, 16}));
}

TEST(Alias, TwoOutputsMustNotShareBytes) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId a = maker.result("a", {16}, "Gemm", {x});
  const TensorId b = maker.result("b", {4, 4}, "Reshape", {a});
  const Graph graph = maker.make({a, b});
  PlanMaker planner(graph);
  const BufferId buffer = planner.buffer(BufferKind::output, 16, 0, 0, 2);
  planner.put(a, buffer);
  planner.put(b, buffer);
  planner.run_in_order({NodeId(1)});
  const auto found = verify(graph, planner.finish());
  EXPECT_EQ(kinds(found), "overlap");
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{a, b}));
}

}  // namespace
}  // namespace lowtide::testing
