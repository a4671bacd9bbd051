// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/target/description.h"
#include "tests/testing/damage.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

struct Case {
  std::string toml;
  std::string described;  // a part of "place: message"
  ErrorCode code = ErrorCode::invalid;
};

void expect_refused(const std::vector<Case>& cases) {
  for (const Case& bad : cases) {
    const Result<Target> target = parse_target(bad.toml, "t");
    ASSERT_FALSE(target.ok()) << bad.toml;
    EXPECT_THAT(target.error().describe(), HasSubstr(bad.described)) << bad.toml;
    EXPECT_EQ(target.error().code, bad.code) << bad.toml;
  }
}

// Puts `lines` after a valid head of three lines.
std::string with(const std::string& lines) { return "name = \"t\"\n[[region]]\nname = \"r\"\n" + lines; }
std::string kernel(const std::string& lines) { return with("[[kernel]]\noperator = \"Op\"\nname = \"k\"\n" + lines); }
std::string link(const std::string& lines) {
  return with("[[region]]\nname = \"s\"\n[[link]]\nfrom = \"r\"\nto = \"s\"\n" + lines);
}

TEST(TargetDescriptionErrors, ErrorsInTomlSyntaxStateAPlace) {
  expect_refused({
      {"name = ", "t:1:", ErrorCode::malformed},
      {with("alignment = \n"), "t:4:", ErrorCode::malformed},
      {"name = \"a\"\nname = \"b\"", "not TOML: ", ErrorCode::malformed},
      {"name = \"\xff\"", "not TOML: ", ErrorCode::malformed},
      {"name = \"t\x1b[31m\"", "t:1:10: a control character or line separator: '\\x1b[3'", ErrorCode::malformed},
      {std::string("\0", 1), "t:1:1: a control character", ErrorCode::malformed},
      {with("[ = 1\n"), "t:4:1: not TOML: the parser gives up on this line", ErrorCode::malformed},
      {"# a\rb", "t:1:4: a control character", ErrorCode::malformed},
      {"# a\xe2\x80\xa8name = 1", "t:1:4: a control character or line separator", ErrorCode::malformed},
  });
  EXPECT_EQ(parse_target("a = \x1b", "t").error().describe().find('\x1b'), std::string::npos);
}

TEST(TargetDescriptionErrors, UnknownAndMissingKeysAreRefused) {
  expect_refused({
      {"", "t:1:1: target: name is missing"},
      {"name = \"t\"", "target: region is missing; a target has at least one [[region]]"},
      {"[[region]]\nname = \"r\"", "target: name is missing"},
      {with("capcity = 1"),
       "t:4:1: region 0: unknown key 'capcity'; the keys here are name, capacity, alignment, read_only"},
      {"nane = \"t\"\n" + with(""),
       "t:1:1: target: unknown key 'nane'; the keys here are name, schema_version, constants, integer_kernels, region"},
      {"schema_version = 2\n" + with(""),
       "t:1:18: target: schema_version should be an integer from 1 to 1, not the integer 2"},
      {with("[[region]]\ncapacity = 1"), "t:4:1: region 1: name is missing"},
      {with("[[link]]\nto = \"r\""), "link 0: from is missing"},
      {with("[[worker]]"), "worker 0: name is missing"},
      {with("[[kernel]]\nname = \"k\""), "kernel 0: operator is missing"},
      {with("[[kernel]]\noperator = \"Op\""), "kernel 0: name is missing"},
      {kernel("scrach = 1"), "t:7:1: kernel 0: unknown key 'scrach'"},
      {link(""), "link 0: bytes_per_second is missing"},
  });
}

