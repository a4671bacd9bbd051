// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <new>
#include <vector>

#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/runtime/execute/tensors.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/inspect/probe.h"
#include "lowtide/runtime/inspect/record.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/threads/workers.h"

namespace lowtide {
namespace {

using runtime_internal::AllTables;
using runtime_internal::GraphTables;
using runtime_internal::PreparedGraph;
using runtime_internal::Probe;
using runtime_internal::RunTeam;
using runtime_internal::StepObserver;

void show(GraphTables& tables, ValueId value, const SeeValue& see) {
  const PreparedGraph& in = tables.graph();
  const BoundTensor tensor = tables.bound(value);
  see({.path = in.path,
       .name = in.graph.tensor(in.plan.program.values[value].tensor).name,
       .dtype = tensor.dtype,
       .extents = runtime_internal::extents_of(tensor),
       .bytes = {*tensor.bytes, static_cast<std::size_t>(runtime_internal::bytes_of(tensor))}});
}

// The runtime has nothing to do for an alias step, so it does not report it. Its values are shown before the next step
// that is reported, which may write over them.
class ShowingObserver final : public StepObserver {
 public:
  ShowingObserver(const AllTables& tables, const SeeValue& see) : tables_(tables), see_(see) {
    next_.resize(tables.size());
  }

  void begin(PreparedGraphId graph) override { next_[graph.index()] = StepId(0); }
  void before(const RunPlace& place) override { show_until(place.graph, place.step); }
  [[nodiscard]] bool after(const RunPlace& place) override {
    show_until(place.graph, StepId(place.step.value() + 1));
    return true;
  }
  // Shows the alias steps at the end of the graph of the model.
  void end() {
    show_until(kMainGraph, StepId(static_cast<std::uint32_t>(tables_.front()->graph().plan.program.steps.size())));
  }

 private:
  void show_until(PreparedGraphId graph, StepId end) {
    GraphTables& of = *tables_[graph.index()];
    for (StepId& step = next_[graph.index()]; step < end; step = StepId(step.value() + 1)) {
      for (ValueId value : of.graph().plan.program.steps[step].writes) {
        if (runtime_internal::completes(of.graph(), step, value)) show(of, value, see_);
      }
    }
  }

  const AllTables& tables_;
  const SeeValue& see_;
  std::vector<StepId> next_;  // per graph: the first step that is not shown
};

}  // namespace

Result<void> see_values(const Executable& executable, std::span<const TensorRef> inputs, const SeeValue& see) {
  try {
    Probe probe(executable.prepared());
    probe.fill(runtime_internal::kFirstPattern);
    probe.set_inputs(inputs);
    ShowingObserver observer(probe.tables(), see);
    RunTeam team(executable.prepared().workers.get());
    const RunStatus status = probe.run(observer, team.team());
    if (status.code != RunCode::ok) return describe(executable, {status, probe.take_failed_place()});
    observer.end();
    GraphTables& main = *probe.tables().front();
    for (ValueId output : main.graph().plan.program.outputs) show(main, output, see);
    return {};
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return Error{ErrorCode::no_memory, "the system has no memory to look at a run",
                   "graph " + quoted(executable.graph().name())};
    });
  }
}

}  // namespace lowtide
