// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro_plan/plan_for_micro.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/micro_plan/stated_plan.h"
#include "lowtide/tflite/offline_check/check_offline_plan.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;
using tflite_tests::bytes_of;

// The plan of a file, which is checked by independent code.
MicroPlan plan_of(const std::string& file) {
  const Result<TfliteModel> model = read_tflite(file);
  if (!model) {
    ADD_FAILURE() << model.error().describe();
    return {};
  }
  Result<MicroPlan> plan = plan_for_micro(*model, file);
  if (!plan) {
    ADD_FAILURE() << plan.error().describe();
    return {};
  }
  EXPECT_LE(plan->head, plan->head_before);
  EXPECT_LE(plan->bound, plan->head);
  EXPECT_EQ(plan->file == file, !plan->is_changed);
  EXPECT_EQ(plan->arenas.builds.size(), plan->arenas_before.builds.size());
  for (const auto& [build, arena] : plan->arenas.builds) {
    EXPECT_LE(arena.smallest, plan->arenas_before.of(build)->smallest);
  }
  const Result<TfliteModel> written = read_tflite(plan->file);
  EXPECT_TRUE(written.ok());
  const Result<OfflineCheck> check = check_offline_plan(*written, plan->file);
  EXPECT_TRUE(check.ok());
  EXPECT_THAT(check->faults, IsEmpty());
  if (plan->is_changed) {
    EXPECT_TRUE(check->has_offsets);
  }
  return *std::move(plan);
}

// CUMSUM, which cannot work in place, with its axis as tensor 0.
tflite_tests::BuiltOperator sum(std::int32_t from, std::int32_t to) { return {"CUMSUM", {from, 0}, {to}}; }
tflite_tests::BuiltTensor axis() { return {"axis", {1}, TfliteType::int32, bytes_of({0})}; }

TEST(PlanForMicro, ReshapesGetThePlaceOfTheirOperand) {
  const MicroPlan plan = plan_of(build({.tensors = {axis(),
                                                    {"x", {64}},
                                                    {"a", {64}},
                                                    {"shape", {2}, TfliteType::int32, bytes_of({8, 8})},
                                                    {"b", {8, 8}},
                                                    {"y", {8, 8}}},
                                        .operators = {sum(1, 2), {"RESHAPE", {2, 3}, {4}}, sum(4, 5)},
                                        .inputs = {1},
                                        .outputs = {5}}));
  // Two tensors at each step, so there is nothing to win.
  EXPECT_EQ(plan.head_before, Bytes(128));
  EXPECT_FALSE(plan.is_better());
  const MicroPlan shorter = plan_of(
      build({.tensors = {axis(), {"x", {64}}, {"shape", {2}, TfliteType::int32, bytes_of({8, 8})}, {"y", {8, 8}}},
             .operators = {{"RESHAPE", {1, 2}, {3}}},
             .inputs = {1},
             .outputs = {3}}));
  EXPECT_EQ(shorter.head_before, Bytes(128));
  EXPECT_EQ(shorter.head, Bytes(64));
  EXPECT_EQ(shorter.in_place, 1);
  EXPECT_EQ(shorter.bound, Bytes(64));
}

// x is read by two branches: the one that is first in the file makes a large tensor, which waits for the other.
TEST(PlanForMicro, OrdersOperatorsForASmallerHead) {
  const std::string file =
      build({.tensors =
                 {axis(), {"x", {16}}, {"large", {256}}, {"small", {16}}, {"huge", {512}}, {"tiny", {16}}, {"y", {16}}},
             .operators = {{"BROADCAST_TO", {1, 0}, {2}},
                           {"BROADCAST_TO", {1, 0}, {4}},
                           {"GATHER", {4, 0}, {5}},
                           {"GATHER", {2, 0}, {3}},
                           {"custom:SignalOverlapAdd", {3, 5}, {6}}},
             .inputs = {1},
             .outputs = {6}});
  const MicroPlan plan = plan_of(file);
  EXPECT_EQ(plan.head_before, Bytes(16 + 256 + 512));
  EXPECT_EQ(plan.head, Bytes(16 + 512 + 16));
  EXPECT_EQ(plan.bound, plan.head);
  ASSERT_EQ(plan.orders.size(), 1u);
  const Result<TfliteModel> written = read_tflite(plan.file);
  std::vector<std::string> types;
  for (const TfliteOperator& op : written->subgraphs[0].operators) types.push_back(op.type);
  EXPECT_THAT(types, ElementsAre("BROADCAST_TO", "GATHER", "BROADCAST_TO", "GATHER", "SignalOverlapAdd"));
  // Planned again, nothing changes.
  EXPECT_FALSE(plan_for_micro(*written, plan.file)->is_better());
}

// x -> CUMSUM -> a -> CUMSUM -> y, with a list of offsets in the file.
std::string chain_with(const std::string& list) {
  BuiltModel model{.subgraphs = {{.tensors = {axis(), {"x", {64}}, {"a", {64}}, {"y", {64}}},
                                  .operators = {sum(1, 2), sum(2, 3)},
                                  .inputs = {1},
                                  .outputs = {3}}}};
  model.metadata = {{"OfflineMemoryAllocation", list}};
  return build(model);
}

