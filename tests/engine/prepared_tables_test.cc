// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_tables.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/graph/text.h"

namespace lowtide::engine_internal {
namespace {

// The constant f32[4] with this id, whose bytes are at this offset.
using Row = std::pair<std::uint32_t, std::int64_t>;

PreparedHead head_with(const std::vector<Row>& rows, const std::string& other_constants = "") {
  ConstantTable table;
  std::string text = "graph \"g\" {\n input x : f32[4]\n" + other_constants;
  for (const auto& [id, offset] : rows) {
    text += " constant c" + std::to_string(id) + " : f32[4] data " + std::to_string(id) + "\n";
    set_constant(table, ConstantId(id),
                 {"c", DType::f32, Shape({4}), Bytes(16), ConstantSource::InFile{ConstantFileId(0), offset}});
  }
  return {.constants = std::move(table),
          .graph = *parse_graph(text + " y = Relu(x) : f32[4]\n output y\n}", "test"),
          .plan = {}};
}

// The ids and offsets of the constants in the file.
std::vector<Row> rows_of(const ConstantTable& table) {
  std::vector<Row> rows;
  for (ConstantId id : all_ids<ConstantId>(table.sources.size())) {
    const auto* place = std::get_if<ConstantSource::InFile>(&table.sources[id].where);
    if (place != nullptr) rows.emplace_back(id.value(), place->offset);
  }
  return rows;
}

// The numbers of the tables of these plans, and the tables.
std::pair<std::vector<std::size_t>, std::vector<std::vector<Row>>> shared(std::vector<PreparedHead> heads) {
  PreparedTables tables;
  std::vector<std::size_t> numbers;
  for (PreparedHead& head : heads) numbers.push_back(tables.add(head));
  std::vector<std::vector<Row>> rows;
  for (const ConstantTable& table : std::move(tables).take()) rows.push_back(rows_of(table));
  return {numbers, rows};
}

TEST(PreparedTables, AreSharedUnlessAnIdHasTwoMeanings) {
  const auto [numbers, rows] = shared({head_with({{3, 0}, {7, 64}}), head_with({{3, 0}, {5, 128}}),
                                       head_with({{3, 192}}), head_with({{5, 128}, {9, 0}}), head_with({{3, 192}})});
  EXPECT_EQ(numbers, (std::vector<std::size_t>{0, 0, 1, 0, 1}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (std::vector<Row>{{3, 0}, {5, 128}, {7, 64}, {9, 0}}));
  EXPECT_EQ(rows[1], (std::vector<Row>{{3, 192}}));
}

// The content of constant 4 is in the graph, and a table with five entries would hide it.
TEST(PreparedTables, EndBeforeConstantsWhoseContentIsInAGraph) {
  const std::string known = " constant k : i64[1] data 4 = [8]\n";
  EXPECT_EQ(shared({head_with({{3, 0}}, known), head_with({{4, 64}})}).first, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(shared({head_with({{4, 64}}), head_with({{3, 0}}, known)}).first, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(shared({head_with({{3, 0}}, known), head_with({{2, 64}}), head_with({{7, 64}})}).first,
            (std::vector<std::size_t>{0, 0, 1}));
}

}  // namespace
}  // namespace lowtide::engine_internal
