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
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/inspection.h"
#include "lowtide/report/page.h"
#include "lowtide/report/styled_text.h"

// What a person reads after a command: short, aligned, the same bytes for the same facts. Every name from a file passes
// through `quoted`, so nothing in a model can act on a terminal.
namespace lowtide {

// Which model a summary is about.
struct ModelFacts {
  std::string path;
  std::string format;  // "onnx"
  std::string sha256;
  std::int64_t nodes = 0;          // as in the file, bodies too
  std::int64_t planned_nodes = 0;  // those that run: without the ones that are constants
  std::int64_t tensors = 0;
};

struct SummaryOptions {
  std::size_t top = 8;  // lines of each table; the rest is one line
};

[[nodiscard]] StyledText inspection_summary(const ModelFacts& model, const Inspection& inspection,
                                            const SummaryOptions& options = {});

// What the planner found besides the plan (pipeline/plan_graph.h says what each is).
struct PlanVerdict {
  PlainFigures plain;
  std::vector<std::pair<std::string, Bytes>> orders_tried;
  std::optional<Bytes> capacity;
  Bytes shortfall;
  bool proven_infeasible = false;
  std::vector<TradeOff> points;
  bool shows_curve = false;
  bool is_bound_verified = false;  // by code that shares none with what found it
};

[[nodiscard]] StyledText plan_summary(const ModelFacts& model, const NamedPlan& shown, const PlanVerdict& verdict,
                                      const SummaryOptions& options = {});

// (achieved - bound) / bound; 0 where both are 0, nothing where only the bound is.
[[nodiscard]] std::optional<double> gap_of(Bytes achieved, Bytes bound);

// A name in a table: as it is where it is plain, else quoted. What is longer than `columns` loses its front, since long
// names are paths whose ends tell them apart.
[[nodiscard]] std::string shown_name(const std::string& name, std::size_t columns);

}  // namespace lowtide
