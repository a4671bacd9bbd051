// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/synchronize/barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using ::testing::ElementsAre;

// A program with a step per entry, on the stream that the entry gives.
Program program_on(const std::vector<std::uint32_t>& streams, std::uint32_t count) {
  Program program;
  program.streams = IdVector<StreamId, Stream>(count, Stream{.worker = WorkerId(0), .link = std::nullopt});
  for (std::uint32_t stream : streams) {
    const NodeId node(static_cast<std::uint32_t>(program.steps.size()));
    program.steps.push_back({.work = Compute{node, KernelId(0)}, .stream = StreamId(stream)});
  }
  return program;
}

// The positions of the steps that each step waits for.
std::vector<std::vector<std::uint32_t>> waits_of(Program program, const std::vector<std::uint32_t>& wave) {
  const Result<Program> made = with_barriers(std::move(program), wave);
  EXPECT_TRUE(made.ok());
  std::vector<std::vector<std::uint32_t>> waits;
  for (const Step& step : made->steps) {
    std::vector<std::uint32_t>& own = waits.emplace_back();
    for (StepId before : step.after) own.push_back(before.value());
  }
  return waits;
}

//   wave       0    1    2
//   stream 0 | 0  | 2  | 4 |     step 2 follows step 0 on its stream, so it waits only for step 1
//   stream 1 | 1  | 3  |
TEST(Barriers, StepsWaitForThePreviousWaveOnOtherStreams) {
  EXPECT_THAT(waits_of(program_on({0, 1, 0, 1, 0}, 2), {0, 0, 1, 1, 2}),
              ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(1), ElementsAre(0), ElementsAre(3)));
}

// Step 2 is an alias, alone in its wave. Step 3 follows it on its stream, and step 4 waits for it.
TEST(Barriers, AWaveOfOneStepSeparatesItsNeighbours) {
  EXPECT_THAT(waits_of(program_on({0, 1, 0, 0, 1}, 2), {0, 0, 1, 2, 2}),
              ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(1), ElementsAre(), ElementsAre(2)));
}

// Steps 1 and 2 are copies. The first one waits for step 0 on the other stream; the second follows on the same stream.
TEST(Barriers, EachCopyAtTheEndIsAWave) {
  EXPECT_THAT(waits_of(program_on({0, 1, 1}, 2), {0}), ElementsAre(ElementsAre(), ElementsAre(0), ElementsAre()));
}

TEST(Barriers, EarlierWaitsAreReplaced) {
  Program program = program_on({0, 1, 1}, 2);
  program.steps[StepId(2)].after = {StepId(0)};
  EXPECT_THAT(waits_of(std::move(program), {0, 1, 2}), ElementsAre(ElementsAre(), ElementsAre(0), ElementsAre()));
}

// Two waves of 1,024 steps need 1,024 x 1,023 waits, and the limit is 2^25. The error counts pairs on one stream too.
TEST(Barriers, TooManyWaitsAreRefused) {
  for (const std::uint32_t waves : {12U, 34U}) {
    std::vector<std::uint32_t> streams;
    std::vector<std::uint32_t> wave;
    for (std::uint32_t at = 0; at < waves * 1024; ++at) {
      streams.push_back(at % 1024);
      wave.push_back(at / 1024);
    }
    const Result<Program> made = with_barriers(program_on(streams, 1024), wave);
    ASSERT_EQ(made.ok(), waves == 12) << waves;
    if (made.ok()) continue;
    EXPECT_EQ(made.error().code, ErrorCode::over_limit);
    EXPECT_EQ(made.error().message,
              "barriers between waves on 1024 streams need 34603008 waits, more than the limit of 33554432 "
              "(kMostBarrierWaits); use fewer streams");
  }
}

}  // namespace
}  // namespace lowtide
