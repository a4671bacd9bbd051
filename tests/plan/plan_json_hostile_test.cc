// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan/plan_json.h"
#include "tests/plan/random_plan.h"
#include "tests/plan/small_plan.h"
#include "tests/testing/damage.h"

namespace lowtide::testing {
namespace {

// Any text gives a plan that is equal after it is written and read, or an error with a place.
bool is_read_or_refused(const std::string& text) {
  const Result<PlanFile> file = read_plan_json(text, "p");
  if (file.ok()) {
    EXPECT_TRUE(nlohmann::json::accept(text)) << text;
    EXPECT_EQ(difference(*file, read_plan_json(write_plan_json(file->plan, file->labels), "again").value()), "")
        << text;
    return true;
  }
  EXPECT_EQ(file.error().place.rfind("p:", 0), 0U) << file.error().describe();
  EXPECT_FALSE(file.error().message.empty());
  EXPECT_LT(file.error().describe().size(), 1000U);
  return false;
}

std::vector<std::string> two_texts() {
  std::vector<std::string> texts;
  for (const PlanFile& file : {small_plan_file(), transfer_plan_file()}) {
    texts.push_back(write_plan_json(file.plan, file.labels));
  }
  return texts;
}

TEST(PlanJsonHostile, TruncatedFilesAreRefused) {
  for (const std::string& text : two_texts()) {
    for (std::size_t size = 0; size + 1 < text.size(); ++size) {  // a file is complete without its last newline
      ASSERT_FALSE(is_read_or_refused(text.substr(0, size))) << size;
    }
  }
}

TEST(PlanJsonHostile, EveryFlippedBitIsReadOrRefused) {
  for (std::string text : two_texts()) {
    int read = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        text[at] = static_cast<char>(text[at] ^ (1 << bit));
        read += is_read_or_refused(text) ? 1 : 0;
        text[at] = static_cast<char>(text[at] ^ (1 << bit));
      }
    }
    EXPECT_GT(read, 0);  // a bit in a name or a size
    EXPECT_LT(read, static_cast<int>(text.size()) * 4);
  }
}

// clang-format off
const std::vector<std::string_view> kWords = {
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u00", "null", "true", "0", "-", "1e400", ".5", "4294967295",
    "9223372036854775807", "36028797018963967", "\"nodes\": [", "\"parent\": 0,", "[0, 0, 0, 0],",
    "[\"compute\", 0, 0, null, [], [], 0, 0, []],", "[\"copy\", null, null, [0, 1], [0], [0], null, 0, []],",
    "[0, null],", "[null, 0],", "\"copies\",",
    "{\"from\": 0, \"to\": 1, \"bytes_per_second\": 1, \"latency_picoseconds\": 0},", "[[1, 0, 1], [1, 0, 1]]",
    "\xff", " ",
};
// clang-format on

TEST(PlanJsonHostile, DamagedFilesAreReadOrRefused) {
  Random random(14);
  std::string text;
  int read = 0;
  constexpr int kRuns = 30'000;
  for (int run = 0; run < kRuns; ++run) {
    if (run % 100 == 0) {
      const PlanFile file = random_plan_file(random);
      text = write_plan_json(file.plan, file.labels);
    }
    read += is_read_or_refused(damaged(text, random, kWords)) ? 1 : 0;
  }
  EXPECT_GT(read, kRuns / 200);
  EXPECT_LT(read, kRuns / 2);
}

// Returns nullopt for a number that no double can represent, because nlohmann::json refuses it.
std::optional<bool> is_grammatical(const std::string& text) {
  try {
    return nlohmann::json::parse(text).is_object();
  } catch (const nlohmann::json::out_of_range&) {
    return std::nullopt;
  } catch (const nlohmann::json::parse_error&) {
    return false;
  }
}

// The reader reports a text as malformed exactly if nlohmann::json refuses it. It may refuse other texts for their
// content.
TEST(PlanJsonHostile, GrammarIsThatOfJson) {
  Random random(15);
  const std::string head = "{\"format\": \"lowtide.plan\", \"schema_version\": 1, \"x\": ";
  static const std::vector<std::string> kTokens = {"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   ":",
                                                   "\"a\"",
                                                   "\"\\n\"",
                                                   "\"\\u00e9\"",
                                                   "\"\\ud83d\\ude00\"",
                                                   "\"\\ud83d\"",
                                                   "1",
                                                   "-0",
                                                   "01",
                                                   "1.5",
                                                   "1.",
                                                   "-",
                                                   "1e5",
                                                   "1E+2",
                                                   "1e",
                                                   "true",
                                                   "false",
                                                   "null",
                                                   "nul",
                                                   " ",
                                                   "\n",
                                                   "\"",
                                                   "\\",
                                                   "\"\xc3\xa9\"",
                                                   "\"\xc3\"",
                                                   "\"\t\"",
                                                   "\xef\xbb\xbf",
                                                   "\"\\u0000\"",
                                                   "\"\\x41\""};
  int accepted = 0;
  for (int run = 0; run < 50'000; ++run) {
    std::string value;
    for (std::uint64_t count = 1 + random.below(5); count > 0; --count) value += kTokens[random.below(kTokens.size())];
    const std::string text = head + value + "}";
    const std::optional<bool> is_json = is_grammatical(text);
    if (!is_json) continue;
    accepted += *is_json ? 1 : 0;
    const Result<PlanFile> file = read_plan_json(text, "p");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code == ErrorCode::malformed, !*is_json) << text << "\n" << file.error().describe();
  }
  EXPECT_GT(accepted, 500);
}

TEST(PlanJsonHostile, ManyZerosAndDeepNestingAreRefused) {
  const std::string head = "{\"format\": \"lowtide.plan\", \"schema_version\": 1, \"arena\": ";
  EXPECT_FALSE(is_read_or_refused(head + "1" + std::string(10'000'000, '0') + "}"));
  EXPECT_FALSE(is_read_or_refused(head + std::string(10'000'000, '0') + "}"));
  EXPECT_FALSE(is_read_or_refused(head + std::string(10'000'000, '[') + "}"));
  std::string objects = head;
  for (int level = 0; level < 1'000'000; ++level) objects += "{\"a\":";
  EXPECT_FALSE(is_read_or_refused(objects));
  EXPECT_FALSE(is_read_or_refused(std::string(10'000'000, '[')));
}

}  // namespace
}  // namespace lowtide::testing
