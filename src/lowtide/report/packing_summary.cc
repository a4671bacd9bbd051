// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_summary.h"

#include <algorithm>

#include "lowtide/report/figures.h"
#include "lowtide/report/summary.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::add_figure;
using report_internal::exact;
using report_internal::figures_table;
using report_internal::gap_text;
using report_internal::with_proof;

constexpr std::size_t kNameColumns = 40;
constexpr std::size_t kMostListed = 10;

StyledText packing_title(const std::string& path, const PackingProblem& problem) {
  StyledText out(shown_name(path, report_internal::kPathColumns), Style::heading);
  return out.add("  " + counted(static_cast<std::int64_t>(problem.buffers.size()), "buffer")).end_line().end_line();
}

Bytes sum_of_sizes(const PackingProblem& problem) {
  Bytes sum;
  for (const PackingBuffer& buffer : problem.buffers) sum += buffer.size;
  return sum;
}

std::string time_text(std::int64_t time) { return std::to_string(time); }

std::string life_text(const PackingBuffer& buffer) {
  const std::string life = "[" + time_text(buffer.lifespan.begin) + "," + time_text(buffer.lifespan.end) + ")";
  return buffer.gaps.empty() ? life : life + ", " + counted(static_cast<std::int64_t>(buffer.gaps.size()), "gap");
}

void add_live(TextTable& table, const PackingProblem& problem, PackingId id, Bytes load) {
  const PackingBuffer& buffer = problem.buffers[id];
  StyledText notes;
  if (buffer.alignment != Bytes(1)) notes.add("alignment " + with_thousands(buffer.alignment.count()), Style::dim);
  if (buffer.fixed_offset) {
    notes.add(notes.empty() ? "" : ", ", Style::dim);
    notes.add("fixed at " + with_thousands(buffer.fixed_offset->position()), Style::dim);
  }
  table.add_row({StyledText(exact(buffer.size)), StyledText(percent(buffer.size.count(), load.count())),
                 StyledText(shown_name(name_of(problem, id), kNameColumns)), StyledText(life_text(buffer), Style::dim),
                 notes});
}

// The buffers of the moment, the largest first.
StyledText witness_text(const PackingProblem& problem, const PackingWitness& witness) {
  StyledText out;
  if (witness.live.empty()) return out;
  out.end_line().add("At time " + time_text(witness.time), Style::heading);
  out.add(": " + format_bytes(witness.load) + " in " +
          counted(static_cast<std::int64_t>(witness.live.size()), "buffer"));
  if (!witness.alone && witness.proven > witness.load) {
    out.add(", " + format_bytes(witness.proven) + " with the padding that alignment forces");
  }
  out.end_line();
  TextTable table({Align::right, Align::right, Align::left, Align::left, Align::left});
  table.add_row({StyledText("bytes", Style::dim), StyledText("share", Style::dim), StyledText("buffer", Style::dim),
                 StyledText("lives", Style::dim)});
  const std::size_t shown = std::min(kMostListed, witness.live.size());
  for (std::size_t at = 0; at < shown; ++at) add_live(table, problem, witness.live[at], witness.load);
  if (shown < witness.live.size()) {
    Bytes rest;
    for (std::size_t at = shown; at < witness.live.size(); ++at) rest += problem.buffers[witness.live[at]].size;
    const auto more = static_cast<std::int64_t>(witness.live.size() - shown);
    table.add_row({StyledText(exact(rest), Style::dim),
                   StyledText(percent(rest.count(), witness.load.count()), Style::dim),
                   StyledText("and " + with_thousands(more) + " more", Style::dim)});
  }
  return out.append(table.text());
}

std::string alone_text(const PackingProblem& problem, const PackingWitness& witness) {
  const PackingBuffer& buffer = problem.buffers[*witness.alone];
  const std::string name = shown_name(name_of(problem, *witness.alone), kNameColumns);
  if (!buffer.fixed_offset) return name + " alone is larger";
  return name + " is fixed at " + with_thousands(buffer.fixed_offset->position()) + " and ends at " +
         with_thousands(witness.proven.count());
}

