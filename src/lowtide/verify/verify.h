// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// What is wrong with a plan. The names are stable: they stand in --json output.
enum class ViolationKind : std::uint8_t {
  malformed,      // an id out of range, a missing or repeated entry: nothing can be replayed
  wrong_model,    // the plan was made for another graph
  missing_step,   // a node never runs
  repeated_step,  // a node runs more often than it may
  data_flow,      // a step reads or writes another tensor than its node does, or reads before the value is written
  clobbered,      // bytes read are no longer (or not yet) those of the value
  output_lost,    // an output's bytes do not hold it at the end
  out_of_buffer,  // a value does not fit its buffer
  out_of_region,  // a buffer reaches below 0 or above the arena or capacity
  misaligned,
  dead_access,   // a buffer is used outside its lifespan
  overlap,       // two buffers that live together share bytes
  bad_alias,     // an alias step whose output is not its input's bytes
  bad_in_place,  // a kernel's output shares bytes with its inputs although the operator does not allow it
  role,          // an input, constant or state would be written, or a role and a buffer kind disagree
  wrong_claim,   // a number the plan states about itself is not so
  race,          // steps of two streams touch the same bytes, or a value, and nothing says which comes first
};

[[nodiscard]] const char* to_string(ViolationKind kind);

struct Violation {
  ViolationKind kind = ViolationKind::malformed;
  std::optional<StepId> step;
  std::vector<TensorId> tensors;
  std::optional<RegionId> region;
  std::optional<Interval<std::int64_t>> bytes;  // in the region, or in the buffer where that is not placed
  std::string message;                          // one terminal-safe line naming step, node, tensors, bytes
  std::string body;  // "node 3 'if': 'then_branch'" for a violation inside a body; else empty
};

struct VerifyOptions {
  std::size_t most_violations = 100;  // stop after as many
};

// Replays a finished plan against the graph it is for, from first principles: a map of who wrote which bytes last, kept
// step by step. Uses nothing that a planner computes: no lifetimes, no alias classes, no orders. Plans may come from
// anywhere: every id and number is checked before it is used. Of a plan for a model file the caller compares the
// digest.
//
// A plan is right if, for the graph and for each body inside it,
//   - it names this graph, and the plan of a body the model, tool, bindings and target of the plan around it; its ids,
//     counts and sizes are in range; its steps are the nodes, each once, and each reads and writes exactly what its node
//     does, after what it depends on (control inputs too);
//   - placed buffers lie inside their arena, aligned, and two that live together share no byte; values lie inside their
//     buffers, and no step touches a buffer outside its lifespan;
//   - what a step reads is what was put there: nobody wrote any of its bytes since; outputs hold at the end;
//   - a kernel's results and scratch lie apart from each other and from its operands, but for a result that takes over
//   an
//     operand where the operator permits it; an alias step's outputs lie where the meaning of its operator says;
//   - inputs, constants and state lie alone in buffers of their kind, which only aliases may share and nothing writes;
//     outputs lie in buffers of kind output, no two in the same bytes;
//   - of steps on different streams that touch the same bytes, not both reading, one happens before the other, and so
//     does what writes a value before what reads it;
//   - what the claims say, as far as it can be recomputed, is so. A bound is not recomputed: it is only held against
//     the load, with each body at its own bound.
// What cannot be shown is refused: a wrong plan never passes, and the planners keep within what can be shown.
//
// Why that is enough for several streams: the replay follows the list, which is one run. In any other run two steps that
// touch the same bytes come in the same order, since one happens before the other; so each byte sees the same writes and
// reads in the same sequence, and every step reads what it reads in the replay.
//
// Returns every violation, by stage (form, addresses, roles, steps as listed, replay, races, claims, bodies) and within each
// in order; empty: the plan is right. A plan whose form is wrong is not replayed.
// O((streams x (steps + values) + violations) log n); no recursion but over bodies (<= kMaxBodyNesting).
[[nodiscard]] std::vector<Violation> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options = {});

// What a plan file calls nodes and tensors is what they are in the graph: names, operators, types, roles, sizes, those
// of bodies too. Whoever reads a plan without its model, or finds tensors by the names in it, relies on that.
// Violations are of kind wrong_model. O(nodes + tensors + length of the names).
[[nodiscard]] std::vector<Violation> verify_labels(const Graph& graph, const Labels& labels,
                                                   const VerifyOptions& options = {});

}  // namespace lowtide
