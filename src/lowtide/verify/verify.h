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

// What is wrong with a plan. The names are stable, because they appear in --json output.
enum class ViolationKind : std::uint8_t {
  malformed,      // an id out of range, a missing or repeated entry: nothing can be replayed
  wrong_model,    // the plan was made for another graph
  missing_step,   // a node never runs
  repeated_step,  // a node runs again although its operator may give another result
  data_flow,      // a step uses the wrong tensor, reads a value too early, or does not write all of it
  clobbered,      // bytes read are no longer (or not yet) those of the value
  output_lost,    // an output, or the next content of a state, is not in its place at the end
  out_of_buffer,  // a value does not fit its buffer
  out_of_region,  // a buffer reaches below 0 or above the arena or capacity
  misaligned,
  dead_access,   // a buffer is used outside its lifespan
  overlap,       // two buffers that live together share bytes
  bad_alias,     // an alias step whose output does not lie in the bytes of its input
  bad_in_place,  // a kernel's output shares bytes with its inputs although the operator does not allow it
  role,          // an input, constant or state would be written, or a role and a buffer kind disagree
  wrong_claim,   // a figure or the execution model that the plan states about itself is wrong
  race,          // steps of two streams touch the same bytes or value, and neither happens before the other
  unreachable,   // a step touches bytes in a region that its worker or link does not reach
};

[[nodiscard]] const char* to_string(ViolationKind kind);

struct Violation {
  ViolationKind kind = ViolationKind::malformed;
  std::optional<StepId> step;
  std::vector<TensorId> tensors;
  std::optional<RegionId> region;
  std::optional<Interval<std::int64_t>> bytes;  // in the region, or in the buffer if that is not placed
  std::string message;                          // one terminal-safe line naming step, node, tensors, bytes
  std::string body;  // "node 3 'if': 'then_branch'" for a violation inside a body; otherwise empty
};

struct VerifyOptions {
  std::size_t most_violations = 100;  // verify stops after this number; 0 counts as 1
};

// Replays a finished plan against the graph that it is for, from first principles. It keeps a map from each byte to its
// last writer, and updates the map step by step. It uses only the graph and the plan, and no code of a planner. A plan
// may have any origin, so every id and number is checked before it is used. The caller compares the digest of the model
// file.
//
// A plan is right if, for the graph and for each body inside it,
//   - it names this graph. The plan of a body names the model, tool, bindings and target of the plan around it. Ids,
//     counts and sizes are in range;
//   - every node runs, and again only if its operator always gives the same result. Each step reads and writes what its
//     node does, after what it depends on, control inputs included. Copies fill all bytes of a value, each once;
//   - placed buffers lie inside their arena and are aligned, and two that are live together share no byte. Values lie
//     inside their buffers, and no step touches a buffer outside its lifespan;
//   - workers touch only bytes in regions that they address, and links copy from their one region to the other;
//   - no step reads bytes that were overwritten since its value was put there, and outputs are intact at the end;
//   - the results and scratch of a kernel share no bytes with each other or with its operands. A result may take over
//     an operand if the operator permits it. The outputs of an alias step lie where the meaning of its operator says;
//   - inputs, constants and state lie alone in buffers of their kind. Nothing writes inputs and constants. Each byte of
//     a state is written at most once, and at the end the state's bytes hold its next content;
//   - outputs lie in buffers of kind output, no two in the same bytes;
//   - if two steps on different streams touch the same bytes and one of them writes, one happens before the other. The
//     step that writes a value happens before those that read it;
//   - streams and waits suit the execution model that the plan states;
//   - claims that can be recomputed are true. A bound is not recomputed. If the plan is in its scope, it is compared
//     with the load, with each body at its own bound.
// A plan that cannot be shown to be right is refused. So a wrong plan never passes, and planners make only plans that
// can be shown to be right.
//
// Why this is enough for several streams: the replay follows the list, which is one possible run. In any other run two
// steps that touch the same bytes come in the same order, because one happens before the other. So each byte sees the
// same sequence of writes and reads, and every step reads what it reads in the replay.
//
// Returns every violation, by stage (form, addresses, roles, program, reach, replay, races, execution, claims, bodies)
// and in order within each. An empty list means that the plan is right. A plan whose form is wrong is not replayed.
// O((streams x (steps + values) + violations) log n). Recursion only over bodies (<= kMaxBodyNesting).
[[nodiscard]] std::vector<Violation> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options = {});

// Checks that the labels of a plan file are those of the graph and of its bodies: names, operators, types, roles,
// sizes. Readers that have a plan without its model, or look for tensors by name, rely on them. Violations are of kind
// wrong_model. O(nodes + tensors + length of the names).
[[nodiscard]] std::vector<Violation> verify_labels(const Graph& graph, const Labels& labels,
                                                   const VerifyOptions& options = {});

}  // namespace lowtide
