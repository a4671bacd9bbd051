// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/csv.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace lowtide::import_internal {
namespace {

void expect_refused(const std::string& text, ErrorCode code, std::initializer_list<const char*> words) {
  const Result<PackingProblem> result = parse_packing(text);
  ASSERT_FALSE(result.ok()) << text;
  EXPECT_EQ(to_string(result.error().code), to_string(code)) << result.error().describe();
  for (const char* word : words) {
    EXPECT_NE(result.error().describe().find(word), std::string::npos) << word << "\n" << result.error().describe();
  }
}

TEST(PackingCsv, ReadsTheColumnsOfMiniMalloc) {
  const Result<PackingProblem> problem = parse_packing("id,lower,upper,size\nb1,0,3,4\nb2,3,9,0\n");
  ASSERT_TRUE(problem.ok()) << problem.error().describe();
  ASSERT_EQ(problem->buffers.size(), 2U);
  const PackingBuffer expected = {
      .lifespan = {0, 3}, .gaps = {}, .size = Bytes(4), .alignment = Bytes(1), .fixed_offset = {}};
  EXPECT_EQ(problem->buffers[PackingId(0)], expected);
  EXPECT_EQ(problem->buffers[PackingId(1)].size, Bytes(0));
  EXPECT_EQ(problem->names[PackingId(1)], "b2");
  EXPECT_FALSE(problem->capacity.has_value());
}

TEST(PackingCsv, AcceptsOptionalColumnsInAnyOrder) {
  const Result<PackingProblem> problem =
      parse_packing("gaps,size,upper,offset,lower,id,alignment\n8-9 4-6,128,10,64,2,b,32\n,1,2,,1,a,1\n");
  ASSERT_TRUE(problem.ok()) << problem.error().describe();
  const PackingBuffer expected = {.lifespan = {2, 10},
                                  .gaps = {{4, 6}, {8, 9}},
                                  .size = Bytes(128),
                                  .alignment = Bytes(32),
                                  .fixed_offset = Offset(64)};
  EXPECT_EQ(problem->buffers[PackingId(0)], expected);
  EXPECT_FALSE(problem->buffers[PackingId(1)].fixed_offset.has_value());
}

TEST(PackingCsv, AnEmptyOptionalFieldMeansNoValue) {
  const Result<PackingProblem> problem = parse_packing("id,lower,upper,size,alignment,offset,gaps\na,0,1,2,,,\n");
  ASSERT_TRUE(problem.ok()) << problem.error().describe();
  const PackingBuffer expected = {
      .lifespan = {0, 1}, .gaps = {}, .size = Bytes(2), .alignment = Bytes(1), .fixed_offset = {}};
  EXPECT_EQ(problem->buffers[PackingId(0)], expected);
}

TEST(PackingCsv, IgnoresBlanksAroundFields) {
  const Result<PackingProblem> plain = parse_packing("id,lower,upper,size,gaps\na b,0,9,2,1-2 4-6\n");
  const Result<PackingProblem> spaced = parse_packing(" id, lower ,upper,\tsize, gaps\n a b ,0 , 9,2\t, 1-2 4-6 \r\n");
  ASSERT_TRUE(plain.ok() && spaced.ok()) << spaced.error().describe();
  EXPECT_EQ(spaced->buffers[PackingId(0)], plain->buffers[PackingId(0)]);
  EXPECT_EQ(spaced->names[PackingId(0)], "a b");
  expect_refused("id,lower,upper,size\n  ,0,1,2\n", ErrorCode::malformed, {"line 2", "the id is empty"});
  expect_refused("id,lower,upper,size\na,0 1,1,2\n", ErrorCode::malformed, {"column 'lower'", "'0 1'"});
}

// Ids are not kept if all of them are the numbers of their rows. Otherwise all of them are kept.
TEST(PackingCsv, KeepsIdsThatDifferFromRowNumbers) {
  const Result<PackingProblem> numbered = parse_packing("id,lower,upper,size\n0,0,1,2\n1,0,1,3\n");
  ASSERT_TRUE(numbered.ok()) << numbered.error().describe();
  EXPECT_TRUE(numbered->names.empty());
  const Result<PackingProblem> named = parse_packing("id,lower,upper,size\n0,0,1,2\n1,0,1,3\n02,0,1,4\n3,0,1,5\n");
  ASSERT_TRUE(named.ok()) << named.error().describe();
  ASSERT_EQ(named->names.size(), 4U);
  EXPECT_EQ(named->names[PackingId(1)], "1");
  EXPECT_EQ(named->names[PackingId(2)], "02");
  EXPECT_EQ(named->names[PackingId(3)], "3");
}

TEST(PackingCsv, FindsRepeatedIdsAmongNumbersAndNames) {
  const std::string rows = "id,lower,upper,size\n0,0,1,2\n1,0,1,3\n";
  expect_refused(rows + "0,0,1,4\n", ErrorCode::invalid, {"line 4, column 'id': '0' is also the id of line 2"});
  expect_refused(rows + "x,0,1,4\n1,0,1,4\n", ErrorCode::invalid, {"line 5", "'1' is also the id of line 3"});
  expect_refused(rows + "3,0,1,4\n3,0,1,4\n", ErrorCode::invalid, {"line 5", "'3' is also the id of line 4"});
  EXPECT_TRUE(parse_packing(rows + "3,0,1,4\n2,0,1,4\n01,0,1,4\n").ok());
}

TEST(PackingCsv, AcceptsCarriageReturnsAndEmptyLinesAtTheEnd) {
  const Result<PackingProblem> problem = parse_packing("id,lower,upper,size\r\na,0,1,2\r\n\r\n\n");
  ASSERT_TRUE(problem.ok()) << problem.error().describe();
  EXPECT_EQ(problem->buffers[PackingId(0)].size, Bytes(2));
  EXPECT_TRUE(parse_packing("id,lower,upper,size\na,0,1,2").ok()) << "the last line needs no line end";
}

TEST(PackingCsv, AcceptsAByteOrderMarkOnlyAtTheStart) {
  const Result<PackingProblem> problem = parse_packing("\xEF\xBB\xBFid,lower,upper,size\na,0,1,2\n");
  ASSERT_TRUE(problem.ok()) << problem.error().describe();
  EXPECT_EQ(problem->names[PackingId(0)], "a");
  expect_refused("id,\xEF\xBB\xBFlower,upper,size\n", ErrorCode::malformed, {"'\\xef\\xbb\\xbflower'", "unknown"});
}

TEST(PackingCsv, RefusesInvalidHeaders) {
  expect_refused("", ErrorCode::malformed, {"line 1", "no header"});
  expect_refused("\n", ErrorCode::malformed, {"line 1", "no header"});
  expect_refused("id,lower,upper\n", ErrorCode::malformed, {"column 'size'", "lacks"});
  expect_refused("id,lower,upper,size,end\n", ErrorCode::malformed, {"column 'end'", "unknown"});
  expect_refused("id,lower,upper,size,id\n", ErrorCode::malformed, {"column 'id'", "twice"});
}

TEST(PackingCsv, RefusesRowsThatDoNotFitTheHeader) {
  const std::string header = "id,lower,upper,size\n";
  expect_refused(header + "a,0,1\n", ErrorCode::malformed, {"line 2", "3 fields", "4"});
  expect_refused(header + "a,0,1,2,\n", ErrorCode::malformed, {"line 2", "5 fields"});
  expect_refused(header + "a,0,1,2\n\nb,0,1,2\n", ErrorCode::malformed, {"line 3", "line is empty"});
  expect_refused(header + std::string("a\0b,0,1,2\n", 10), ErrorCode::malformed, {"line 2", "zero byte"});
  expect_refused(header + "a\rb,0,1,2\n", ErrorCode::malformed, {"line 2", "carriage return at position 2"});
  expect_refused(header + ",0,1,2\n", ErrorCode::malformed, {"line 2, column 'id'", "empty"});
  expect_refused(header + "a,0,1,2\nb,0,1,2\na,0,1,2\n", ErrorCode::invalid, {"line 4", "'a'", "line 2"});
  expect_refused(header + std::string(70'000, 'n') + ",0,1,2\n", ErrorCode::over_limit, {"70000", "kMaxNameBytes"});
}

TEST(PackingCsv, RefusesNumbersThatAreNotDigits) {
  for (const char* number : {"", " ", "1 0", "+1", "-1", "0x10", "1e3", "1.5", "1,5", "9223372036854775808",
                             "99999999999999999999", "1_000", "NaN", "1\r"}) {
    const std::string text = std::string("id,lower,upper,size\na,0,1,") + number + "\n";
    if (std::string(number) == "1\r") {
      EXPECT_TRUE(parse_packing(text).ok()) << "CR LF ends a line";
    } else {
      expect_refused(text, ErrorCode::malformed, {"line 2"});
    }
  }
}

TEST(PackingCsv, RefusesInvalidLifespansAndSizes) {
  const std::string header = "id,lower,upper,size\n";
  expect_refused(header + "a,5,5,1\n", ErrorCode::invalid, {"column 'upper'", "upper 5", "lower 5"});
  expect_refused(header + "a,6,5,1\n", ErrorCode::invalid, {"upper 5", "lower 6"});
  expect_refused(header + "a,0,1,4611686018427387904\n", ErrorCode::over_limit, {"column 'size'", "kMaxTotalBytes"});
  // 2^61 + 2^61 = 2^62, one above the limit 2^62 - 1
  expect_refused(header + "a,0,1,2305843009213693952\nb,0,1,2305843009213693952\n", ErrorCode::over_limit,
                 {"line 3", "kMaxTotalBytes"});
}

TEST(PackingCsv, RefusesInvalidAlignmentsAndOffsets) {
  const std::string header = "id,lower,upper,size,alignment,offset\n";
  expect_refused(header + "a,0,1,1,0,\n", ErrorCode::invalid, {"column 'alignment'", "0 is not a power of two"});
  expect_refused(header + "a,0,1,1,3,\n", ErrorCode::invalid, {"3 is not a power of two"});
  expect_refused(header + "a,0,1,1,1099511627776,\n", ErrorCode::invalid, {"kMaxAlignment"});
  expect_refused(header + "a,0,1,1,64,96\n", ErrorCode::invalid, {"offset 96", "64"});
  expect_refused(header + "a,0,1,1,1,9223372036854775807\n", ErrorCode::over_limit, {"column 'offset'"});
}

TEST(PackingCsv, RefusesGapsOutsideTheLifespan) {
  const std::string row = "id,lower,upper,size,gaps\na,2,10,1,";
  expect_refused(row + "4\n", ErrorCode::malformed, {"column 'gaps'", "'4'", "4-6"});
  expect_refused(row + "4-6  8-9\n", ErrorCode::malformed, {"''"});
  expect_refused(row + "6-4\n", ErrorCode::invalid, {"'6-4'", "2-10"});
  expect_refused(row + "1-3\n", ErrorCode::invalid, {"2-10"});
  expect_refused(row + "9-11\n", ErrorCode::invalid, {"2-10"});
  expect_refused(row + "4-6 5-7\n", ErrorCode::invalid, {"overlap at 5"});
  expect_refused(row + "4-6@0:8\n", ErrorCode::unsupported, {"window"});
}

// The lengths of accepted texts, with their numbers of buffers. A text may end after the header, or in the last column
// of a row, whose number may then be shorter.
TEST(PackingCsv, RefusesTruncatedLines) {
  const std::string text = "id,lower,upper,size\na,0,10,20\nb,5,10,20\n";
  const std::map<std::size_t, std::size_t> accepted = {{19, 0}, {20, 0}, {28, 1}, {29, 1}, {30, 1}, {38, 2}, {39, 2}};
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Result<PackingProblem> cut = parse_packing(text.substr(0, length));
    const auto expected = accepted.find(length);
    ASSERT_EQ(cut.ok(), expected != accepted.end()) << length;
    if (cut.ok()) {
      EXPECT_EQ(cut->buffers.size(), expected->second) << length;
    }
  }
}

}  // namespace
}  // namespace lowtide::import_internal