TEST(TargetDescriptionErrors, WrongTypesAreRefused) {
  expect_refused({
      {"name = 1", "t:1:8: target: name should be a text in quotes, not the integer 1"},
      {"name = \"t\"\nregion = 1",
       "target: region should be written [[region]], once per region, not as the integer 1"},
      {"name = \"t\"\nregion = [1]", "region 0 should be a table, not the integer 1"},
      {"name = \"t\"\n[region]\nname = \"r\"",
       "target: region should be written [[region]], once per region, not as a table"},
      {with("capacity = 1.5"), "t:4:12: region 0: capacity should be a number of bytes such as 4096 or \"256KiB\""},
      {with("capacity = \"64MB\""), "(B, KiB, MiB, GiB, TiB), not the text '64MB'"},
      {with("capacity = \"64Gi\""), "not the text '64Gi'"},
      {with("capacity = \"1,5KiB\""), "not the text '1,5KiB'"},
      {with("capacity = \"\""), "not the text ''"},
      {with("capacity = true"), "not true"},
      {with("capacity = 1979-05-27"), "not a date or time"},
      {with("capacity = [1]"), "not an array"},
      {with("[[worker]]\nname = \"w\"\ncount = 1.0"),
       "worker 0: count should be an integer from 1 to 1000000, not the real 1"},
      {with("[[worker]]\nname = \"w\"\naddressable = \"r\""),
       "t:6:15: worker 0: addressable should be a list of names such as [\"sram\", \"dram\"], not the text 'r'"},
      {with("[[worker]]\nname = \"w\"\naddressable = [\"r\", 1]"),
       "t:6:21: worker 0: addressable should be a text in quotes, not the integer 1"},
      {with("[[worker]]\nname = \"w\"\naddressable = []"),
       "t:6:15: worker 0: addressable is empty; omit it for a worker that addresses every region"},
      {kernel("in_place = 1"), "kernel 0: in_place should be true or false, not the integer 1"},
      {kernel("may_alias_views = \"no\""), "may_alias_views should be true or false, not the text 'no'"},
      {kernel("scratch_per_input_byte = 0.5"),
       "scratch_per_input_byte should be an integer from 0 to 1000000, not the real 0.5"},
      {kernel("cost_seconds = \"1\""), "cost_seconds should be a number from 0 to 1e+09, not the text '1'"},
  });
}

TEST(TargetDescriptionErrors, NumbersOutOfRangeAreRefused) {
  expect_refused({
      {with("capacity = 0"),
       "region 0: capacity is 0 and should be from 1 to 36028797018963967 bytes; omit it for a region without a "
       "limit"},
      {with("capacity = -1"), "capacity is -1"},
      {with("capacity = \"8388607TiB\""), "capacity is 9223370937343148032 and should be from 1"},
      {with("capacity = \"8388608TiB\""), "not the text '8388608TiB'"},  // 2^63
      {with("capacity = 18446744073709551616"), "not TOML: ", ErrorCode::malformed},
      {with("alignment = 0"), "region 0: alignment is 0 and should be from 1 to 1073741824 bytes (kMaxAlignment)"},
      {with("alignment = 3"), "t:4:13: region 0: alignment is 3, which is not a power of two"},
      {with("alignment = \"1TiB\""), "alignment is 1099511627776"},
      {with("[[worker]]\nname = \"w\"\ncount = 0"), "worker 0: count should be an integer from 1"},
      {kernel("scratch = -1"),
       "kernel 0: scratch is -1 and should be from 0 to 140737488355327 bytes (kMaxTensorBytes)"},
      {kernel("scratch = \"128TiB\""), "kernel 0: scratch is 140737488355328"},
      {kernel("scratch_per_output_byte = -1"),
       "scratch_per_output_byte should be an integer from 0 to 1000000, not the integer -1"},
      {kernel("scratch_per_weight_byte = 1000001"), "not the integer 1000001"},
      {kernel("cost_seconds = nan"), "cost_seconds should be a number from 0 to 1e+09, not the real nan"},
      {kernel("cost_seconds = inf"), "not the real inf"},
      {kernel("cost_seconds = -1e-9"), "not the real -1e-09"},
      {kernel("cost_seconds_per_byte = 1e308"), "not the real 1e+308"},
      {link("bytes_per_second = 0"), "link 0: bytes_per_second should be a number from 1 to 1e+18, not the integer 0"},
      {link("bytes_per_second = nan"), "not the real nan"},
      {link("bytes_per_second = 1\nlatency_seconds = -1"), "latency_seconds should be a number from 0 to 1e+06"},
  });
}

