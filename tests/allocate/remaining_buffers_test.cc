// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/remaining_buffers.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

// Buffer i is live at time i alone, so clique i holds just that buffer. 150 buffers take three words.
IntervalProblem one_buffer_per_clique() {
  PackingProblem problem;
  for (int time = 0; time < 150; ++time) problem.buffers.push_back({.lifespan = {time, time + 1}, .size = Bytes(8)});
  return *interval_problem(compress(problem));
}

std::vector<std::uint32_t> visited(const RemainingBuffers& buffers, std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> out;
  const CliqueSpan span{CliqueId(begin), CliqueId(end)};
  const std::int64_t count =
      buffers.for_each_beginning_in(span, [&](SearchBuffer buffer) { out.push_back(buffer.value()); });
  EXPECT_EQ(count, static_cast<std::int64_t>(out.size()));
  EXPECT_EQ(buffers.count_beginning_in(span), count);
  return out;
}

TEST(RemainingBuffers, VisitsTheBuffersThatBeginInASpan) {
  const RemainingBuffers buffers(one_buffer_per_clique());
  EXPECT_EQ(visited(buffers, 62, 66), (std::vector<std::uint32_t>{62, 63, 64, 65}));
  EXPECT_EQ(visited(buffers, 0, 64).size(), 64U);
  EXPECT_EQ(visited(buffers, 64, 128).size(), 64U);
  EXPECT_EQ(visited(buffers, 1, 150).size(), 149U);
  EXPECT_TRUE(visited(buffers, 64, 64).empty());
}

TEST(RemainingBuffers, SkipsRemovedBuffersUntilTheyAreInserted) {
  RemainingBuffers buffers(one_buffer_per_clique());
  buffers.remove(SearchBuffer(63));
  buffers.remove(SearchBuffer(64));
  EXPECT_EQ(visited(buffers, 62, 66), (std::vector<std::uint32_t>{62, 65}));
  buffers.insert(SearchBuffer(64));
  EXPECT_EQ(visited(buffers, 62, 66), (std::vector<std::uint32_t>{62, 64, 65}));
}

}  // namespace
}  // namespace lowtide::allocate_internal
