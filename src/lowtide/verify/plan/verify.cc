// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/verify.h"

#include "lowtide/base/quote.h"
#include "lowtide/verify/plan/stages.h"
#include "lowtide/verify/plan/subject.h"

namespace lowtide {
namespace {

using verify_internal::Findings;
using verify_internal::Subject;

void verify_level(const Subject& subject);

// Recursion over bodies, whose nesting and number each Graph bounds.
void verify_bodies(const Subject& subject) {
  for (StepId id : all_ids<StepId>(subject.steps())) {
    const std::vector<BodyPlan>& bodies = subject.plan.layout.steps[id].bodies;
    if (bodies.empty()) continue;
    const NodeId node_id = std::get<Compute>(subject.step(id).work).node;
    const Node& node = subject.graph.node(node_id);
    for (std::size_t at = 0; at < bodies.size() && !subject.findings.is_full(); ++at) {
      subject.findings.enter_body("node " + std::to_string(node_id.value()) + " " + quoted(node.name) + ": " +
                                  quoted(node.bodies[at].name));
      check_body_provenance(subject, *bodies[at].plan);
      verify_level({*node.bodies[at].graph, *bodies[at].plan, true, subject.findings});
      subject.findings.leave_body();
    }
  }
}

// One graph and its plan, then the bodies inside it.
void verify_level(const Subject& subject) {
  // Provenance is checked first, because the ids of a plan for another graph mean nothing here.
  check_provenance(subject);
  if (!check_form(subject)) return;
  const bool is_replayable = check_geometry(subject);
  check_roles(subject);
  check_constants(subject);
  check_program(subject);
  check_reach(subject);
  if (is_replayable) check_neighbors(subject);
  if (is_replayable) replay(subject);
  if (is_replayable) check_races(subject);
  check_execution(subject);
  check_claims(subject);
  check_body_places(subject);
  verify_bodies(subject);
}

}  // namespace

std::vector<Violation> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options) {
  Findings findings(options);
  verify_level({graph, plan, false, findings});
  return std::move(findings).take();
}

}  // namespace lowtide
