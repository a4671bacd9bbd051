// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/work_text.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

std::string work_of(const std::string& text, std::uint32_t node = 0) { return work_text(graph_of(text), NodeId(node)); }

TEST(WorkText, HasOperatorAttributesAndTypes) {
  EXPECT_EQ(work_of(R"(graph "g" {
    input x : f32[1,3,8,8]
    constant w : f32[4,3,3,3]
    y = Conv(x, w, _) "conv1" {pads = [1, 1, 1, 1], group = 1} : f32[1,4,8,8]
    output y
  })"),
            "Conv {group = 1, pads = [1, 1, 1, 1]} (f32[1,3,8,8], f32[4,3,3,3], _) -> (f32[1,4,8,8])");
}

TEST(WorkText, HasContentThatIsKnown) {
  EXPECT_EQ(work_of(R"(graph "g" {
    input x : f32[2,3]
    constant axes : i64[1] = [1]
    y = com.example::Sum(x, axes) : f32[2]
    output y
  })"),
            "com.example::Sum (f32[2,3], i64[1] = [1]) -> (f32[2])");
}

TEST(WorkText, HasNoNamesAndNoOrderOfAttributes) {
  const std::string one = R"(graph "g" {
    input x : f32[4]
    y = Elu(x) "first" {alpha = 2.0, beta = 1} : f32[4]
    output y
  })";
  const std::string other = R"(graph "other" {
    input before : f32[2]
    input a : f32[4]
    r = Relu(before) : f32[2]
    b = Elu(a) "second" {beta = 1, alpha = 2.0} : f32[4]
    output r
    output b
  })";
  EXPECT_EQ(work_of(one), work_of(other, 1));
}

std::string branch(const std::string& type, const std::string& name = "t") {
  return R"(graph "g" {
    input c : bool[]
    input x : f32[4]
    y = If(c) {
      then_branch = graph "then" captures (x) {
        captured input x : f32[4]
        )" +
         name + " = " + type + R"((x) : f32[4]
        output )" +
         name + R"(
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[4]
        e = Neg(x) : f32[4]
        output e
      }
    } : f32[4]
    output y
  })";
}

TEST(WorkText, TellsBodiesApart) {
  EXPECT_EQ(work_of(branch("Relu")), work_of(branch("Relu")));
  EXPECT_NE(work_of(branch("Relu")), work_of(branch("Tanh")));
  EXPECT_EQ(work_of(branch("Relu")), work_of(branch("Relu", "other")));
}

std::string chain_text(const std::string& first, const std::string& op) {
  return R"(graph "g" {
    input x : f32[4]
    y = lowtide::Chain(x) {program = ["input )" +
         first + R"( : f32[4]", "y = )" + op + "(" + first + R"() : f32[4]", "output y"]} : f32[4]
    output y
  })";
}

TEST(WorkText, HasNumbersInProgramsInPlaceOfNames) {
  EXPECT_EQ(work_of(chain_text("a", "Relu")),
            "lowtide::Chain {program = [%0 : f32[4]; (%1 : f32[4]) = Relu(%0); %1 ]} (f32[4]) -> (f32[4])");
  EXPECT_EQ(work_of(chain_text("a", "Relu")), work_of(chain_text("other", "Relu")));
  EXPECT_NE(work_of(chain_text("a", "Relu")), work_of(chain_text("a", "Tanh")));
}

}  // namespace
}  // namespace lowtide::testing
