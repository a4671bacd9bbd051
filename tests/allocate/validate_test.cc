// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "lowtide/allocate/allocate.h"
#include "lowtide/base/limits.h"
#include "tests/allocate/problems.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

PackingBuffer placed_at(std::int64_t offset, TimeSpan lifespan, std::int64_t size) {
  return {.lifespan = lifespan, .gaps = {}, .size = Bytes(size), .fixed_offset = Offset(offset)};
}

TEST(Validate, RefusesSizesThatAddUpBeyondTheLimit) {
  constexpr std::int64_t kHalf = limits::kMaxTotalBytes / 2;
  const Result<Packing> packing = allocate(problem_of({{0, 2, kHalf}, {1, 3, kHalf}, {7, 8, 2}}));
  ASSERT_FALSE(packing.ok());
  EXPECT_EQ(packing.error().code, ErrorCode::over_limit);
  EXPECT_EQ(packing.error().place, "buffer 2");
  EXPECT_THAT(packing.error().message, HasSubstr("above kMaxTotalBytes = 4611686018427387903"));
}

// The problem is refused with this code, and with these words in the message.
void expect_invalid(const PackingProblem& problem, ErrorCode code, const std::string& words) {
  const Result<Packing> packing = allocate(problem);
  ASSERT_FALSE(packing.ok()) << words;
  EXPECT_EQ(packing.error().code, code) << words;
  EXPECT_THAT(packing.error().describe(), HasSubstr(words));
}

void expect_invalid(const PackingBuffer& buffer, ErrorCode code, const std::string& words) {
  PackingProblem problem;
  problem.buffers.push_back(buffer);
  expect_invalid(problem, code, words);
}

TEST(Validate, RefusesInvalidBuffers) {
  const PackingBuffer good{.lifespan = {2, 8}, .gaps = {}, .size = Bytes(4), .alignment = Bytes(4)};
  const auto with = [&](auto change) {
    PackingBuffer buffer = good;
    change(buffer);
    return buffer;
  };
  const auto invalid = ErrorCode::invalid;
  const auto over_limit = ErrorCode::over_limit;
  expect_invalid(with([](auto& b) { b.lifespan = {8, 8}; }), invalid, "the lifespan [8, 8) is empty");
  expect_invalid(with([](auto& b) { b.lifespan = {8, 2}; }), invalid, "the lifespan [8, 2) is empty");
  expect_invalid(with([](auto& b) { b.gaps = {{1, 3}}; }), invalid, "the gap [1, 3) is not inside");
  expect_invalid(with([](auto& b) { b.gaps = {{5, 4}}; }), invalid, "the gap [5, 4) is not inside");
  expect_invalid(with([](auto& b) { b.gaps = {{5, 6}, {3, 4}}; }), invalid, "[5, 6) and [3, 4) are not sorted");
  expect_invalid(with([](auto& b) { b.gaps = {{3, 5}, {4, 6}}; }), invalid, "[3, 5) and [4, 6) are not sorted");
  expect_invalid(with([](auto& b) { b.size = Bytes(-1); }), invalid, "the size -1 is below 0");
  expect_invalid(with([](auto& b) { b.size = Bytes(kEnd); }), over_limit, "the size 9223372036854775807 is above");
  expect_invalid(with([](auto& b) { b.alignment = Bytes(0); }), invalid, "the alignment 0 is not a power of two");
  expect_invalid(with([](auto& b) { b.alignment = Bytes(12); }), invalid, "the alignment 12 is not a power of two");
  expect_invalid(with([](auto& b) { b.alignment = Bytes(std::int64_t{1} << 31); }), over_limit, "kMaxAlignment");
  expect_invalid(with([](auto& b) { b.fixed_offset = Offset(-4); }), invalid, "the fixed offset -4 is below 0");
  expect_invalid(with([](auto& b) { b.fixed_offset = Offset(6); }), invalid, "6 is not a multiple of the alignment 4");
  expect_invalid(with([](auto& b) { b.fixed_offset = Offset(kEnd - 3); }), over_limit, "ends above kMaxTotalBytes");
}

TEST(Validate, NamesTheFixedBuffersThatCollide) {
  PackingProblem problem;
  problem.buffers.push_back(placed_at(0, {0, 5}, 10));
  problem.buffers.push_back(placed_at(20, {0, 5}, 10));
  problem.buffers.push_back(placed_at(9, {4, 6}, 3));
  problem.names.push_back("stem");
  problem.names.push_back("head");
  problem.names.push_back("tail\n");
  expect_invalid(problem, ErrorCode::invalid,
                 "buffer 'tail\\x0a': fixed at bytes [9, 12), it collides with buffer 'stem', fixed at bytes [0, 10), "
                 "at time 4");
  problem.buffers[PackingId(2)].fixed_offset = Offset(18);  // [18, 21) against [20, 30)
  expect_invalid(problem, ErrorCode::invalid, "it collides with buffer 'head'");
  problem.buffers[PackingId(2)].fixed_offset = Offset(17);  // [17, 20): free
  EXPECT_TRUE(allocate(problem).ok());
}

TEST(Validate, RefusesInvalidNamesAndCapacities) {
  PackingProblem problem = problem_of({{0, 1, 1}, {0, 1, 1}});
  problem.names.push_back("only one");
  expect_invalid(problem, ErrorCode::invalid, "1 names for 2 buffers");
  problem.names = {};
  problem.capacity = Bytes(-1);
  expect_invalid(problem, ErrorCode::invalid, "the capacity -1 is below 0");
}

}  // namespace
}  // namespace lowtide::testing
