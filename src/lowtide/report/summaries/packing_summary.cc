// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_summary.h"

#include <algorithm>

#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::add_figure;
using report_internal::exact;
using report_internal::figures_table;
using report_internal::gap_text;
using report_internal::with_proof;

constexpr std::size_t kMostListed = 10;

StyledText packing_title(const std::string& path, const PackingProblem& problem) {
  StyledText out(shown_name(path), Style::heading);
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

void add_live(TextTable& table, const PackingBuffer& buffer, const std::string& name, Bytes load) {
  StyledText notes;
  if (buffer.alignment != Bytes(1)) notes.add("alignment " + with_thousands(buffer.alignment.count()), Style::dim);
  if (buffer.fixed_offset) {
    notes.add(notes.empty() ? "" : ", ", Style::dim);
    notes.add("fixed at " + with_thousands(buffer.fixed_offset->position()), Style::dim);
  }
  table.add_row({StyledText(exact(buffer.size)), StyledText(percent(buffer.size.count(), load.count())),
                 StyledText(name), StyledText(life_text(buffer), Style::dim), notes});
}

// The buffers that are live at that time, the largest first.
StyledText witness_text(const PackingProblem& problem, const PackingWitness& witness, bool wide) {
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
                 StyledText("live", Style::dim)});
  const std::size_t shown = std::min(kMostListed, witness.live.size());
  std::vector<std::string> names;
  for (std::size_t at = 0; at < shown; ++at) names.push_back(name_of(problem, witness.live[at]));
  names = shown_names(names, wide ? kWholeName : 40);
  for (std::size_t at = 0; at < shown; ++at)
    add_live(table, problem.buffers[witness.live[at]], names[at], witness.load);
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
  const std::string name = shown_name(name_of(problem, *witness.alone));
  if (!buffer.fixed_offset) return name + " alone is larger than the capacity";
  return name + " is fixed at " + with_thousands(buffer.fixed_offset->position()) + " and ends at " +
         with_thousands(witness.proven.count());
}

StyledText infeasible_text(const PackingProblem& problem, const Packing& packing,
                           const std::optional<PackingWitness>& witness, bool wide) {
  StyledText out("  Proven: no offsets fit");
  if (packing.is_bound_searched) {
    out.add("; a search with " + counted(packing.decisions, "decision") + " tried all possibilities.");
    return out.end_line();
  }
  if (witness && witness->alone) {
    out.add("; " + alone_text(problem, *witness));
  } else if (packing.witness_time) {
    out.add("; the buffers live at time " + time_text(*packing.witness_time) + " alone exceed the capacity");
  }
  out.add(".").end_line();
  return witness ? out.append(witness_text(problem, *witness, wide)) : out;
}

}  // namespace

std::string name_of(const PackingProblem& problem, PackingId buffer) {
  return problem.names.contains(buffer) ? std::string(problem.names[buffer]) : std::to_string(buffer.value());
}

PackingFigures figures_of(const PackingProblem& problem, const Packing& packing,
                          const std::optional<PackingWitness>& witness, bool wide) {
  PackingFigures figures{.what = "offsets",
                         .size = packing.height,
                         .bound = packing.bound,
                         .strategy = packing.strategy,
                         .proven_optimal = packing.proven_optimal,
                         .fits = !problem.capacity || packing.height <= *problem.capacity};
  figures.is_infeasible = !figures.fits && packing.outcome == PackingOutcome::infeasible;
  if (figures.is_infeasible) figures.proof = infeasible_text(problem, packing, witness, wide);
  return figures;
}

PackingFigures slot_figures(const PackingProblem& problem, PackingFigures figures, const std::vector<Bytes>& sizes) {
  figures.fits = !problem.capacity || figures.size <= *problem.capacity;
  const bool is_bound_too_large = problem.capacity && figures.bound > *problem.capacity;
  figures.is_infeasible = !figures.fits && (figures.proven_optimal || is_bound_too_large);
  figures.proof.add(is_bound_too_large ? "  Proven: no slots fit, because the lower bound is too large."
                                       : "  Proven: all ways of sharing slots were tried.");
  figures.proof.end_line();
  figures.slots = sizes.size();
  figures.largest_slot = sizes.empty() ? Bytes(0) : sizes.front();
  return figures;
}

StyledText packing_summary(const std::string& path, const PackingProblem& problem, const PackingFigures& figures) {
  StyledText out = packing_title(path, problem);
  const Bytes sum = sum_of_sizes(problem);
  const auto share = [&](Bytes bytes) { return percent(bytes.count(), sum.count()); };
  TextTable table = figures_table();
  add_figure(table, {"no reuse", sum, share(sum)});
  add_figure(table, {figures.largest_slot ? "total" : "height", figures.size, share(figures.size),
                     with_proof(figures.strategy, figures.proven_optimal), Style::strong});
  add_figure(table, {"bound", figures.bound, share(figures.bound), "gap " + gap_text(figures.size, figures.bound)});
  if (const std::optional<Bytes>& largest = figures.largest_slot) {
    const std::string slots = counted(static_cast<std::int64_t>(figures.slots), "slot");
    add_figure(table, {"largest", *largest, share(*largest), "of " + slots});
  }
  out.append(table.text());
  if (!problem.capacity) return out;
  const std::string capacity = " the capacity of " + format_bytes(*problem.capacity);
  out.end_line();
  if (figures.fits) return out.add("  Fits", Style::good).add(capacity + ".").end_line();
  // A bound above the capacity holds for every answer, so the excess is the least possible.
  const bool is_least = figures.is_infeasible && figures.bound > *problem.capacity;
  const Bytes excess = (is_least ? figures.bound : figures.size) - *problem.capacity;
  out.add("  Does not fit", Style::bad).add(capacity + ": " + (is_least ? "at least " : ""));
  out.add(format_bytes(excess), Style::strong).add(" too large.").end_line();
  if (figures.is_infeasible) return out.append(figures.proof);
  return out.add("  Not proven: the best " + figures.what + " found do not fit, but others may.").end_line();
}

}  // namespace lowtide
