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
  check_program(subject);
  check_reach(subject);
  if (is_replayable) replay(subject);
  if (is_replayable) check_races(subject);
  check_execution(subject);
  check_claims(subject);
  check_body_places(subject);
  verify_bodies(subject);
}

}  // namespace

const char* to_string(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::malformed: return "malformed";
    case ViolationKind::wrong_model: return "wrong_model";
    case ViolationKind::missing_step: return "missing_step";
    case ViolationKind::repeated_step: return "repeated_step";
    case ViolationKind::data_flow: return "data_flow";
    case ViolationKind::clobbered: return "clobbered";
    case ViolationKind::output_lost: return "output_lost";
    case ViolationKind::out_of_buffer: return "out_of_buffer";
    case ViolationKind::out_of_region: return "out_of_region";
    case ViolationKind::misaligned: return "misaligned";
    case ViolationKind::dead_access: return "dead_access";
    case ViolationKind::overlap: return "overlap";
    case ViolationKind::bad_alias: return "bad_alias";
    case ViolationKind::bad_in_place: return "bad_in_place";
    case ViolationKind::role: return "role";
    case ViolationKind::wrong_claim: return "wrong_claim";
    case ViolationKind::race: return "race";
    case ViolationKind::unreachable: return "unreachable";
    case ViolationKind::misplaced: return "misplaced";
  }
  return "unknown";
}

std::vector<Violation> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options) {
  Findings findings(options);
  verify_level({graph, plan, false, findings});
  return std::move(findings).take();
}

}  // namespace lowtide
