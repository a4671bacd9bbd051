// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/remove_unneeded.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/graph/text.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

void expect_rewritten(std::string_view text, std::string_view expected) {
  const Graph graph = testing::graph_of(text);
  EXPECT_EQ(print_graph(testing::after_pass(graph, remove_unneeded(graph))), print_graph(testing::graph_of(expected)));
}

TEST(RemoveUnneeded, LetsReadersOfCopiesReadTheOriginal) {
  expect_rewritten(R"(graph "g" {
    input x : f32[4]
    a = Identity(x) : f32[4]
    b = Cast(a) {to = 1} : f32[4]
    d, m = Dropout(b) : f32[4], bool[4]
    y = Neg(d) : f32[4]
    output y
  })",
                   R"(graph "g" {
    input x : f32[4]
    y = Neg(x) : f32[4]
    output y
  })");
}

// All elements stay where they are.
TEST(RemoveUnneeded, LetsReadersOfUnmovedElementsReadTheOriginal) {
  expect_rewritten(R"(graph "g" {
    input x : f32[2,3]
    constant none : i64[4] = [0, 0, 0, 0]
    constant begin : i64[1] = [0]
    constant end : i64[1] = [3]
    constant axis : i64[1] = [1]
    constant step : i64[1] = [1]
    constant once : i64[2] = [1, 1]
    constant extents : i64[2] = [2, 3]
    a = Pad(x, none) : f32[2,3]
    b = Pad(a) {pads = [0, 0, 0, 0]} : f32[2,3]
    c = Slice(b, begin, end, axis, step) : f32[2,3]
    d = Slice(c, begin, end) : f32[2,3]
    e = Expand(d, extents) : f32[2,3]
    f = Tile(e, once) : f32[2,3]
    g = Concat(f) {axis = 0} : f32[2,3]
    y = Neg(g) : f32[2,3]
    output y
  })",
                   R"(graph "g" {
    input x : f32[2,3]
    y = Neg(x) : f32[2,3]
    output y
  })");
}

TEST(RemoveUnneeded, KeepsWhatMovesElementsWithinEqualExtents) {
  for (const std::string_view node : {
           "Pad(x, p)",  // by one element forward
           "Pad(x) {pads = [0, 1, 0, -1]}",
           "Slice(x, s, e, a, s)",  // backward
           "Concat(z, x) {axis = 0}",
           "Gather(x, i)",
           "Transpose(x) {perm = [1, 0]}",
           // Only the file says that the extents are equal.
           "Pad(x, n)",
           "Slice(x, u, e, a)",
           "Slice(x, s, e, a, u)",
           "Expand(x, i)",
           "Tile(x, i)",
       }) {
    const std::string text = R"(graph "g" {
    input x : f32[3,3]
    input z : f32[0,3]
    constant p : i64[4] = [0, 1, 0, -1]
    input n : i64[4]
    constant s : i64[1] = [-1]
    constant e : i64[1] = [-4]
    constant a : i64[1] = [1]
    input u : i64[1]
    input i : i64[3]
    t = )" + std::string(node) +
                             R"( : f32[3,3]
    y = Neg(t) : f32[3,3]
    output y
  })";
    const Graph graph = testing::graph_of(text);
    EXPECT_EQ(testing::after_pass(graph, remove_unneeded(graph)).nodes().size(), 2U) << node;
  }
  const Graph dynamic = testing::graph_of(R"(graph "g" {
    input x : f32[<=3,3]
    input extents : i64[2]
    t = Expand(x, extents) : f32[<=3,3]
    y = Neg(t) : f32[<=3,3]
    output y
  })");
  EXPECT_FALSE(remove_unneeded(dynamic).value());
}

TEST(RemoveUnneeded, LeavesOutNodesThatNothingNeeds) {
  expect_rewritten(R"(graph "g" {
    input x : f32[4]
    constant w : f32[4]
    a = Mul(x, w) : f32[4]
    b = Exp(a) : f32[4]
    y = Neg(x) : f32[4]
    output y
  })",
                   R"(graph "g" {
    input x : f32[4]
    y = Neg(x) : f32[4]
    output y
  })");
}

