// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "lowtide/verify/plan/findings.h"

// The stages of a verification, in the order in which `verify` runs them. Each adds what it finds to
// Subject::findings and relies on what the stages before it have made sure of.
namespace lowtide::verify_internal {

// Every id, count and number is in range, so that later stages may use them without a second look. False: they may not.
[[nodiscard]] bool check_form(const Subject& subject);

// The plan was made for this graph.
void check_provenance(const Subject& subject);

// The plan of a body comes from the same model, tool, bindings and target as the plan around it. Findings are those of
// the body.
void check_body_provenance(const Subject& around, const Plan& body);

// Buffers lie inside their region and its alignment, those that live together share no byte, values lie in their
// buffer. False: an address is so far out that it cannot be replayed. O((buffers + values + overlaps) log n).
[[nodiscard]] bool check_geometry(const Subject& subject);

// Roles and buffer kinds agree: what is the caller's is never written, outputs have buffers that stay. O(values +
// buffers).
void check_roles(const Subject& subject);

// Every node runs, and again only if its operator may; each step reads and writes what its node does, or copies bytes of
// one tensor; values, outputs, updates and steps agree. O((steps + values) log n).
void check_program(const Subject& subject);

// Runs the program on a map of who wrote which byte last: reads, aliases, in-place results, outputs at the end.
// Requires: check_geometry returned true. O((steps + values) log n).
void replay(const Subject& subject);

// Workers touch only regions that they address, links copy only between their two ends. O(steps + values).
void check_reach(const Subject& subject);

// Nothing depends on how fast the streams are: of two steps that touch a byte, and not both to read it, one happens
// before the other; so does what writes a value before what reads it. One stream: nothing to check.
// Requires: check_geometry returned true. O(streams x (steps + values) log n), O(n) bytes.
void check_races(const Subject& subject);

// Streams and waits suit the execution model that the plan states: a sequence has one stream, each step of a wave waits
// for all of the wave before, and dataflow orders nodes by the graph alone. O(streams x (steps + reads + waits)).
void check_execution(const Subject& subject);

// What the plan says of itself. O((nodes + buffers) log n), bodies included.
void check_claims(const Subject& subject);

// The bodies' plans lie inside the scratch buffers of their steps. Whether they are right is for `verify` to go on
// with.
void check_body_places(const Subject& subject);

}  // namespace lowtide::verify_internal
