// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lowtide::c_writer_internal {
namespace {

using testing::ElementsAre;

CTensor tensor(const std::string& name, std::int64_t size, std::int64_t offset, Interval<std::int64_t> lifespan) {
  return {.name = name, .shape = {size}, .size = Bytes(size), .offset = Offset(offset), .lifespan = lifespan};
}

TEST(ArenaDrawing, ShowsTensorsByOffsetAndCall) {
  CProgram program{.arena = Bytes(48)};
  program.tensors = {tensor("x", 16, 0, {0, 1}), tensor("y", 32, 16, {0, 3}), tensor("z", 16, 0, {2, 3})};
  program.calls.resize(3);
  EXPECT_THAT(drawing_of(program), ElementsAre("  32 |BBB|",  //
                                               "  16 |BBB|",  //
                                               "   0 |A C|",  //
                                               "     +---+", "",
                                               "A  16 B at 0, calls 0 to 0: x",   //
                                               "B  32 B at 16, calls 0 to 2: y",  //
                                               "C  16 B at 0, calls 2 to 2: z"));
}

TEST(ArenaDrawing, IsSmallForLargePrograms) {
  CProgram program{.arena = Bytes(1'000'000'000)};
  program.calls.resize(10'000);
  for (std::int64_t at = 0; at < 300; ++at) program.tensors.push_back(tensor("t", 100'000, at * 100'000, {at, at + 2}));
  const std::vector<std::string> lines = drawing_of(program);
  EXPECT_LE(lines.size(), 90U);
  EXPECT_EQ(lines.back(), "#  238 more tensors");
  EXPECT_TRUE(std::ranges::all_of(lines, [](const std::string& line) { return line.size() < 100; }));
}

TEST(ArenaDrawing, OfNothingIsEmpty) { EXPECT_EQ(drawing_of(CProgram()).front(), "   0 | |"); }

}  // namespace
}  // namespace lowtide::c_writer_internal