TEST(PlanForMicro, WrongOffsetsOfTheFileCountAsNone) {
  // Over its operand, not a multiple of 16, and two lists that are cut off.
  for (const std::string& list : {bytes_of({1, 1, 4, -1, 0, 0, 64}), bytes_of({1, 1, 4, -1, 0, 1000, 0}),
                                  bytes_of({1, 1, 4, -1, 0}), std::string("no")}) {
    const MicroPlan plan = plan_of(chain_with(list));
    EXPECT_NE(plan.stated_fault, "");
    EXPECT_EQ(plan.head_before, Bytes(128));
    EXPECT_EQ(plan.head, Bytes(128));
    EXPECT_TRUE(plan.is_changed);  // the new file does not have them
  }
}

TEST(PlanForMicro, RightOffsetsOfTheFileCount) {
  const MicroPlan far = plan_of(chain_with(bytes_of({1, 1, 4, -1, 0, 160, 0})));
  EXPECT_EQ(far.stated_fault, "");
  EXPECT_EQ(far.head_before, Bytes(160 + 64));
  EXPECT_EQ(far.head, Bytes(128));
  const MicroPlan best = plan_of(chain_with(bytes_of({1, 1, 4, -1, 0, 64, 0})));
  EXPECT_EQ(best.stated_fault, "");
  EXPECT_FALSE(best.is_changed);
}

// RELU may work in place in the reference kernels, and MUL too, but not with those of CMSIS-NN.
TEST(PlanForMicro, OffsetsMustSuitTheKernels) {
  BuiltModel model{
      .subgraphs = {
          {.tensors = {{"x", {64}}, {"y", {64}}}, .operators = {{"MUL", {0, 0}, {1}}}, .inputs = {0}, .outputs = {1}}}};
  model.metadata = {{"OfflineMemoryAllocation", bytes_of({1, 1, 2, 0, 0})}};
  const std::string file = build(model);
  EXPECT_EQ(stated_plan(*read_tflite(file), file, MicroKernels::reference).fault, "");
  EXPECT_THAT(stated_plan(*read_tflite(file), file, MicroKernels::cmsis_nn).fault,
              HasSubstr("operator 0 'MUL': its result is over an operand"));
  const Result<MicroPlan> plan = plan_for_micro(*read_tflite(file), file, {.kernels = MicroKernels::cmsis_nn});
  EXPECT_EQ(plan->head_before, Bytes(128));
}

TEST(PlanForMicro, TensorsThatNothingUsesCostNothing) {
  const MicroPlan plan = plan_of(build({.tensors = {axis(), {"x", {32}}, {"y", {32}}, {"u", {64}}, {"v", {64}}},
                                        .operators = {sum(1, 2)},
                                        .inputs = {1},
                                        .outputs = {2}}));
  EXPECT_EQ(plan.head_before, Bytes(128));  // the runtime places u beside v
  EXPECT_EQ(plan.head, Bytes(64));
}

TEST(PlanForMicro, ScratchIsPlannedWithTensors) {
  // MEAN of 64 sums needs 256 bytes of scratch.
  const MicroPlan plan = plan_of(build({.tensors = {axis(), {"x", {2, 64}}, {"y", {64}}, {"z", {64}}},
                                        .operators = {{"MEAN", {1, 0}, {2}}, sum(2, 3)},
                                        .inputs = {1},
                                        .outputs = {3}}));
  EXPECT_EQ(plan.head, Bytes(128 + 64 + 256 + 16 + 16));
}

TEST(PlanForMicro, RefusesOperatorsThatKernelsDoNotHave) {
  const std::string file = build(
      {.tensors = {{"x", {8}}, {"y", {8}}}, .operators = {{"custom:Mine", {0}, {1}}}, .inputs = {0}, .outputs = {1}});
  const Result<MicroPlan> plan = plan_for_micro(*read_tflite(file), file);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::unsupported);
  EXPECT_THAT(plan.error().message, HasSubstr("'Mine'"));
}

