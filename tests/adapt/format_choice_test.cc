// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/work_text.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/add_link.h"
#include "lowtide/target/kernel_times.h"
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

// Plans are for the kernels of this machine unless the choice names another target.
std::vector<std::string> passes_of(FormatChoice choice, const char* graph = kPadded) {
  if (choice.target == nullptr) choice.target = std::make_shared<const Target>(must(cpu_target()));
  return must(lower_for_machine(graph_of(graph), options_for_kernels(must(cpu_target()).formats), choice)).passes;
}

// The smallest budget of kPadded: no plan of this chain needs less than its arena, which the caller's input is beside.
Bytes need_of(bool formats) {
  LowerOptions options = options_for_kernels(must(cpu_target()).formats);
  if (!formats) options.passes.erase(PassId::formats);
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
  const auto with_link = std::make_shared<const Target>(
      must(add_link(must(cpu_target()), TransferLink{.bytes_per_second = 12'000'000'000})));
  for (const auto& target : {std::shared_ptr<const Target>(), with_link}) {
    const bool has_link = target != nullptr;
    EXPECT_THAT(passes_of({.budget = BudgetRequest::of(padded), .target = target}), Contains("formats")) << has_link;
    EXPECT_THAT(passes_of({.budget = BudgetRequest::of(plain), .target = target}), Not(Contains("formats")))
        << has_link;
    EXPECT_THAT(passes_of({.budget = BudgetRequest::of(padded - Bytes(1)), .target = target}), Not(Contains("formats")))
        << has_link;
  }
}

// The target with times for the kernels of all graphs of a model: `formats` for each node in the domain of Lowtide, and
// `plain` for the others.
std::shared_ptr<const Target> timed(std::int64_t formats, std::int64_t plain, const char* graph = kPadded) {
  Target target = must(cpu_target());
  KernelTimes times{.machine_key = target.machine_key, .of_work = {}};
  for (const LowerOptions& options : lowerings_for_machine(options_for_kernels(target.formats))) {
    const Lowered lowered = must(lower(graph_of(graph), options));
    for (NodeId id : all_ids<NodeId>(lowered.graph.nodes().size())) {
      const bool is_own = lowered.graph.op(id).domain == kOwnDomain;
      for (const Kernel& kernel : offered_kernels(lowered.graph, id)) {
        times.of_work[work_text(lowered.graph, id)][kernel.name] = {.picoseconds = is_own ? formats : plain,
                                                                    .samples = 1};
      }
    }
  }
  return std::make_shared<const Target>(
      must(with_times(std::move(target), std::make_shared<const KernelTimes>(std::move(times)))));
}

TEST(FormatChoice, FollowsMeasuredCosts) {
  ASSERT_THAT(passes_of({}), Contains("formats"));
  EXPECT_THAT(passes_of({.target = timed(10, 1000), .has_measured_costs = true}), Contains("formats"));
  EXPECT_THAT(passes_of({.target = timed(1000, 10), .has_measured_costs = true}), Not(Contains("formats")));
  // Without times for the nodes, estimates decide, and they do not tell that formats are slower.
  Target target = must(cpu_target());
  const auto empty = std::make_shared<const KernelTimes>(KernelTimes{.machine_key = target.machine_key, .of_work = {}});
  const auto untimed = std::make_shared<const Target>(must(with_times(std::move(target), empty)));
  EXPECT_THAT(passes_of({.target = untimed, .has_measured_costs = true}), Contains("formats"));
}

// The target with a time for the last node of the graph with all passes. It is far longer than the estimates of the
// other graphs.
std::shared_ptr<const Target> partly_timed(const char* graph) {
  Target target = must(cpu_target());
  KernelTimes times{.machine_key = target.machine_key, .of_work = {}};
  const Lowered first = must(lower(graph_of(graph), options_for_kernels(target.formats)));
  const NodeId last(static_cast<std::uint32_t>(first.graph.nodes().size() - 1));
  for (const Kernel& kernel : offered_kernels(first.graph, last)) {
    times.of_work[work_text(first.graph, last)][kernel.name] = {.picoseconds = 1'000'000'000'000, .samples = 1};
  }
  return std::make_shared<const Target>(
      must(with_times(std::move(target), std::make_shared<const KernelTimes>(std::move(times)))));
}

// Times are not compared: the first graph that fits stays, and a smaller one only if it does not fit.
TEST(FormatChoice, DoesNotCompareTimesWithEstimates) {
  const FormatChoice without{.target = partly_timed(kPadded), .has_measured_costs = true};
  EXPECT_THAT(passes_of(without), Contains("formats"));
  FormatChoice choice = without;
  choice.budget = BudgetRequest::of(need_of(true));
  EXPECT_THAT(passes_of(choice), Contains("formats"));
  choice.budget = BudgetRequest::of(need_of(false));
  EXPECT_THAT(passes_of(choice), Not(Contains("formats")));
}

// An image has 15 x 16 x 16 elements, or 15,360 bytes, and 16,384 in blocks; a and b have four times as many. s, a and
// b are live at once: 138,240 bytes, and 147,456 in blocks. If s is made again for y, a and b are enough.
constexpr const char* kRerun = R"(graph "rerun" {
  input x : f32[1,15,16,16]
  constant w0 : f32[15,15,1,1]
  constant w1 : f32[60,15,1,1]
  constant w2 : f32[60,60,1,1]
  constant w3 : f32[15,60,1,1]
  s = Conv(x, w0) : f32[1,15,16,16]
  a = Conv(s, w1) : f32[1,60,16,16]
  b = Conv(a, w2) : f32[1,60,16,16]
  c = Conv(b, w3) : f32[1,15,16,16]
  y = Add(c, s) : f32[1,15,16,16]
  output y
})";

// Within a budget that the graph with formats keeps only with reruns, and the plain one without.
TEST(FormatChoice, WithRerunsDoesNotCompareTimesWithEstimates) {
  FormatChoice choice{.budget = BudgetRequest::of(Bytes(138'240 + 15'360))};  // with x
  ASSERT_THAT(passes_of(choice, kRerun), Contains("formats"));
  choice.has_measured_costs = true;
  choice.target = timed(1000, 10, kRerun);
  EXPECT_THAT(passes_of(choice, kRerun), Not(Contains("formats")));
  choice.target = partly_timed(kRerun);
  EXPECT_THAT(passes_of(choice, kRerun), Contains("formats"));
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
  const auto passes = [](const FormatChoice& choice) { return passes_of(choice, kCopied); };
  const Bytes wide = need();
  options.passes.erase(PassId::halves);
  const Bytes narrow = need();
  ASSERT_LT(narrow, wide);
  EXPECT_THAT(passes({}), Contains("halves"));
  EXPECT_THAT(passes({.budget = BudgetRequest::of(wide)}), Contains("halves"));
  EXPECT_THAT(passes({.budget = BudgetRequest::of(wide - Bytes(1))}), Not(Contains("halves")));
  EXPECT_THAT(passes({.budget = BudgetRequest::of(narrow)}), Not(Contains("halves")));
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
  const auto passes = [](const FormatChoice& choice) { return passes_of(choice, kWindow); };
  const Bytes fast = need();
  options.passes.erase(PassId::winograd);
  const Bytes without = need();
  ASSERT_LT(without, fast);
  EXPECT_THAT(passes({}), Contains("winograd"));
  EXPECT_THAT(passes({.budget = BudgetRequest::of(fast)}), Contains("winograd"));
  EXPECT_THAT(passes({.budget = BudgetRequest::of(fast - Bytes(1))}), Contains("winograd"))
      << "there is a kernel with less scratch";
  EXPECT_THAT(passes({.budget = BudgetRequest::of(without)}), Contains("formats"));
  EXPECT_THAT(passes({.budget = BudgetRequest::of(without)}), Not(Contains("winograd")));
}

// Each tensor has 64 x 64 elements, or 16,384 bytes, and x belongs to the caller. One chain of the three sums reads
// four tensors at once. Three nodes write over one operand each, and need two.
constexpr const char* kSums = R"(graph "sums" {
  input x : f32[64,64]
  a = Softmax(x) {axis = 0} : f32[64,64]
  b = Softmax(x) {axis = 1} : f32[64,64]
  c = LogSoftmax(x) {axis = 0} : f32[64,64]
  d = LogSoftmax(x) {axis = 1} : f32[64,64]
  ab = Add(a, b) : f32[64,64]
  abc = Add(ab, c) : f32[64,64]
  y = Add(abc, d) : f32[64,64]
  output y
})";

TEST(FormatChoice, LeavesChainsOutUnderABudget) {
  const auto passes = [](std::int64_t arena) {
    return passes_of({.budget = BudgetRequest::of(Bytes(arena + 16'384))}, kSums);
  };
  EXPECT_THAT(passes_of({}, kSums), Contains("chains"));
  EXPECT_THAT(passes(4 * 16'384), Contains("chains"));
  EXPECT_THAT(passes(4 * 16'384 - 1), Not(Contains("chains")));
  EXPECT_THAT(passes(2 * 16'384), Not(Contains("chains")));
  EXPECT_THAT(passes(2 * 16'384 - 1), Not(Contains("chains"))) << "nothing fits, and this graph exceeds least";
  // Without times for its kernels, the last graph is nevertheless chosen.
  const FormatChoice untimed{
      .budget = BudgetRequest::of(Bytes(3 * 16'384)), .target = partly_timed(kSums), .has_measured_costs = true};
  EXPECT_THAT(passes_of(untimed, kSums), Not(Contains("chains")));
}

}  // namespace
}  // namespace lowtide
