// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation.h"

#include <algorithm>
#include <utility>

#include "lowtide/report/copies.h"
#include "lowtide/report/explanation/proof.h"
#include "lowtide/report/explanation/remedies.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

constexpr std::size_t kMostRanges = 4;

using Align = TextTable::Align;
using report_internal::buffer_names;
using report_internal::exact;
using report_internal::node_columns;
using report_internal::node_text;
using report_internal::paragraph;
using report_internal::shown_step;
using report_internal::step_text;

// "steps 12 to 15  Conv conv1 to Relu relu3"
void add_range(TextTable& table, const PeakExplanation& level, const Interval<StepId>& range, std::size_t columns) {
  const StepId last(range.end.value() - 1);
  std::string steps = "step " + with_thousands(range.begin.value());
  std::string nodes = node_text(shown_step(level, range.begin), "", columns);
  if (range.begin != last) {
    steps = "steps " + with_thousands(range.begin.value()) + " to " + with_thousands(last.value());
    nodes += " to " + node_text(shown_step(level, last), "", columns);
  }
  table.add_row({StyledText(steps), StyledText(nodes)});
}

StyledText where_text(const PeakExplanation& level, const SummaryOptions& options) {
  StyledText out;
  const auto steps = static_cast<std::int64_t>(level.peak.plan->program.steps.size());
  std::int64_t high = 0;
  for (const Interval<StepId>& range : level.ranges) high += range.end.value() - range.begin.value();
  out.add("  ").add(format_bytes(level.peak.bytes), Style::strong).add(" are live at the same time at ");
  out.add(with_thousands(high) + " of " + counted(steps, "step"));
  out.add(level.peak.body.empty() ? " (steps are counted from 0):" : ":").end_line();
  TextTable table({Align::left, Align::left});
  const std::size_t shown = std::min(kMostRanges, level.ranges.size());
  for (std::size_t at = 0; at < shown; ++at) add_range(table, level, level.ranges[at], node_columns(options.wide));
  out.append(table.text());
  if (shown < level.ranges.size()) {
    out.add("  and in " + counted(static_cast<std::int64_t>(level.ranges.size() - shown), "other range") + " of steps")
        .end_line();
  }
  if (level.next_step) {
    out.append(paragraph("The highest of the other steps has " + format_bytes(level.next_load) + " at " +
                         step_text(level, *level.next_step) + "."));
  }
  return out;
}

std::string use_text(PeakUse use) {
  switch (use) {
    case PeakUse::rewritten: return "read, overwritten";
    default: return std::string(to_string(use));
  }
}

// Whether the buffer must be live at this step in every order.
StyledText need_text(const PeakBuffer& one, Bytes alignment) {
  if (round_up(one.must, alignment) >= one.live.bytes) return {"yes"};
  if (one.must > Bytes(0)) return {exact(one.must) + " of it"};
  switch (one.freedom) {
    case PeakFreedom::written_later: return {"no, could be written later"};
    case PeakFreedom::read_earlier: return {"no, could be read earlier"};
    default: return {"no, could share bytes"};
  }
}

std::string life_text(const PeakExplanation& level, const PeakBuffer& one, BufferKind kind, std::size_t columns) {
  if (one.use == PeakUse::scratch) return "only here";
  const auto short_step = [&](StepId step) {
    return with_thousands(step.value()) + " " + node_text(shown_step(level, step), "", columns);
  };
  const std::string from = one.written ? short_step(*one.written) : "before the run";
  if (kind == BufferKind::output) return from + " -> the caller";
  if (kind == BufferKind::input) return from + " -> kept throughout";
  if (one.next_read) return from + " -> " + short_step(*one.next_read);
  return from + (one.use == PeakUse::written ? " -> no step" : " -> no later step");
}

void add_buffer(TextTable& table, const PeakExplanation& level, const PeakBuffer& one, const std::string& shown,
                bool wide) {
  const Buffer& buffer = level.peak.plan->layout.buffers[one.live.buffer];
  StyledText tensor(shown);
  std::string type;
  if (const std::optional<ValueId>& name = level.peak.uses[one.live.buffer].name) {
    const TensorLabel& main = level.peak.labels->tensors[level.peak.plan->program.values[*name].tensor];
    if (const std::size_t others = level.peak.other_values(one.live))
      tensor.add(" +" + std::to_string(others), Style::dim);
    type = std::string(to_string(main.dtype)) + to_string(main.shape);
  }
  table.add_row({StyledText(exact(one.live.bytes)),
                 StyledText(percent(one.live.bytes.count(), level.peak.bytes.count())), tensor,
                 StyledText(type, Style::dim), StyledText(use_text(one.use)),
                 need_text(one, report_internal::first_alignment(*level.peak.plan)),
                 StyledText(life_text(level, one, buffer.kind, node_columns(wide)), Style::dim)});
}

// The live bytes that hold nothing at this step. Fewer than the alignment in one buffer are padding and do not count.
StyledText idle_text(const PeakExplanation& level) {
  Bytes idle;
  for (const PeakBuffer& one : level.buffers) {
    const Bytes rest = one.live.bytes - one.held;
    if (rest >= report_internal::first_alignment(*level.peak.plan)) idle += rest;
  }
  if (idle == Bytes(0)) return {};
  return paragraph(format_bytes(idle) +
                   " of this hold nothing at this step: they are not written yet, or no step reads them any more.");
}

