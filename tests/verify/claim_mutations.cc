// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "lowtide/graph/builder.h"
#include "tests/verify/mutations.h"
#include "tests/verify/plain_claims.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

Bytes other_number(Random& random, Bytes number) {
  const std::int64_t by = random.chance(50) ? 1 : random.between(2, 100);
  return Bytes(number.count() + (random.chance(50) ? by : -by));
}

bool arena_too_small(Random& random, Mutant& mutant) {
  Bytes& arena = mutant.plan.layout.arena[random.below(mutant.plan.layout.arena.size())];
  if (arena == Bytes(0)) return false;
  arena -= Bytes(random.chance(50) ? 1 : random.between(1, arena.count()));
  return true;
}

bool arena_too_large(Random& random, Mutant& mutant) {
  const std::size_t at = random.below(mutant.plan.layout.arena.size());
  mutant.plan.layout.arena[at] += Bytes(random.between(1, 64));
  mutant.plan.machine.regions[at].capacity = std::nullopt;
  return true;
}

bool other_load(Random& random, Mutant& mutant) {
  mutant.plan.claims.load = other_number(random, mutant.plan.claims.load);
  return true;
}

bool other_load_as_given(Random& random, Mutant& mutant) {
  mutant.plan.claims.load_as_given = other_number(random, mutant.plan.claims.load_as_given);
  return true;
}

// The scope of the plan or a larger one. Bounds of both hold for this plan.
BoundScope some_scope(Random& random, const Plan& plan) {
  return random.chance(50) ? BoundScope::all_plans : plain_scope(plan);
}

bool bound_above_the_load(Random& random, Mutant& mutant) {
  Claims& claims = mutant.plan.claims;
  const Bytes bytes = random.chance(80) ? claims.load + Bytes(random.between(1, 64)) : Bytes(-1);
  claims.bounds = {{.scope = some_scope(random, mutant.plan), .bytes = bytes}};
  return true;
}

bool bound_above_what_bodies_prove(Random& random, Mutant& mutant) {
  const BoundScope scope = some_scope(random, mutant.plan);
  const Bytes most = plain_proven_load(mutant.plan, scope);
  Claims& claims = mutant.plan.claims;
  if (most == claims.load) return false;
  claims.bounds = {{.scope = scope, .bytes = Bytes(random.between(most.count() + 1, claims.load.count()))}};
  return true;
}

bool bounds_out_of_order(Random& random, Mutant& mutant) {
  const BoundScope first = random.chance(50) ? BoundScope::all_plans : BoundScope::run_once;
  const BoundScope second = first == BoundScope::all_plans && random.chance(50) ? BoundScope::run_once : first;
  mutant.plan.claims.bounds = {{.scope = first}, {.scope = second}};
  return true;
}

bool order_claimed_optimal(Random& random, Mutant& mutant) {
  Claims& claims = mutant.plan.claims;
  if (claims.load == Bytes(0)) return false;
  claims.bounds.clear();
  const Bytes below(random.between(0, claims.load.count() - 1));
  if (random.chance(80)) claims.bounds = {{.scope = some_scope(random, mutant.plan), .bytes = below}};
  // A bound for plans that run each node once says nothing about other plans.
  if (plain_scope(mutant.plan) == BoundScope::all_plans && random.chance(50)) {
    claims.bounds = {{.scope = BoundScope::run_once, .bytes = claims.load}};
  }
  return std::exchange(claims.schedule_optimal, true) == false;
}

bool offsets_claimed_optimal(Random&, Mutant& mutant) {
  return std::exchange(mutant.plan.claims.allocate_optimal, true) == false;
}

bool other_provenance(Random& random, Mutant& mutant) {
  Provenance& from = mutant.plan.provenance;
  const std::uint64_t choice = random.below(3);
  if (choice == 0) from.graph += "'";
  if (choice == 1) from.nodes += random.chance(50) ? 1 : -1;
  if (choice == 2) from.tensors += random.chance(50) ? 1 : -1;
  return true;
}

std::optional<StepId> some_step_with_bodies(Random& random, const Plan& plan) {
  return some_id<StepId>(random, plan.layout.steps.size(),
                         [&](StepId id) { return !plan.layout.steps[id].bodies.empty(); });
}

// Changes provenance on which the whole plan and the plans of its bodies must agree.
bool body_of_another_provenance(Random& random, Mutant& mutant) {
  const auto step = some_step_with_bodies(random, mutant.plan);
  if (!step) return false;
  auto& bodies = mutant.plan.layout.steps[*step].bodies;
  BodyPlan& body = bodies[random.below(bodies.size())];
  Plan inner = *body.plan;
  Provenance& from = inner.provenance;
  const std::uint64_t choice = random.below(4);
  if (choice == 0) from.model_sha256 += "0";
  if (choice == 1) from.tool += "'";
  if (choice == 2) from.dims.emplace_back("n=1");
  if (choice == 3) from.target += "'";
  body.plan = std::make_shared<const Plan>(std::move(inner));
  return true;
}

bool body_moves(Random& random, Mutant& mutant) {
  const auto step = some_step_with_bodies(random, mutant.plan);
  if (!step) return false;
  auto& bodies = mutant.plan.layout.steps[*step].bodies;
  static constexpr std::int64_t kBy[] = {-64, -8, -1, 1, 3, 64, 1 << 10, std::int64_t{1} << 62};
  BodyPlan& body = bodies[random.below(bodies.size())];
  body.offset = Offset(body.offset.position() + kBy[random.below(8)]);
  return true;
}

