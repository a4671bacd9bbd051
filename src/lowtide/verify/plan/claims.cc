// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

// Live bytes by step. They do not overflow, because at most 2 * limits::kMaxTotalBytes are added per step: the buffers
// of a plan (check_form), or the tensors of a graph and the load of one body.
class Profile {
 public:
  explicit Profile(std::size_t steps) : change_(steps + 1, 0) {}

  void add(std::size_t begin, std::size_t end, std::int64_t bytes) {
    change_[begin] += bytes;
    change_[end] -= bytes;
  }
  // 0 without steps.
  [[nodiscard]] std::int64_t largest() const {
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (std::int64_t change : change_) most = std::max(most, now += change);
    return most;
  }

 private:
  std::vector<std::int64_t> change_;
};

// The peak of temporaries and outputs in the order of the graph, without any sharing. A node with bodies adds the
// largest peak of a body with its inputs. The inputs of a Loop or Scan body live throughout, and an If has none.
std::int64_t load_as_given(const Graph& graph) {
  const std::size_t nodes = graph.nodes().size();
  Profile profile(nodes);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (!tensor.producer) continue;
    std::size_t end = tensor.producer->index() + 1;
    for (NodeId reader : graph.readers(id)) end = std::max(end, reader.index() + 1);
    if (graph.is_needed_at_end(id)) end = nodes;
    profile.add(tensor.producer->index(), end, tensor.size.count());
  }
  for (NodeId id : all_ids<NodeId>(nodes)) {
    std::int64_t most = 0;
    for (const Body& body : graph.node(id).bodies) {
      std::int64_t inside = load_as_given(*body.graph);
      for (TensorId input : body.graph->inputs()) inside += body.graph->tensor(input).size.count();
      most = std::max(most, std::min(inside, limits::kMaxTotalBytes));
    }
    if (most > 0) profile.add(id.index(), id.index() + 1, most);
  }
  return profile.largest();
}

// Whether the bytes are in a region that no worker can address. They are outside of the arena.
bool is_placed_outside(const Machine& machine, const Placement& placement) {
  return std::none_of(machine.workers.begin(), machine.workers.end(), [&](const Worker& worker) {
    const std::vector<RegionId>& regions = worker.addressable;
    return regions.empty() || std::find(regions.begin(), regions.end(), placement.region) != regions.end();
  });
}

// A program without steps has one moment, in which all its buffers live.
Profile profile_of(const Plan& plan) {
  const bool has_steps = !plan.program.steps.empty();
  Profile profile(has_steps ? plan.program.steps.size() : 1);
  for (const Buffer& buffer : plan.layout.buffers) {
    if (!buffer.placement || is_placed_outside(plan.machine, *buffer.placement)) continue;
    if (!buffer.parts.empty()) {
      for (const BufferPart& part : buffer.parts) {
        profile.add(part.lifespan.begin.index(), part.lifespan.end.index(), part.size.count());
      }
      continue;
    }
    const std::size_t end = has_steps ? buffer.lifespan.end.index() : 1;
    profile.add(buffer.lifespan.begin.index(), end, buffer.size.count());
  }
  return profile;
}

// The bytes by which the arena of the bodies of a step exceeds their proven bound.
std::int64_t unproven_bytes(const StepSpace& space, BoundScope scope) {
  std::int64_t arena = 0;
  std::int64_t bound = 0;
  for (const BodyPlan& body : space.bodies) {
    const Bound* proven = best_bound(body.plan->claims, scope);
    // The plan of a body is not verified yet, so its arenas may be wrong.
    const std::int64_t own = body.plan->layout.arena.size() == 1 ? body.plan->layout.arena[0].count() : 0;
    arena = std::max(arena, own);
    bound = std::max(bound, std::min(own, proven != nullptr ? proven->bytes.count() : 0));
  }
  return arena - bound;
}

// The load if every body needed only its own bound. A bound of the whole plan cannot be above that, because a better
// order inside a body may exist.
std::int64_t load_of_proven(const Plan& plan, BoundScope scope) {
  Profile profile = profile_of(plan);
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const StepSpace& space = plan.layout.steps[id];
    if (space.bodies.empty() || !space.scratch) continue;
    const std::int64_t size = plan.layout.buffers[*space.scratch].size.count();
    profile.add(id.index(), id.index() + 1, -std::min(unproven_bytes(space, scope), size));
  }
  return profile.largest();
}

// Whether a node has two steps.
bool has_repeated_node(const Program& program) {
  std::set<NodeId> seen;
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    const std::optional<NodeId> node = node_of(step);
    return node && !seen.insert(*node).second;
  });
}

// Whether a copy takes a value from one region to another. Memory whose region is not stated does not count.
bool has_transfer(const Plan& plan) {
  // The plan of a body is not verified yet, so its ids may be wrong.
  const auto region_of = [&](const std::vector<ValueId>& values) -> std::optional<RegionId> {
    if (values.empty() || !plan.layout.values.contains(values[0])) return std::nullopt;
    const BufferId id = plan.layout.values[values[0]].buffer;
    if (!plan.layout.buffers.contains(id)) return std::nullopt;
    const Buffer& buffer = plan.layout.buffers[id];
    return buffer.placement ? std::optional(buffer.placement->region) : buffer.home;
  };
  return std::any_of(plan.program.steps.begin(), plan.program.steps.end(), [&](const Step& step) {
    if (!is_copy(step)) return false;
    const std::optional<RegionId> from = region_of(step.reads);
    const std::optional<RegionId> to = region_of(step.writes);
    return from && to && *from != *to;
  });
}