StyledText buffers_text(const PeakExplanation& level, const SummaryOptions& options) {
  StyledText out;
  const std::string where = level.peak.step ? "Live buffers at " + step_text(level, *level.peak.step) : "Live buffers";
  out.end_line().add(where, Style::heading).end_line();
  if (options.top == 0) return out.append(unlisted_text(level.buffers.size(), "buffer")).append(idle_text(level));
  TextTable table({Align::right, Align::right, Align::left, Align::left, Align::left, Align::left, Align::left});
  table.add_row({StyledText("bytes", Style::dim), StyledText("share", Style::dim), StyledText("tensor", Style::dim),
                 StyledText("type", Style::dim), StyledText("this step", Style::dim),
                 StyledText("live in every order", Style::dim), StyledText("written by -> next read by", Style::dim)});
  const std::size_t shown = std::min(options.top, level.buffers.size());
  std::vector<BufferId> buffers;
  for (std::size_t at = 0; at < shown; ++at) buffers.push_back(level.buffers[at].live.buffer);
  const std::vector<std::string> names = buffer_names(level.peak, buffers, options.wide);
  for (std::size_t at = 0; at < shown; ++at) add_buffer(table, level, level.buffers[at], names[at], options.wide);
  if (shown < level.buffers.size()) {
    Bytes rest;
    for (std::size_t at = shown; at < level.buffers.size(); ++at) {
      rest += level.buffers[at].live.bytes;
    }
    table.add_row({StyledText(exact(rest), Style::dim),
                   StyledText(percent(rest.count(), level.peak.bytes.count()), Style::dim),
                   StyledText("and " + std::to_string(level.buffers.size() - shown) + " more", Style::dim)});
  }
  return out.append(table.text()).append(idle_text(level));
}

std::string constants_text(const std::optional<Weights>& weights) {
  if (!weights) return "";
  return std::string(" The constants ") + (weights->region.capacity ? "occupy " : "are ") +
         report_internal::weights_text(weights) + ".";
}

StyledText level_text(const PeakExplanation& level, const PeakExplanation* outer, const ExplanationFacts& facts,
                      const SummaryOptions& options) {
  StyledText out;
  std::string inside;
  if (outer != nullptr) {
    inside = " inside " + shown_name(level.peak.body) + " of " + node_text(shown_step(*outer, *outer->peak.step), "");
  }
  out.end_line().add("The peak" + inside, Style::heading).end_line();
  if (level.peak.bytes == Bytes(0)) {
    return out
        .add("  The arena is empty, because " +
             std::string(level.peak.step ? "no step writes a buffer of its own." : "no step runs."))
        .end_line();
  }
  if (!level.peak.step) {
    out.add("  " + format_bytes(level.peak.bytes) + " are live, although no step runs.").end_line();
  } else {
    out.append(where_text(level, options));
  }
  out.append(buffers_text(level, options));
  if (const std::string extra = report_internal::extra_work_text(*level.peak.plan); !extra.empty())
    out.append(paragraph(extra + "."));
  if (level.peak.body.empty()) {
    out.append(paragraph("Inputs (" + exact(facts.plain.inputs) + ") and constants (" + exact(facts.plain.constants) +
                         ") are not in the arena and are not counted." + constants_text(facts.weights)));
  }
  out.append(report_internal::proof_text(level, facts, options));
  if (level.peak.step) out.append(report_internal::remedies_text(level));
  return out;
}

}  // namespace

ExplanationFacts explanation_facts(const PlannedGraph& planned, std::string order, std::string forbidden) {
  return {.plain = planned.plain,
          .weights = planned.weights,
          .order = std::move(order),
          .searched_sets = planned.searched_sets,
          .is_search_complete = planned.is_search_complete,
          .is_bound_verified = planned.bound_check.verdict == OrderBoundVerdict::confirmed,
          .forbidden = std::move(forbidden)};
}

StyledText explanation_summary(const ModelFacts& model, const std::vector<PeakExplanation>& levels,
                               const ExplanationFacts& facts, const SummaryOptions& options) {
  StyledText out = report_internal::model_title(model);
  const PeakExplanation* outer = nullptr;
  for (const PeakExplanation& level : levels) {
    out.append(level_text(level, outer, facts, options));
    outer = &level;
  }
  if (facts.copies) {
    out.end_line().add("Steps that only move bytes", Style::heading).end_line();
    out.append(copies_text(*facts.copies, options));
  }
  if (facts.lowering) {
    out.end_line().add("What runs instead of the model as written", Style::heading).end_line();
    out.append(paragraph(lowering_text(*facts.lowering), StyledText("Lowered: ", Style::strong)));
    out.append(rewrites_text(*facts.lowering, options.top, options.wide));
  }
  if (facts.quantized) {
    out.end_line().add("Quantized model", Style::heading).end_line();
    out.append(paragraph(quantized_text(*facts.quantized)));
  }
  return out;
}

std::vector<std::string> proof_paragraphs(const PeakExplanation& level, const ExplanationFacts& facts,
                                          const SummaryOptions& options) {
  std::vector<std::string> out;
  for (const report_internal::Remark& remark : report_internal::proof_of(level, facts, options)) {
    out.push_back(remark.lead.render(false) + remark.text);
  }
  return out;
}

std::vector<std::string> in_place_paragraphs(const PeakExplanation& level) {
  return report_internal::refusals_of(level);
}

}  // namespace lowtide