StyledText infeasible_text(const PackingProblem& problem, const Packing& packing,
                           const std::optional<PackingWitness>& witness) {
  StyledText out("  Proven: no offsets fit");
  if (packing.is_bound_searched) {
    out.add("; a search of " + counted(packing.decisions, "decision") + " has tried all possibilities.");
    return out.end_line();
  }
  if (witness && witness->alone) {
    out.add("; " + alone_text(problem, *witness));
  } else if (packing.witness_time) {
    out.add("; what lives at time " + time_text(*packing.witness_time) + " alone exceeds it");
  }
  out.add(".").end_line();
  return witness ? out.append(witness_text(problem, *witness)) : out;
}

StyledText fits_text(Bytes capacity) {
  return StyledText("  Fits", Style::good).add(" the capacity of " + format_bytes(capacity) + ".").end_line();
}

StyledText too_much_text(Bytes capacity, Bytes too_much, bool is_least) {
  StyledText out("  Does not fit", Style::bad);
  out.add(" the capacity of " + format_bytes(capacity) + ": " + (is_least ? "at least " : ""));
  return out.add(format_bytes(too_much), Style::strong).add(" too much.").end_line();
}

}  // namespace

std::string name_of(const PackingProblem& problem, PackingId buffer) {
  return problem.names.contains(buffer) ? problem.names[buffer] : std::to_string(buffer.value());
}

StyledText packing_summary(const std::string& path, const PackingProblem& problem, const Packing& packing,
                           const std::optional<PackingWitness>& witness) {
  StyledText out = packing_title(path, problem);
  const Bytes sum = sum_of_sizes(problem);
  TextTable table = figures_table();
  add_figure(table, "no reuse", sum, percent(sum.count(), sum.count()));
  add_figure(table, "height", packing.height, percent(packing.height.count(), sum.count()),
             with_proof(packing.strategy, packing.proven_optimal), Style::strong);
  add_figure(table, "bound", packing.bound, percent(packing.bound.count(), sum.count()),
             "gap " + gap_text(packing.height, packing.bound));
  out.append(table.text());
  if (!problem.capacity) return out;
  out.end_line();
  if (packing.height <= *problem.capacity) return out.append(fits_text(*problem.capacity));
  if (packing.outcome == PackingOutcome::infeasible) {
    out.append(too_much_text(*problem.capacity, packing.bound - *problem.capacity, true));
    return out.append(infeasible_text(problem, packing, witness));
  }
  out.append(too_much_text(*problem.capacity, packing.height - *problem.capacity, false));
  return out.add("  Not proven: the best offsets found do not fit, and others may.").end_line();
}

StyledText slots_summary(const std::string& path, const PackingProblem& problem, const SlotFigures& figures) {
  StyledText out = packing_title(path, problem);
  const Bytes sum = sum_of_sizes(problem);
  TextTable table = figures_table();
  add_figure(table, "no reuse", sum, percent(sum.count(), sum.count()));
  add_figure(table, "total", figures.total, percent(figures.total.count(), sum.count()),
             with_proof(figures.strategy, figures.proven_optimal), Style::strong);
  add_figure(table, "bound", figures.bound, percent(figures.bound.count(), sum.count()),
             "gap " + gap_text(figures.total, figures.bound));
  add_figure(table, "largest", figures.largest, percent(figures.largest.count(), sum.count()),
             "of " + counted(static_cast<std::int64_t>(figures.slots), "slot"));
  out.append(table.text());
  if (!problem.capacity) return out;
  out.end_line();
  if (figures.total <= *problem.capacity) return out.append(fits_text(*problem.capacity));
  if (figures.bound > *problem.capacity) {
    out.append(too_much_text(*problem.capacity, figures.bound - *problem.capacity, true));
    return out.add("  Proven: no slots fit, for the bound alone is too much.").end_line();
  }
  out.append(too_much_text(*problem.capacity, figures.total - *problem.capacity, false));
  if (figures.proven_optimal) return out.add("  Proven: all ways of sharing slots were tried.").end_line();
  return out.add("  Not proven: the best slots found do not fit, and others may.").end_line();
}

}  // namespace lowtide
