// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/limits.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/inspection.h"
#include "lowtide/report/lowering.h"
#include "lowtide/report/page.h"
#include "lowtide/report/quantized.h"
#include "lowtide/report/styled_text.h"

// Summaries for people: short tables and sentences. The same facts give the same bytes. Every name from a file is
// quoted, so that it cannot control a terminal.
namespace lowtide {

// The work that is done once, when the model is loaded (lower/load/load_time.h).
struct LoadTimeFacts {
  std::int64_t nodes = 0;
  Bytes results;  // constants of every run
  Bytes peak;     // of the live bytes while these nodes run, without the constants that they read
};

// Which model a summary is about.
struct ModelFacts {
  std::string path;
  std::string format;  // "onnx"
  std::string sha256;
  std::int64_t nodes = 0;          // as in the file, including bodies
  std::int64_t planned_nodes = 0;  // those that run; load-time work and removed branches do not
  std::int64_t body_nodes = 0;     // the part of `planned_nodes` that is in bodies; the others are steps of the plan
  std::int64_t tensors = 0;
  std::optional<LoadTimeFacts> load_time = std::nullopt;  // nullopt: there is none
  Bytes inputs_in_arena = Bytes(0);                       // inputs that the caller writes into the arena
  Bytes outputs_at_caller = Bytes(0);                     // outputs in memory of the caller
};

struct SummaryOptions {
  std::size_t top = 8;  // rows of each table; the rest is summed up in one row
  bool wide = false;    // names in tables are whole, however long they are
};

[[nodiscard]] StyledText inspection_summary(const ModelFacts& model, const Inspection& inspection,
                                            const SummaryOptions& options = {});

// What the planner found besides the plan (see pipeline/plan_graph.h).
struct PlanVerdict {
  PlainFigures plain;
  std::vector<std::pair<std::string, Bytes>> orders_tried;
  Bytes caller;
  std::optional<Bytes> capacity;
  bool is_budget_the_limit = false;  // PlannedGraph::is_budget_the_limit
  Bytes counted;
  bool counts_weights = false;  // PlannedGraph::counts_weights
  std::optional<Weights> weights = std::nullopt;
  Bytes shortfall;
  bool proven_infeasible = false;
  std::optional<Recomputation> recomputation = std::nullopt;  // PlannedGraph::recomputation
  std::optional<KernelExchange> exchange = std::nullopt;      // PlannedGraph::exchange
  std::optional<KernelExchange> lightest = std::nullopt;      // PlannedGraph::lightest
  std::optional<RegionProof> region_proof = std::nullopt;
  PlanEstimate estimate = {};                     // PlannedGraph::estimate
  std::optional<Machine> machine = std::nullopt;  // of the target; the machine of a plan has other capacities
  std::optional<QuantizedFacts> quantized = std::nullopt;
  std::optional<LoweringFacts> lowering = std::nullopt;
  std::optional<Bytes> counted_on_cpu = std::nullopt;  // of a plan for target `cpu` that fits, if this one does not
  std::vector<TradeOff> points;
  bool shows_trade_offs = false;
  bool is_bound_verified = false;  // by an independent check
  bool is_verified = false;        // PlannedGraph::is_verified
};

// What planning found. The fields `machine`, `quantized`, `lowering`, `counted_on_cpu` and `shows_trade_offs` are left
// as they are by default.
[[nodiscard]] PlanVerdict verdict_of(const PlannedGraph& planned);

[[nodiscard]] StyledText plan_summary(const ModelFacts& model, const NamedPlan& shown, const PlanVerdict& verdict,
                                      const SummaryOptions& options = {});

// Where the costs of an estimate are from: "by the measured times of 56 of 60 kernels, and by the plain model of one
// core for the others".
[[nodiscard]] std::string costs_text(const PlanEstimate& estimate);

// (achieved - bound) / bound; 0 if both are 0, nullopt if only the bound is.
[[nodiscard]] std::optional<double> gap_of(Bytes achieved, Bytes bound);

inline constexpr std::size_t kWholeName = 4 * limits::kMaxNameBytes;  // an escaped byte has four columns

// A name in a sentence or a table, quoted unless it is plain. Sentences have whole names. In a table, the beginning of
// a name longer than `columns` is omitted, because long names are usually paths that differ at their ends.
[[nodiscard]] std::string shown_name(const std::string& name, std::size_t columns = kWholeName);

// The names of a table. Each is as long as shown_name() makes it, except that different names which would then look
// the same keep more of their beginnings. O(names x log names).
[[nodiscard]] std::vector<std::string> shown_names(const std::vector<std::string>& names, std::size_t columns);

}  // namespace lowtide