TEST(TargetDescriptionErrors, RepeatedNamesAndUnknownRegionsAreRefused) {
  expect_refused({
      {"name = \"\"", "target: name is empty"},
      {"name = \"" + std::string(70000, 'x') + "\"", "name of 70000 bytes is above the limit of 65536 (kMaxNameBytes)"},
      {with("[[region]]\nname = \"r\""), "t:5:8: region 1: name 'r' is also the name of region 0"},
      {with("[[worker]]\nname = \"w\"\n[[worker]]\nname = \"w\""),
       "t:7:8: worker 1: name 'w' is also the name of another worker; use count"},
      {with("[[worker]]\nname = \"w\"\naddressable = [\"r\", \"q\"]"),
       "t:6:21: worker 0: addressable refers to the region 'q', which does not exist; the regions are 'r'"},
      {with("[[worker]]\nname = \"w\"\naddressable = [\"r\", \"r\"]"),
       "t:6:21: worker 0: addressable refers to the region 'r' twice"},
      {with("[[link]]\nfrom = \"q\"\nto = \"r\"\nbytes_per_second = 1"),
       "t:5:8: link 0: from refers to the region 'q', which does not exist; the regions are 'r'"},
      {with("[[link]]\nfrom = \"r\"\nto = \"r\"\nbytes_per_second = 1"), "link 0: to is the same region as from"},
      {link("bytes_per_second = 1\n[[link]]\nfrom = \"r\"\nto = \"s\"\nbytes_per_second = 1"),
       "link 1: to repeats a link"},
      {kernel("[[kernel]]\noperator = \"ai.onnx::Op\"\nname = \"k\""),
       "kernel 1: name 'k' is also the name of another kernel of this operator"},
      {with("[[kernel]]\noperator = \"Con*\"\nname = \"k\""), "kernel 0: operator should be a type such as \"Conv\""},
      {with("[[kernel]]\noperator = \"d::\"\nname = \"k\""), "kernel 0: operator should be"},
      {with("[[kernel]]\noperator = \"::Op\"\nname = \"k\""), "kernel 0: operator should be"},
  });
}

TEST(TargetDescriptionErrors, UnusableConstantsAndReadOnlyRegionsAreRefused) {
  const std::string flash = "[[region]]\nname = \"flash\"\nread_only = true\n";
  const auto constants = [](const std::string& value) { return "constants = " + value + "\n"; };
  expect_refused({
      {constants("\"rom\"") + with(flash),
       "t:1:13: target: constants refers to the region 'rom', which does not exist; the regions are 'r', 'flash'"},
      {constants("1") + with(flash), "t:1:13: target: constants should be a text in quotes, not the integer 1"},
      {with(constants("\"r\"")), "t:4:1: region 0: unknown key 'constants'"},
      {constants("\"flash\"") + with(flash + "[[worker]]\nname = \"w\"\naddressable = [\"r\"]"),
       "t:1:13: target: constants refers to a region that worker 'w' cannot address"},
      {with("read_only = 1"), "t:4:13: region 0: read_only should be true or false, not the integer 1"},
      {with("read_only = true"), "target: region is read-only in all tables that worker 'worker' can address"},
      {with(flash + "[[worker]]\nname = \"w\"\naddressable = [\"flash\"]"),
       "region is read-only in all tables that worker 'w' can address; a plan needs a region that it can write"},
      {with(flash + "[[link]]\nfrom = \"r\"\nto = \"flash\"\nbytes_per_second = 1"),
       "t:9:6: link 0: to refers to a region that is read-only, so nothing can be copied into it"},
      {"name = \"t\"\n[[link]]\nfrom = \"r\"\nto = \"s\"\nbytes_per_second = 1", "region is missing"},
  });
}

