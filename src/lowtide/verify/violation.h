// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// What is wrong with a plan, a packing, or tensors in shared blocks. The names are stable, because they appear in
// --json output.
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
  read_only,     // a buffer that a run writes is in a read-only region, or the target has other read-only regions
  wrong_claim,   // a figure or the execution model that the plan states about itself is wrong
  race,          // steps of two streams touch the same bytes or value, and neither happens before the other
  unreachable,   // a step touches bytes in a region that its worker or link does not reach
  wrong_kernel,  // the target has no such kernel for the node, or the kernel needs more scratch or copies its result
  misplaced,     // an offset or a region is not the one that a packing problem, a plan or a target demands
};

template <>
inline constexpr auto kEnumNames<ViolationKind> =
    enum_names<ViolationKind>({{ViolationKind::malformed, "malformed"},
                               {ViolationKind::wrong_model, "wrong_model"},
                               {ViolationKind::missing_step, "missing_step"},
                               {ViolationKind::repeated_step, "repeated_step"},
                               {ViolationKind::data_flow, "data_flow"},
                               {ViolationKind::clobbered, "clobbered"},
                               {ViolationKind::output_lost, "output_lost"},
                               {ViolationKind::out_of_buffer, "out_of_buffer"},
                               {ViolationKind::out_of_region, "out_of_region"},
                               {ViolationKind::misaligned, "misaligned"},
                               {ViolationKind::dead_access, "dead_access"},
                               {ViolationKind::overlap, "overlap"},
                               {ViolationKind::bad_alias, "bad_alias"},
                               {ViolationKind::bad_in_place, "bad_in_place"},
                               {ViolationKind::role, "role"},
                               {ViolationKind::read_only, "read_only"},
                               {ViolationKind::wrong_claim, "wrong_claim"},
                               {ViolationKind::race, "race"},
                               {ViolationKind::unreachable, "unreachable"},
                               {ViolationKind::wrong_kernel, "wrong_kernel"},
                               {ViolationKind::misplaced, "misplaced"}});

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
  std::size_t most_violations = 100;  // a check stops after this number; 0 counts as 1
};

}  // namespace lowtide
