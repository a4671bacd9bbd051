// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/order_json.h"

#include <gtest/gtest.h>

namespace lowtide::import_internal {
namespace {

ImportedOrderGraph must_parse(std::string_view text) {
  Result<ImportedOrderGraph> parsed = parse_order_graph(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error().describe();
  return *std::move(parsed);
}

std::vector<std::int64_t> numbers(const ImportedOrderGraph& file) { return {file.index.begin(), file.index.end()}; }

std::string refusal(std::string_view text) {
  const Result<ImportedOrderGraph> parsed = parse_order_graph(text);
  return parsed.ok() ? "accepted" : parsed.error().describe();
}

TEST(OrderJson, ReadsNodesEdgesAndTheGivenOrder) {
  const ImportedOrderGraph file =
      must_parse(R"({"units": {"bytes": "as in the source"}, "source": "by hand", "notes": {"any": ["thing"]},
    "edges": [[0, 1], [0, 2], [0, 2]], "order": [0, 2, 1], "outputs": [2],
    "nodes": [{"bytes": 64, "name": "a", "cost": 1.5}, {"name": "b", "bytes": 32}, {"bytes": 8}]})");
  ASSERT_EQ(file.graph.nodes().size(), 3U);
  EXPECT_EQ(numbers(file), (std::vector<std::int64_t>{0, 2, 1}));
  EXPECT_TRUE(file.notes.empty());
  const TensorId a(0);
  EXPECT_EQ(file.graph.tensor(a).size, Bytes(64));
  EXPECT_EQ(file.graph.readers(a).size(), 2U);  // the repeated edge counts once
  EXPECT_EQ(file.graph.tensor(TensorId(2)).name, "2");
  EXPECT_EQ(file.graph.tensor(TensorId(2)).role, Role::output);
  EXPECT_EQ(file.graph.tensor(TensorId(1)).role, Role::temporary);
}

TEST(OrderJson, ReadsCostsIfTheyAreRequested) {
  constexpr std::string_view kText = R"({"nodes": [{"bytes": 1, "cost": 7}, {"bytes": 2, "cost": 0}], "edges": [[1, 0]],
    "fixed_bytes": 100})";
  Result<ImportedOrderGraph> file = parse_order_graph(kText, {.with_costs = true});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->fixed_bytes, Bytes(100));
  ASSERT_EQ(numbers(*file), (std::vector<std::int64_t>{1, 0}));  // node 1 comes first
  EXPECT_EQ(file->costs, (IdVector<NodeId, std::int64_t>{0, 7}));
  EXPECT_TRUE(must_parse(kText).costs.empty());
  EXPECT_EQ(must_parse(kText).fixed_bytes, Bytes(0));
  const Result<ImportedOrderGraph> heavy =
      parse_order_graph(R"({"nodes": [{"bytes": 1, "cost": 1125899906842623}, {"bytes": 1, "cost": 1}], "edges": []})",
                        {.with_costs = true});
  ASSERT_FALSE(heavy.ok());
  EXPECT_EQ(heavy.error().code, ErrorCode::over_limit);
}

TEST(OrderJson, SortsNodesThatComeBeforeTheirInputs) {
  const ImportedOrderGraph file = must_parse(R"({"nodes": [{"bytes": 1}, {"bytes": 2}], "edges": [[1, 0]]})");
  EXPECT_EQ(numbers(file), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(
      file.notes,
      (std::vector<std::string>{"nodes came before nodes that must run first, because of edges; all were sorted"}));
}

TEST(OrderJson, ErrorsNameTheFaultAndThePlace) {
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}]})").find("the key 'edges' is missing"), std::string::npos);
  EXPECT_NE(refusal(R"([1])").find("an object"), std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"name": "a"}], "edges": []})").find("no 'bytes'"), std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": -1}], "edges": []})")
                .find("$.nodes[0].bytes: expected a size (an integer in [0, "),
            std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}], "edges": [[0, 3]]})").find("node 3"), std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}], "edges": [[0, 0]]})").find("to itself"), std::string::npos);
  EXPECT_NE(refusal(R"({"edges": [[0, -1]], "nodes": [{"bytes": 1}, {"bytes": 1}]})")
                .find("the end of edge 0 is node -1, but the file has 2 nodes, counted from 0"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}], "edges": [[-9223372036854775808, 0]]})")
                .find("the start of edge 0 is node -9223372036854775808, but the file has 1 node"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}], "edges": [], "outputs": [-1]})").find("the outputs is node -1"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}], "edges": [], "order": [-2]})").find("of 'order' is node -2"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}], "edges": [], "order": [0, 0]})").find("twice"), std::string::npos);
  EXPECT_NE(
      refusal(R"({"nodes": [{"bytes": 1}, {"bytes": 1}], "edges": [], "order": [1]})").find("1 of 2 nodes that run"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}, {"bytes": 1, "name": "b"}], "edges": [[0, 1], [1, 0]]})")
                .find("a cycle of 2 nodes: '0' -> 'b' -> '0'"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1, "name": "a"}, {"bytes": 1, "name": "a"}], "edges": []})")
                .find("nodes 0 and 1 are both named 'a'"),
            std::string::npos);
  // A node without a name has its number as its name.
  EXPECT_NE(refusal(R"({"nodes": [{"bytes": 1}, {"bytes": 1, "name": "0"}], "edges": []})").find("are both named '0'"),
            std::string::npos);
  for (const std::string member :
       {R"("nodes": [])", R"("edges": [])", R"("outputs": [])", R"("order": [])", R"("name": "a")"}) {
    const std::string text = R"({"nodes": [], "edges": [], )" + member + ", " + member + "}";
    EXPECT_NE(refusal(text).find("' is repeated"), std::string::npos) << text;
  }
  for (const std::string member : {R"("bytes": 1)", R"("name": "a")"}) {
    const std::string text = "{\"nodes\": [\n{\"bytes\": 1, \"name\": \"a\", " + member + "}], \"edges\": []}";
    EXPECT_NE(refusal(text).find("' is repeated"), std::string::npos) << text;
    EXPECT_NE(refusal(text).find(":2:"), std::string::npos) << refusal(text);  // the line
  }
  EXPECT_NE(refusal(R"({"nodes": [], "edges": []} x)"), "accepted");
  EXPECT_EQ(refusal(R"({"nodes": [], "edges": []})"), "accepted");
}

}  // namespace
}  // namespace lowtide::import_internal
