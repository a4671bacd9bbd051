// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/load_time.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/engine/load_jobs.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"

namespace lowtide::engine_internal {
namespace {

bool is_inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  const std::less_equal<> is_at_most;
  return !part.empty() && is_at_most(whole.data(), part.data()) &&
         is_at_most(part.data() + part.size(), whole.data() + whole.size());
}

Error refused(Bytes size, const char* what) {
  return Error{ErrorCode::no_memory, "the system has no " + format_bytes(size) + " for " + what, ""};
}

// Runs the jobs of load-time work.
class LoadTimeRun {
 public:
  LoadTimeRun(const Graph& load, std::uint32_t first, const std::shared_ptr<ModelWeights>& weights,
              const LoadTimeOptions& options)
      : load_(load), first_(first), weights_(weights), options_(options), graphs_(load) {}

  Result<Bytes> run(const std::vector<ConstantId>& kept) {
    LOWTIDE_RETURN_IF_ERROR(check_memory());
    const std::vector<LoadJob> jobs = load_jobs(load_, options_.small_jobs);
    last_reader_ = IdVector<ConstantId, const LoadJob*>(weights_->table().sources.size(), nullptr);
    for (const LoadJob& job : jobs) {
      for (ConstantId id : read_by(job)) last_reader_[id] = &job;
    }
    for (ConstantId id : kept) last_reader_[id] = nullptr;
    Bytes most;
    for (const LoadJob& job : jobs) {
      LOWTIDE_TRY(const Bytes arena, run_job(job));
      most = std::max(most, arena);
    }
    return most;
  }

 private:
  // Jobs take their memory one after another, so the system could end the process before it refuses any of it.
  Result<void> check_memory() const {
    Bytes sum;
    for (TensorId id : load_.outputs()) sum += load_.tensor(id).size;
    if (OwnedBytes::allocate(sum)) return {};
    return refused(sum, "the results of load-time work");
  }

  [[nodiscard]] std::vector<ConstantId> read_by(const LoadJob& job) const {
    std::vector<ConstantId> constants;
    for (NodeId node : job.nodes) {
      for (TensorId id : load_.reads(node)) {
        const std::optional<ConstantId>& constant = load_.tensor(id).constant;
        if (constant && weights_->table().sources.contains(*constant)) constants.push_back(*constant);
      }
    }
    return constants;
  }

  // Returns the arena of the job.
  Result<Bytes> run_job(const LoadJob& job) {
    const std::vector<ConstantId> constants = read_by(job);
    for (ConstantId id : constants) LOWTIDE_RETURN_IF_ERROR(weights_->hold(id));
    LOWTIDE_TRY(LoadJobGraph made, graphs_.graph_of(job));
    Result<Plan> plan = plan_load_time(made.graph, options_.cpu);
    if (!plan) return plan.error();
    LOWTIDE_TRY(std::shared_ptr<const Executable> executable,
                Executable::prepare(std::move(made.graph), *std::move(plan), weights_,
                                    {.threads = options_.cpu.threads, .system_threads = options_.system_threads}));
    const Bytes size = executable->required_bytes();
    std::optional<OwnedBytes> memory = OwnedBytes::allocate(size);
    if (!memory) return refused(size, "an arena of load-time work");
    {
      LOWTIDE_TRY(Arena arena, Arena::of_caller(memory->bytes()));
      LOWTIDE_TRY(Session session, Session::open(executable, arena, {.touch = false}));
      const RunResult result = session.run();
      if (!result.ok()) return describe(*executable, result);
      LOWTIDE_RETURN_IF_ERROR(take_results(session, made.results, *std::move(memory)));
    }
    for (ConstantId id : constants) {
      if (last_reader_[id] == &job) weights_->release(id);
    }
    return size;
  }

  // A result without bytes is outside of the arena.
  Result<void> take_results(const Session& session, const std::vector<std::size_t>& results, OwnedBytes memory) {
    std::vector<ComputedPlace> in_arena;
    for (std::size_t at = 0; at < results.size(); ++at) {
      const ConstantId id(first_ + static_cast<std::uint32_t>(results[at]));
      const std::span<const std::byte> bytes = session.output(at).bytes;
      if (is_inside(bytes, memory.bytes())) {
        in_arena.push_back({id, static_cast<std::size_t>(bytes.data() - memory.bytes().data())});
      } else {
        LOWTIDE_RETURN_IF_ERROR(weights_->set_computed(id, bytes));
      }
    }
    weights_->adopt_computed(std::move(memory), in_arena);
    return {};
  }

  const Graph& load_;
  const std::uint32_t first_;
  const std::shared_ptr<ModelWeights>& weights_;
  const LoadTimeOptions& options_;
  const LoadJobGraphs graphs_;
  IdVector<ConstantId, const LoadJob*> last_reader_;  // nullptr: the bytes are needed after all jobs
};

}  // namespace

Result<Plan> plan_load_time(const Graph& load, const CpuOptions& cpu) {
  Result<Target> target = cpu_target(cpu);
  if (!target) return target.error();
  PlanOptions options{.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  options.skip = {PlanStage::refine, PlanStage::check_bound};
  LOWTIDE_TRY(PlannedGraph planned, plan_graph(load, *target, options));
  LOWTIDE_CHECK(planned.violations.empty(), "a plan of load-time work is correct");
  return std::move(planned.plan);
}

void add_computed(const Graph& load, ConstantTable& table) {
  for (TensorId id : load.outputs()) {
    const Tensor& tensor = load.tensor(id);
    table.sources.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.size, ConstantSource::Computed{}});
  }
}

std::vector<ConstantId> constants_of(const Graph& graph) {
  std::vector<ConstantId> constants;
  std::vector<const Graph*> graphs = {&graph};
  while (!graphs.empty()) {
    const Graph& one = *graphs.back();
    graphs.pop_back();
    for (const Tensor& tensor : one.tensors()) {
      if (tensor.constant) constants.push_back(*tensor.constant);
    }
    for (const Node& node : one.nodes()) {
      for (const Body& body : node.bodies) graphs.push_back(body.graph.get());
    }
  }
  std::ranges::sort(constants);
  const auto repeated = std::ranges::unique(constants);
  constants.erase(repeated.begin(), repeated.end());
  return constants;
}

Result<Bytes> run_load_time(const Graph& load, std::uint32_t first, const std::shared_ptr<ModelWeights>& weights,
                            const std::vector<ConstantId>& kept, const LoadTimeOptions& options) {
  if (load.nodes().empty()) return Bytes(0);
  return LoadTimeRun(load, first, weights, options).run(kept);
}

}  // namespace lowtide::engine_internal
