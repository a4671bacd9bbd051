// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/offline_check/check_offline_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;
using tflite_tests::bytes_of;

constexpr char kName[] = "OfflineMemoryAllocation";

std::vector<std::string> faults_of_list(BuiltModel model, const std::string& list) {
  model.metadata = {{kName, list}};
  const std::string file = build(model);
  const Result<TfliteModel> read = read_tflite(file);
  if (!read) return {read.error().describe()};
  const Result<OfflineCheck> check = check_offline_plan(*read, file);
  if (!check) return {check.error().describe()};
  EXPECT_TRUE(check->has_offsets);
  std::vector<std::string> faults;
  for (const OfflineFault& fault : check->faults) faults.push_back(fault.place + ": " + fault.message);
  return faults;
}

std::vector<std::string> faults(const BuiltModel& model, const std::vector<std::int32_t>& offsets) {
  std::vector<std::int32_t> numbers = {1, static_cast<std::int32_t>(model.subgraphs.size()),
                                       static_cast<std::int32_t>(offsets.size())};
  numbers.insert(numbers.end(), offsets.begin(), offsets.end());
  return faults_of_list(model, bytes_of(numbers));
}

// x -> CUMSUM -> a -> CUMSUM -> y, each of 32 bytes, by an operator that may not work in place; tensor 1 is its axis.
BuiltModel chain() {
  return {.subgraphs = {
              {.tensors = {{"x", {32}}, {"axis", {1}, TfliteType::int32, bytes_of({0})}, {"a", {32}}, {"y", {32}}},
               .operators = {{"CUMSUM", {0, 1}, {2}}, {"CUMSUM", {2, 1}, {3}}},
               .inputs = {0},
               .outputs = {3}}}};
}

TEST(CheckOfflinePlan, AcceptsTensorsThatAreNotNeededTogether) {
  EXPECT_THAT(faults(chain(), {0, -1, 32, 0}), IsEmpty());
  EXPECT_THAT(faults(chain(), {-1, -1, -1, -1}), IsEmpty());
  EXPECT_THAT(faults(chain(), {0, 0, 32, 64}), IsEmpty());  // an offset of a constant has no effect
}

TEST(CheckOfflinePlan, FindsAResultOverItsOperand) {
  EXPECT_THAT(faults(chain(), {0, -1, 16, 64}),
              ElementsAre("subgraph 0: operator 0 CUMSUM: it writes tensor 2 'a' over tensor 0 'x', which it still "
                          "reads"));
  EXPECT_THAT(faults(chain(), {0, -1, 0, 64}), testing::SizeIs(1));
}

TEST(CheckOfflinePlan, FindsATensorThatIsOverwrittenBeforeItsReader) {
  // x is read again after a has been written.
  BuiltModel model = chain();
  model.subgraphs[0].operators[1] = {"custom:Both", {2, 0}, {3}};
  EXPECT_THAT(faults(model, {0, -1, 32, 64}), IsEmpty());
  const auto found = faults(model, {0, -1, 16, 64});
  EXPECT_THAT(found, testing::Contains(AllOf(HasSubstr("operator 1 'Both': it reads tensor 0 'x'"),
                                             HasSubstr("tensor 2 'a' has overwritten"))));
}

// No operator reads tensor 1. The caller may still write it after tensor 0.
TEST(CheckOfflinePlan, InputsShareNoBytes) {
  const BuiltModel model{.subgraphs = {{.tensors = {{"x", {32}}, {"unread", {32}}, {"y", {32}}},
                                        .operators = {{"RELU", {0}, {2}}},
                                        .inputs = {1, 0},
                                        .outputs = {2}}}};
  EXPECT_THAT(faults(model, {0, 32, 64}), IsEmpty());
  EXPECT_THAT(faults(model, {0, 32, 32}), IsEmpty());
  EXPECT_THAT(faults(model, {0, 16, 64}),
              ElementsAre("the caller: it writes tensor 0 'x' over tensor 1 'unread', which is an input too"));
}