TEST(TargetDescriptionErrors, SizeAndNestingAreLimited) {
  std::string dotted = "a";
  std::string tables = "a = ";
  for (int level = 0; level < 200'000; ++level) dotted += ".a";
  for (int level = 0; level < 200'000; ++level) tables += "[";
  expect_refused({
      {std::string((1 << 20) + 1, '#'),
       "t: a target file of 1048577 bytes is above the limit of 1048576 (kMaxTargetFileBytes)", ErrorCode::over_limit},
      {"\n" + dotted + " = 1", "t:2:130: more than 64 dots on a line, the limit of nesting (kMaxTextDepth)",
       ErrorCode::over_limit},
      {"[" + dotted + "]", "t:1:131: more than 64 dots", ErrorCode::over_limit},
      {tables, "not TOML: ", ErrorCode::malformed},
  });
  // Each line is within the limit, but together they have 1,200 x 60 tables. 1,092 x 60 dots are 65,520; the 17th dot
  // of the next line, "[t1092.a.a...", is one too many: column 6 + 2 * 16 + 1.
  std::string many;
  for (int line = 0; line < 1200; ++line) many += "[t" + std::to_string(line) + dotted.substr(1, 120) + "]\n";
  expect_refused({{many, "t:1093:39: more than 65536 dots in the file (kMostDots)", ErrorCode::over_limit}});
  // Dots in comments and names do not nest.
  EXPECT_TRUE(parse_target(with("# " + std::string(1000, '.')), "t").ok());
  EXPECT_TRUE(parse_target(with("[[worker]]\nname = \"a\\\"" + std::string(1000, '.') + "\"\ncount = 1"), "t").ok());
}

TEST(TargetDescriptionErrors, NonAsciiIsAllowedOnlyInNamesAndComments) {
  EXPECT_TRUE(parse_target("\xEF\xBB\xBF# für\nname = \"größe\" # é\n[[region]]\nname = 'ü'", "t").ok());
  expect_refused({
      {"é = 1", "t:1:1: a character outside ASCII is outside of quotes: 'é = 1'", ErrorCode::malformed},
      {"name = \"t\"\n[[region]]\xc2\xa0", "t:2:11: a character outside ASCII", ErrorCode::malformed},
      {"kernel = [1['é']]",
       "t:1:13: characters outside ASCII are allowed only in comments and in lines key = \"text\"; found '\\'é\\''"},
      {"\"é\" = 1", "t:1:1: characters outside ASCII are allowed only"},
      {"name = \"\"\"t\"\"\"", "t:1:8: a text in three quotes; use one quote"},
      {"name = '''t'''", "t:1:8: a text in three quotes"},
  });
}

// clang-format off
const std::vector<std::string_view> kWords = {
    "[", "]", "[[", "]]", "{", "}", "=", "\"", "\"\"\"", "'", "'''", ".", ",", "#", "\n", "\r", "\\", "\\u00", "a.b",
    "a = {b = [", "[a.b]", "1e999", "nan", "-inf", "0x", "1979-05-27T07:32:00Z", "\xff", "\xc2\x85", "\xe2\x80\xa8",
};
// clang-format on

TEST(TargetDescriptionErrors, TruncatedOrDamagedTextsAreReadOrRefused) {
  const std::string text = with(
      "capacity = \"1KiB\"\n[[region]]\nname = \"s\"\nalignment = 16\n[[link]]\nfrom = \"r\"\nto = \"s\"\n"
      "bytes_per_second = 1e9 # fast\n[[worker]]\nname = \"w\"\ncount = 2\n[[kernel]]\noperator = \"a::B\"\n"
      "name = 'k'\nscratch = 4096\ncost_seconds = 0.5\nin_place = false\n");
  ASSERT_TRUE(parse_target(text, "t").ok());
  int read = 0;
  const auto is_read_or_refused = [&](const std::string& toml) {
    const Result<Target> target = parse_target(toml, "t");
    read += target.ok() ? 1 : 0;
    if (target.ok()) return;
    EXPECT_THAT(target.error().place, MatchesRegex("t:[0-9]+:[0-9]+")) << toml;
    for (char c : target.error().describe()) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << toml;
  };
  for (std::size_t size = 0; size <= text.size(); ++size) is_read_or_refused(text.substr(0, size));
  Random random(16);
  constexpr int kRuns = 30'000;
  for (int run = 0; run < kRuns; ++run) is_read_or_refused(damaged(text, random, kWords));
  EXPECT_GT(read, kRuns / 200);
  EXPECT_LT(read, kRuns / 2);
}

}  // namespace
}  // namespace lowtide::testing
