// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/micro/micro.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;

TfliteModel model_of(const BuiltModel& built) {
  Result<TfliteModel> model = read_tflite(build(built));
  if (!model) ADD_FAILURE() << model.error().describe();
  return model ? *std::move(model) : TfliteModel();
}

// "3 16 [0,2)": tensor 3 of 16 bytes is live at steps 0 and 1.
std::vector<std::string> shown(const Result<MicroHead>& head) {
  std::vector<std::string> all;
  if (!head) return {head.error().describe()};
  for (const MicroBuffer& buffer : head->buffers) {
    all.push_back((buffer.tensor ? std::to_string(*buffer.tensor) : "scratch") + " " +
                  std::to_string(buffer.size.count()) + " [" + std::to_string(buffer.lifespan.begin) + "," +
                  std::to_string(buffer.lifespan.end) + ")");
  }
  return all;
}

std::vector<std::int64_t> positions(const Result<MicroLayout>& layout) {
  std::vector<std::int64_t> all;
  for (Offset offset : layout->offsets) all.push_back(offset.position());
  return all;
}

MicroBuffer buffer(std::uint32_t tensor, std::int64_t size, std::int64_t first, std::int64_t last) {
  return {tensor, {}, Bytes(size), {first, last + 1}};
}

TEST(MicroHead, ListsWhatEachStepNeeds) {
  const TfliteModel model =
      model_of({.subgraphs = {{.tensors = {{"x", {10}}, {"a", {20}}, {"y", {10}}, {"unused", {5}}},
                               .operators = {{"custom:SignalEnergy", {0}, {1}}, {"custom:SignalEnergy", {1}, {2}}},
                               .inputs = {0},
                               .outputs = {2}}}});
  // Sizes are multiples of 16. An operand is live while its reader runs, and the first step is 1.
  EXPECT_THAT(shown(micro_head(model, MicroKernels::reference)),
              ElementsAre("0 16 [0,2)", "1 32 [1,3)", "2 16 [2,3)", "3 16 [-1,0)"));
}

TEST(MicroHead, ConstantsVariablesAndHandlesNeedNothing) {
  const TfliteModel model =
      model_of({.subgraphs = {
                    {.tensors = {{"h", {}, TfliteType::resource},
                                 {"v", {4}, TfliteType::float32},
                                 {"w", {4}, TfliteType::float32, std::string(16, 'w')},
                                 {"s", {4}, TfliteType::float32, "", {}, {}, 0, true},
                                 {"y", {4}, TfliteType::float32},
                                 {"empty", {0}}},
                     .operators = {{"VAR_HANDLE", {}, {0}, {}, "v"}, {"READ_VARIABLE", {0}, {1}}, {"ADD", {1, 2}, {4}}},
                     .inputs = {},
                     .outputs = {4}}}});
  EXPECT_THAT(shown(micro_head(model, MicroKernels::reference)), ElementsAre("1 16 [2,4)", "4 16 [3,4)"));
  // With an offset, a variable is in the head. Nothing that is an operand of an operator uses it here.
  MicroOffsets given(6);
  given[3] = Offset(64);
  EXPECT_THAT(shown(micro_head(model, MicroKernels::reference, given)),
              ElementsAre("1 16 [2,4)", "3 16 [-1,0)", "4 16 [3,4)"));
}

TEST(MicroHead, SubgraphsHaveStepsOfTheirOwn) {
  const BuiltSubgraph branch{
      .tensors = {{"a", {8}}, {"b", {8}}}, .operators = {{"LOGISTIC", {0}, {1}}}, .inputs = {0}, .outputs = {1}};
  const TfliteModel model = model_of(
      {.subgraphs = {{.tensors = {{"c", {1}, TfliteType::boolean}, {"x", {8}}, {"y", {8}}},
                      .operators = {{"IF", {0, 1}, {2}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 2}}}},
                      .inputs = {0, 1},
                      .outputs = {2}},
                     branch,
                     branch}});
  // Steps: 1 IF, 2 begin of a branch, 3 LOGISTIC, 4 begin of the other, 5 LOGISTIC.
  EXPECT_THAT(
      shown(micro_head(model, MicroKernels::reference)),
      ElementsAre("0 16 [0,6)", "1 16 [0,6)", "2 16 [1,6)", "3 16 [2,4)", "4 16 [3,4)", "5 16 [4,6)", "6 16 [5,6)"));
}

