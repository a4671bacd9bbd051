// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/content.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

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

Content content_of(const Graph& graph) { return Content(graph, dense_kernels(graph), {}); }

// r has one piece per slice, each with two holders. y is one more piece.
TEST(Content, EachSliceIsOnePiece) {
  const Content content = content_of(slices(100));
  EXPECT_EQ(content.pieces().size(), 100U + 1);
  EXPECT_EQ(content.holder_count(), 200 + 1);
}

// Every slice reads r and would list all pieces of r. 5,000 x 5,000 is above the limit of 16 million, so r stays one
// piece.
TEST(Content, TensorWithTooManyPiecesStaysOnePiece) {
  const Content content = content_of(slices(5'000));
  EXPECT_EQ(content.pieces().size(), 1U + 1);
  EXPECT_EQ(content.holder_count(), 5'001 + 1);
}

// c has 9 bytes, but only bytes 0 to 4 of r: 0 to 3 twice and 1 to 4 once. r is not divided.
TEST(Content, RepeatedBytesOfAnUndividedSourceCountOnce) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : u8[8]
    r = Conv(x) : u8[8]
    s = Slice(r) {starts = [0], ends = [3], axes = [0]} : u8[3]
    t = Slice(r) {starts = [1], ends = [4], axes = [0]} : u8[3]
    u = Slice(r) {starts = [0], ends = [3], axes = [0]} : u8[3]
    c = Concat(s, t, u) {axis = 0} : u8[9]
    y = Conv(c) : u8[1]
    output y
  })");
  const Content content(graph, dense_kernels(graph), {.limits = {.touched = 0}});
  ASSERT_EQ(content.pieces().size(), 1U + 1);
  std::vector<std::pair<std::string, std::int64_t>> holders;
  for (const Holder& one : content.pieces()[0]) holders.emplace_back(graph.tensor(one.tensor).name, one.bytes);
  EXPECT_THAT(holders, ::testing::ElementsAre(::testing::Pair("r", 8), ::testing::Pair("c", 4), ::testing::Pair("s", 3),
                                              ::testing::Pair("t", 3), ::testing::Pair("u", 3)));
}

}  // namespace
}  // namespace lowtide::testing
