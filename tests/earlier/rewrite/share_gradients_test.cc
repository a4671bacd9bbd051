// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/earlier/rewrite/shared_nets.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// a and b read x, so its gradient is the sum of two parts, whose names end in a number. Only the versions of Caffe2
// before August 2017 take the parts for gradients.
const std::string kSummedGradients =
    "op { type: 'A' input: 'x' output: 'a' } op { type: 'B' input: 'x' output: 'b' }"
    "op { type: 'L' input: 'a' input: 'b' output: 'l' }"
    "op { type: 'LG' input: 'a' input: 'b' input: 'l' output: 'a_grad' output: 'b_grad' }"
    "op { type: 'AG' input: 'a_grad' output: '_x_grad_autosplit_0' }"
    "op { type: 'BG' input: 'b_grad' output: '_x_grad_autosplit_1' }"
    "op { type: 'Sum' input: '_x_grad_autosplit_0' input: '_x_grad_autosplit_1' output: 'x_grad' }"
    "op { type: 'XG' input: 'x_grad' output: 'd_grad' } op { type: 'End' input: 'd_grad' output: 'e' }"
    "external_input: 'x' external_output: 'l' external_output: 'e'";

TEST(ShareNet, TakesGradientsByNameOrAsTheyAreListed) {
  const auto gradients = [](ShareNetOptions options) {
    options.rule = "caffe2_gradients";
    return shared(kSummedGradients, options).gradients;
  };
  EXPECT_THAT(gradients({}), ElementsAre("a_grad", "b_grad", "d_grad"));  // x is of the caller
  EXPECT_THAT(gradients({.gradient_names = GradientNames::anywhere}),
              ElementsAre("_x_grad_autosplit_0", "_x_grad_autosplit_1", "a_grad", "b_grad", "d_grad"));
  EXPECT_THAT(gradients({.gradients = {"_x_grad_autosplit_0", "x_grad"}}),
              ElementsAre("_x_grad_autosplit_0", "a_grad", "b_grad", "d_grad", "x_grad"));
  EXPECT_THAT(refusal(kSummedGradients, {.rule = "caffe2_gradients", .gradients = {"z"}}),
              HasSubstr("no blob 'z', which is a gradient"));
  EXPECT_THAT(refusal(kSummedGradients, {.rule = "caffe2_dag", .gradients = {"x_grad"}}),
              HasSubstr("only caffe2_gradi"));
}

// The chain from the loss to d_grad is unbroken only with the parts of the sum.
TEST(ShareNet, SharesMoreWithSummedGradients) {
  const auto names = [](ShareNetOptions options) {
    options.rule = "caffe2_gradients";
    options.heads = {"l"};
    return shared(kSummedGradients, options).names;
  };
  EXPECT_THAT(names({}), IsEmpty());
  EXPECT_GT(names({.gradients = {"_x_grad_autosplit_0", "_x_grad_autosplit_1", "x_grad"}}).size(), 1U);
}

TEST(ShareNet, ListsWhatCaffe2sFunctionsTake) {
  const SharedNet gradients = shared(kSummedGradients, {.rule = "caffe2_gradients"});
  EXPECT_THAT(gradients.op_indices, ElementsAre(3, 4, 5, 7, 8));  // LG, AG, BG, XG and End
  EXPECT_EQ(gradients.shareable, gradients.gradients);
  const SharedNet dag = shared(chain_text(3, ""), {.rule = "caffe2_dag", .keep = {"x1"}});
  EXPECT_THAT(dag.op_indices, ElementsAre(0, 1, 2));
  EXPECT_THAT(dag.shareable, ElementsAre("x2"));
  EXPECT_THAT(shared(chain_text(3, ""), {.rule = "caffe2_simple"}).op_indices, IsEmpty());
}

}  // namespace
}  // namespace lowtide::testing
