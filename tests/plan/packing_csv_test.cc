// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/packing_csv.h"

#include <gtest/gtest.h>

#include <string>

#include "lowtide/base/check.h"
#include "lowtide/base/random.h"
#include "lowtide/import/csv.h"

namespace lowtide {
namespace {

PackingProblem two_buffers() {
  PackingProblem problem;
  problem.buffers.push_back({.lifespan = {0, 3}, .gaps = {}, .size = Bytes(64)});
  problem.buffers.push_back({.lifespan = {2, 10}, .gaps = {}, .size = Bytes(128)});
  problem.names.push_back("a");
  problem.names.push_back("b");
  return problem;
}

TEST(PackingCsv, WritesOnlyTheColumnsThatAreNeeded) {
  EXPECT_EQ(write_packing_csv(two_buffers()),
            "id,lower,upper,size\n"
            "a,0,3,64\n"
            "b,2,10,128\n");
}

TEST(PackingCsv, WritesAlignmentGapsAndFixedOffsets) {
  PackingProblem problem = two_buffers();
  PackingBuffer& b = problem.buffers[PackingId(1)];
  b.alignment = Bytes(64);
  b.gaps = {{4, 6}, {7, 7}, {8, 9}};  // the empty gap is not written
  b.fixed_offset = Offset(256);
  EXPECT_EQ(write_packing_csv(problem),
            "id,lower,upper,size,alignment,gaps,offset\n"
            "a,0,3,64,1,,\n"
            "b,2,10,128,64,4-6 8-9,256\n");
}

TEST(PackingCsv, WritesTheOffsetsOfAPacking) {
  IdVector<PackingId, Offset> offsets;
  offsets.push_back(Offset(128));
  offsets.push_back(Offset(0));
  EXPECT_EQ(write_packing_csv(two_buffers(), offsets),
            "id,lower,upper,size,offset\n"
            "a,0,3,64,128\n"
            "b,2,10,128,0\n");
}

TEST(PackingCsv, WritesTheSlotOfEachBuffer) {
  PackingProblem problem;
  problem.buffers.push_back({.lifespan = {0, 4}, .size = Bytes(8)});
  problem.buffers.push_back({.lifespan = {2, 6}, .gaps = {{3, 4}}, .size = Bytes(4), .alignment = Bytes(2)});
  IdVector<PackingId, std::uint32_t> slots;
  slots.push_back(1);
  slots.push_back(0);
  EXPECT_EQ(write_slots_csv(problem, slots),
            "id,lower,upper,size,alignment,gaps,slot\n0,0,4,8,1,,1\n1,2,6,4,2,3-4,0\n");
  slots.push_back(0);
  EXPECT_THROW(static_cast<void>(write_slots_csv(problem, slots)), InvariantViolation);
}

TEST(PackingCsv, NumbersBuffersWithoutNames) {
  PackingProblem problem = two_buffers();
  problem.names = {};
  EXPECT_EQ(write_packing_csv(problem),
            "id,lower,upper,size\n"
            "0,0,3,64\n"
            "1,2,10,128\n");
}

TEST(PackingCsv, WritesOnlyAHeaderForNoBuffers) {
  EXPECT_EQ(write_packing_csv(PackingProblem()), "id,lower,upper,size\n");
}

TEST(PackingCsv, RefusesWhatTheFormatCannotHold) {
  for (const std::string& name : {std::string(), std::string("a,b"), std::string("a\nb"), std::string("a\0b", 3)}) {
    PackingProblem problem = two_buffers();
    problem.names = {"a", name};
    EXPECT_THROW((void)write_packing_csv(problem), InvariantViolation);
  }
  PackingProblem problem = two_buffers();
  problem.buffers[PackingId(0)].lifespan.begin = -1;
  EXPECT_THROW((void)write_packing_csv(problem), InvariantViolation);
  EXPECT_THROW((void)write_packing_csv(two_buffers(), {}), InvariantViolation);
}

PackingBuffer random_buffer(Random& random) {
  PackingBuffer buffer;
  buffer.lifespan.begin = random.between(0, 1000);
  buffer.lifespan.end = buffer.lifespan.begin + random.between(20, std::int64_t{1} << 50);
  buffer.size = Bytes(random.between(0, std::int64_t{1} << 40));
  if (random.chance(30)) buffer.alignment = Bytes(std::int64_t{1} << random.below(31));
  if (random.chance(30)) buffer.fixed_offset = Offset(buffer.alignment.count() * random.between(0, 1000));
  for (std::int64_t at = buffer.lifespan.begin; random.chance(40) && at + 4 < buffer.lifespan.begin + 20; at += 4) {
    buffer.gaps.push_back({at, at + random.between(1, 4)});
  }
  return buffer;
}

TEST(PackingCsv, IsReadBack) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    PackingProblem problem;
    const std::int64_t count = random.between(0, 12);
    for (std::int64_t at = 0; at < count; ++at) {
      problem.buffers.push_back(random_buffer(random));
      problem.names.push_back("conv_" + std::to_string(at) + "/out:\xC3\xA9 \"x\"");
    }
    const std::string text = write_packing_csv(problem);
    const Result<PackingProblem> read = parse_packing(text);
    ASSERT_TRUE(read.ok()) << read.error().describe() << "\n" << text;
    EXPECT_EQ(read->buffers, problem.buffers) << text;
    EXPECT_EQ(read->names, problem.names);
  }
}

}  // namespace
}  // namespace lowtide
