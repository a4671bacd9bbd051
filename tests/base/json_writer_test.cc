// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/json_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lowtide/base/check.h"
#include "lowtide/base/random.h"

namespace lowtide {
namespace {

TEST(JsonWriter, PutsCommasAndLinesBetweenElements) {
  std::string out;
  JsonWriter json(out);
  json.begin_object(JsonWriter::Layout::lines);
  json.member("a", std::int64_t{-1});
  json.key("b");
  json.begin_array(JsonWriter::Layout::lines);
  for (int row = 0; row < 2; ++row) {
    json.begin_array();
    json.value("x");
    json.value(true);
    json.null();
    json.end_array();
  }
  json.end_array();
  json.key("none");
  json.begin_array(JsonWriter::Layout::lines);
  json.end_array();
  json.key("c");
  json.begin_object();
  json.member("bytes", Bytes(5));
  json.member("at", Offset(7));
  json.end_object();
  json.end_object();
  EXPECT_EQ(out, R"({
"a": -1,
"b": [
["x", true, null],
["x", true, null]
],
"none": [],
"c": {"bytes": 5, "at": 7}
})");
}

TEST(JsonWriter, ScriptsHaveNoSpacesAndNoMarkup) {
  std::string out;
  JsonWriter json(out, JsonWriter::Style::script);
  json.begin_object();
  json.member("a", std::int64_t{1});
  json.member("b", "</script>&\u2028\n\"\\");
  json.end_object();
  EXPECT_EQ(out, R"({"a":1,"b":"\u003c/script\u003e\u0026\u2028\u000a\"\\"})");
  EXPECT_EQ(nlohmann::json::parse(out)["b"], "</script>&\u2028\n\"\\");
}

TEST(JsonWriter, ScriptsRefuseInvalidUtf8) {
  std::string out;
  EXPECT_THROW(append_script_json_string(out, "\xff"), InvariantViolation);
}

// Random bytes, many of which need escapes.
std::string random_name(Random& random) {
  std::string name;
  for (std::uint64_t count = random.below(10); count > 0; --count) {
    name +=
        random.chance(50) ? static_cast<char>(random.below(256)) : "a\\\"'\n\x7f\xc2\x85\xc3\xa9\xff"[random.below(11)];
  }
  return name;
}

TEST(JsonNames, InvalidUtf8IsWrittenInHex) {
  const auto written = [](std::string_view name) {
    std::string out;
    append_json_name(out, name);
    return out;
  };
  EXPECT_EQ(written("conv1/é"), "\"conv1/é\"");
  EXPECT_EQ(written("a\"b"), R"("a\"b")");
  EXPECT_EQ(written("a\nb\x7f"), R"("a\u000ab\u007f")");
  EXPECT_EQ(written("\xc2\x85"), R"("\u0085")");
  EXPECT_EQ(written("\xff"), R"("\\xff")");
  EXPECT_EQ(written("\xe2\x82"), R"("\\xe2\\x82")");  // truncated
  EXPECT_EQ(written("a\\xff"), R"("a\\\\xff")");
}

TEST(JsonNames, AnyBytesAreReadBackByAnotherJsonReader) {
  Random random(13);
  for (int run = 0; run < 20'000; ++run) {
    const std::string name = random_name(random);
    std::string out;
    append_json_name(out, name);
    std::string again;
    ASSERT_TRUE(decode_json_name(nlohmann::json::parse(out).get<std::string>(), again)) << out;
    ASSERT_EQ(again, name) << out;
  }
}

TEST(JsonNames, MalformedEscapesAreRefused) {
  std::string out;
  for (const char* text : {"\\", "\\x", "\\x1", "\\xg0", "\\n", "\\\\\\"})
    EXPECT_FALSE(decode_json_name(text, out)) << text;
}

}  // namespace
}  // namespace lowtide
