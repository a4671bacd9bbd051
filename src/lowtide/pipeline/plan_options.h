// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/plan_stages.h"
#include "lowtide/plan/hints.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// A plan on several streams gets more memory only if a smaller plan would take longer by more than this.
inline constexpr int kTimeTolerancePercent = 2;

// The efforts of a plan that is only compared with others: about 0.1 s for its searches.
inline constexpr std::int64_t kQuickOrderEffort = 50'000'000;
inline constexpr std::int64_t kQuickAllocateEffort = 10'000'000;

struct PlanOptions {
  std::string order = "auto";  // a name of schedule_strategies(), or auto
  // The most RAM that a run may use, at most limits::kMaxArenaBytes: all arenas together, and the inputs and states of
  // the caller. Constants do not count, wherever they are. The capacities of the target's regions limit the arenas in
  // addition.
  std::optional<Bytes> budget;
  bool views = true;                          // off: every Reshape, Slice, Split and Concat copies
  bool parts = true;                          // off: every buffer is live as a whole (Buffer::parts)
  bool in_place = true;                       // off: no kernel writes over its input
  std::int64_t order_effort = 5'000'000'000;  // work units of ScheduleOptions; 0: no search over orders
  // Effort of the independent search that confirms the bound (check_order_bound). 0 means no search. Then only a bound
  // that a sum of live bytes proves is confirmed.
  std::int64_t bound_check_effort = 0;
  std::int64_t allocate_effort = 200'000'000;  // work units of AllocateOptions; 0: no search over offsets
  // Work units of RematerializeOptions, for each choice of kernels, to keep a budget with recomputation.
  std::int64_t recompute_effort = 4'000'000'000;
  // Work units for what is proven about all plans that keep the budget. nullopt: a fifth of recompute_effort.
  std::optional<std::int64_t> proof_effort = std::nullopt;
  // Which nodes run again, or do not, if they must to keep the budget (pipeline/resolve_hints.h). Proofs hold without
  // hints as well.
  std::vector<NodeHint> hints = {};
  std::uint32_t streams = 1;  // that run at the same time; 1 to limits::kMaxStreams; dataflow ignores it
  ExecutionModel run = ExecutionModel::streams;  // with one stream, the plan is a sequence, except for dataflow
  int arena_slack_percent = 15;  // how far the arena may exceed that of the plan on one stream; dataflow ignores it
  bool pareto_front = false;     // also plans for other memory limits, in streams and in waves; costs one plan each
  std::string tool = "lowtide";  // Provenance::tool
  std::string model;             // Provenance::model
  std::string model_sha256;      // Provenance::model_sha256
  std::vector<std::string> lowering;  // Provenance::lowering
  std::vector<std::string> dims;      // Provenance::dims

  std::vector<PlanStage> skip;        // optional stages that do not run
  std::vector<PlanStage> dump_after;  // stages whose decisions go to on_dump
  bool verify_each = false;           // also verifies the plan after each stage that makes or changes one
  // Called when a stage begins, and with the text of a dump. A dump is deterministic; its form is for developers.
  std::function<void(PlanStage stage)> on_stage = {};
  std::function<void(const std::string& text)> on_dump = {};
  // Once it is true, no optional stage begins except verify, and allocation ends with the best answer so far. Another
  // thread or a signal handler may set it. nullptr: planning never stops early.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace lowtide