bool body_without_space(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_step_with_bodies(random, plan);
  if (!step || !plan.layout.steps[*step].scratch) return false;
  std::optional<BufferId>& scratch = plan.layout.steps[*step].scratch;
  if (random.chance(30)) {
    scratch.reset();
  } else {
    Bytes& size = plan.layout.buffers[*scratch].size;
    size = Bytes(random.between(0, std::max<std::int64_t>(size.count() - 1, 0)));
  }
  return true;
}

bool bodies_swap(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_step_with_bodies(random, plan);
  if (!step) return false;
  auto& bodies = plan.layout.steps[*step].bodies;
  const std::uint64_t choice = random.below(3);
  if (choice == 0) bodies.pop_back();
  if (choice == 1) std::swap(bodies.front(), bodies.back());
  if (choice == 2) std::swap(bodies.front().plan, bodies.back().plan);
  return choice == 0 || bodies.size() > 1;
}

// Damages the plan of a body in one of the other ways.
bool damage_in_a_body(Random& random, Mutant& mutant) {
  static const std::vector<MutationKind> kKinds = [] {
    std::vector<MutationKind> all = placement_mutations();
    for (const auto& more : {sharing_mutations(), program_mutations(), copy_mutations()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  const auto step = some_step_with_bodies(random, mutant.plan);
  if (!step) return false;
  auto& bodies = mutant.plan.layout.steps[*step].bodies;
  const std::size_t at = random.below(bodies.size());
  const NodeId node = *node_of(mutant.plan.program.steps[*step]);
  if (mutant.graph->node(node).bodies.size() != bodies.size()) return false;
  Mutant inner{mutant.graph->node(node).bodies[at].graph, *bodies[at].plan};
  const MutationKind& kind = kKinds[random.below(kKinds.size())];
  if (inner.plan.layout.buffers.empty() || inner.plan.program.values.empty() || !kind.apply(random, inner))
    return false;
  bodies[at].plan = std::make_shared<const Plan>(std::move(inner.plan));
  return true;
}

// Whether a node may have operands and results of any type and shape, so that the graph makes sense after a change.
bool takes_anything(const Graph& graph, NodeId id) { return graph.op(id).type == "Mix"; }

bool may_change(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const auto readers = graph.readers(id);
  return tensor.size.count() > 0 && graph.known_integers(id) == nullptr &&
         (!tensor.producer || takes_anything(graph, *tensor.producer)) &&
         std::all_of(readers.begin(), readers.end(), [&](NodeId reader) { return takes_anything(graph, reader); });
}

// The same graph, except for the element type or the number of elements of one tensor.
bool tensor_changes(Random& random, Mutant& mutant, bool changes_type) {
  const Graph& old = *mutant.graph;
  const auto changed =
      some_id<TensorId>(random, old.tensors().size(), [&](TensorId id) { return may_change(old, id); });
  if (!changed) return false;
  GraphBuilder builder(old.name());
  for (TensorId id : all_ids<TensorId>(old.tensors().size())) {
    const Tensor& tensor = old.tensor(id);
    GraphBuilder::TensorSpec spec{tensor.name, tensor.dtype, tensor.shape, tensor.is_captured};
    if (id == *changed && changes_type) spec.dtype = tensor.dtype == DType::f32 ? DType::f64 : DType::f32;
    if (id == *changed && !changes_type) {
      std::vector<std::int64_t> extents = tensor.shape.extents();
      if (extents.empty()) return false;
      ++extents[random.below(extents.size())];
      spec.shape = Shape(extents);
    }
    builder.add_tensor(std::move(spec), tensor.role == Role::output ? Role::temporary : tensor.role);
    if (const auto* known = old.known_integers(id)) builder.set_known_integers(id, *known);
  }
  for (NodeId id : all_ids<NodeId>(old.nodes().size())) {
    const Node& node = old.node(id);
    builder.add_node({node.name, old.op(id).domain, old.op(id).type, node.inputs, node.outputs, node.control_inputs,
                      node.attributes, node.bodies});
  }
  builder.set_outputs(old.outputs());
  for (const StateUpdate& update : old.state_updates()) builder.add_state_update(update.state, update.next);
  Result<Graph> graph = std::move(builder).build();
  if (!graph) return false;
  mutant.graph = std::make_shared<const Graph>(std::move(graph).value());
  return true;
}

bool element_type_changes(Random& random, Mutant& mutant) { return tensor_changes(random, mutant, true); }
bool shape_changes(Random& random, Mutant& mutant) { return tensor_changes(random, mutant, false); }

}  // namespace

std::vector<MutationKind> claim_mutations() {
  return {{"arena_too_small", arena_too_small, false},
          {"arena_too_large", arena_too_large, false},
          {"other_load", other_load, false},
          {"other_load_as_given", other_load_as_given, false},
          {"bound_above_the_load", bound_above_the_load, false},
          {"bound_above_what_bodies_prove", bound_above_what_bodies_prove, false},
          {"bounds_out_of_order", bounds_out_of_order, false},
          {"order_claimed_optimal", order_claimed_optimal, false},
          {"offsets_claimed_optimal", offsets_claimed_optimal, false},
          {"other_provenance", other_provenance, false},
          {"body_of_another_provenance", body_of_another_provenance},
          {"body_moves", body_moves},
          {"body_without_space", body_without_space},
          {"bodies_swap", bodies_swap},
          {"damage_in_a_body", damage_in_a_body},
          {"element_type_changes", element_type_changes},
          {"shape_changes", shape_changes}};
}

}  // namespace lowtide::testing
