// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/executable.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide {
namespace {

using runtime_internal::Prepared;

Result<void> start_workers(Prepared& prepared) {
  const int system_threads = prepared.system_threads;
  const int shares = std::max(prepared.options.threads, system_threads);
  try {
    if (system_threads > 1) {
      prepared.workers = std::make_unique<runtime_internal::Workers>(shares, system_threads);
    }
  } catch (const std::system_error&) {
    return Error{ErrorCode::no_memory,
                 "the system refuses one of " + std::to_string(system_threads) +
                     " threads; end other threads, or run with fewer",
                 "graph " + quoted(prepared.graph.name())};
  }
  return {};
}

Result<void> fill(Prepared& prepared) {
  LOWTIDE_RETURN_IF_ERROR(runtime_internal::check_plan(prepared, prepared.options.threads));
  runtime_internal::list_graphs(prepared);
  LOWTIDE_RETURN_IF_ERROR(runtime_internal::check_addresses(prepared));
  LOWTIDE_RETURN_IF_ERROR(runtime_internal::find_constants(prepared));
  runtime_internal::list_ports(prepared);
  LOWTIDE_RETURN_IF_ERROR(runtime_internal::make_actions(prepared));
  runtime_internal::order_actions(prepared);
  runtime_internal::measure(prepared);
  return start_workers(prepared);
}

}  // namespace

std::vector<UnsupportedNode> unsupported_steps(const Graph& graph, const Plan& plan) {
  Prepared prepared{.graph = graph, .plan = plan, .weights = nullptr, .options = {}};
  runtime_internal::list_graphs(prepared);
  std::vector<UnsupportedNode> nodes;
  for (const runtime_internal::PreparedGraph& one : prepared.graphs) {
    for (UnsupportedNode& node : runtime_internal::unsupported_in(prepared, one)) nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<std::shared_ptr<const Executable>> Executable::prepare(Graph graph, Plan plan,
                                                              std::shared_ptr<const ModelWeights> weights,
                                                              const ExecutableOptions& options) {
  LOWTIDE_CHECK(weights != nullptr, "an executable has weights, which may be empty");
  const std::string place = "graph " + quoted(graph.name());
  try {
    std::unique_ptr<Prepared> prepared(new Prepared{std::move(graph), std::move(plan), std::move(weights), options});
    LOWTIDE_RETURN_IF_ERROR(fill(*prepared));
    return std::shared_ptr<const Executable>(new Executable(std::move(prepared)));
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return Error{ErrorCode::no_memory, "the system has no memory for the prepared model", place};
    });
  }
}

Executable::Executable(std::unique_ptr<const Prepared> prepared) : prepared_(std::move(prepared)) {}
Executable::~Executable() = default;

Bytes Executable::required_bytes() const { return prepared_->memory.arena + prepared_->memory.extra; }
const ExecutableMemory& Executable::memory() const { return prepared_->memory; }
const std::vector<Port>& Executable::inputs() const { return prepared_->inputs; }
const std::vector<Port>& Executable::outputs() const { return prepared_->outputs; }
const std::vector<Port>& Executable::states() const { return prepared_->states; }
const Graph& Executable::graph() const { return prepared_->graph; }
const Plan& Executable::plan() const { return prepared_->plan; }
const ModelWeights& Executable::weights() const { return *prepared_->weights; }
std::shared_ptr<const ModelWeights> Executable::shared_weights() const { return prepared_->weights; }

}  // namespace lowtide
