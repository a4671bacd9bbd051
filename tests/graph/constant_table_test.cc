// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/constant_table.h"

#include <gmock/gmock.h>

#include <functional>

#include "lowtide/graph/builder.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

// w is in the model file, b is a copy of 8 bytes, and v is computed.
ConstantTable small_table() {
  ConstantTable table;
  const ConstantFileId file = table.files.push_back("");
  table.sources.push_back(
      {"w", DType::f32, Shape({2, 3}), Bytes(24), ConstantSource::InFile{.file = file, .offset = 5}});
  table.sources.push_back({"b", DType::i64, Shape({1}), Bytes(8), ConstantSource::Inline{std::vector<std::byte>(8)}});
  table.sources.push_back({"v", DType::f32, Shape({2}), Bytes(8), ConstantSource::Computed{}});
  return table;
}

TEST(ConstantTable, AcceptsSourcesOfEveryKind) { EXPECT_TRUE(check_constants(small_table()).ok()); }

TEST(ConstantTable, NamesTheConstantAndBothNumbers) {
  const auto fault = [](const std::function<void(ConstantTable&)>& damage) {
    ConstantTable table = small_table();
    damage(table);
    const Result<void> checked = check_constants(table);
    return checked.ok() ? "" : checked.error().describe();
  };
  const auto first = [](ConstantTable& table) -> ConstantSource& { return table.sources[ConstantId(0)]; };
  EXPECT_THAT(fault([&](ConstantTable& table) { first(table).size = Bytes(20); }),
              HasSubstr("constant 0 'w': the size is 20 bytes, but f32[2,3] has 24"));
  EXPECT_THAT(fault([&](ConstantTable& table) { first(table).where = ConstantSource::Inline{}; }),
              HasSubstr("constant 0 'w': 0 bytes are given, but the size is 24"));
  EXPECT_THAT(
      fault([&](ConstantTable& table) { first(table).where = ConstantSource::InFile{.file = ConstantFileId(1)}; }),
      HasSubstr("the data are in file 1, but there are 1 files"));
  EXPECT_THAT(fault([&](ConstantTable& table) { first(table).where = ConstantSource::InFile{.offset = -1}; }),
              HasSubstr("the offset -1 is out of range"));
  EXPECT_THAT(fault([&](ConstantTable& table) { first(table).shape.mark_at_most(0); }),
              HasSubstr("the shape [<=2,3] has an upper bound"));
}

TEST(ConstantTable, OnlyConstantsOfTheGraphHaveBytes) {
  GraphBuilder builder("g");
  EXPECT_THROW(builder.add_tensor({.name = "x", .constant = ConstantId(0)}, Role::input), InvariantViolation);
  EXPECT_THROW(builder.add_tensor({.name = "x", .is_captured = true, .constant = ConstantId(0)}, Role::constant),
               InvariantViolation);
}

}  // namespace
}  // namespace lowtide