TEST(CheckOfflinePlan, FindsAnOutputThatIsLost) {
  BuiltModel model = chain();
  model.subgraphs[0].outputs = {2, 3};
  EXPECT_THAT(faults(model, {0, -1, 32, 0}), IsEmpty());
  BuiltModel early = chain();
  early.subgraphs[0].operators.push_back({"CUMSUM", {0, 1}, {4}});
  early.subgraphs[0].tensors.push_back({"z", {32}});
  early.subgraphs[0].outputs = {3, 4};
  EXPECT_THAT(faults(early, {0, -1, 32, 64, 64}), testing::Contains(HasSubstr("the caller: it reads tensor 3 'y'")));
}

TEST(CheckOfflinePlan, ElementwiseKernelsMayWorkInPlace) {
  const BuiltModel model{.subgraphs = {{.tensors = {{"x", {32}}, {"a", {32}}, {"y", {32}}},
                                        .operators = {{"RELU", {0}, {1}}, {"ADD", {0, 1}, {2}}},
                                        .inputs = {0},
                                        .outputs = {2}}}};
  EXPECT_THAT(faults(model, {0, 32, 32}), IsEmpty());           // ADD over its second operand
  EXPECT_THAT(faults(model, {0, 32, 16}), testing::SizeIs(2));  // not exactly there
  EXPECT_THAT(faults(model, {0, 0, 32}), testing::SizeIs(1));   // x is read again
}

TEST(CheckOfflinePlan, AReshapeInPlaceLeavesBothTensors) {
  const BuiltModel model{
      .subgraphs = {{.tensors = {{"x", {32}},
                                 {"shape", {2}, TfliteType::int32, bytes_of({4, 8})},
                                 {"a", {4, 8}},
                                 {"y", {4, 8}},
                                 {"z", {32}}},
                     .operators = {{"RESHAPE", {0, 1}, {2}}, {"RELU", {2}, {3}}, {"LOGISTIC", {0}, {4}}},
                     .inputs = {0},
                     .outputs = {3, 4}}}};
  EXPECT_THAT(faults(model, {0, -1, 0, 32, 64}), IsEmpty());
  // RELU in the place of a also destroys x.
  EXPECT_THAT(faults(model, {0, -1, 0, 0, 64}), testing::SizeIs(1));
}

TEST(CheckOfflinePlan, FindsListsThatAreWrong) {
  EXPECT_THAT(faults_of_list(chain(), "ab"), ElementsAre(": the list is cut off: it has 2 bytes"));
  EXPECT_THAT(faults_of_list(chain(), bytes_of({1, 1, 4, 0})), ElementsAre(HasSubstr("offsets for 1 of the 4")));
  EXPECT_THAT(faults(chain(), {0}), ElementsAre(HasSubstr("for 1 tensors, not for the 4")));
  EXPECT_THAT(faults(chain(), {0, -1, 40, 0}), ElementsAre(HasSubstr("not a multiple of 16")));
  EXPECT_THAT(faults(chain(), {0, -1, -32, 0}), ElementsAre(HasSubstr("its offset is -32")));
  EXPECT_THAT(faults(chain(), {0, -1, 2147483632, 0}), ElementsAre(HasSubstr("2 GiB")));
}

TEST(CheckOfflinePlan, VariablesHaveNoOffset) {
  BuiltModel model = chain();
  model.subgraphs[0].tensors.push_back({"s", {32}, TfliteType::int8, "", {}, {}, 0, true});
  EXPECT_THAT(faults(model, {0, -1, 32, 0, -1}), IsEmpty());
  EXPECT_THAT(faults(model, {0, -1, 32, 0, 64}), ElementsAre(HasSubstr("it is a variable")));
  // The variable is number 0 of its subgraph, and entry 0 has an offset.
  model.subgraphs[0].tensors.pop_back();
  model.subgraphs.push_back({.tensors = {{"s", {32}, TfliteType::int8, "", {}, {}, 0, true}}, .operators = {}});
  EXPECT_THAT(faults(model, {0, -1, 32, 0, -1}), ElementsAre(HasSubstr("it gets no memory, because entry 0")));
  EXPECT_THAT(faults(model, {-1, -1, 32, 0, -1}), IsEmpty());
}

