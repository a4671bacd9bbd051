// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/summary.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/streams_text.h"
#include "lowtide/report/text/target_text.h"
#include "lowtide/report/text/verdict_text.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::add_figure;
using report_internal::buffer_names;
using report_internal::exact;
using report_internal::figures_table;
using report_internal::gap_text;
using report_internal::macs_text;
using report_internal::model_title;
using report_internal::no_plan_text;
using report_internal::node_columns;
using report_internal::node_text;
using report_internal::paragraph;
using report_internal::weights_text;
using report_internal::with_proof;

void add_outside_figures(TextTable& table, const ModelFacts& model, const PlainFigures& plain,
                         const std::optional<Weights>& weights) {
  add_figure(table, {"weights", plain.constants, "", weights_text(weights)});
  if (model.load_time) {
    add_figure(table, {"load time", model.load_time->peak, "",
                       "peak while " + counted(model.load_time->nodes, "node") + " " +
                           (model.load_time->nodes == 1 ? "computes" : "compute") + " " +
                           exact(model.load_time->results) + " of the weights, once"});
  }
  if (model.inputs_in_arena > Bytes(0)) {
    add_figure(table, {"inputs", model.inputs_in_arena, "", "in the arena"});
  } else {
    add_figure(table, {"inputs", plain.inputs, ""});
  }
  if (model.outputs_at_caller > Bytes(0)) {
    add_figure(table, {"outputs", model.outputs_at_caller, "", "in memory of the caller"});
  } else {
    add_figure(table, {"outputs", plain.outputs, "", "in the arena"});
  }
  table.add_row({});
}

// The bytes of states that are not outputs in memory of the caller.
Bytes states_of(const ModelFacts& model, const PlanVerdict& verdict) {
  return verdict.caller - verdict.plain.inputs - model.outputs_at_caller;
}

// What counts as RAM: "arena, inputs and outputs".
std::string ram_parts(const ModelFacts& model, const PlanVerdict& verdict) {
  std::vector<std::string> parts = {"arena"};
  if (verdict.plain.inputs > Bytes(0)) parts.emplace_back("inputs");
  if (states_of(model, verdict) > Bytes(0)) parts.emplace_back("states");
  if (model.outputs_at_caller > Bytes(0)) parts.emplace_back("outputs");
  return parts.size() == 1 ? "the arena" : listed(parts, "and");
}

// The producer of a tensor. If its name begins the tensor's name, which is in the same row, its operator is enough.
std::string producer_text(const ShownStep& producer, const std::string& tensor, std::size_t columns) {
  const bool names_tensor = !producer.name.empty() && tensor.starts_with(producer.name);
  if (names_tensor && producer.op != kCallerFullName) return shown_name(producer.op, columns);
  return node_text(producer, "-", columns);
}

void add_buffer(TextTable& table, const Peak& peak, const LiveBuffer& live, const std::string& name, bool wide) {
  const std::size_t columns = node_columns(wide);
  const Buffer& buffer = peak.plan->layout.buffers[live.buffer];
  const BufferUse& use = peak.uses[live.buffer];
  const ShownStep producer = shown_step(*peak.plan, *peak.labels, use.first_write);
  StyledText tensor(name);
  std::string type;
  StyledText nodes(node_text(producer, "-", columns));
  if (use.name) {
    const TensorLabel& label = peak.labels->tensors[peak.plan->program.values[*use.name].tensor];
    if (const std::size_t others = peak.other_values(live)) tensor.add(" +" + std::to_string(others), Style::dim);
    type = std::string(to_string(label.dtype)) + to_string(label.shape);
    nodes = StyledText(producer_text(producer, label.name, columns));
    nodes.add(" -> ", Style::dim);
    nodes.add(buffer.kind == BufferKind::output
                  ? "the caller"
                  : node_text(shown_step(*peak.plan, *peak.labels, use.last_read), "no step", columns));
  }
  const std::string steps =
      "[" + std::to_string(buffer.lifespan.begin.value()) + "," + std::to_string(buffer.lifespan.end.value()) + ")";
  table.add_row({StyledText(exact(live.bytes)), StyledText(percent(live.bytes.count(), peak.bytes.count())), tensor,
                 StyledText(type, Style::dim), StyledText(steps, Style::dim), nodes});
}

