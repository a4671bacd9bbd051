// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Runs a model by random plans, and compares the results bit for bit.
//
//   random_plans MODEL COUNT [INPUT=AxBxC...]
//
// The plans are by turns for one stream, for several streams and for waves. Each has a random strategy for its order,
// random kinds of sharing, and random offsets with gaps. The verifier checks it. There is one for one thread, and one
// for 2, 3, 4 or 8, where kernels are delayed at random. These threads are there even if the machine has fewer
// processors. Every value must be equal to that of a run without reuse, and every
// output of every run to that of the first plan. The inputs are the files input_0.npy and so on beside the model.
// Inputs and constants without a file are synthetic. Exits with 1 if anything differs.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/engine/engine.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/synchronize/waits.h"
#include "lowtide/verify/verify.h"
#include "tests/tools/model_case.h"

namespace lowtide {
namespace {

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().describe());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Moves every buffer to the first free place above a random offset, in a random order.
void scatter(const Graph& graph, Plan& plan, Random& random) {
  IdVector<BufferId, Buffer>& buffers = plan.layout.buffers;
  std::vector<BufferId> order;
  for (BufferId id : all_ids<BufferId>(buffers.size())) {
    if (buffers[id].placement) order.push_back(id);
  }
  for (std::size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  const auto are_together = [&](BufferId one, BufferId other) {
    return buffers[one].lifespan.overlaps(buffers[other].lifespan) || plan.program.steps.empty();
  };
  std::vector<BufferId> placed;
  Bytes end;
  for (BufferId id : order) {
    Offset offset(static_cast<std::int64_t>(random.below(8)) * plan.machine.regions[0].alignment.count());
    std::ranges::sort(placed, {}, [&](BufferId other) { return buffers[other].placement->offset; });
    for (BufferId other : placed) {
      const Offset begin = buffers[other].placement->offset;
      if (!are_together(id, other) || begin + buffers[other].size <= offset || offset + buffers[id].size <= begin)
        continue;
      offset = begin + buffers[other].size;
    }
    buffers[id].placement->offset = offset;
    placed.push_back(id);
    end = std::max(end, Bytes((offset + buffers[id].size).position()));
  }
  plan.layout.arena[0] = end;
  if (plan.execution == ExecutionModel::streams) plan.program = with_waits(graph, std::move(plan.program), plan.layout);
  plan.claims.allocate = "random";
  plan.claims.allocate_optimal = end == plan.claims.load;
}

// Kernels may need other scratch on several threads, so a plan is for one number of threads.
Plan random_plan(const Graph& graph, ExecutionModel run, int threads, Random random) {
  const std::vector<std::string>& strategies = schedule_strategies();
  PlanOptions options{.order = strategies[random.below(strategies.size())],
                      .views = random.chance(75),
                      .parts = random.chance(50),
                      .in_place = random.chance(75),
                      .order_effort = 0,
                      .allocate_effort = 0};
  if (run != ExecutionModel::sequence) {
    options.run = run;
    options.streams = static_cast<std::uint32_t>(2 + random.below(3));
    options.arena_slack_percent = static_cast<int>(random.below(300));
  }
  Plan plan = take(plan_graph(graph, take(cpu_target({.threads = threads})), options)).plan;
  scatter(graph, plan, random);
  for (const Violation& violation : verify(graph, plan)) throw std::runtime_error("wrong plan: " + violation.message);
  std::cout << to_string(plan.execution) << " " << options.order << (options.views ? ", views" : "")
            << (options.parts ? ", parts" : "") << (options.in_place ? ", in place" : "") << ", arena "
            << plan.layout.arena[0].count() << "; ";
  return plan;
}

// A kernel that is delayed for a short time before each run.
class DelayedKernel final : public PreparedKernel {
 public:
  explicit DelayedKernel(std::unique_ptr<PreparedKernel> kernel) : kernel_(std::move(kernel)) {}
  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(sizeof(Bound)) + kernel_->bound_bytes(); }
  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    BoundKernel* inner = kernel_->bind(at + sizeof(Bound), reads, writes, scratch);
    return new (at) Bound{{.run = &Bound::call,
                           .rebind = inner->rebind == nullptr ? nullptr : &Bound::follow,
                           .destroy = inner->destroy == nullptr ? nullptr : &Bound::end},
                          inner};
  }

