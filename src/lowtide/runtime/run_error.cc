// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/run_error.h"

#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide {
namespace {

std::string meaning_of(RunCode code) {
  switch (code) {
    case RunCode::ok: break;
    case RunCode::index_out_of_range: return "an index in the data is outside of the tensor";
    case RunCode::size_exceeds_plan: return "a result is larger than the plan permits";
    case RunCode::division_by_zero: return "an integer is divided by zero";
    case RunCode::bad_extents: return "the data ask for other extents than the model declares";
    case RunCode::unbound: return "the input has no memory; call bind_input() first";
    case RunCode::stopped: return "the run was stopped";
    case RunCode::busy: return "another session runs in the same arena; wait for it, or give each session an arena";
    case RunCode::file_changed:
      return "the file of a constant became shorter or cannot be read anymore; load the model again";
    case RunCode::kernel_failed: return "the kernel failed";
  }
  return "";
}

ErrorCode code_of(RunCode code) {
  switch (code) {
    case RunCode::size_exceeds_plan: return ErrorCode::over_limit;
    case RunCode::file_changed: return ErrorCode::mismatch;
    default: return ErrorCode::invalid;
  }
}

// What the plan permits where sizes depend on data, and how to permit more.
std::string permitted_sizes(const Executable& executable, const RunResult& result) {
  std::string text;
  if (result.place) {
    const runtime_internal::PreparedGraph& in = executable.prepared().graphs[result.place->graph];
    const std::optional<NodeId> node = node_of(in.plan.program.steps[result.place->step]);
    for (const std::optional<TensorId>& id : node ? in.graph.node(*node).outputs : Node().outputs) {
      if (!id || !in.graph.tensor(*id).shape.has_upper_bounds()) continue;
      const Tensor& tensor = in.graph.tensor(*id);
      text += (text.empty() ? ": " : ", ") + quoted(tensor.name, 60) + " is " + std::string(to_string(tensor.dtype)) +
              to_string(tensor.shape);
    }
  }
  return text + "; plan for larger sizes with --at-most";
}

std::string place_of(const Executable& executable, const RunResult& result) {
  if (result.status.code == RunCode::unbound) return "input " + quoted(executable.inputs()[result.status.detail].name);
  if (!result.place) return "graph " + quoted(executable.graph().name());
  return runtime_internal::place_of(executable.prepared().graphs[result.place->graph], result.place->step);
}

}  // namespace

Error describe(const Executable& executable, const RunResult& result) {
  LOWTIDE_CHECK(!result.ok(), "only a run that failed has an error");
  std::string meaning = meaning_of(result.status.code);
  if (result.status.code == RunCode::size_exceeds_plan) meaning += permitted_sizes(executable, result);
  return Error{code_of(result.status.code), std::move(meaning), place_of(executable, result)};
}

}  // namespace lowtide