// c, x -> IF -> y, then LOGISTIC(x) -> z. Tensors: c x y z, a b, d e.
BuiltModel branches() {
  const BuiltSubgraph branch{
      .tensors = {{"a", {32}}, {"b", {32}}}, .operators = {{"CUMSUM", {0, 0}, {1}}}, .inputs = {0}, .outputs = {1}};
  return {.subgraphs = {{.tensors = {{"c", {1}, TfliteType::boolean}, {"x", {32}}, {"y", {32}}, {"z", {32}}},
                         .operators = {{"IF", {0, 1}, {2}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 2}}},
                                       {"LOGISTIC", {1}, {3}}},
                         .inputs = {0, 1},
                         .outputs = {2, 3}},
                        branch,
                        branch}};
}

TEST(CheckOfflinePlan, BranchesMayShareBytes) {
  EXPECT_THAT(faults(branches(), {0, 16, 48, 16, 80, 112, 80, 112}), IsEmpty());
}

TEST(CheckOfflinePlan, ABranchMustNotTouchWhatIsNeededAfterIt) {
  // b of the second branch is where x is.
  EXPECT_THAT(faults(branches(), {0, 16, 48, 112, 80, 112, 80, 16}),
              ElementsAre(AllOf(HasSubstr("operator 1 LOGISTIC: it reads tensor 1 'x'"),
                                HasSubstr("in some runs, another tensor has overwritten"))));
}

// i, x -> WHILE -> j, y. The condition reads the counter; the body computes both again.
BuiltModel loop() {
  const BuiltSubgraph condition{.tensors = {{"i", {16}}, {"x", {32}}, {"go", {1}, TfliteType::boolean}},
                                .operators = {{"custom:Test", {0}, {2}}},
                                .inputs = {0, 1},
                                .outputs = {2}};
  const BuiltSubgraph body{.tensors = {{"i", {16}}, {"x", {32}}, {"j", {16}}, {"y", {32}}},
                           .operators = {{"custom:Next", {0}, {2}}, {"custom:Next", {1}, {3}}},
                           .inputs = {0, 1},
                           .outputs = {2, 3}};
  return {
      .subgraphs = {{.tensors = {{"i", {16}}, {"x", {32}}, {"j", {16}}, {"y", {32}}},
                     .operators = {{"WHILE", {0, 1}, {2, 3}, {{"cond_subgraph_index", 1}, {"body_subgraph_index", 2}}}},
                     .inputs = {0, 1},
                     .outputs = {2, 3}},
                    condition,
                    body}};
}

TEST(CheckOfflinePlan, LoopsKeepTheirResultsBetweenIterations) {
  const std::vector<std::int32_t> main = {0, 16, 48, 64};
  const std::vector<std::int32_t> condition = {96, 112, 144};
  const auto all = [&](const std::vector<std::int32_t>& body) {
    std::vector<std::int32_t> offsets = main;
    offsets.insert(offsets.end(), condition.begin(), condition.end());
    offsets.insert(offsets.end(), body.begin(), body.end());
    return offsets;
  };
  // The inputs of the loop are dead in its body.
  EXPECT_THAT(faults(loop(), all({96, 112, 0, 16})), IsEmpty());
  // The body writes y over its own x, which it reads after it has written j.
  EXPECT_THAT(faults(loop(), all({96, 112, 112, 16})), testing::Not(IsEmpty()));
  // The condition reads the counter, which would be where the body has its y.
  EXPECT_THAT(faults(loop(), all({96, 112, 0, 48})), testing::Not(IsEmpty()));
}

TEST(CheckOfflinePlan, AFileWithoutOffsetsIsFine) {
  const std::string file = build(chain());
  const Result<OfflineCheck> check = check_offline_plan(*read_tflite(file), file);
  ASSERT_TRUE(check.ok());
  EXPECT_FALSE(check->has_offsets);
  EXPECT_THAT(check->faults, IsEmpty());
}

}  // namespace
}  // namespace lowtide
