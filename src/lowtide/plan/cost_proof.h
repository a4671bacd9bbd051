// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/graph/graph.h"

// Proofs about a budget problem (plan/budget_problem.h), as plain data. Room `rematerialize` writes them, and
// verify/check_budget.h checks them without it.
namespace lowtide {

// Milestones are nodes each of which must run before the next one. Their first runs divide every sequence:
//
//        ... | first run of milestone 0, ...      | first run of milestone 1, ...      | ... end
//              phase 0                              phase 1
//
// All ancestors of milestone i have run when phase i begins, and none of its descendants. Nodes that are neither are
// aside. Three numbers, 0 or 1, describe what a sequence does with an ancestor or a node aside u of milestone i:
//   keep(i, u)   the output of u is live during the first run of milestone i
//   rerun(i, u)  u has run when phase i begins, and runs again in it
//   ran(i, u)    u has run when phase i begins. 1 for an ancestor and 0 for a descendant, so only a node aside has it
// A part has only `keep`, and its run has the others. A view is what it names. States are always live, and nothing
// depends on them. What else a sequence must do only leaves fewer sequences, so the proofs hold without it: seeds, the
// edges `before`, groups, and that overwritten bytes are gone.
enum class PhaseKind : std::uint8_t { keep, rerun, ran };

struct PhaseVariable {
  std::uint32_t phase = 0;
  PhaseKind kind = PhaseKind::keep;
  NodeId node;
  friend auto operator<=>(const PhaseVariable&, const PhaseVariable&) = default;
};

// The inequalities that hold for these numbers in every sequence that keeps the budget.
enum class PhaseRule : std::uint8_t {
  memory,  // the sizes of all kept outputs and what the run of the milestone takes are at most the budget
  read,    // keep(i, node) >= 1: milestone i reads it
  need,  // keep(i, node) + rerun(s, node) for all s from i on + ran(i, reader) >= ran(i, node): `reader` reads it. If a
         // later milestone runs after the reader, s ends with the phase before that one
  result,  // keep(i, node) + rerun(s, node) for all s from i on >= ran(i, node): an output of the problem, which must
           // exist at the end
  rerun_input,  // keep(i, node) + rerun(i, node) >= rerun(i, reader): the reader runs again and reads it
  carry,        // keep(i, node) + rerun(i, node) >= keep(i + 1, node) + ran(i, node) - 1
  once,  // -rerun(i, node) >= 0: the node happens once, or all its runs come before one that has happened by then, such
         // as an update
  first_read,  // ran(i, node) >= ran(i, reader): the reader reads it; both are aside
  stay_run,    // ran(i + 1, node) >= ran(i, node): it is aside of both milestones
};

struct PhaseRow {
  PhaseRule rule = PhaseRule::memory;
  std::uint32_t phase = 0;
  NodeId node;    // except of `memory`
  NodeId reader;  // of `need`, `rerun_input` and `first_read`
  friend auto operator<=>(const PhaseRow&, const PhaseRow&) = default;
};

// A vertex of a tree of cases. An inner vertex divides its case in two: the sum of some variables is at most `at_most`,
// or at least one more. A leaf has a multiplier for some rows, and for some decisions above it. The sum of rows with
// these multipliers bounds the cost of reruns from below, whatever the multipliers are, because each variable is 0 or
// 1. Multipliers are in units of 2^-shift of the cost. They are in [0, 2^62], and those of `memory` in [0, 2^55].
// The bound is rounded up to a multiple of the greatest common divisor of all costs.
struct ProofCase {
  std::vector<PhaseVariable> sum;  // empty: a leaf
  std::int64_t at_most = 0;
  std::array<std::uint32_t, 2> cases{};                           // of an inner vertex: indices above its own
  std::vector<std::pair<PhaseRow, std::int64_t>> rows;            // of a leaf, ascending: row and multiplier
  std::vector<std::pair<std::uint32_t, std::int64_t>> decisions;  // of a leaf: index of an inner vertex above it
};

// The least bound of all leaves is a bound for all sequences.
struct CostProof {
  std::vector<NodeId> milestones;
  std::vector<ProofCase> cases;  // the first is the root
  int shift = 0;                 // in [0, 60]
};

// Why no sequence keeps the budget. Seen backwards from the first run of `node`, a set of outputs must exist before
// each run. It begins with the inputs of the node and must become empty. The run that makes one of these outputs
// replaces it and the other outputs and parts of the run by its own inputs, and needs all of them at once. `sets`
// contains the first set, and with each set all that runs within the budget can lead to, or a part of it. None of them
// is empty.
//
// With `makers`, the proof is about runs that make outputs of the problem. One of them runs last in a sequence. Then
// the outputs that the others make are live, because they stay until the end. Each maker needs too much beside those.
struct InfeasibleProof {
  std::optional<NodeId> node;             // absent: the end, where all outputs of the problem must exist
  std::vector<std::vector<NodeId>> sets;  // each ascending; none if the inputs and the output of the node do not fit
  std::vector<NodeId> makers = {};        // ascending; then `node` is the one that needs least, and there are no sets
};

}  // namespace lowtide
