// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan.h"

#include <algorithm>
#include <set>

namespace lowtide {
namespace {

bool has_parts(const Plan& plan) {
  return std::any_of(plan.layout.buffers.begin(), plan.layout.buffers.end(),
                     [](const Buffer& buffer) { return !buffer.parts.empty(); });
}

bool drives_links(const Plan& plan) {
  return std::any_of(plan.program.streams.begin(), plan.program.streams.end(),
                     [](const Stream& stream) { return stream.link.has_value(); });
}

// Memory without a stated region is memory that every worker can address, so a copy from or to it does not count.
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

// Whether some copy neither fills the result of an alias step nor updates a state.
bool has_other_copies(const Program& program) {
  std::set<ValueId> copied;
  for (const Step& step : program.steps) {
    if (is_copy(step)) copied.insert(step.writes.begin(), step.writes.end());
  }
  for (ValueId update : program.updates) copied.erase(update);
  const auto is_copied = [&](ValueId value) { return copied.contains(value); };
  return std::any_of(program.outputs.begin(), program.outputs.end(), is_copied) ||
         std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
           return !is_alias(step) && std::any_of(step.reads.begin(), step.reads.end(), is_copied);
         });
}

}  // namespace

std::vector<const Plan*> all_plans_in(const Plan& plan) {
  std::vector<const Plan*> plans = {&plan};
  for (std::size_t at = 0; at < plans.size(); ++at) {
    for (const StepSpace& space : plans[at]->layout.steps) {
      for (const BodyPlan& body : space.bodies) {
        if (body.plan != nullptr) plans.push_back(body.plan.get());
      }
    }
  }
  return plans;
}

std::vector<std::string_view> kernel_names(const Plan& plan) {
  std::set<std::string_view> names;
  for (const Plan* one : all_plans_in(plan)) {
    for (const PlannedKernel& kernel : one->kernels) names.insert(kernel.name);
  }
  return {names.begin(), names.end()};
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

std::vector<std::string_view> features_of(const std::vector<const Plan*>& plans) {
  std::set<std::string_view> features;
  for (const Plan* plan : plans) {
    for (std::string_view feature : features_of(*plan)) features.insert(feature);
  }
  return {features.begin(), features.end()};
}

BoundScope scope_of(const Plan& plan) {
  const std::vector<const Plan*> plans = all_plans_in(plan);
  const bool is_run_once = std::none_of(plans.begin(), plans.end(), [](const Plan* each) {
    return moves_between_regions(*each) || recomputes(each->program) || has_other_copies(each->program);
  });
  return is_run_once ? BoundScope::chosen_kernels : BoundScope::all_plans;
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
