// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/peak.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

// The table of figures that all summaries have, a line each: name, bytes, the same for the eye, share, note.
namespace lowtide::detail {

inline constexpr std::size_t kPathColumns = 72;
inline constexpr std::size_t kTensorColumns = 36;
inline constexpr std::size_t kNodeColumns = 30;

// "model.onnx  4 nodes, 5 tensors  onnx, sha256 a028affa56bf"
[[nodiscard]] StyledText model_title(const ModelFacts& model);
// "Conv conv1"; `none` for a node that is not there.
[[nodiscard]] std::string node_text(const ShownNode& node, std::string_view none);

[[nodiscard]] std::string exact(Bytes size);

// A sentence or more, indented by two and broken at blanks so that lines have at most 100 columns where words allow;
// with `lead` in front: a styled word, or a mark of two columns ("- "), after which further lines begin under the text.
[[nodiscard]] StyledText paragraph(std::string_view text, const StyledText& lead = {});
[[nodiscard]] TextTable figures_table();

// "  load   9,633,792 B   9.19 MiB   12.3 %   as_given"
void add_figure(TextTable& table, std::string_view name, Bytes size, std::string_view share,
                const StyledText& note = {}, Style style = Style::plain);

// "0 %", "below 0.1 %", "4.3 %", "unknown"
[[nodiscard]] std::string gap_text(Bytes achieved, Bytes bound);

// Whether some Slice, Split or Concat of a plan copies, or a body may hold one that does: what is proven is so for plans
// in which each of these shares all of its bytes or copies. `op_of(node)` is the type of its operator.
template <typename OpOf>
[[nodiscard]] bool copies_views(const Plan& plan, OpOf op_of) {
  return std::any_of(plan.program.begin(), plan.program.end(), [&](const Step& step) {
    const std::string& op = op_of(step.node);
    const bool is_partial = op == "Slice" || op == "Split" || op == "Concat";
    return !step.bodies.empty() || (is_partial && step.kind == StepKind::compute);
  });
}

inline constexpr std::string_view kAllOrCopies = "where a Slice, Split or Concat shares all of its bytes or copies";

// "best_fit, proven optimal"
[[nodiscard]] StyledText with_proof(std::string_view strategy, bool is_optimal);

}  // namespace lowtide::detail
