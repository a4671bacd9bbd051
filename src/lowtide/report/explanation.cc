// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation.h"

#include <algorithm>

#include "lowtide/report/explanation_proof.h"
#include "lowtide/report/figures.h"

namespace lowtide {
namespace {

constexpr std::size_t kMostRanges = 4;

using Align = TextTable::Align;
using detail::exact;
using detail::kNodeColumns;
using detail::node_text;
using detail::paragraph;
using detail::step_text;
using detail::value_text;

// "steps 12 to 15  Conv conv1 to Relu relu3"
void add_range(TextTable& table, const PeakExplanation& told, const Interval<StepId>& range) {
  const StepId last(range.end.value() - 1);
  std::string steps = "step " + with_thousands(range.begin.value());
  std::string nodes = node_text(shown_node(told, range.begin), "");
  if (range.begin != last) {
    steps = "steps " + with_thousands(range.begin.value()) + " to " + with_thousands(last.value());
    nodes += " to " + node_text(shown_node(told, last), "");
  }
  table.add_row({StyledText(steps), StyledText(nodes)});
}

StyledText where_text(const PeakExplanation& told) {
  StyledText out;
  const auto steps = static_cast<std::int64_t>(told.plan->program.steps.size());
  std::int64_t high = 0;
  for (const Interval<StepId>& range : told.peaks) high += range.end.value() - range.begin.value();
  out.add("  ").add(format_bytes(told.load), Style::strong).add(" live at once at ");
  out.add(with_thousands(high) + " of " + counted(steps, "step") + ", counted from 0:").end_line();
  TextTable table({Align::left, Align::left});
  const std::size_t shown = std::min(kMostRanges, told.peaks.size());
  for (std::size_t at = 0; at < shown; ++at) add_range(table, told, told.peaks[at]);
  out.append(table.text());
  if (shown < told.peaks.size()) {
    out.add("  and in " + counted(static_cast<std::int64_t>(told.peaks.size() - shown), "other run") + " of steps")
        .end_line();
  }
  if (told.next_step) {
    out.append(paragraph("The highest of the other steps: " + format_bytes(told.next_load) + " at " +
                         step_text(told, *told.next_step) + "."));
  }
  return out;
}

std::string use_text(PeakUse use) {
  switch (use) {
    case PeakUse::rewritten:
      return "read, overwritten";
    default:
      return std::string(to_string(use));
  }
}

// Whether it must live there.
StyledText need_text(const PeakBuffer& one, Bytes size, Bytes alignment) {
  if (round_up(one.must, alignment) >= size) return {"yes"};
  if (one.must > Bytes(0)) return {exact(one.must) + " of it"};
  switch (one.freedom) {
    case PeakFreedom::written_later:
      return {"no, may be written later"};
    case PeakFreedom::read_earlier:
      return {"no, may be read earlier"};
    default:
      return {"no, may share bytes"};
  }
}

std::string life_text(const PeakExplanation& told, const PeakBuffer& one, BufferKind kind) {
  if (one.use == PeakUse::scratch) return "only here";
  const auto short_step = [&](StepId step) {
    return with_thousands(step.value()) + " " + node_text(shown_node(told, step), "");
  };
  const std::string from = one.written ? short_step(*one.written) : "before the run";
  if (kind == BufferKind::output) return from + " -> the caller";
  if (kind == BufferKind::input) return from + " -> kept throughout";
  if (one.next_read) return from + " -> " + short_step(*one.next_read);
  return from + (one.use == PeakUse::written ? " -> nobody" : " -> nobody after this");
}

void add_buffer(TextTable& table, const PeakExplanation& told, const PeakBuffer& one) {
  const Buffer& buffer = told.plan->layout.buffers[one.buffer];
  const bool is_kernel = told.plan->program.steps.empty() || told.plan->layout.steps[told.step].bodies.empty();
  StyledText tensor(is_kernel ? "(scratch)" : "(what runs inside)");
  std::string type;
  if (one.name) {
    const Tensor& main = told.graph->tensor(told.plan->program.values[*one.name].tensor);
    tensor = StyledText(value_text(main.name, told.ordinals[*one.name]));
    const auto others =
        static_cast<std::int64_t>(one.values.size()) - std::count(one.values.begin(), one.values.end(), *one.name);
    if (others > 0) tensor.add(" +" + std::to_string(others), Style::dim);
    type = std::string(to_string(main.dtype)) + to_string(main.shape);
  }
  table.add_row({StyledText(exact(one.living)), StyledText(percent(one.living.count(), told.load.count())), tensor,
                 StyledText(type, Style::dim), StyledText(use_text(one.use)),
                 need_text(one, one.living, detail::first_alignment(*told.plan)),
                 StyledText(life_text(told, one, buffer.kind), Style::dim)});
}

// Bytes of the buffers that hold nothing then; what rounding up to the alignment adds is not worth a word.
StyledText idle_text(const PeakExplanation& told) {
  Bytes idle;
  for (const PeakBuffer& one : told.buffers) {
    const Bytes rest = one.living - one.held;
    if (rest >= detail::first_alignment(*told.plan)) idle += rest;
  }
  if (idle == Bytes(0)) return {};
  return paragraph(format_bytes(idle) +
                   " of this hold nothing then: parts of a buffer that are not written yet, or that nobody needs any "
                   "more.");
}

StyledText buffers_text(const PeakExplanation& told, const SummaryOptions& options) {
  StyledText out;
  const bool has_steps = !told.plan->program.steps.empty();
  const std::string where = has_steps ? "At " + step_text(told, told.step) + ", these live" : "These live";
  out.end_line().add(where, Style::heading).end_line();
  TextTable table({Align::right, Align::right, Align::left, Align::left, Align::left, Align::left, Align::left});
  table.add_row({StyledText("bytes", Style::dim), StyledText("share", Style::dim), StyledText("tensor", Style::dim),
                 StyledText("type", Style::dim), StyledText("here", Style::dim),
                 StyledText("in every order", Style::dim), StyledText("written by -> next read by", Style::dim)});
  const std::size_t shown = std::min(options.top, told.buffers.size());
  for (std::size_t at = 0; at < shown; ++at) add_buffer(table, told, told.buffers[at]);
  if (shown < told.buffers.size()) {
    Bytes rest;
    for (std::size_t at = shown; at < told.buffers.size(); ++at) {
      rest += told.buffers[at].living;
    }
    table.add_row({StyledText(exact(rest), Style::dim),
                   StyledText(percent(rest.count(), told.load.count()), Style::dim),
                   StyledText("and " + std::to_string(told.buffers.size() - shown) + " more", Style::dim)});
  }
  return out.append(table.text()).append(idle_text(told));
}

StyledText level_text(const PeakExplanation& told, const PeakExplanation* outer, const ExplanationFacts& facts,
                      const SummaryOptions& options) {
  StyledText out;
  std::string inside;
  if (outer != nullptr) {
    inside =
        " inside " + shown_name(told.inside, kNodeColumns) + " of " + node_text(shown_node(*outer, outer->step), "");
  }
  out.end_line().add("What holds the peak" + inside, Style::heading).end_line();
  if (told.load == Bytes(0)) {
    return out
        .add("  Nothing lives in the arena: " +
             std::string(told.plan->program.steps.empty() ? "nothing runs." : "no step writes bytes of its own."))
        .end_line();
  }
  if (told.plan->program.steps.empty()) {
    out.add("  " + format_bytes(told.load) + " live, and nothing runs.").end_line();
  } else {
    out.append(where_text(told));
  }
  out.append(buffers_text(told, options));
  if (const std::string extra = detail::extra_work_text(*told.plan); !extra.empty()) out.append(paragraph(extra + "."));
  if (told.inside.empty()) {
    out.append(paragraph("Inputs (" + exact(facts.plain.inputs) + ") and constants (" + exact(facts.plain.constants) +
                         ") are not in the arena and do not count."));
  }
  out.append(detail::proof_text(told, facts, options));
  if (!told.plan->program.steps.empty()) out.append(detail::remedies_text(told));
  return out;
}

}  // namespace

ShownNode shown_node(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  return {graph.node(id).name, op.domain.empty() ? op.type : op.domain + "::" + op.type};
}

ShownNode shown_node(const PeakExplanation& told, StepId step) {
  const Plan& plan = *told.plan;
  const Step& shown = plan.program.steps[step];
  if (const std::optional<NodeId> node = node_of(shown)) return shown_node(*told.graph, *node);
  return shown_copy(plan, shown, told.graph->tensor(plan.program.values[shown.reads[0]].tensor).name);
}

StyledText explanation_summary(const ModelFacts& model, const std::vector<PeakExplanation>& levels,
                               const ExplanationFacts& facts, const SummaryOptions& options) {
  StyledText out = detail::model_title(model);
  const PeakExplanation* outer = nullptr;
  for (const PeakExplanation& told : levels) {
    out.append(level_text(told, outer, facts, options));
    outer = &told;
  }
  return out;
}

}  // namespace lowtide
