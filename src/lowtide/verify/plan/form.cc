// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/plan/check_form.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

void malformed(const Subject& subject, std::string message, std::optional<StepId> step = std::nullopt) {
  subject.findings.add({.kind = ViolationKind::malformed, .step = step, .message = std::move(message)});
}

// A compute step plans all bodies of its node, in order; other steps run none (lowtide::check_form).
void check_body_list(const Subject& subject, StepId id) {
  const Compute* compute = std::get_if<Compute>(&subject.plan.program.steps[id].work);
  if (compute == nullptr) return;
  const std::vector<Body>& bodies = subject.graph.node(compute->node).bodies;
  const std::vector<BodyPlan>& plans = subject.plan.layout.steps[id].bodies;
  if (plans.size() != bodies.size()) {
    return malformed(subject,
                     name_of(subject, id) + " plans " + std::to_string(plans.size()) + " bodies, but its node has " +
                         std::to_string(bodies.size()),
                     id);
  }
  for (std::size_t at = 0; at < bodies.size(); ++at) {
    if (plans[at].body == bodies[at].name) continue;
    malformed(subject,
              name_of(subject, id) + " has no plan for body " + quoted(bodies[at].name) + " at position " +
                  std::to_string(at),
              id);
  }
}

void check_length(const Subject& subject, const char* list, std::size_t found, std::size_t expected, const char* of) {
  if (found == expected) return;
  malformed(subject, std::string(list) + " has " + std::to_string(found) + " values for " + std::to_string(expected) +
                         " " + of + " of the graph");
}

}  // namespace

bool check_form(const Subject& subject) {
  const std::size_t before = subject.findings.count();
  std::int64_t total_bytes = 0;
  const GraphCounts counts{subject.graph.nodes().size(), subject.graph.tensors().size(), subject.is_body};
  for (FormFault& fault : lowtide::check_form(subject.plan, counts, total_bytes, subject.findings.left())) {
    malformed(subject, fault.path + ": " + fault.message, fault.step);
  }
  if (subject.findings.count() > before) return false;
  check_length(subject, "outputs", subject.plan.program.outputs.size(), subject.graph.outputs().size(), "outputs");
  check_length(subject, "updates", subject.plan.program.updates.size(), subject.graph.state_updates().size(),
               "state updates");
  for (StepId id : all_ids<StepId>(subject.steps())) {
    if (subject.findings.is_full()) return false;
    check_body_list(subject, id);
  }
  return subject.findings.count() == before;
}

void check_provenance(const Subject& subject) {
  const Provenance& from = subject.plan.provenance;
  const Graph& graph = subject.graph;
  const auto nodes = static_cast<std::int64_t>(graph.nodes().size());
  const auto tensors = static_cast<std::int64_t>(graph.tensors().size());
  if (from.graph == graph.name() && from.nodes == nodes && from.tensors == tensors) return;
  subject.findings.add({.kind = ViolationKind::wrong_model,
                        .message = "the plan was made for graph " + quoted(from.graph) + " with " +
                                   std::to_string(from.nodes) + " nodes and " + std::to_string(from.tensors) +
                                   " tensors; this is " + quoted(graph.name()) + " with " + std::to_string(nodes) +
                                   " and " + std::to_string(tensors) + ": plan it again"});
}

void check_body_provenance(const Subject& around, const Plan& body) {
  const Provenance& outer = around.plan.provenance;
  const Provenance& inner = body.provenance;
  std::string differing;
  const auto compare = [&](bool is_same, const char* key) {
    if (!is_same) differing += (differing.empty() ? "" : ", ") + std::string(key);
  };
  compare(inner.model == outer.model, "model");
  compare(inner.model_sha256 == outer.model_sha256, "model_sha256");
  compare(inner.tool == outer.tool, "tool");
  compare(inner.lowering == outer.lowering, "lowering");
  compare(inner.dims == outer.dims, "dims");
  compare(inner.target == outer.target, "target");
  if (differing.empty()) return;
  around.findings.add({.kind = ViolationKind::wrong_model,
                       .message = "the provenance of this body differs from that of the plan around it (" + differing +
                                  "): plan the model again"});
}

}  // namespace lowtide::verify_internal