// A last row with the sum of what the table leaves out.
void add_rest(TextTable& table, std::size_t count, Bytes rest, std::int64_t sum) {
  table.add_row({StyledText(exact(rest), Style::dim), StyledText(percent(rest.count(), sum), Style::dim),
                 StyledText("and " + std::to_string(count) + " more", Style::dim)});
}

StyledText peak_text(const Peak& peak, const SummaryOptions& options, std::string_view what) {
  StyledText out;
  if (!peak.step || peak.buffers.empty()) return out;
  out.end_line().add(what, Style::heading);
  if (!peak.body.empty()) out.add(" inside " + shown_name(peak.body));
  out.add(": " + format_bytes(peak.bytes) + " at step " + with_thousands(peak.step->value()) + " of " +
          with_thousands(static_cast<std::int64_t>(peak.plan->program.steps.size())));
  if (peak.body.empty()) out.add(" (counted from 0)");
  out.add(", " + node_text(shown_step(*peak.plan, *peak.labels, peak.step), "")).end_line();

  if (options.top == 0) return out.append(unlisted_text(peak.buffers.size(), "buffer"));
  TextTable table({Align::right, Align::right, Align::left, Align::left, Align::left, Align::left});
  table.add_row({StyledText("bytes", Style::dim), StyledText("share", Style::dim), StyledText("tensor", Style::dim),
                 StyledText("type", Style::dim), StyledText("steps", Style::dim),
                 StyledText("produced by -> last read by", Style::dim)});
  const std::size_t shown = std::min(options.top, peak.buffers.size());
  std::vector<BufferId> buffers;
  for (std::size_t at = 0; at < shown; ++at) buffers.push_back(peak.buffers[at].buffer);
  const std::vector<std::string> names = buffer_names(peak, buffers, options.wide);
  for (std::size_t at = 0; at < shown; ++at) add_buffer(table, peak, peak.buffers[at], names[at], options.wide);
  Bytes rest;
  for (std::size_t at = shown; at < peak.buffers.size(); ++at) rest += peak.buffers[at].bytes;
  if (shown < peak.buffers.size()) add_rest(table, peak.buffers.size() - shown, rest, peak.bytes.count());
  return out.append(table.text());
}

StyledText operators_text(const Inspection& inspection, const SummaryOptions& options) {
  StyledText out;
  const std::vector<OperatorTotals>& operators = inspection.figures.operators;
  if (operators.empty()) return out;
  out.end_line().add("Operators by the bytes they produce", Style::heading).end_line();
  if (options.top == 0) return out.append(unlisted_text(operators.size(), "operator"));
  TextTable table({Align::right, Align::right, Align::left, Align::right, Align::right, Align::right, Align::right});
  table.add_row({StyledText("bytes", Style::dim), StyledText("share", Style::dim), StyledText("operator", Style::dim),
                 StyledText("nodes", Style::dim), StyledText("weights", Style::dim), StyledText("MACs", Style::dim),
                 StyledText("share", Style::dim)});
  const FigureTotals& all = inspection.figures.totals;
  const std::int64_t sum = inspection.plain.temporaries_sum.count();
  const std::size_t shown = std::min(options.top, operators.size());
  std::int64_t rest = sum;
  std::int64_t nodes = all.nodes;
  for (std::size_t at = 0; at < shown; ++at) {
    const FigureTotals& totals = operators[at].totals;
    const std::int64_t written = totals.written.sum;
    table.add_row({StyledText(exact(Bytes(written))), StyledText(percent(written, sum)),
                   StyledText(shown_name(operators[at].op, node_columns(options.wide))),
                   StyledText(with_thousands(totals.nodes)), StyledText(exact(totals.constants)),
                   StyledText(macs_text(totals)),
                   StyledText(totals.macs.sum > 0 ? percent(totals.macs.sum, all.macs.sum) : "")});
    rest -= written;
    nodes -= totals.nodes;
  }
  if (shown < operators.size()) {
    table.add_row({StyledText(exact(Bytes(rest)), Style::dim), StyledText(percent(rest, sum), Style::dim),
                   StyledText("and " + std::to_string(operators.size() - shown) + " more", Style::dim),
                   StyledText(with_thousands(nodes), Style::dim)});
  }
  const std::string macs = all.macs.left_out == 0 && all.macs.sum == 0 ? "No" : macs_text(all);
  return out.append(table.text()).add("  " + macs + " multiply-accumulates (MACs) in one run.").end_line();
}

