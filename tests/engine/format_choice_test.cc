// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/engine/lower_for_machine.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/plan_graph.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::Contains;
using testing::graph_of;
using ::testing::Not;

// Each image has 17 x 16 x 16 elements, or 17,408 bytes. In blocks of 8 or 16 channels it has 24 or 32 of them.
constexpr const char* kPadded = R"(graph "padded" {
  input x : f32[1,17,16,16]
  constant w0 : f32[17,17,1,1]
  constant w1 : f32[17,17,1,1]
  constant w2 : f32[17,17,1,1]
  a = Conv(x, w0) : f32[1,17,16,16]
  b = Conv(a, w1) : f32[1,17,16,16]
  y = Conv(b, w2) : f32[1,17,16,16]
  output y
})";

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

std::vector<std::string> passes_of(const FormatChoice& choice) {
  return must(lower_for_machine(graph_of(kPadded), options_for_kernels(must(cpu_target()).formats), choice)).passes;
}

// The smallest budget of a graph: no plan of this chain needs less than its arena, which the caller's input is beside.
Bytes need_of(bool formats) {
  LowerOptions options = options_for_kernels(must(cpu_target()).formats);
  options.formats = formats;
  const Lowered lowered = must(lower(graph_of(kPadded), options));
  const PlannedGraph planned = must(plan_graph(lowered.graph, must(cpu_target()), {}));
  EXPECT_EQ(best_bound(planned.plan.claims, BoundScope::all_plans)->bytes, arena_bytes(planned.plan));
  return arena_bytes(planned.plan) + planned.caller;
}

TEST(FormatChoice, LeavesFormatsOutUnderABudget) {
  const Bytes padded = need_of(true);
  const Bytes plain = need_of(false);
  ASSERT_LT(plain, padded);
  EXPECT_THAT(passes_of({}), Contains("formats"));
  for (bool has_link : {false, true}) {
    EXPECT_THAT(passes_of({.budget = padded, .has_link = has_link}), Contains("formats")) << has_link;
    EXPECT_THAT(passes_of({.budget = plain, .has_link = has_link}), Not(Contains("formats"))) << has_link;
    EXPECT_THAT(passes_of({.budget = padded - Bytes(1), .has_link = has_link}), Not(Contains("formats"))) << has_link;
  }
}

// The 65,536 numbers of b and y have 131,072 bytes each on f16, and twice as many on f32. The product computes on f32.
constexpr const char* kCopied = R"(graph "copied" {
  input x : f16[1,64]
  constant s : i64[2] = [1024, 64]
  constant w : f16[64,64]
  a = MatMul(x, w) : f16[1,64]
  b = Expand(a, s) : f16[1024,64]
  y = Neg(b) : f16[1024,64]
  output y
})";

TEST(FormatChoice, LeavesHalvesOutUnderABudget) {
  LowerOptions options = options_for_kernels(must(cpu_target()).formats);
  const auto need = [&] {
    const Lowered lowered = must(lower(graph_of(kCopied), options));
    const PlannedGraph planned = must(plan_graph(lowered.graph, must(cpu_target()), {}));
    return arena_bytes(planned.plan) + planned.caller;
  };
  const auto passes = [&](const FormatChoice& choice) {
    return must(lower_for_machine(graph_of(kCopied), options_for_kernels(must(cpu_target()).formats), choice)).passes;
  };
  const Bytes wide = need();
  options.halves = false;
  const Bytes narrow = need();
  ASSERT_LT(narrow, wide);
  EXPECT_THAT(passes({}), Contains("halves"));
  EXPECT_THAT(passes({.budget = wide}), Contains("halves"));
  EXPECT_THAT(passes({.budget = wide - Bytes(1)}), Not(Contains("halves")));
  EXPECT_THAT(passes({.budget = narrow}), Not(Contains("halves")));
}

// 16 squares of 64 channels. Even with its least scratch, Winograd's algorithm needs several times the 16,384 bytes of
// each image.
constexpr const char* kWindow = R"(graph "window" {
  input x : f32[1,64,8,8]
  constant w : f32[64,64,3,3]
  y = Conv(x, w) {pads = [1,1,1,1]} : f32[1,64,8,8]
  output y
})";

TEST(FormatChoice, LeavesWinogradOutUnderABudget) {
  LowerOptions options = options_for_kernels(must(cpu_target()).formats);
  const auto need = [&] {
    const Lowered lowered = must(lower(graph_of(kWindow), options));
    const PlannedGraph planned = must(plan_graph(lowered.graph, must(cpu_target()), {}));
    return arena_bytes(planned.plan) + planned.caller;
  };
  const auto passes = [&](const FormatChoice& choice) {
    return must(lower_for_machine(graph_of(kWindow), options_for_kernels(must(cpu_target()).formats), choice)).passes;
  };
  const Bytes fast = need();
  options.winograd = false;
  const Bytes without = need();
  ASSERT_LT(without, fast);
  EXPECT_THAT(passes({}), Contains("winograd"));
  EXPECT_THAT(passes({.budget = fast}), Contains("winograd"));
  EXPECT_THAT(passes({.budget = fast - Bytes(1)}), Contains("winograd")) << "there is a kernel with less scratch";
  EXPECT_THAT(passes({.budget = without}), Contains("formats"));
  EXPECT_THAT(passes({.budget = without}), Not(Contains("winograd")));
}

}  // namespace
}  // namespace lowtide
