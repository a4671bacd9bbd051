// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/verdict_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/recomputation_text.h"
#include "lowtide/report/text/target_text.h"

namespace lowtide::report_internal {
namespace {

// Why no plan fits.
StyledText no_fit_text(const NamedPlan& shown, const PlanVerdict& verdict) {
  const Plan& plan = shown.plan;
  // The bound covers only the arena, so what else is counted is subtracted from the capacity. Other kernels might fit,
  // so only a bound for all kernels counts. The number belongs to the widest scope that exceeds the capacity, because
  // the sentence is about that one.
  const Bytes beside_arena = verdict.counted - arena_bytes(plan);
  const Bytes for_arena = *verdict.capacity > beside_arena ? *verdict.capacity - beside_arena : Bytes(0);
  const std::optional<BoundScope> beyond = scope_that_needs(plan, for_arena + Bytes(1));
  const Bound* bound = best_bound(plan.claims, beyond.value_or(std::max(scope_of(plan), BoundScope::run_once)));
  const Bytes certain = (bound != nullptr ? bound->bytes : Bytes(0)) + beside_arena;
  const bool is_above = certain > *verdict.capacity;
  const std::string lead = "Proven for " + planned_graph_text(plan) + ": ";
  if (verdict.region_proof && (!is_above || verdict.region_proof->tensors.size() == 1))
    return paragraph(region_proof_text(shown, *verdict.region_proof), StyledText(lead));
  const std::string others = verdict.counts_weights ? "the weights" : "what the caller holds";
  return paragraph(std::string(no_plan_text(beyond.value_or(BoundScope::all_plans))) +
                       " fits, because the lower bound " +
                       (beside_arena == Bytes(0) ? "is " : "and " + others + " are together ") +
                       format_bytes(certain - *verdict.capacity) + " too large.",
                   StyledText(lead));
}

// Why a plan that fits may exist although this one does not.
StyledText not_proven_text(const Plan& plan, const PlanVerdict& verdict) {
  const Bound* bound = best_bound(plan.claims, std::max(scope_of(plan), BoundScope::run_once));
  const Bytes beside_arena = verdict.counted - arena_bytes(plan);
  if (bound == nullptr || bound->bytes + beside_arena <= *verdict.capacity)
    return StyledText("  Not proven: a plan that fits may exist.").end_line();
  return paragraph(
      "a plan that fits may exist. The bound counts whole units of the alignment, but the last buffer of a plan need "
      "not fill its last unit.",
      StyledText("Not proven: "));
}

// What a plan on floating-point numbers says about a target with integer kernels.
StyledText integers_text(const PlanVerdict& verdict, Bytes arena) {
  std::string text = "this graph computes floating-point numbers between DequantizeLinear and QuantizeLinear";
  const std::optional<IntegerEstimate>& estimate = verdict.quantized->estimate;
  if (!estimate) return paragraph(text + ", and a target with integer kernels does not.", StyledText("Not proven: "));
  const Bytes counted = estimate->arena + (verdict.counted - arena);
  text += ". With integer kernels, it would need about " + format_bytes(counted) + ", which ";
  text += counted <= *verdict.capacity ? "fits."
                                       : "exceeds the limit by " + format_bytes(counted - *verdict.capacity) + ".";
  return paragraph(text, StyledText("Not proven: "));
}

// Load-time work replaces constants by its results, so the sum of the weights holds only with or only without it.
std::string weights_proof_text(const Plan& plan) {
  const bool has_work = has_load_time_work(plan);
  return std::string("every plan ") + (has_work ? "with" : "without") +
         " load-time work has these weights in this region." +
         (has_work ? " With --no-load-time, the weights may need less." : "");
}

// Why no plan that fits was found.
void add_reasons(std::vector<StyledText>& parts, const NamedPlan& shown, const PlanVerdict& verdict) {
  if (verdict.counted_on_cpu) {
    StyledText other("  With --target cpu, whose kernels run another graph, a plan of ");
    parts.push_back(other.add(format_bytes(*verdict.counted_on_cpu) + " fits.").end_line());
  }
  if (verdict.quantized) {
    parts.push_back(integers_text(verdict, arena_bytes(shown.plan)));
    return;
  }
  if (verdict.proven_infeasible) {
    parts.push_back(no_fit_text(shown, verdict));
    const Bound* all_plans = best_bound(shown.plan.claims, BoundScope::all_plans);
    const Bytes certain =
        (all_plans != nullptr ? all_plans->bytes : Bytes(0)) + verdict.counted - arena_bytes(shown.plan);
    if (certain <= *verdict.capacity) parts.push_back(no_recomputation_text(shown, verdict));
    return;
  }
  // A proof that also covers recomputation says more than that the other one is missing.
  if (!is_recomputation_infeasible(verdict)) parts.push_back(not_proven_text(shown.plan, verdict));
  parts.push_back(no_recomputation_text(shown, verdict));
}

// Whether the plan fits. If the weights alone do not, the other sentences are about what remains.
std::vector<StyledText> capacity_parts(const NamedPlan& shown, const PlanVerdict& verdict) {
  const Bytes weights_excess = verdict.weights ? verdict.weights->excess() : Bytes(0);
  std::vector<StyledText> parts;
  if (weights_excess > Bytes(0)) {
    StyledText out("  Does not fit", Style::bad);
    out.add(": the weights need " + format_bytes(verdict.weights->bytes) + " in ");
    out.add(shown_name(verdict.weights->region.name) + ", which has ");
    out.add(format_bytes(*verdict.weights->region.capacity) + ": " + format_bytes(weights_excess) + " too large.");
    parts = {out.end_line(), paragraph(weights_proof_text(shown.plan), StyledText("Proven: "))};
    if (verdict.counts_weights) return parts;
  }
  if (!verdict.capacity) return parts;
  const std::string limit = format_bytes(*verdict.capacity) + (verdict.counts_weights ? " with the weights" : "");
  const Bytes missing = verdict.shortfall - weights_excess;
  StyledText out;
  if (missing == Bytes(0)) {
    if (weights_excess > Bytes(0)) {
      out.add("  Without the weights, it fits " + limit + "; ");
    } else if (!counts_all(shown.plan.claims)) {
      out.add("  What is counted fits " + limit + "; ");
    } else {
      out.add("  Fits", Style::good).add(" " + limit + "; ");
    }
    out.add(format_bytes(*verdict.capacity - verdict.counted) + " to spare.").end_line();
    parts.push_back(out);
    return parts;
  }
  if (weights_excess > Bytes(0)) {
    out.add("  Without the weights, it exceeds " + limit + " by " + format_bytes(missing) + ".").end_line();
    parts.push_back(out);
    return parts;
  }
  out.add("  Does not fit", Style::bad).add(" " + limit + ": ");
  parts.push_back(out.add(format_bytes(missing), Style::strong).add(" too large.").end_line());
  add_reasons(parts, shown, verdict);
  return parts;
}

// What is proven for the arena of this plan. Empty if nothing is.
StyledText optimal_text(const NamedPlan& shown, const PlanVerdict& verdict) {
  const Plan& plan = shown.plan;
  const std::optional<BoundScope> scope = proven_scope(plan, arena_bytes(plan));
  if (!scope || verdict.quantized) return {};
  StyledText out("  Proven optimal", Style::good);
  out.add(" for " + planned_graph_text(plan) + ": " + std::string(no_plan_text(*scope)) + " needs less");
  const auto op_of = [&](NodeId id) -> const std::string& { return shown.labels.nodes[id].op; };
  if (copies_views(plan, op_of)) out.add(".").end_line().add("  " + std::string(kAllOrCopies));
  if (has_outputs_at_caller(plan)) out.add(".").end_line().add("  " + std::string(kWrittenOnce));
  return out.add(".").end_line();
}

// A text without its line ends and indents.
std::string on_one_line(const StyledText& text) {
  std::string line;
  for (char c : text.render(false)) {
    const bool is_space = c == ' ' || c == '\n';
    if (!is_space || (!line.empty() && line.back() != ' ')) line += is_space ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

StyledText verdict_text(const NamedPlan& shown, const PlanVerdict& verdict) {
  StyledText out;
  if (!counts_all(shown.plan.claims))
    out.append(paragraph(uncounted_text(shown.plan.claims.uncounted), StyledText("Not proven: ", Style::bad)));
  for (const StyledText& part : capacity_parts(shown, verdict)) out.append(part);
  return out.append(optimal_text(shown, verdict)).append(recomputation_text(shown, verdict));
}

std::vector<std::string> verdict_paragraphs(const NamedPlan& shown, const PlanVerdict& verdict) {
  std::vector<StyledText> parts = capacity_parts(shown, verdict);
  const bool are_weights_too_large = verdict.weights && verdict.weights->excess() > Bytes(0);
  if (!parts.empty() && !are_weights_too_large) parts.erase(parts.begin());
  if (!counts_all(shown.plan.claims)) parts.emplace_back(uncounted_text(shown.plan.claims.uncounted));
  parts.push_back(optimal_text(shown, verdict));
  std::vector<std::string> paragraphs;
  for (const StyledText& part : parts) {
    if (!part.empty()) paragraphs.push_back(on_one_line(part));
  }
  return paragraphs;
}

}  // namespace lowtide::report_internal
