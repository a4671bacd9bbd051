// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/layout.h"
#include "lowtide/plan/machine.h"
#include "lowtide/plan/program.h"

namespace lowtide {

// When the steps of a plan may run.
enum class ExecutionModel : std::uint8_t {
  sequence,  // one step after another
  streams,   // each stream runs its steps in order, with waits for steps of other streams
  waves,     // up to N steps at once, then a barrier
  dataflow,  // a step starts when the graph permits it; any number of steps run at once
};

template <>
inline constexpr auto kEnumNames<ExecutionModel> = enum_names<ExecutionModel>({{ExecutionModel::sequence, "sequence"},
                                                                               {ExecutionModel::streams, "streams"},
                                                                               {ExecutionModel::waves, "waves"},
                                                                               {ExecutionModel::dataflow, "dataflow"}});

// The plans for which a lower bound holds. A bound is compared only with plans in its scope. Scopes are ascending: each
// one contains the plans of those before it.
enum class BoundScope : std::uint8_t {
  chosen_kernels,  // those plans of the next scope that run each node with the kernel of this plan
  // Plans with one step per node, in any order, with any sharing of bytes and any kernels of the target. Their copies
  // stay in one region. Only alias steps read the result of a copy, as for an operand of a concat, or it updates a
  // state. Reports call other copies extra copies.
  run_once,
  all_plans,  // these plans, and plans with repeated nodes or any other copies
};

template <>
inline constexpr auto kEnumNames<BoundScope> = enum_names<BoundScope>({{BoundScope::chosen_kernels, "chosen_kernels"},
                                                                       {BoundScope::run_once, "run_once"},
                                                                       {BoundScope::all_plans, "all_plans"}});

// No plan in the scope has a smaller arena.
struct Bound {
  BoundScope scope = BoundScope::run_once;
  Bytes bytes;
  std::string name;  // its proof: "live_set", "search", "cut" or "working_set"
  friend bool operator==(const Bound&, const Bound&) = default;
};

// What the planner states about its result. The verifier recomputes all numbers and flags except the bounds and the
// shortfall. The names of strategies are not checked.
struct Claims {
  Bytes load_as_given;  // peak of live bytes in the graph's order: temporaries and outputs, no aliasing, no alignment
  Bytes load;           // peak of live bytes of the program: placed buffers in the arena, including scratch
  std::vector<Bound> bounds;      // at most one per scope, in the order of the scopes
  std::string schedule;           // strategy that gave the order: "greedy_by_freed_bytes"
  bool schedule_optimal = false;  // load == the largest bound that holds for this plan
  std::string allocate;           // strategy that gave the offsets
  bool allocate_optimal = false;  // arena == load
  Bytes shortfall;                // by how much the plan exceeds its capacity or budget; 0 if it fits
  // Operators, here or in a body, whose own memory is unknown and not counted (Kernel::is_memory_known). Sorted by
  // name: "ai.onnx.preview.training::Gradient". If there are any, a run may need more than the plan says, so nothing is
  // proven to fit or to be optimal. A proof that no plan fits holds nevertheless.
  std::vector<std::string> uncounted;
  friend bool operator==(const Claims&, const Claims&) = default;
};

// Whether the plan counts the memory of every operator.
[[nodiscard]] inline bool counts_all(const Claims& claims) { return claims.uncounted.empty(); }

// The flags of the claims as reports may state them: nothing is proven if an operator is uncounted.
[[nodiscard]] inline bool is_schedule_proven(const Claims& claims) {
  return claims.schedule_optimal && counts_all(claims);
}
[[nodiscard]] inline bool is_allocation_proven(const Claims& claims) {
  return claims.allocate_optimal && counts_all(claims);
}

// What the plan was made from, so that it is not applied to another model.
struct Provenance {
  std::string tool;          // "lowtide 0.1.0"
  std::string model;         // name of the model file, without folders; empty for a graph without a file
  std::string model_sha256;  // of the bytes of the model file; empty for a graph without a file
  std::string graph;         // Graph::name
  std::int64_t nodes = 0;    // of this graph
  std::int64_t tensors = 0;
  // How this graph was made from that of the model file: the passes of lower/lower.h that changed it, in order.
  std::vector<std::string> lowering;
  std::vector<std::string> dims;         // "batch=8": the bindings that determine sizes, sorted
  std::string target;                    // name of the target
  std::vector<std::string> machine_key;  // Target::machine_key; empty: the plan is for any machine of the target
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// A kernel of the target that the plan uses.
struct PlannedKernel {
  std::string name;  // "dense"
  friend bool operator==(const PlannedKernel&, const PlannedKernel&) = default;
};

// Everything that a runtime, a verifier and a report need. Plain data. The code that makes a plan must ensure what the
// comments of machine.h, program.h and layout.h state. verify checks it.
struct Plan {
  Provenance provenance;
  Machine machine;
  IdVector<KernelId, PlannedKernel> kernels;
  ExecutionModel execution = ExecutionModel::sequence;
  Program program;
  Layout layout;
  Claims claims;
};

// The plan and the plans of all bodies inside it, each plan before those of its bodies. The pointers are valid as long
// as the plan. O(steps). No recursion; bodies without a plan are skipped.
[[nodiscard]] std::vector<const Plan*> all_plans_in(const Plan& plan);

// The names of the kernels of these plans, each once and sorted. They are valid as long as the plan. O(steps).
[[nodiscard]] std::vector<std::string_view> kernel_names(const Plan& plan);

// The features of a plan that a reader must support in addition to a plain plan. In a plain plan, each node runs once
// on one stream, no step copies, and every buffer is live as a whole. The names are "buffer_parts", "copies", "links",
// "recompute", "state_updates" and "streams". Ascending. The features of bodies are not included. O(plan).
[[nodiscard]] std::vector<std::string_view> features_of(const Plan& plan);

// The features of any of the plans. Ascending.
[[nodiscard]] std::vector<std::string_view> features_of(const std::vector<const Plan*>& plans);

// The smallest scope that contains the plan. A body that needs all_plans puts the whole plan there, because the arena
// of the plan includes that of the body. O(plan and bodies).
[[nodiscard]] BoundScope scope_of(const Plan& plan);

// The largest claimed bound that holds for plans of the scope. Returns nullptr if none is claimed.
[[nodiscard]] const Bound* best_bound(const Claims& claims, BoundScope scope);

// The largest claimed bound that holds for the plan. Its name is "none" and its size 0 if none is claimed.
[[nodiscard]] Bound bound_of(const Plan& plan);

// The sum of the arenas of all regions that a worker can address.
[[nodiscard]] inline Bytes arena_bytes(const Plan& plan) { return arena_bytes(plan.machine, plan.layout); }
// The sum of the other ones.
[[nodiscard]] inline Bytes outside_bytes(const Plan& plan) { return outside_bytes(plan.machine, plan.layout); }

}  // namespace lowtide
