// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/verify/plan/subject.h"

// The stages of a verification, in the order in which `verify` runs them. Each adds its findings to Subject::findings
// and relies on what the stages before it have checked.
namespace lowtide::verify_internal {

// Every id, count and number is in range, so later stages use them without a check. Returns false if they must not run.
[[nodiscard]] bool check_form(const Subject& subject);

// The plan was made for this graph.
void check_provenance(const Subject& subject);

// The plan of a body comes from the same model, tool, bindings and target as the plan around it. Findings are those of
// the body.
void check_body_provenance(const Subject& around, const Plan& body);

// Buffers lie inside their region and are aligned, those that live together share no byte, and values lie in their
// buffers. Returns false if an address is so far out of range that it cannot be replayed.
// O((buffers + values + overlaps) log n).
[[nodiscard]] bool check_geometry(const Subject& subject);

// A tensor that is not part of a larger one, and shares its bytes only with whole views and results in place, begins at
// a multiple of the alignment of its region. While it is live, nothing else is in its last unit of the smallest
// alignment. The same holds for scratch. Lower bounds of the arena rely on both rules.
// Requires: check_geometry returned true. O((steps + values) log n).
void check_neighbors(const Subject& subject);

// Roles and buffer kinds agree. Only state updates write into buffers of the caller. Outputs have output buffers.
// O(values + buffers).
void check_roles(const Subject& subject);

// Read-only regions hold only constants, no constant has a home other than the region that the plan states for all, and
// that region has space for the constants of the graph and of its bodies beside its arena.
// O(buffers + constants log constants, and values per finding).
void check_constants(const Subject& subject);

// Every node runs, and again only if its operator permits it. Each step reads and writes what its node does, or copies
// bytes of one tensor. Values, outputs, updates and steps agree. O((steps + values) log n).
void check_program(const Subject& subject);

// Runs the program on a map of the last writer of each byte, and checks reads, aliases, results in place, and outputs
// at the end.
// Requires: check_geometry returned true. O((steps + values) log n).
void replay(const Subject& subject);

// Workers touch only regions that they address, links copy only between their two ends. O(steps + values).
void check_reach(const Subject& subject);

// The result does not depend on the speed of the streams: if two steps touch a byte and one of them writes it, one
// happens before the other. The step that writes a value happens before those that read it. A plan with one stream is
// always right. Requires: check_geometry returned true. O(streams x (steps + values) log n), O(n) bytes.
void check_races(const Subject& subject);

// Streams and waits suit the execution model that the plan states: a sequence has one stream, each step of a wave waits
// for all of the wave before, and dataflow orders nodes by the graph alone. O(streams x (steps + reads + waits)).
void check_execution(const Subject& subject);

// The claims of the plan. O((nodes + buffers) log n), bodies included.
void check_claims(const Subject& subject);

// The plans of bodies lie inside the scratch buffers of their steps. `verify` checks the plans themselves later.
void check_body_places(const Subject& subject);

}  // namespace lowtide::verify_internal