// Where times are compared, or measured.
StyledText estimate_text(const PlanVerdict& verdict) {
  const PlanEstimate& estimate = verdict.estimate;
  const bool shows_times = verdict.recomputation || !verdict.points.empty();
  if (!shows_times && estimate.measured == 0) return {};
  StyledText out("  Time", Style::strong);
  const std::string time = verdict.points.empty()
                               ? "estimated " + report_internal::time_text(estimate.picoseconds) + ", "
                               : std::string("estimated ");
  return out.add(": " + time + costs_text(estimate) + ".").end_line();
}

}  // namespace

PlanVerdict verdict_of(const PlannedGraph& planned) {
  return {.plain = planned.plain,
          .orders_tried = planned.orders_tried,
          .caller = planned.caller,
          .capacity = planned.capacity,
          .is_budget_the_limit = planned.is_budget_the_limit,
          .counted = planned.counted,
          .counts_weights = planned.counts_weights,
          .weights = planned.weights,
          .shortfall = planned.shortfall,
          .proven_infeasible = planned.proven_infeasible,
          .recomputation = planned.recomputation,
          .exchange = planned.exchange,
          .lightest = planned.lightest,
          .region_proof = planned.region_proof,
          .estimate = planned.estimate,
          .points = planned.trade_offs,
          .is_bound_verified = planned.bound_check.verdict == OrderBoundVerdict::confirmed,
          .is_verified = planned.is_verified};
}

std::string costs_text(const PlanEstimate& estimate) {
  const std::int64_t known = estimate.measured + estimate.of_target;
  if (known == 0) return "by the plain model of one core";
  const auto part = [&](std::int64_t count) {
    return count == estimate.kernels ? "all " + counted(count, "kernel")
                                     : with_thousands(count) + " of " + counted(estimate.kernels, "kernel");
  };
  std::string text = "by the ";
  if (estimate.measured > 0) text += "measured times of " + part(estimate.measured);
  if (estimate.of_target > 0) {
    text += (estimate.measured > 0 ? ", the " : "") + std::string("costs that the target states for ") +
            part(estimate.of_target);
  }
  return known < estimate.kernels ? text + ", and by the plain model of one core for the others" : text;
}

std::optional<double> gap_of(Bytes achieved, Bytes bound) {
  if (bound == Bytes(0)) return achieved == bound ? std::optional(0.0) : std::nullopt;
  return static_cast<double>((achieved - bound).count()) / static_cast<double>(bound.count());
}

std::string shown_name(const std::string& name, std::size_t columns) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-+@#[]()";
  // Only the ends of a very long name are needed.
  const bool is_plain = !name.empty() && name.find_first_not_of(kPlain) == std::string::npos;
  std::string safe = is_plain ? name : quoted(name, 4096);
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < safe.size(); ++at) {
    if (is_start(safe[at])) starts.push_back(at);
  }
  if (starts.size() <= columns || columns < 8) return safe;
  return "..." + safe.substr(starts[starts.size() - (columns - 3)]);
}

std::vector<std::string> shown_names(const std::vector<std::string>& names, std::size_t columns) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(shown_name(name, columns));
  while (columns < kWholeName) {
    std::map<std::string, std::string> first;
    std::set<std::string> ambiguous;
    for (std::size_t at = 0; at < names.size(); ++at) {
      if (first.emplace(shown[at], names[at]).first->second != names[at]) ambiguous.insert(shown[at]);
    }
    if (ambiguous.empty()) break;
    columns *= 2;
    for (std::size_t at = 0; at < names.size(); ++at) {
      if (ambiguous.contains(shown[at])) shown[at] = shown_name(names[at], columns);
    }
  }
  return shown;
}

