// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "lowtide/graph/text.h"
#include "tests/graph/random_graph.h"
#include "tests/graph/same_graph.h"
#include "tests/testing/damage.h"

namespace lowtide::testing {
namespace {

using ::testing::MatchesRegex;

// Any text gives a graph that is equal after it is printed and read, or an error with a place.
bool is_read_or_refused(const std::string& text) {
  const Result<Graph> graph = parse_graph(text, "t");
  if (graph.ok()) {
    EXPECT_EQ(difference(*graph, parse_graph(print_graph(*graph), "again").value()), "") << text;
    return true;
  }
  EXPECT_THAT(graph.error().place, MatchesRegex("t:[0-9]+:[0-9]+"));
  EXPECT_FALSE(graph.error().message.empty());
  return false;
}

TEST(GraphTextHostile, TruncatedTextsAreRefused) {
  Random random(2);
  for (int run = 0; run < 30; ++run) {
    const std::string text = print_graph(random_graph(random, 2));
    for (std::size_t size = 0; size + 2 < text.size(); ++size) {  // a text is complete without its last newline
      ASSERT_FALSE(is_read_or_refused(text.substr(0, size))) << text.substr(0, size);
    }
  }
}

// clang-format off
const std::vector<std::string_view> kWords = {
    "{", "}", "(", ")", "[", "]", ",", "=", ":", "::", "<=", ";", "\"", "\\", "#", "\n", " ", "_", "-", "1", "0x",
    "1e9", "input ", "output ", "tensor ", "captured ", "node ", "after ", "graph \"g\" ", "captures (", "f32[1]",
    "nan", "inf", "opaque ", "int[]", "9223372036854775807", "-9223372036854775808", std::string_view("\0", 1),
    "\xff",
};
// clang-format on

TEST(GraphTextHostile, DamagedTextsAreReadOrRefused) {
  Random random(3);
  std::string text;
  int read = 0;
  constexpr int kRuns = 100'000;
  for (int run = 0; run < kRuns; ++run) {
    if (run % 100 == 0) text = print_graph(random_graph(random, 2));
    if (is_read_or_refused(damaged(text, random, kWords))) ++read;
  }
  EXPECT_GT(read, kRuns / 100);  // some damage is harmless, and most is not
  EXPECT_LT(read, kRuns / 2);
}

TEST(GraphTextHostile, RandomTokensAreReadOrRefused) {
  Random random(4);
  for (int run = 0; run < 20'000; ++run) {
    std::string text = "graph \"g\" {";
    for (int piece = 0; piece < 20; ++piece) text = damaged(std::move(text), random, kWords);
    is_read_or_refused(text);
  }
}

}  // namespace
}  // namespace lowtide::testing
