// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/content.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::dense_kernels;
using testing::graph_of;

// Returns a graph with `count` slices of one tensor, each of one byte.
Graph slices(int count) {
  std::string text = "graph \"g\" {\n  input x : u8[" + std::to_string(count) + "]\n  r = Conv(x) : u8[" +
                     std::to_string(count) + "]\n";
  std::string names;
  for (int at = 0; at < count; ++at) {
    const std::string from = std::to_string(at);
    const std::string name = "s" + from;
    text += "  " + name + " = Slice(r) {starts = [" + from + "], ends = [" + std::to_string(at + 1) +
            "], axes = [0]} : u8[1]\n";
    names += (at > 0 ? ", " : "") + name;
  }
  return graph_of(text + "  y = F(" + names + ") : u8[1]\n  output y\n}");
}

Content content_of(const Graph& graph) { return Content(graph, dense_kernels(graph), Bytes(1), false); }

// r has one piece per slice, each with two holders. y is one more piece.
TEST(Content, EachSliceIsOnePiece) {
  const Content content = content_of(slices(100));
  EXPECT_EQ(content.pieces().size(), 100U + 1);
  EXPECT_EQ(content.holdings(), 200 + 1);
}

// Every slice reads r and would list all pieces of r. 5,000 x 5,000 is above the limit of 16 million, so r stays one
// piece.
TEST(Content, TensorWithTooManyPiecesStaysOnePiece) {
  const Content content = content_of(slices(5'000));
  EXPECT_EQ(content.pieces().size(), 1U + 1);
  EXPECT_EQ(content.holdings(), 5'001 + 1);
}

}  // namespace
}  // namespace lowtide
