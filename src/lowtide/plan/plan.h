// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/layout.h"
#include "lowtide/plan/machine.h"
#include "lowtide/plan/program.h"

namespace lowtide {

// When steps may run.
enum class ExecutionModel : std::uint8_t {
  sequence,  // one step after another
  streams,   // each stream its steps in order, with waits for steps of other streams
  waves,     // up to N steps at once, then a barrier
  dataflow,  // every step as soon as the graph allows, any number at once
};

[[nodiscard]] std::string_view to_string(ExecutionModel model);
[[nodiscard]] std::optional<ExecutionModel> execution_model_from_string(std::string_view text);

// Which plans a lower bound holds for. A claim is compared only with plans in its scope.
enum class BoundScope : std::uint8_t {
  run_once,   // plans that run each node once and move nothing between regions, in any order, with any sharing of bytes
  all_plans,  // these, and plans that recompute, swap or bring constants in
};

[[nodiscard]] std::string_view to_string(BoundScope scope);
[[nodiscard]] std::optional<BoundScope> bound_scope_from_string(std::string_view text);

// No plan in the scope has a smaller arena.
struct Bound {
  BoundScope scope = BoundScope::run_once;
  Bytes bytes;
  std::string name;  // what shows it: "must_be_live", "search", "largest_step"
  friend bool operator==(const Bound&, const Bound&) = default;
};

// What the planner says about its result. The verifier recomputes what can be recomputed.
struct Claims {
  Bytes load_as_given;  // peak of live bytes in the graph's order: temporaries and outputs, no aliasing, no alignment
  Bytes load;           // peak of live bytes of the program: placed buffers, scratch included
  std::vector<Bound> bounds;      // at most one per scope, in the order of the scopes
  std::string schedule;           // strategy that gave the order: "greedy_by_freed_bytes"
  bool schedule_optimal = false;  // load == the bound in whose scope the plan is
  std::string allocate;           // strategy that gave the offsets
  bool allocate_optimal = false;  // arena == load
  friend bool operator==(const Claims&, const Claims&) = default;
};

// Where the plan comes from, so that it is never applied to something else.
struct Provenance {
  std::string tool;          // "lowtide 0.1.0"
  std::string model_sha256;  // of the model file's bytes; empty for a graph that did not come from a file
  std::string graph;         // Graph::name
  std::int64_t nodes = 0;    // of this graph
  std::int64_t tensors = 0;
  std::vector<std::string> dims;  // "batch=8": bindings that the sizes depend on, sorted
  std::string target;             // name of the target
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// A kernel of the target that the plan uses.
struct PlannedKernel {
  std::string name;  // "dense"
  friend bool operator==(const PlannedKernel&, const PlannedKernel&) = default;
};

// Everything that a runtime, a verifier and a report need. Plain data: whatever makes a plan must keep what the comments
// of machine.h, program.h and layout.h state, and verify checks it.
struct Plan {
  Provenance provenance;
  Machine machine;
  IdVector<KernelId, PlannedKernel> kernels;
  ExecutionModel execution = ExecutionModel::sequence;
  Program program;
  Layout layout;
  Claims claims;
};

// What a reader of a plan must understand beyond "each node runs once, on one stream, in one region":
// "buffer_parts", "copies", "links", "recompute", "state_updates", "streams"; ascending. O(plan), bodies not included.
[[nodiscard]] std::vector<std::string_view> features_of(const Plan& plan);

// The smallest scope that the plan is in.
[[nodiscard]] BoundScope scope_of(const Plan& plan);

// The largest claimed bound that holds for plans of the scope; nullptr if none is claimed.
[[nodiscard]] const Bound* best_bound(const Claims& claims, BoundScope scope);

// The best claimed bound for plans such as this one; of 0 bytes and called "none" if none is claimed.
[[nodiscard]] Bound bound_of(const Plan& plan);

// Sum of the arenas of all regions.
[[nodiscard]] inline Bytes arena_bytes(const Plan& plan) { return arena_bytes(plan.layout); }

}  // namespace lowtide
