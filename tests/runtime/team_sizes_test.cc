// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/prepare/prepared.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using testing::graph_of;
using testing::must_open;
using testing::plan_for;
using testing::ref;
using testing::values_of;
using testing::weights_for;

// Large kernels beside each other: products, a convolution, a softmax, pools and copies.
constexpr const char* kTeamGraph = R"(graph "g" {
  input x : f32[1,24,40,40]
  input w : f32[32,24,3,3]
  input m : f32[1600,96]
  constant rows : i64[2] = [56, 1600]
  a = Conv(x, w) {pads = [1, 1, 1, 1]} : f32[1,32,40,40]
  b = AveragePool(x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : f32[1,24,40,40]
  c = Transpose(x) {perm = [0, 2, 3, 1]} : f32[1,40,40,24]
  d = Concat(a, b) {axis = 1} : f32[1,56,40,40]
  e = Reshape(d, rows) : f32[56,1600]
  f = MatMul(e, m) : f32[56,96]
  g = Softmax(f) {axis = 1} : f32[56,96]
  h = ReduceMean(c) {axes = [1, 2], keepdims = 0} : f32[1,24]
  k = Mul(a, a) : f32[1,32,40,40]
  output g, h, k
})";

std::vector<float> team_numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 8) / 8388608.0F - 1;
  return values;
}

struct LargeInputs {
  std::vector<float> x = team_numbers(24 * 1600, 1);
  std::vector<float> w = team_numbers(32 * 24 * 9, 2);
  std::vector<float> m = team_numbers(std::size_t{1600} * 96, 3);
  std::array<std::int64_t, 4> of_x{1, 24, 40, 40};
  std::array<std::int64_t, 4> of_w{32, 24, 3, 3};
  std::array<std::int64_t, 2> of_m{1600, 96};

  [[nodiscard]] std::vector<TensorRef> refs() const { return {ref(x, of_x), ref(w, of_w), ref(m, of_m)}; }
};

std::vector<std::vector<float>> outputs_of(const std::shared_ptr<const Executable>& executable,
                                           const LargeInputs& inputs) {
  Session session = must_open(executable);
  const std::vector<TensorRef> refs = inputs.refs();
  for (std::size_t at = 0; at < refs.size(); ++at) {
    EXPECT_TRUE(session.bind_input(executable->inputs()[at].name, refs[at]).ok());
  }
  std::vector<std::vector<float>> outputs;
  for (int run = 0; run < 3; ++run) {
    outputs.clear();
    EXPECT_TRUE(session.run().ok());
    for (std::size_t at = 0; at < 3; ++at) outputs.push_back(values_of(session.output(at)));
  }
  return outputs;
}

// Each number of threads has a plan of its own, because scratch depends on it. As many or fewer threads of the system
// run the shares.
TEST(TeamSizes, EachNumberGivesTheSameBitsWithinItsPlan) {
  const LargeInputs inputs;
  const Graph graph = graph_of(kTeamGraph);
  std::vector<std::vector<float>> expected;
  for (const auto& [threads, of_system] : {std::pair(1, 1), {2, 2}, {3, 3}, {4, 4}, {8, 8}, {8, 3}, {8, 2}, {8, 1}}) {
    for (const ExecutionModel run : {ExecutionModel::sequence, ExecutionModel::streams, ExecutionModel::waves}) {
      PlanOptions options{.run = run, .arena_slack_percent = 1000};
      if (run != ExecutionModel::sequence) options.streams = 3;
      Plan plan = plan_for(graph, options, threads);
      EXPECT_EQ(threads_of(plan.provenance.machine_key), threads);
      const auto executable = *Executable::prepare(graph, std::move(plan), weights_for(),
                                                   {.threads = threads, .system_threads = of_system});
      SCOPED_TRACE(std::to_string(threads) + " on " + std::to_string(of_system) + ", " + std::string(to_string(run)));
      const std::vector<std::vector<float>> outputs = outputs_of(executable, inputs);
      if (expected.empty()) expected = outputs;
      EXPECT_EQ(outputs, expected);
      for (const auto& inspection : {run_poisoned(*executable, inputs.refs()), run_guarded(*executable, inputs.refs()),
                                     compare_without_reuse(*executable, inputs.refs())}) {
        ASSERT_TRUE(inspection.ok());
        EXPECT_EQ(inspection->fault, std::nullopt);
      }
    }
  }
}

// By default, an executable starts no more threads than there are processors, so that none waits for a processor that
// another one of them has.
TEST(TeamSizes, StartNoMoreThreadsThanProcessors) {
  const Graph graph = graph_of(kTeamGraph);
  const auto executable = *Executable::prepare(graph, plan_for(graph, {}, 8), weights_for(), {.threads = 8});
  const runtime_internal::Prepared& prepared = executable->prepared();
  EXPECT_EQ(prepared.system_threads, std::min(8, runtime_internal::processors_of_thread()));
  EXPECT_EQ(prepared.workers == nullptr, prepared.system_threads == 1);
}

// A plan that was made for other caches keeps its tiles, its scratch and its bits.
TEST(TeamSizes, PlansForOtherCachesRunHere) {
  const LargeInputs inputs;
  const Graph graph = graph_of(kTeamGraph);
  std::vector<std::vector<float>> expected;
  for (const CacheSizes& caches : {CacheSizes(), CacheSizes{Bytes(8 * 1024), Bytes(128 * 1024)}}) {
    Result<PlannedGraph> planned = plan_graph(graph, *cpu_target({.threads = 3, .caches = caches}));
    ASSERT_TRUE(planned.ok());
    EXPECT_EQ(planned->plan.provenance.machine_key[0], "caches=" + to_text(caches));
    const auto executable = Executable::prepare(graph, std::move(planned->plan), weights_for(), {.threads = 3});
    ASSERT_TRUE(executable.ok()) << executable.error().describe();
    const std::vector<std::vector<float>> outputs = outputs_of(*executable, inputs);
    if (expected.empty()) expected = outputs;
    EXPECT_EQ(outputs, expected);
  }
}

}  // namespace
}  // namespace lowtide
