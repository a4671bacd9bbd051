// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/analysis/copies_left.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/lowering.h"

namespace lowtide {

// A plan with the names of its nodes and tensors, as in a plan file.
struct NamedPlan {
  const Plan& plan;
  const Labels& labels;
};

// What explanation.h says about one graph, and a plan file does not contain.
struct PlanProof {
  const Plan* plan = nullptr;                  // the plan shown, or one of a body inside it
  std::vector<std::string> paragraphs;         // of proof_paragraphs
  std::vector<std::string> not_in_place = {};  // of in_place_paragraphs
};

// What runs of the plan shown have measured. Bodies have no figures of their own.
struct PageMeasurement {
  std::int64_t runs = 0;
  IdVector<StepId, std::int64_t> nanoseconds = {};  // of each step: the mean of the runs; 0 for a step without work
  // Bytes of each buffer up to the last one that a run wrote. Empty: not known; -1: of a buffer outside of the arena.
  IdVector<BufferId, std::int64_t> seen = {};
};

struct PlanVerdict;  // summary.h

struct PageOptions {
  const NamedPlan* against = nullptr;  // a second plan to compare with (before / after)
  bool is_verified = false;            // whether the caller has verified the plan against its model; the page says so
  std::vector<PlanProof> proofs = {};
  // Estimated time of each node of the plan shown, in picoseconds (PlannedGraph::costs). With it, streams are drawn
  // over time. nullptr: not known.
  const IdVector<NodeId, std::int64_t>* costs = nullptr;
  // The graph of the plan shown, for the multiply-accumulates of its nodes. nullptr: not known.
  const Graph* graph = nullptr;
  const PageMeasurement* measured = nullptr;      // nullptr: not known
  std::string quantized = {};                     // quantized_text, if the model is quantized
  const LoweringFacts* lowering = nullptr;        // what lowering changed; nullptr: not known, or nothing
  const std::vector<CopyLeft>* copies = nullptr;  // copies_left() of the plan shown; nullptr: not known
  // Recomputation::kept of the plan shown, if nodes run again or tensors move to keep its budget; nullptr: not known.
  const std::vector<KeptTensor>* kept = nullptr;
  // Whether the plan shown fits what was asked for, and what runs again. nullptr: not known, as in a plan file.
  const PlanVerdict* verdict = nullptr;
};

// One self-contained HTML page, offline, that shows where every buffer is and when: x = step, y = address.
// Deterministic: the same plan and options give the same bytes. O(steps + values + buffers). Requires: the plan is
// well-formed, as read_plan_json and the planner make it, and the labels are of its graph.
[[nodiscard]] std::string page(const NamedPlan& shown, const PageOptions& options = {});

}  // namespace lowtide