StyledText inspection_summary(const ModelFacts& model, const Inspection& inspection, const SummaryOptions& options) {
  StyledText out = model_title(model);
  const PlainFigures& plain = inspection.plain;
  const std::int64_t sum = plain.temporaries_sum.count();
  TextTable table = figures_table();
  add_outside_figures(table, model, plain, inspection.weights);
  add_figure(table,
             {"no reuse", plain.temporaries_sum, percent(sum, sum), "every temporary and output has bytes of its own"});
  add_figure(table, {"peak as given", plain.load_as_given, percent(plain.load_as_given.count(), sum),
                     "largest number of live bytes in the file's order", Style::strong});
  add_figure(table,
             {"bound", inspection.bound.bytes, percent(inspection.bound.bytes.count(), sum),
              "no plan without recomputation or extra copies needs less (" + std::string(inspection.bound.name) + ")"});
  add_figure(table, {"working set", inspection.working_set, percent(inspection.working_set.count(), sum),
                     "what the largest node needs by itself"});
  out.end_line().append(table.text()).append(operators_text(inspection, options));
  for (const Peak& peak : peaks_of(inspection.as_given, inspection.labels))
    out.append(peak_text(peak, options, "Peak as given"));
  return out;
}

StyledText plan_summary(const ModelFacts& model, const NamedPlan& shown, const PlanVerdict& verdict,
                        const SummaryOptions& options) {
  const Plan& plan = shown.plan;
  const Claims& claims = plan.claims;
  const Bytes arena = arena_bytes(plan);
  const std::int64_t sum = verdict.plain.temporaries_sum.count();
  StyledText out = model_title(model);
  TextTable table = figures_table();
  add_outside_figures(table, model, verdict.plain, verdict.weights);
  add_figure(table, {"no reuse", verdict.plain.temporaries_sum, percent(sum, sum)});
  add_figure(table, {"peak as given", claims.load_as_given, percent(claims.load_as_given.count(), sum)});
  add_figure(table, {"peak", claims.load, percent(claims.load.count(), sum),
                     StyledText("order ").append(with_proof(claims.schedule, is_schedule_proven(claims)))});
  if (verdict.lowering && verdict.lowering->as_written) {
    const Bytes peak = verdict.lowering->as_written->peak;
    add_figure(table, {"as written", peak, percent(peak.count(), sum), "peak of the model without the rewrites below"});
  }
  add_figure(table, {"arena", arena, percent(arena.count(), sum),
                     claims.allocate.empty()
                         ? StyledText()
                         : StyledText("offsets ").append(with_proof(claims.allocate, is_allocation_proven(claims))),
                     Style::strong});
  report_internal::add_regions(table, plan, verdict, options);
  const Bound bound = bound_of(plan);
  // The peaks of several regions are at different steps, so only the peak of all of them together has this bound.
  std::int64_t regions = 0;
  for (RegionId id : all_ids<RegionId>(plan.layout.arena.size())) {
    regions += plan.layout.arena[id.index()] > Bytes(0) && !is_outside(plan.machine, id) ? 1 : 0;
  }
  const bool has_one_region = regions < 2;
  add_figure(table, {"bound", bound.bytes, percent(bound.bytes.count(), sum),
                     bound.name + (verdict.is_bound_verified ? ", verified" : "") +
                         (has_one_region ? ", gap " + gap_text(arena, bound.bytes)
                                         : ", gap of the peak " + gap_text(claims.load, bound.bytes))});
  report_internal::add_other_kernels(table, verdict, arena, sum);
  add_figure(table, {"RAM", arena + verdict.caller, "", ram_parts(model, verdict), Style::strong});
  out.end_line().append(table.text()).end_line();
  out.append(report_internal::verdict_text(shown, verdict));
  out.append(report_internal::exchange_text(verdict));
  out.append(report_internal::unused_text(plan, verdict));
  out.append(report_internal::streams_line(verdict.points));
  out.append(estimate_text(verdict));
  if (verdict.lowering)
    out.append(report_internal::paragraph(lowering_text(*verdict.lowering), StyledText("Lowered: ", Style::strong)));
  if (const std::string extra = report_internal::extra_work_text(plan); !extra.empty())
    out.add("  " + extra + ".").end_line();
  if (verdict.quantized)
    out.append(
        report_internal::paragraph(quantized_text(*verdict.quantized), StyledText("Quantized: ", Style::strong)));
  if (verdict.is_verified) {
    out.add("  Verified", Style::good).add(": replayed against the model, step by step.").end_line();
  } else {
    out.add("  Not verified", Style::bad).add(": the stage 'verify' was skipped.").end_line();
  }
  if (verdict.shows_trade_offs) out.append(report_internal::trade_offs_text(verdict.points));
  for (const Peak& peak : peaks_of(shown.plan, shown.labels)) out.append(peak_text(peak, options, "Peak"));
  return out;
}

}  // namespace lowtide
