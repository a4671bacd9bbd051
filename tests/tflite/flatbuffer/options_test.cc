// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "lowtide/tflite/flatbuffer/schema.h"

namespace lowtide::flatbuffer_internal {
namespace {

// The rows must be those of the schema, which the generated code does not tell.
TEST(TfliteOptions, DefaultsAreThoseOfTheSchema) {
  std::ifstream file(LOWTIDE_TEST_FILES "/../../src/lowtide/tflite/flatbuffer/schema.fbs");
  ASSERT_TRUE(file.is_open());
  std::set<std::tuple<std::string, std::string>> in_schema;
  std::string table;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex(R"(^table (\w+))"))) table = found[1];
    if (!table.ends_with("Options")) continue;
    const std::regex field(R"((\w+): ?\w+ ?= ?(\w+);)");
    for (std::sregex_iterator at(line.begin(), line.end(), field); at != std::sregex_iterator(); ++at) {
      const std::string value = (*at)[2];
      if (value != "0" && value != "false" && value != "NONE" && value != "DEFAULT" && value != "FULL") {
        in_schema.emplace(table, (*at)[1]);
      }
    }
  }
  std::set<std::tuple<std::string, std::string>> in_rows;
  for (const OptionDefault& row : option_defaults()) {
    in_rows.emplace(EnumNameBuiltinOptions(row.table), std::string(row.field));
  }
  EXPECT_EQ(in_rows, in_schema);
  EXPECT_EQ(in_schema.size(), 11u);
}

TEST(TfliteOptions, OperatorsAreNamedByTheirNumbers) {
  EXPECT_EQ(builtin_name(0), "ADD");
  EXPECT_EQ(builtin_name(3), "CONV_2D");
  EXPECT_EQ(builtin_name(144), "ASSIGN_VARIABLE");
  EXPECT_EQ(builtin_name(206), "STABLEHLO_COMPOSITE");  // 205 is unused, so names do not follow each other
  EXPECT_EQ(builtin_name(205), "");
  EXPECT_EQ(builtin_name(-1), "");
}

}  // namespace
}  // namespace lowtide::flatbuffer_internal