// Whether a step other than an alias, or the caller, reads what a copy wrote. Copies that update a state are excepted.
bool has_free_copy(const Program& program) {
  std::set<ValueId> copied;
  for (const Step& step : program.steps) {
    if (is_copy(step)) copied.insert(step.writes.begin(), step.writes.end());
  }
  for (ValueId update : program.updates) copied.erase(update);
  for (const Step& step : program.steps) {
    if (is_alias(step)) continue;
    for (ValueId value : step.reads) {
      if (copied.count(value) > 0) return true;
    }
  }
  return std::any_of(program.outputs.begin(), program.outputs.end(),
                     [&](ValueId value) { return copied.count(value) > 0; });
}

// The scope of a plan with the plans of its bodies, since the arena of a body is a part of the plan's.
BoundScope scope_found(const Plan& plan) {
  const std::vector<const Plan*> plans = all_plans_in(plan);
  const bool is_larger = std::any_of(plans.begin(), plans.end(), [](const Plan* each) {
    return has_repeated_node(each->program) || has_transfer(*each) || has_free_copy(each->program);
  });
  return is_larger ? BoundScope::all_plans : BoundScope::chosen_kernels;
}

void wrong(const Subject& subject, std::string message) {
  subject.findings.add({.kind = ViolationKind::wrong_claim, .message = std::move(message)});
}

void check_number(const Subject& subject, const char* name, Bytes claimed, std::int64_t found) {
  if (claimed.count() == found) return;
  wrong(subject, std::string(name) + " is claimed to be " + std::to_string(claimed.count()) + " bytes, but is " +
                     std::to_string(found));
}

// A bound is not recomputed here. It is compared with the load if the plan is in its scope. A bound for plans that run
// each node once says nothing about a plan that recomputes.
void check_bounds(const Subject& subject, std::int64_t load) {
  const std::vector<Bound>& bounds = subject.plan.claims.bounds;
  const BoundScope scope = scope_found(subject.plan);
  for (std::size_t at = 0; at < bounds.size(); ++at) {
    const Bound& bound = bounds[at];
    const std::string name =
        "bound " + std::to_string(bound.bytes.count()) + " for " + std::string(to_string(bound.scope));
    if (at > 0 && bounds[at - 1].scope >= bound.scope) wrong(subject, name + " is repeated or out of order");
    if (bound.bytes.count() < 0) wrong(subject, name + " is negative");
    if (bound.scope < scope) continue;
    if (bound.bytes.count() > load) {
      wrong(subject, name + " is above the load of a plan in that scope, " + std::to_string(load) + " bytes");
    } else if (const std::int64_t proven = load_of_proven(subject.plan, bound.scope); bound.bytes.count() > proven) {
      wrong(subject, name + " is above " + std::to_string(proven) +
                         " bytes, the load if every body took its own bound instead of its arena");
    }
  }
}

// The operators about which Lowtide knows nothing.
void add_operators(const Graph& graph, std::set<std::string>& names) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Operator& op = graph.op(id);
    if (!op.traits.is_known) names.insert(op.domain.empty() ? op.type : op.domain + "::" + op.type);
    for (const Body& body : graph.node(id).bodies) add_operators(*body.graph, names);
  }
}

// Whether an operator is described is a fact of the target, which is not in the plan. So only the names are checked.
void check_uncounted(const Subject& subject) {
  const std::vector<std::string>& uncounted = subject.plan.claims.uncounted;
  if (uncounted.empty()) return;
  std::set<std::string> operators;
  add_operators(subject.graph, operators);
  for (std::size_t at = 0; at < uncounted.size(); ++at) {
    if (!operators.contains(uncounted[at]))
      wrong(subject,
            quoted(uncounted[at]) + " is claimed to be uncounted, but no node has an unknown operator of this name");
    if (at > 0 && uncounted[at - 1] >= uncounted[at])
      wrong(subject, "uncounted operator " + quoted(uncounted[at]) + " is repeated or out of order");
  }
}

}  // namespace

void check_claims(const Subject& subject) {
  const Plan& plan = subject.plan;
  const Claims& claims = plan.claims;
  const std::int64_t load = profile_of(plan).largest();
  check_number(subject, "load_as_given", claims.load_as_given, load_as_given(subject.graph));
  check_number(subject, "load", claims.load, load);
  check_bounds(subject, load);
  check_uncounted(subject);
  const Bound* bound = best_bound(claims, scope_found(plan));
  if (claims.schedule_optimal && (bound == nullptr || bound->bytes.count() != load)) {
    wrong(subject, "the order is claimed to be optimal, but " +
                       (bound == nullptr ? std::string("no bound holds for such plans")
                                         : "the bound is " + std::to_string(bound->bytes.count())) +
                       " and the load " + std::to_string(load) + " bytes");
  }
  const std::int64_t arena = arena_bytes(plan).count();  // check_form bounds the sum
  if (claims.allocate_optimal && arena != load) {
    wrong(subject, "the offsets are claimed to be optimal, but the arena has " + std::to_string(arena) +
                       " bytes for a load of " + std::to_string(load));
  }
}

}  // namespace lowtide::verify_internal
