// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A field with the wire type of texts and messages. Contents here have less than 128 bytes.
std::string field(int number, const std::string& content) {
  return {static_cast<char>(number * 8 + 2), static_cast<char>(content.size())};
}

std::string whole(int number, const std::string& content) { return field(number, content) + content; }

std::string node(std::initializer_list<const char*> reads, std::initializer_list<const char*> writes,
                 const std::string& more = "") {
  std::string content;
  for (const char* name : reads) content += whole(1, name);
  for (const char* name : writes) content += whole(2, name);
  return whole(1, content + more);
}

// The version of the format comes first, and a name of the producer last.
std::string model(const std::string& graph) { return std::string("\x08\x08") + whole(7, graph) + whole(2, "made"); }

std::string joined(const std::vector<std::string_view>& pieces) {
  std::string text;
  for (std::string_view piece : pieces) text += piece;
  return text;
}

TEST(OnnxNodes, HaveTheirNamesAndPlaces) {
  const std::string file = model(whole(2, "g") + node({"x", ""}, {"y"}) + node({"y"}, {"z", "w"}));
  const Result<std::vector<OnnxFileNode>> nodes = read_onnx_nodes(file);
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_THAT((*nodes)[0].reads, ElementsAre("x"));  // without the omitted input
  EXPECT_THAT((*nodes)[0].writes, ElementsAre("y"));
  EXPECT_THAT((*nodes)[1].writes, ElementsAre("z", "w"));
  const Interval<std::size_t> place = (*nodes)[1].field;
  EXPECT_EQ(file.substr(place.begin, place.end - place.begin), node({"y"}, {"z", "w"}));
}

TEST(OnnxNodes, ReadWhatTheirBodiesRead) {
  // An If whose body reads "outer" in a node and gives "kept", which is also from outside.
  const std::string body = node({"outer"}, {"inner"}) + whole(12, whole(1, "kept"));
  const std::string file = model(node({"c"}, {"y"}, whole(5, whole(1, "then_branch") + whole(6, body))));
  const Result<std::vector<OnnxFileNode>> nodes = read_onnx_nodes(file);
  ASSERT_TRUE(nodes);
  std::vector<std::string_view> reads = nodes->front().reads;
  std::sort(reads.begin(), reads.end());
  EXPECT_THAT(reads, ElementsAre("c", "kept", "outer"));
}

TEST(OnnxNodes, KeepAllOtherBytesInAnotherOrder) {
  const std::string a = node({"x"}, {"a"});
  const std::string b = node({"x"}, {"a_longer_name"});
  const std::string file = model(a + whole(2, "between") + b + whole(10, "end"));
  const std::vector<OnnxFileNode> nodes = *read_onnx_nodes(file);
  const std::vector<std::size_t> order = {1, 0};
  EXPECT_EQ(joined(with_node_order(file, nodes, order)), model(b + whole(2, "between") + a + whole(10, "end")));
  const std::vector<std::size_t> same = {0, 1};
  EXPECT_EQ(joined(with_node_order(file, nodes, same)), file);
}

TEST(OnnxNodes, OfAFileWithoutAGraphAreNone) {
  EXPECT_THAT(*read_onnx_nodes("\x08\x08"), IsEmpty());
  EXPECT_EQ(joined(with_node_order("\x08\x08", {}, {})), "\x08\x08");
}

TEST(OnnxNodes, OfADividedGraphAreRefused) {
  const Result<std::vector<OnnxFileNode>> nodes = read_onnx_nodes(model("") + whole(7, ""));
  ASSERT_FALSE(nodes);
  EXPECT_EQ(nodes.error().code, ErrorCode::unsupported);
}

TEST(CompleteOrder, PutsTheOthersBeforeTheirReadersOrAtTheEnd) {
  // 0 -> 2, 1 -> 3. 3 is wanted first, so 1 comes before it; 0 and 2 are not listed.
  const std::string file = model(node({}, {"a"}) + node({}, {"b"}) + node({"a"}, {"c"}) + node({"b"}, {"d"}));
  const std::vector<OnnxFileNode> nodes = *read_onnx_nodes(file);
  EXPECT_THAT(*complete_order(nodes, std::vector<std::size_t>{3}), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(*complete_order(nodes, std::vector<std::size_t>{2, 3}), ElementsAre(0, 2, 1, 3));
}

TEST(CompleteOrder, RefusesACycle) {
  const std::string file = model(node({"b"}, {"a"}) + node({"a"}, {"b"}));
  const Result<std::vector<std::size_t>> order = complete_order(*read_onnx_nodes(file), {});
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().message, ::testing::HasSubstr("cycle"));
}

TEST(CompleteOrder, OfALongChainNeedsNoStack) {
  std::vector<std::string> names;
  for (int at = 0; at <= 200'000; ++at) names.push_back(std::to_string(at));
  std::vector<OnnxFileNode> nodes(200'000);
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    nodes[at].reads = {names[at + 1]};
    nodes[at].writes = {names[at]};
  }
  const Result<std::vector<std::size_t>> order = complete_order(nodes, std::vector<std::size_t>{0});
  ASSERT_TRUE(order);
  EXPECT_EQ(order->front(), nodes.size() - 1);
}

// A damaged file is refused, or its nodes lie within it.
TEST(OnnxNodes, OfDamagedFilesLieWithinThem) {
  const std::string body = whole(5, whole(6, node({"outer"}, {"inner"}) + whole(12, whole(1, "kept"))));
  const std::string good = model(node({"x"}, {"a"}, body) + node({"a"}, {"b"}) + whole(5, "weights"));
  Random random(20261130);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string file = good;
    for (std::int64_t changes = random.between(1, 3); changes > 0; --changes) {
      file[random.below(file.size())] = static_cast<char>(random.below(256));
    }
    if (random.chance(30)) file.resize(random.below(file.size()));
    const Result<std::vector<OnnxFileNode>> nodes = read_onnx_nodes(file);
    if (!nodes) {
      ++refused;
      continue;
    }
    for (const OnnxFileNode& one : *nodes) {
      EXPECT_LT(one.field.begin, one.field.end);
      EXPECT_LE(one.field.end, file.size());
    }
    const Result<std::vector<std::size_t>> order = complete_order(*nodes, {});
    if (order) {
      EXPECT_EQ(joined(with_node_order(file, *nodes, *order)).size(), file.size());
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 19'000);
}

}  // namespace
}  // namespace lowtide