TEST(MicroHead, ScratchIsLiveWhileItsOperatorRuns) {
  const TfliteModel model = model_of(
      {.subgraphs = {
           {.tensors = {{"x", {4, 6}}, {"axes", {1}, TfliteType::int32, tflite_tests::bytes_of({1})}, {"y", {4}}},
            .operators = {{"MEAN", {0, 1}, {2}}},
            .inputs = {0},
            .outputs = {2}}}});
  // Sums of 4 elements, the position in 2 axes, and 1 axis.
  EXPECT_THAT(shown(micro_head(model, MicroKernels::reference)),
              ElementsAre("0 32 [0,2)", "2 16 [1,2)", "scratch 16 [1,2)", "scratch 16 [1,2)", "scratch 16 [1,2)"));
}

TEST(MicroHead, NamesOperatorsThatKernelsDoNotHave) {
  const TfliteModel model = model_of({.subgraphs = {{.tensors = {{"x", {8}}, {"y", {8}}, {"z", {8}}},
                                                     .operators = {{"custom:Mine", {0}, {1}}, {"TILE", {1, 0}, {2}}},
                                                     .inputs = {0},
                                                     .outputs = {2}}}});
  EXPECT_THAT(micro_head(model, MicroKernels::reference)->unknown_operators, ElementsAre("Mine", "TILE"));
}

TEST(MicroHead, RefusesSubgraphsThatRunVeryOften) {
  // 24 subgraphs, each of which runs the next one twice.
  BuiltModel built;
  for (std::int64_t next = 1; next <= 24; ++next) {
    const tflite_tests::BuiltOperator runs{"CALL_ONCE", {}, {}, {{"init_subgraph_index", next}}};
    built.subgraphs.push_back({.tensors = {}, .operators = {runs, runs}, .inputs = {}, .outputs = {}});
  }
  built.subgraphs.emplace_back();
  const Result<MicroHead> head = micro_head(model_of(built), MicroKernels::reference);
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.error().code, ErrorCode::over_limit);
}

TEST(PlaceAsMicro, LargestFirstAndTheLastOfEqualOnes) {
  // 0 and 2 are equal, so 2 comes first and gets the lower place.
  EXPECT_THAT(positions(place_as_micro({buffer(0, 32, 0, 2), buffer(1, 64, 0, 1), buffer(2, 32, 1, 2)})),
              ElementsAre(96, 0, 64));
}

TEST(PlaceAsMicro, EndsAreIncluded) {
  // Tensor 1 begins at the step at which tensor 0 is read last, so they share nothing.
  EXPECT_THAT(positions(place_as_micro({buffer(0, 32, 0, 1), buffer(1, 16, 1, 2), buffer(2, 16, 2, 3)})),
              ElementsAre(0, 32, 0));
}

TEST(PlaceAsMicro, UsesGapsBelowGivenOffsets) {
  MicroOffsets given(3);
  given[0] = Offset(48);
  const Result<MicroLayout> layout =
      place_as_micro({buffer(0, 32, 0, 1), buffer(1, 48, 0, 1), buffer(2, 16, 0, 1)}, given);
  EXPECT_THAT(positions(layout), ElementsAre(48, 0, 80));
  EXPECT_EQ(layout->size, Bytes(96));
}

TEST(PlaceAsMicro, TheBoundIsTheLargestLoad) {
  EXPECT_EQ(live_bytes({buffer(0, 32, 0, 1), buffer(1, 16, 1, 2), buffer(2, 48, 2, 3)}), Bytes(64));
  EXPECT_EQ(live_bytes({}), Bytes(0));
}

}  // namespace
}  // namespace lowtide