 private:
  struct alignas(64) Bound : BoundKernel {
    BoundKernel* inner;
    static RunStatus call(BoundKernel* self, Team& team) {
      static std::atomic<std::uint64_t> calls = 0;
      Random random(calls++);
      for (std::atomic<std::uint64_t> left = random.below(4) == 0 ? random.below(20'000) : 0; left > 0;) --left;
      BoundKernel* kernel = static_cast<Bound*>(self)->inner;
      return kernel->run(kernel, team);
    }
    static void follow(BoundKernel* self) {
      BoundKernel* kernel = static_cast<Bound*>(self)->inner;
      kernel->rebind(kernel);
    }
    static void end(BoundKernel* self) {
      BoundKernel* kernel = static_cast<Bound*>(self)->inner;
      kernel->destroy(kernel);
    }
  };
  std::unique_ptr<PreparedKernel> kernel_;
};

std::unique_ptr<PreparedKernel> delayed_kernel(const PrepareInput& input) {
  Result<std::unique_ptr<PreparedKernel>> kernel = prepare(input);
  if (!kernel) return nullptr;
  return std::make_unique<DelayedKernel>(*std::move(kernel));
}

std::vector<std::vector<std::byte>> outputs_of(const std::shared_ptr<const Executable>& executable,
                                               const testing::CaseInputs& inputs) {
  const Arena arena = take(Arena::allocate(executable->required_bytes()));
  Session session = take(Session::open(executable, arena));
  for (std::size_t at = 0; at < inputs.tensors.size(); ++at) {
    take(session.bind_input(executable->inputs()[at].name, inputs.tensors[at]));
  }
  const RunResult result = session.run();
  if (!result.ok()) throw std::runtime_error(describe(*executable, result).describe());
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t at = 0; at < executable->outputs().size(); ++at) {
    const std::span<const std::byte> bytes = session.output(at).bytes;
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

int run(const std::vector<std::string>& words) {
  OpenOptions options;
  options.synthetic_seed = 1;
  options.plan = {.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  for (std::size_t at = 2; at < words.size(); ++at) {
    const std::size_t equal = words[at].find('=');
    std::vector<std::int64_t> extents;
    for (std::size_t begin = equal + 1; begin != 0; begin = words[at].find('x', begin) + 1) {
      extents.push_back(std::stoll(words[at].substr(begin)));
    }
    options.import.shapes[words[at].substr(0, equal)] = extents;
  }
  const OpenedModel model = take(open_model(words[0], options));
  const testing::CaseInputs inputs = testing::case_inputs(words[0], *model.executable);
  const auto expected = outputs_of(model.executable, inputs);
  constexpr std::array kModels{ExecutionModel::sequence, ExecutionModel::streams, ExecutionModel::waves};
  constexpr std::array kThreads{2, 3, 4, 8};
  for (std::size_t seed = 0; seed < std::stoul(words[1]); ++seed) {
    const Graph& graph = model.executable->graph();
    std::optional<std::string> fault;
    for (const int threads : {1, kThreads[seed % kThreads.size()]}) {
      if (fault) break;
      const Plan plan = random_plan(graph, kModels[seed % kModels.size()], threads, Random(seed));
      ExecutableOptions with{.threads = threads, .system_threads = threads};
      if (threads > 1) with.own_kernel = delayed_kernel;
      const auto executable = take(Executable::prepare(graph, plan, model.executable->shared_weights(), with));
      fault = take(compare_without_reuse(*executable, inputs.tensors)).fault;
      for (int at = 0; at < 3 && !fault; ++at) {
        if (outputs_of(executable, inputs) != expected) fault = "an output differs from that of another plan";
      }
    }
    std::cout << fault.value_or("equal") << std::endl;
    if (fault) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace lowtide

int main(int count, char** words) {
  try {
    return lowtide::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    return 1;
  }
}
