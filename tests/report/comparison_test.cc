// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string shown(const Comparison& comparison) {
  const ModelFacts model{.path = "m.onnx", .format = "onnx", .sha256 = "0123456789abcdef", .nodes = 3, .tensors = 4};
  return comparison_summary(model, comparison).render(false);
}

// ONNX Runtime with these bytes after two runs.
RuntimeComparison runtime(std::int64_t bytes) { return {.lines = {{.second_run = Bytes(bytes)}}}; }

TEST(Comparison, NamesThePlannersThatNeedLess) {
  const std::string text = shown({.arena = Bytes(100),
                                  .bound = Bytes(80),
                                  .lines = {{.name = "less", .run_order = "sequence", .bytes = Bytes(90)},
                                            {.name = "more", .run_order = "waves", .bytes = Bytes(250)}},
                                  .onnxruntime = runtime(100)});
  EXPECT_THAT(text, HasSubstr("bound 80 B"));
  EXPECT_THAT(text, HasSubstr("0.90x"));
  EXPECT_THAT(text, HasSubstr("2.50x"));
  EXPECT_THAT(text, HasSubstr("These need less than Lowtide: less\n"));
  EXPECT_THAT(text, Not(HasSubstr("No other planner")));
}

TEST(Comparison, ShowsWhyThereIsNoResult) {
  const std::string text = shown({.arena = Bytes(100),
                                  .bound = Bytes(100),
                                  .is_proven = true,
                                  .lines = {{.name = "large", .refusal = "too many nodes"}},
                                  .onnxruntime = {.refusal = "too many bytes"}});
  EXPECT_THAT(text, HasSubstr("too many nodes"));
  EXPECT_THAT(text, HasSubstr("too many bytes"));
  EXPECT_THAT(text, Not(HasSubstr("Where the bytes")));
  EXPECT_THAT(text, HasSubstr("proven optimal"));
  EXPECT_THAT(text, HasSubstr("No other planner needs less than Lowtide."));
}

TEST(Comparison, ShowsNoFactorForAModelWithoutBytes) {
  const std::string text = shown({.lines = {{.name = "some", .bytes = Bytes(64)}}, .onnxruntime = runtime(64)});
  EXPECT_THAT(text, HasSubstr("some"));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(Comparison, SaysWhereTheBytesOfOnnxRuntimeComeFrom) {
  const RuntimeComparison runtime = {
      .in_its_order = Bytes(1'500),
      .live = Bytes(4'000),
      .scratch = Bytes(64),
      .peak_node = {.name = "c", .op = "Conv"},
      .pattern = Bytes(3'500),
      .lines = {{.extend_strategy = "kNextPowerOfTwo", .first_run = Bytes(3'000), .second_run = Bytes(9'000)},
                {.has_arena = false, .has_pattern = false, .first_run = Bytes(4'000), .second_run = Bytes(4'001)}}};
  const std::string text = shown({.arena = Bytes(1'000), .bound = Bytes(900), .onnxruntime = runtime});
  EXPECT_THAT(text, HasSubstr("   1,000 B  Lowtide's arena\n"
                              "    +500 B  another order of the nodes\n"
                              "  +2,500 B  other rules for sharing: 4,000 B are live at once at Conv c, 64 B of them "
                              "scratch\n"
                              "  -1,000 B  the sizes of the arena's segments\n"
                              "  +6,000 B  the memory pattern: from the second run on, one block of 3,500 B\n"
                              "   9,000 B  ONNX Runtime after two runs\n"));
  EXPECT_THAT(text,
              HasSubstr("kNextPowerOfTwo                                                 3,000 B         9,000 B"));
  EXPECT_THAT(text,
              HasSubstr("enable_cpu_mem_arena = false, enable_mem_pattern = false        4,000 B         4,001 B"));
  EXPECT_THAT(text, HasSubstr("onnxruntime  9,000 B       9.00x"));
}

TEST(Comparison, OnnxRuntimeMayNeedLessThanLowtide) {
  const std::string text = shown({.arena = Bytes(100), .bound = Bytes(80), .onnxruntime = runtime(90)});
  EXPECT_THAT(text, HasSubstr("These need less than Lowtide: onnxruntime\n"));
}

}  // namespace
}  // namespace lowtide
