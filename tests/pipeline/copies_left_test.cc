// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/copies_left.h"

#include <gtest/gtest.h>

#include "lowtide/pipeline/plan_graph.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// "Transpose t 64 reorders", one per copy.
std::vector<std::string> copies_of(const char* text, const PlanOptions& options = {}) {
  const Graph graph = graph_of(text);
  const PlannedGraph planned = plan_graph(graph, dense_target(), options).value();
  std::vector<std::string> lines;
  for (const CopyLeft& one : copies_left(graph, planned.plan)) {
    const std::string inside = one.inside.empty() ? "" : one.inside + ": ";
    lines.push_back(inside + one.op + " " + std::to_string(one.bytes.count()) + " " +
                    std::string(to_string(one.reason)));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(CopiesLeft, ViewsAndKernelsThatComputeAreNoCopies) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[4,16]
    a = Relu(x) : f32[4,16]
    b = Reshape(a) : f32[64]
    c = Relu(b) : f32[64]
    output c
  })"),
            Lines());
}

TEST(CopiesLeft, ATransposeAndAnExpandReorder) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[4,16]
    a = Relu(x) : f32[4,16]
    b = Transpose(a) {perm = [1, 0]} : f32[16,4]
    c = Relu(b) : f32[16,4]
    d = ReduceSum(c) : f32[1,1]
    e = Expand(d) : f32[2,16]
    output e
  })"),
            (Lines{"Transpose 256 reorders", "Expand 128 reorders"}));
}

// Each row of the result has 16 elements of a and 16 of b, so neither is one run of bytes.
TEST(CopiesLeft, AConcatOfRowsHasPieces) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[4,16]
    a = Relu(x) : f32[4,16]
    b = Sigmoid(x) : f32[4,16]
    c = Concat(a, b) {axis = 1} : f32[4,32]
    output c
  })"),
            Lines{"Concat 512 pieces"});
}

// x belongs to the caller. a is in its place already.
TEST(CopiesLeft, AnInputOfAConcatIsOutside) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[16]
    a = Relu(x) : f32[16]
    c = Concat(a, x) {axis = 0} : f32[32]
    output c
  })"),
            Lines{"copy 64 outside"});
}

// Both concats would need a.
TEST(CopiesLeft, AnOperandOfTwoConcatsIsElsewhereOnce) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[16]
    a = Relu(x) : f32[16]
    b = Sigmoid(x) : f32[16]
    c = Tanh(x) : f32[16]
    p = Concat(a, b) {axis = 0} : f32[32]
    q = Concat(a, c) {axis = 0} : f32[32]
    output p
    output q
  })"),
            Lines{"copy 64 elsewhere"});
}

// The Concat has the bytes of b, so they are not those of a. Its other operand is in place, too.
TEST(CopiesLeft, ASliceThatIsInAConcatIsElsewhere) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[32]
    constant s : i64[1] = [0]
    constant e : i64[1] = [16]
    a = Relu(x) : f32[32]
    b = Slice(a, s, e) : f32[16]
    c = Sigmoid(a) : f32[32]
    d = Concat(b, c) {axis = 0} : f32[48]
    output d
  })"),
            Lines{"Slice 64 elsewhere"});
}

TEST(CopiesLeft, AnOutputInAnOutputNeedsBytesOfItsOwn) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[16]
    a = Relu(x) : f32[16]
    b = Sigmoid(x) : f32[16]
    c = Concat(a, b) {axis = 0} : f32[32]
    output a
    output c
  })"),
            Lines{"copy 64 output"});
}

TEST(CopiesLeft, WithoutViewsTheChoiceIsThePlans) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input x : f32[64]
    a = Relu(x) : f32[64]
    b = Reshape(a) : f32[4,16]
    c = Relu(b) : f32[4,16]
    output c
  })",
                      {.views = false}),
            Lines{"Reshape 256 chosen"});
}

TEST(CopiesLeft, TheNextContentOfAStateIsWrittenAtTheEnd) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    state s : f32[16]
    a = Relu(s) : f32[16]
    b = Add(a, s) : f32[16]
    update s = a
    output b
  })"),
            Lines{"copy 64 state"});
}

TEST(CopiesLeft, BodiesAreNamed) {
  EXPECT_EQ(copies_of(R"(graph "g" {
    input c : bool[1]
    input x : f32[4,16]
    y = If(c) "choose" {
      then_branch = graph "then" captures (u = x) {
        captured input u : f32[4,16]
        t = Transpose(u) {perm = [1, 0]} : f32[16,4]
        output t
      },
      else_branch = graph "else" captures (v = x) {
        captured input v : f32[4,16]
        r = Reshape(v) : f32[16,4]
        w = Relu(r) : f32[16,4]
        output w
      }
    } : f32[16,4]
    output y
  })"),
            Lines{"choose/then_branch: Transpose 256 reorders"});
}

}  // namespace
}  // namespace lowtide::testing
