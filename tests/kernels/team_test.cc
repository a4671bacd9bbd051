// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/team.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using testing::Elements;
using testing::floats;
using testing::OneNode;
using testing::ReversedTeam;

std::vector<float> counted_numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) values[at] = static_cast<float>((at * 7919) % 1009) / 503.0F - 1;
  return values;
}

struct Case {
  const char* name;
  std::string text;
  std::vector<std::size_t> counts;  // elements of the operands
  bool is_shared = true;            // the work is large enough for two threads
};

const std::vector<Case> kCases{
    {"convolution",
     R"(graph "g" {
       input x : f32[3,4,9,9]
       input w : f32[7,4,3,3]
       input b : f32[7]
       y = Conv(x, w, b) {pads = [1, 1, 1, 1]} : f32[3,7,9,9]
       output y
     })",
     {3 * 4 * 81, 7 * 36, 7}},
    {"groups",
     R"(graph "g" {
       input x : f32[1,15,16,16]
       input w : f32[15,1,3,3]
       y = Conv(x, w) {group = 15} : f32[1,15,14,14]
       output y
     })",
     {15 * 256, 15 * 9},
     false},
    {"product of rows",
     R"(graph "g" {
       input x : f32[37,33]
       input w : f32[33,41]
       y = MatMul(x, w) : f32[37,41]
       output y
     })",
     {37 * 33, 33 * 41}},
    {"transposed product",
     R"(graph "g" {
       input x : f32[33,37]
       input w : f32[41,33]
       input b : f32[41]
       y = Gemm(x, w, b) {transA = 1, transB = 1} : f32[37,41]
       output y
     })",
     {37 * 33, 33 * 41, 41}},
    {"product of one row",
     R"(graph "g" {
       input x : f32[1,190]
       input w : f32[210,190]
       y = Gemm(x, w) {transB = 1} : f32[1,210]
       output y
     })",
     {190, 210 * 190}},
    {"batched product",
     R"(graph "g" {
       input x : f32[3,64,32]
       input w : f32[3,32,33]
       y = MatMul(x, w) : f32[3,64,33]
       output y
     })",
     {3 * 64 * 32, 3 * 32 * 33}},
};

TEST(Team, GivesTheBitsOfOneThread) {
  for (const Case& one : kCases) {
    std::vector<Elements> operands;
    for (std::size_t count : one.counts) operands.push_back(floats(counted_numbers(count)));
    OneNode node(one.text);
    node.run_ok(operands);
    const std::vector<float> expected = node.result<float>();
    for (const int threads : testing::kThreadCounts) {
      ReversedTeam team(threads);
      node.team = &team;
      node.run_ok(operands);
      EXPECT_EQ(node.result<float>(), expected) << one.name << " on " << threads << " threads";
      EXPECT_EQ(team.calls > 0, one.is_shared && threads > 1) << one.name;
    }
  }
}

}  // namespace
}  // namespace lowtide
