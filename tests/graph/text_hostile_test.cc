// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "lowtide/graph/text.h"
#include "tests/graph/random_graph.h"
#include "tests/graph/same_graph.h"

namespace lowtide {
namespace {

using ::testing::MatchesRegex;

// Whatever the text, the answer is a graph that is read back from its own text, or a refusal with a place.
bool is_read_or_refused(const std::string& text) {
  const Result<Graph> graph = parse_graph(text, "t");
  if (graph.ok()) {
    EXPECT_EQ(testing::difference(*graph, parse_graph(print_graph(*graph), "again").value()), "") << text;
    return true;
  }
  EXPECT_THAT(graph.error().place, MatchesRegex("t:[0-9]+:[0-9]+"));
  EXPECT_FALSE(graph.error().message.empty());
  return false;
}

TEST(GraphTextHostile, TextsCutAnywhereAreRefused) {
  Random random(2);
  for (int run = 0; run < 30; ++run) {
    const std::string text = print_graph(testing::random_graph(random, 2));
    for (std::size_t size = 0; size + 2 < text.size(); ++size) {  // without its last newline a text is whole
      ASSERT_FALSE(is_read_or_refused(text.substr(0, size))) << text.substr(0, size);
    }
  }
}

// Copies, moves and drops pieces of texts, flips bits, and puts in words that the parser knows.
std::string damaged(std::string text, Random& random) {
  static const std::vector<std::string> kPieces = {"{",
                                                   "}",
                                                   "(",
                                                   ")",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   "=",
                                                   ":",
                                                   "::",
                                                   "<=",
                                                   ";",
                                                   "\"",
                                                   "\\",
                                                   "#",
                                                   "\n",
                                                   " ",
                                                   "_",
                                                   "-",
                                                   "1",
                                                   "0x",
                                                   "1e9",
                                                   "input ",
                                                   "output ",
                                                   "tensor ",
                                                   "captured ",
                                                   "node ",
                                                   "after ",
                                                   "graph \"g\" ",
                                                   "captures (",
                                                   "f32[1]",
                                                   "nan",
                                                   "inf",
                                                   "opaque ",
                                                   "int[]",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   std::string(1, '\0'),
                                                   "\xff"};
  for (std::uint64_t count = 1 + random.below(4); count > 0; --count) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(random.below(30), text.size() - at);
    switch (random.below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(random.below(text.size() + 1), text.substr(at, length));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      default:
        text.insert(at, kPieces[random.below(kPieces.size())]);
    }
  }
  return text;
}

TEST(GraphTextHostile, DamagedTextsAreReadOrRefused) {
  Random random(3);
  std::string text;
  int read = 0;
  constexpr int kRuns = 100'000;
  for (int run = 0; run < kRuns; ++run) {
    if (run % 100 == 0) text = print_graph(testing::random_graph(random, 2));
    if (is_read_or_refused(damaged(text, random))) ++read;
  }
  EXPECT_GT(read, kRuns / 100);  // some damage is harmless, and most is not
  EXPECT_LT(read, kRuns / 2);
}

TEST(GraphTextHostile, RandomTokensAreReadOrRefused) {
  Random random(4);
  for (int run = 0; run < 20'000; ++run) {
    std::string text = "graph \"g\" {";
    for (int piece = 0; piece < 20; ++piece) text = damaged(std::move(text), random);
    is_read_or_refused(text);
  }
}

}  // namespace
}  // namespace lowtide