TEST(RemoveUnneeded, KeepsCopiesThatAreNeeded) {
  for (const std::string_view text : {
           "graph \"g\" { input x : f32[4]\n y = Identity(x) : f32[4]\n output y }",  // an output
           "graph \"g\" { input x : f32[4]\n a = Cast(x) {to = 10} : f16[4]\n y = Neg(a) : f16[4]\n output y }",
           "graph \"g\" { input x : f32[4]\n d, m = Dropout(x) : f32[4], bool[4]\n y = Neg(d) : f32[4]\n output y, m }",
           "graph \"g\" { input x : f32[4]\n input t : bool[]\n d = Dropout(x, _, t) : f32[4]\n y = Neg(d) : f32[4]\n"
           " output y }",  // may be in training
           "graph \"g\" { input x : f32[4]\n d = Dropout(x) {lowtide_since = 6} : f32[4]\n y = Neg(d) : f32[4]\n"
           " output y }",  // is in training, by the attribute is_test
       }) {
    expect_rewritten(text, text);
  }
}

// Entry 0 of the table is 0, and entry 1 is 0.5. With the ratio 0, training multiplies by 1 / (1 - 0).
ConstantTable ratios() {
  ConstantTable table;
  for (const float value : {0.0F, 0.5F}) {
    ConstantSource::Inline content;
    content.bytes.resize(sizeof value);
    std::memcpy(content.bytes.data(), &value, sizeof value);
    table.sources.push_back({.name = "r", .size = Bytes(sizeof value), .where = std::move(content)});
  }
  return table;
}

std::string without_copies(std::string_view text, const ConstantTable* table) {
  const Graph graph = testing::graph_of(text);
  return print_graph(testing::after_pass(graph, remove_unneeded(graph, table)));
}

TEST(RemoveUnneeded, LeavesOutADropoutInTrainingWithoutRatio) {
  const ConstantTable table = ratios();
  const auto trained = [](const std::string& data) {
    return "graph \"g\" { input x : f32[4]\n constant r : f32[] data " + data +
           "\n constant t : bool[] = [1]\n d = Dropout(x, r, t) : f32[4]\n y = Neg(d) : f32[4]\n output y }";
  };
  const std::string copied =
      print_graph(testing::graph_of("graph \"g\" { input x : f32[4]\n y = Neg(x) : f32[4]\n output y }"));
  const auto as_given = [](const std::string& text) { return print_graph(testing::graph_of(text)); };
  EXPECT_EQ(without_copies(trained("0"), &table), copied);
  EXPECT_EQ(without_copies(trained("0"), nullptr), as_given(trained("0"))) << "the ratio is not known";
  EXPECT_EQ(without_copies(trained("1"), &table), as_given(trained("1"))) << "half of the elements are dropped";
}

TEST(RemoveUnneeded, RewritesBodiesAndWhatTheyCapture) {
  expect_rewritten(R"(graph "g" {
    input c : bool[]
    input x : f32[4]
    a = Identity(x) : f32[4]
    y = If(c) {
      then_branch = graph "t" captures (a) {
        captured input a : f32[4]
        i = Identity(a) : f32[4]
        b = Neg(i) : f32[4]
        output b
      },
      else_branch = graph "e" captures (a) {
        captured input a : f32[4]
        b = Exp(a) : f32[4]
        output b
      }
    } : f32[4]
    output y
  })",
                   R"(graph "g" {
    input c : bool[]
    input x : f32[4]
    y = If(c) {
      then_branch = graph "t" captures (a = x) {
        captured input a : f32[4]
        b = Neg(a) : f32[4]
        output b
      },
      else_branch = graph "e" captures (a = x) {
        captured input a : f32[4]
        b = Exp(a) : f32[4]
        output b
      }
    } : f32[4]
    output y
  })");
}

}  // namespace
}  // namespace lowtide
