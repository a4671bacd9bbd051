// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lowtide {
namespace {

constexpr std::array<std::pair<ExecutionModel, std::string_view>, 4> kExecutionModels = {
    {{ExecutionModel::sequence, "sequence"},
     {ExecutionModel::streams, "streams"},
     {ExecutionModel::waves, "waves"},
     {ExecutionModel::dataflow, "dataflow"}}};

constexpr std::array<std::pair<BoundScope, std::string_view>, 2> kBoundScopes = {
    {{BoundScope::run_once, "run_once"}, {BoundScope::all_plans, "all_plans"}}};

bool has_parts(const Plan& plan) {
  return std::any_of(plan.layout.buffers.begin(), plan.layout.buffers.end(),
                     [](const Buffer& buffer) { return !buffer.parts.empty(); });
}

bool drives_links(const Plan& plan) {
  return std::any_of(plan.program.streams.begin(), plan.program.streams.end(),
                     [](const Stream& stream) { return stream.link.has_value(); });
}

// Memory whose region is not stated is one that every worker can address, so a copy from it or to it moves nothing.
bool moves_between_regions(const Plan& plan) {
  const auto region_of = [&](ValueId value) {
    const Buffer& buffer = plan.layout.buffers[plan.layout.values[value].buffer];
    return buffer.placement ? std::optional(buffer.placement->region) : buffer.home;
  };
  return std::any_of(plan.program.steps.begin(), plan.program.steps.end(), [&](const Step& step) {
    if (!is_copy(step)) return false;
    const std::optional<RegionId> from = region_of(step.reads[0]);
    const std::optional<RegionId> to = region_of(step.writes[0]);
    return from && to && *from != *to;
  });
}

}  // namespace

std::string_view to_string(ExecutionModel model) {
  return kExecutionModels[static_cast<std::size_t>(model)].second;
}

std::optional<ExecutionModel> execution_model_from_string(std::string_view text) {
  for (const auto& [model, name] : kExecutionModels) {
    if (name == text) return model;
  }
  return std::nullopt;
}

std::string_view to_string(BoundScope scope) { return kBoundScopes[static_cast<std::size_t>(scope)].second; }

std::optional<BoundScope> bound_scope_from_string(std::string_view text) {
  for (const auto& [scope, name] : kBoundScopes) {
    if (name == text) return scope;
  }
  return std::nullopt;
}

std::vector<std::string_view> features_of(const Plan& plan) {
  std::vector<std::string_view> features;
  if (has_parts(plan)) features.emplace_back("buffer_parts");
  if (copies(plan.program)) features.emplace_back("copies");
  if (drives_links(plan)) features.emplace_back("links");
  if (recomputes(plan.program)) features.emplace_back("recompute");
  if (!plan.program.updates.empty()) features.emplace_back("state_updates");
  if (plan.program.streams.size() > 1) features.emplace_back("streams");
  return features;
}

BoundScope scope_of(const Plan& plan) {
  return moves_between_regions(plan) || recomputes(plan.program) ? BoundScope::all_plans : BoundScope::run_once;
}

const Bound* best_bound(const Claims& claims, BoundScope scope) {
  const Bound* best = nullptr;
  for (const Bound& bound : claims.bounds) {
    if (bound.scope >= scope && (best == nullptr || bound.bytes > best->bytes)) best = &bound;
  }
  return best;
}

Bound bound_of(const Plan& plan) {
  const Bound* best = best_bound(plan.claims, scope_of(plan));
  return best != nullptr ? *best : Bound{.scope = BoundScope::all_plans, .bytes = Bytes(0), .name = "none"};
}

}  // namespace lowtide
