// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using verify_internal::order_count;
using verify_internal::OrderCount;
using verify_internal::Pieces;

// a = Relu(x), a slice of each 4 bytes of a, and a Concat of all slices. Each slice reads a, so it is a user of every
// piece. It runs between the Relu and the Concat, so these two users are enough.
TEST(Pieces, OmitUsersBetweenTwoOthers) {
  constexpr int kSlices = 500;
  std::string text = "graph \"g\" {\n  input x : f32[500]\n  a = Relu(x) : f32[500]\n";
  std::string operands;
  for (int at = 0; at < kSlices; ++at) {
    const std::string begin = std::to_string(at);
    const std::string end = std::to_string(at + 1);
    text += "  constant b" + begin + " : i64[1] = [" + begin + "]\n  constant e" + begin + " : i64[1] = [" + end +
            "]\n  s" + begin + " = Slice(a, b" + begin + ", e" + begin + ") : f32[1]\n";
    operands += (at > 0 ? ", s" : "s") + begin;
  }
  text += "  y = Concat(" + operands + ") {axis = 0} : f32[500]\n  output y\n}";
  const Graph graph = testing::graph_of(text);
  const OrderCount count = order_count(graph, {});
  ASSERT_EQ(count.pieces.size(), kSlices);
  for (const OrderCount::Piece& piece : count.pieces) EXPECT_EQ(piece.users, 2U);
  EXPECT_EQ(count.nodes.front().pieces.size(), kSlices);
  EXPECT_EQ(count.nodes.back().pieces.size(), kSlices);
  EXPECT_EQ(verify_internal::counted_load(count, testing::given_order(graph)), Bytes(4 * kSlices));
}

// The Relu makes 12,000 bytes. Tensor a holds all of them, and tensor c holds 5,999 nested ranges. Together the ranges
// have 36 million runs, which is above the limit. So there is one piece, and only a counts as its holder.
TEST(Pieces, AreNotCutAboveTheLimit) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[3000]
    a = Relu(x) : f32[3000]
    c = Relu(a) : f32[3000]
    y = Relu(c) : f32[3000]
    output y
  })");
  constexpr std::int64_t kSize = 12'000;
  std::vector<Pieces::Held> holders = {{0, kSize, testing::tensor_named(graph, "a")}};
  for (std::int64_t at = 1; at < kSize / 2; ++at) {
    holders.push_back({at, kSize - at, testing::tensor_named(graph, "c")});
  }
  OrderCount count;
  count.nodes.resize(graph.nodes().size());
  Pieces pieces(graph, Bytes(64), count);
  pieces.cut(kSize, false, holders);
  ASSERT_EQ(count.pieces.size(), 1U);
  EXPECT_EQ(count.pieces[0].size, kSize);
  EXPECT_EQ(count.pieces[0].users, 2U);  // the Relu that makes a, and the one that reads it
  EXPECT_THAT(pieces.of(testing::tensor_named(graph, "c")), ElementsAre(0U));
}

}  // namespace
}  // namespace lowtide