TEST(PlanForMicro, BranchesAndVariablesArePlanned) {
  const BuiltSubgraph branch{.tensors = {{"axis", {1}, TfliteType::int32, bytes_of({0})}, {"a", {48}}, {"b", {48}}},
                             .operators = {sum(1, 2)},
                             .inputs = {1},
                             .outputs = {2},
                             .name = "branch"};
  const BuiltSubgraph init{
      .tensors = {{"h", {}, TfliteType::resource}, {"zero", {16}, TfliteType::int8, std::string(16, 'z')}},
      .operators = {{"VAR_HANDLE", {}, {0}, {}, "v"}, {"ASSIGN_VARIABLE", {0, 1}, {}}},
      .inputs = {},
      .outputs = {},
      .name = "init"};
  const BuiltSubgraph main{.tensors = {axis(),
                                       {"c", {1}, TfliteType::boolean},
                                       {"x", {48}},
                                       {"y", {48}},
                                       {"h", {}, TfliteType::resource},
                                       {"v", {16}},
                                       {"w", {16}},
                                       {"s", {8}, TfliteType::int8, "", {}, {}, 0, true}},
                           .operators = {{"CALL_ONCE", {}, {}, {{"init_subgraph_index", 2}}},
                                         {"VAR_HANDLE", {}, {4}, {}, "v"},
                                         {"READ_VARIABLE", {4}, {5}},
                                         {"IF", {1, 2}, {3}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 1}}},
                                         {"RELU", {5}, {6}},
                                         {"ASSIGN_VARIABLE", {4, 6}, {}}},
                           .inputs = {1, 2},
                           .outputs = {3}};
  const MicroPlan plan = plan_of(build(BuiltModel{.subgraphs = {main, branch, init}}));
  // At the IF, c and x of 16 + 48 bytes are live beside v of 16, and so are a and b of the branch.
  EXPECT_LE(plan.bound, Bytes(16 + 48 + 16 + 48 + 48));
  EXPECT_GE(plan.bound, Bytes(48 + 48));  // a and b
  if (!plan.is_changed) return;
  EXPECT_EQ(plan.offsets[7], std::nullopt);  // the variable
}

// Handles have their place in the tail: the head has v and w of 16 bytes.
TEST(PlanForMicro, HandlesAreNotInTheBound) {
  const MicroPlan plan = plan_of(build(
      {.tensors = {{"x", {16}}, {"h", {}, TfliteType::resource}, {"v", {16}}},
       .operators = {{"VAR_HANDLE", {}, {1}, {}, "v"}, {"READ_VARIABLE", {1}, {2}}, {"ASSIGN_VARIABLE", {1, 0}, {}}},
       .inputs = {0},
       .outputs = {2}}));
  EXPECT_EQ(plan.head, Bytes(32));
  EXPECT_EQ(plan.bound, Bytes(32));
}

// The inputs of a branch are live until their last use, and then y may have the place of a. The arena of a body would
// keep a and b, beside the operands of the IF: 16 + 64 + 64 + 64.
TEST(PlanForMicro, TheBoundHoldsForSubgraphs) {
  const BuiltSubgraph branch{.tensors = {{"a", {64}}, {"b", {64}}},
                             .operators = {{"RELU", {0}, {1}}},
                             .inputs = {0},
                             .outputs = {1},
                             .name = "branch"};
  const BuiltSubgraph main{.tensors = {{"c", {1}, TfliteType::boolean}, {"x", {64}}, {"y", {64}}},
                           .operators = {{"IF", {0, 1}, {2}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 1}}}},
                           .inputs = {0, 1},
                           .outputs = {2}};
  EXPECT_EQ(plan_of(build(BuiltModel{.subgraphs = {main, branch}})).bound, Bytes(16 + 64));
}

// Random graphs of operators that may or may not work in place.
std::string random_file(Random& random) {
  BuiltSubgraph graph{.tensors = {axis(), {"x", {static_cast<std::int32_t>(16 * (1 + random.below(4)))}}},
                      .operators = {},
                      .inputs = {1},
                      .outputs = {}};
  const auto size_of = [&](std::int32_t tensor) { return graph.tensors[static_cast<std::size_t>(tensor)].shape; };
  const std::uint64_t operators = 4 + random.below(10);
  std::vector<std::int32_t> values = {1};
  for (std::uint64_t at = 0; at < operators; ++at) {
    const std::int32_t from = values[random.below(values.size())];
    const auto to = static_cast<std::int32_t>(graph.tensors.size());
    const bool is_same = random.chance(50);
    graph.tensors.push_back(
        {"t" + std::to_string(to),
         is_same ? size_of(from) : std::vector<std::int32_t>{static_cast<std::int32_t>(1 + random.below(200))}});
    graph.operators.push_back(is_same
                                  ? tflite_tests::BuiltOperator{random.chance(50) ? "RELU" : "CUMSUM", {from, 0}, {to}}
                                  : tflite_tests::BuiltOperator{"GATHER", {from, 0}, {to}});
    if (graph.operators.back().type == "RELU") graph.operators.back().inputs.pop_back();
    values.push_back(to);
  }
  graph.outputs = {values.back()};
  if (random.chance(50)) graph.outputs.push_back(values[1 + random.below(values.size() - 1)]);
  return build(std::move(graph));
}

TEST(PlanForMicro, RandomGraphsAreNeverWorseAndAlwaysCorrect) {
  Random random(3);
  int better = 0;
  int at_bound = 0;
  for (int round = 0; round < 200; ++round) {
    const MicroPlan plan = plan_of(random_file(random));
    better += plan.is_better() ? 1 : 0;
    at_bound += plan.head == plan.bound ? 1 : 0;
  }
  EXPECT_GT(better, 60);
  EXPECT_GT(at_bound, 130);
}

}  // namespace
}  // namespace lowtide
