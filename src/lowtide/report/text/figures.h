// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/analysis/node_figures.h"
#include "lowtide/analysis/peak.h"
#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/shown_step.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

// The table of figures that all summaries have, one line per figure: name, bytes, the same in larger units, share,
// note.
namespace lowtide::report_internal {

// The columns of the name of a node in a table.
[[nodiscard]] constexpr std::size_t node_columns(bool wide) { return wide ? kWholeName : 30; }

// "model.onnx  4 nodes, 5 tensors  onnx, sha256 a028affa56bf"
[[nodiscard]] StyledText model_title(const ModelFacts& model);
// "Conv conv1", "copy x to dram"; `none` if there is no step. Each name has at most `columns`.
[[nodiscard]] std::string node_text(const ShownStep& step, std::string_view none, std::size_t columns = kWholeName);

[[nodiscard]] std::string exact(Bytes size);

// Sentences, indented by two columns. Lines break at spaces and have at most 100 columns; only a longer word exceeds
// that. `lead` comes first: a styled word, or a mark of two columns ("- "), which indents all further lines.
[[nodiscard]] StyledText paragraph(std::string_view text, const StyledText& lead = {});
[[nodiscard]] TextTable figures_table();

struct Figure {
  std::string name;
  Bytes size;
  std::string share;  // "12.3 %"
  StyledText note = {};
  Style style = Style::plain;
};

// "  peak   9,633,792 B   9.19 MiB   12.3 %   order as_given"
void add_figure(TextTable& table, const Figure& figure);

// "0 %", "below 0.1 %", "4.3 %", "unknown"
[[nodiscard]] std::string gap_text(Bytes achieved, Bytes bound);

// The alignment of the first region that holds buffers.
[[nodiscard]] Bytes first_alignment(const Plan& plan);

// "x", or "x #2" for the second value of a tensor in a plan.
[[nodiscard]] std::string value_text(const std::string& tensor, std::uint32_t ordinal);

// The buffers of a table: "x", "x #2" or "(scratch)". Different tensors never look the same. If `wide`, all names are
// whole.
[[nodiscard]] std::vector<std::string> buffer_names(const Peak& peak, const std::vector<BufferId>& buffers, bool wide);

// The widest scope in which a bound shows that every plan needs at least `bytes`. nullopt if no bound with a scope that
// contains this plan shows it.
[[nodiscard]] std::optional<BoundScope> scope_that_needs(const Plan& plan, Bytes bytes);

// The same for a claim that a plan of `bytes` is optimal. nullopt also if an operator is uncounted (Claims::uncounted).
[[nodiscard]] std::optional<BoundScope> proven_scope(const Plan& plan, Bytes bytes);

// Which graph a proof is about: "the model as written", or "the graph that target cpu runs" if passes for its kernels
// have rewritten the model. `are_several`: "any graph that target cpu may run".
[[nodiscard]] std::string planned_graph_text(const Provenance& provenance, bool are_several = false);
[[nodiscard]] inline std::string planned_graph_text(const Plan& plan) { return planned_graph_text(plan.provenance); }

// "no plan without recomputation or extra copies", "no plan"
[[nodiscard]] std::string_view no_plan_text(BoundScope scope);

// "2 nodes run again, 3 steps copy bytes, 4,096 bytes move over links"; empty if the plan has no extra work.
[[nodiscard]] std::string extra_work_text(const Plan& plan);

// Whether some Slice, Split or Concat of a plan copies, or a body may hold one that does. Bounds then hold for plans in
// which each Slice, Split and operand of a Concat shares all of its bytes or copies all of them. `op_of(node)` is the
// type of its operator.
template <typename OpOf>
[[nodiscard]] bool copies_views(const Plan& plan, OpOf op_of) {
  const auto has_bodies = [](const StepSpace& space) { return !space.bodies.empty(); };
  if (std::any_of(plan.layout.steps.begin(), plan.layout.steps.end(), has_bodies)) return true;
  return std::any_of(plan.program.steps.begin(), plan.program.steps.end(), [&](const Step& step) {
    const Compute* compute = std::get_if<Compute>(&step.work);
    if (compute == nullptr) return false;
    const std::string& op = op_of(compute->node);
    return op == "Slice" || op == "Split" || op == "Concat";
  });
}

// Whether the outputs are in memory of the caller (lower/memory/outputs_at_caller.h).
[[nodiscard]] bool has_outputs_at_caller(const Plan& plan);

// Whether nodes that depend on constants alone run once, when the model is loaded (lower/load/load_time.h).
[[nodiscard]] bool has_load_time_work(const Plan& plan);

inline constexpr std::string_view kWrittenOnce =
    "This assumes that each byte of an output in memory of the caller is written once";

inline constexpr std::string_view kAllOrCopies =
    "This assumes that each Slice, Split and operand of a Concat shares all of its bytes or copies all of them";

// "The memory inside these operators is unknown ...", for claims with operators whose memory is not counted.
[[nodiscard]] std::string uncounted_text(const std::vector<std::string>& uncounted);

// Multiply-accumulates: "4,089,184,256", "none", "not known", "at least 5" if some of a sum are not known.
[[nodiscard]] std::string macs_text(std::optional<std::int64_t> macs);
[[nodiscard]] std::string macs_text(const FigureTotals& totals);
// "1,024 B", "at least 9,223,372,036,854,775,807 B"
[[nodiscard]] std::string sum_text(const FigureSum& bytes);

// "11.70 MiB of 16.00 MiB in flash"; "in flash" without a capacity; empty if it is not known where weights are.
[[nodiscard]] std::string weights_text(const std::optional<Weights>& weights);

// "best_fit, proven optimal"
[[nodiscard]] StyledText with_proof(std::string_view strategy, bool is_optimal);

}  // namespace lowtide::report_internal
