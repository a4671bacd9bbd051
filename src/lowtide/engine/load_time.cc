// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/load_time.h"

#include <utility>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"

namespace lowtide::engine_internal {
Result<Plan> plan_load_time(const Graph& load, const CpuOptions& cpu) {
  Result<Target> target = cpu_target(cpu);
  if (!target) return target.error();
  PlanOptions options{.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  options.skip = {PlanStage::refine, PlanStage::check_bound};
  Result<PlannedGraph> planned = plan_graph(load, *target, options);
  if (!planned) return planned.error();
  LOWTIDE_CHECK(planned->violations.empty(), "a plan of load-time work is correct");
  return std::move(planned->plan);
}

void add_computed(const Graph& load, ConstantTable& table) {
  for (TensorId id : load.outputs()) {
    const Tensor& tensor = load.tensor(id);
    table.sources.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.size, ConstantSource::Computed{}});
  }
}

Result<Bytes> run_load_time(const Graph& load, std::uint32_t first, const std::shared_ptr<ModelWeights>& weights,
                            const CpuOptions& cpu) {
  if (load.nodes().empty()) return Bytes(0);
  Result<Plan> plan = plan_load_time(load, cpu);
  if (!plan) return plan.error();
  Result<std::shared_ptr<const Executable>> executable =
      Executable::prepare(load, *std::move(plan), weights, {.threads = cpu.threads});
  if (!executable) return executable.error();
  Result<Arena> arena = Arena::allocate((*executable)->required_bytes());
  if (!arena) return arena.error();
  Result<Session> session = Session::open(*executable, *arena, {.touch = false});
  if (!session) return session.error();
  const RunResult result = session->run();
  if (!result.ok()) return describe(**executable, result);
  for (std::size_t at = 0; at < load.outputs().size(); ++at) {
    LOWTIDE_RETURN_IF_ERROR(
        weights->set_computed(ConstantId(first + static_cast<std::uint32_t>(at)), session->output(at).bytes));
  }
  for (const Tensor& tensor : load.tensors()) {
    if (tensor.constant) weights->drop(*tensor.constant);
  }
  return (*executable)->required_bytes();
}

}  // namespace lowtide::engine_internal
