// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/json_value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lowtide/cli/output/json.h"

namespace lowtide::cli_internal {
namespace {

TEST(JsonValue, PairsThatBeginWithATextAreAnObject) {
  EXPECT_EQ((Json{{"b", 1}, {"a", {1, 2}}}.text()), R"({"b":1,"a":[1,2]})");
  EXPECT_EQ((Json{{"a", "b"}}.text()), R"({"a":"b"})");
  EXPECT_EQ((Json{"a", "b"}.text()), R"(["a","b"])");
  EXPECT_EQ((Json{{1, 2}, {3, 4}}.text()), "[[1,2],[3,4]]");
  EXPECT_EQ(Json::object().text() + Json::array().text() + Json().text(), "{}[]null");
}

TEST(JsonValue, KeysKeepTheirOrderAndAreReplaced) {
  Json json;
  json["z"] = 1;
  json["a"]["inner"] = true;
  json["z"] = nullptr;
  EXPECT_EQ(json.text(), R"({"z":null,"a":{"inner":true}})");
  json.update({{"a", 2}, {"new", "x"}});
  EXPECT_EQ(json.text(), R"({"z":null,"a":2,"new":"x"})");
}

TEST(JsonValue, ArraysGrowAndTheirElementsChange) {
  Json json;
  json.push_back(std::vector<std::int64_t>{1, 3})[1] = 224;
  json.push_back({{"key", 0.5}})["more"] = Json::array();
  EXPECT_EQ(json.text(), R"([[1,224],{"key":0.5,"more":[]}])");
  EXPECT_EQ(json.size(), 2u);
}

TEST(JsonValue, IndentedTextHasOneElementPerLine) {
  const Json json{{"empty", Json::array()}, {"list", {1, 2}}};
  EXPECT_EQ(json.text(2), "{\n  \"empty\": [],\n  \"list\": [\n    1,\n    2\n  ]\n}");
}

TEST(JsonValue, NumbersHaveTheFewestDigits) {
  const std::vector<std::pair<double, std::string>> all = {{0.0, "0.0"},
                                                           {-0.0, "-0.0"},
                                                           {1.0, "1.0"},
                                                           {0.1, "0.1"},
                                                           {-2.5, "-2.5"},
                                                           {0.0001, "0.0001"},
                                                           {0.00001, "1e-05"},
                                                           {1.5e-7, "1.5e-07"},
                                                           {1000.0, "1000.0"},
                                                           {123456789.25, "123456789.25"},
                                                           {1e14, "100000000000000.0"},
                                                           {1e15, "1e+15"},
                                                           {2.5e16, "2.5e+16"},
                                                           {1e300, "1e+300"}};
  for (const auto& [number, text] : all) EXPECT_EQ(Json(number).text(), text);
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
}

TEST(JsonValue, TextsAreEscapedAsJsonDefinesIt) {
  EXPECT_EQ(Json("a\"\\/\b\f\n\r\t\x01\x7f\u00fc").text(), "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\u00fc\"");
}

TEST(JsonValue, NamesShowBytesThatAreNotUtf8) { EXPECT_EQ(json_text("a\xff\\b\u00fc"), "a\\xff\\\\b\u00fc"); }

}  // namespace
}  // namespace lowtide::cli_internal
