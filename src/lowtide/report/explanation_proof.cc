// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation_proof.h"

#include <algorithm>
#include <vector>

#include "lowtide/report/figures.h"

namespace lowtide::detail {
namespace {

constexpr std::size_t kMostRemedies = 3;

std::string tensor_text(const PeakExplanation& told, TensorId tensor) {
  return shown_name(told.graph->tensor(tensor).name, kTensorColumns);
}

// "64 B", or "16 of 64 B" where another tensor has the rest.
std::string counted_bytes(const PeakExplanation& told, const MustBeLiveSet::Part& part) {
  const Bytes size = told.graph->tensor(part.tensor).size;
  return part.bytes < size ? with_thousands(part.bytes.count()) + " of " + exact(size) : exact(part.bytes);
}

// "a (64 B), b (32 B) and 3 more (20 B)"
std::string listed(const PeakExplanation& told, const std::vector<MustBeLiveSet::Part>& parts, std::size_t top) {
  std::string text;
  Bytes rest;
  const std::size_t shown = std::min(std::max<std::size_t>(top, 1), parts.size());
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (at >= shown) {
      rest += parts[at].bytes;
      continue;
    }
    if (at > 0) text += at + 1 == parts.size() ? " and " : ", ";
    text += tensor_text(told, parts[at].tensor) + " (" + counted_bytes(told, parts[at]) + ")";
  }
  if (shown < parts.size()) text += " and " + std::to_string(parts.size() - shown) + " more (" + exact(rest) + ")";
  return text;
}

// For the reader who adds up sizes.
std::string shared_text(const PeakExplanation& told) {
  const bool is_whole =
      std::none_of(told.witness.tensors.begin(), told.witness.tensors.end(),
                   [&](const MustBeLiveSet::Part& part) { return part.bytes < told.graph->tensor(part.tensor).size; });
  return is_whole ? "" : " Of what can share bytes with another tensor, only the part that it adds is counted.";
}

// What must live at one node, divided by what the node has to do with it.
struct WitnessParts {
  std::vector<MustBeLiveSet::Part> read;
  std::vector<MustBeLiveSet::Part> written;
  std::vector<MustBeLiveSet::Part> kept;
};

WitnessParts parts_of(const PeakExplanation& told, NodeId node) {
  WitnessParts parts;
  const auto reads = told.graph->reads(node);
  for (const MustBeLiveSet::Part& part : told.witness.tensors) {
    if (told.graph->tensor(part.tensor).producer == node) {
      parts.written.push_back(part);
    } else if (std::binary_search(reads.begin(), reads.end(), part.tensor)) {
      parts.read.push_back(part);
    } else {
      parts.kept.push_back(part);
    }
  }
  return parts;
}

// "it reads a (64 B) and b (64 B), writes c (32 B) and takes 128 B of scratch"
std::string touched_text(const PeakExplanation& told, const WitnessParts& parts, std::size_t top) {
  std::vector<std::string> clauses;
  if (!parts.read.empty()) clauses.push_back("reads " + listed(told, parts.read, top));
  if (!parts.written.empty()) clauses.push_back("writes " + listed(told, parts.written, top));
  if (told.witness.scratch > Bytes(0)) {
    const bool has_bodies = !told.graph->node(*told.witness_node).bodies.empty();
    clauses.push_back("takes " + exact(told.witness.scratch) + (has_bodies ? " for what runs inside" : " of scratch"));
  }
  std::string text = clauses.empty() ? "" : "it ";
  for (std::size_t at = 0; at < clauses.size(); ++at) {
    if (at > 0) text += at + 1 == clauses.size() ? ", and " : ", ";
    text += clauses[at];
  }
  return text;
}

// The witness in words: which bytes live together in every order, and why.
StyledText witness_text(const PeakExplanation& told, const SummaryOptions& options) {
  const std::string sum = format_bytes(told.witness.bytes);
  if (!told.witness_node) {
    return paragraph(std::string("When the run ends, every output is there") +
                     (told.inside.empty() ? "" : " and all that was given") +
                     ", in any order: " + listed(told, told.witness.tensors, options.top) + "." + shared_text(told));
  }
  const std::string node = node_text(shown_node(*told.graph, *told.witness_node), "");
  const WitnessParts parts = parts_of(told, *told.witness_node);
  const std::string touched = touched_text(told, parts, options.top);
  if (parts.kept.empty()) {
    return paragraph(node + " alone needs " + sum + ": " + touched +
                     ". In any order all of that is there while it runs." + shared_text(told));
  }
  const bool is_one = parts.kept.size() == 1;
  return paragraph("While " + node + " runs, " + sum + " live in every order" +
                   (touched.empty() ? "" : ": " + touched) + ". Meanwhile " + listed(told, parts.kept, options.top) +
                   (is_one ? " is kept: it is" : " are kept: each is") +
                   " written by a node that must run before, and read by one that must run after, or handed out." +
                   shared_text(told));
}

// The bound rests on no single step.
StyledText search_text(const PeakExplanation& told, const ExplanationFacts& facts, const SummaryOptions& options) {
  std::string text = "A search of all orders";
  if (told.inside.empty() && facts.searched_sets > 0) {
    text += ", by " + counted(facts.searched_sets, "set") + " of nodes that can have run,";
  }
  text += " shows that each has a step that needs " + format_bytes(bound_of(*told.plan).bytes) +
          " or more. No single step shows as much; the most is this:";
  return paragraph(text).append(witness_text(told, options));
}

StyledText proven_text(const PeakExplanation& told, const ExplanationFacts& facts, const SummaryOptions& options) {
  const auto op_of = [&](NodeId id) -> const std::string& { return told.graph->op(id).type; };
  const BoundScope scope = *proven_scope(*told.plan, told.load);
  StyledText out = paragraph(std::string(no_plan_text(scope)) + " needs less than " + format_bytes(told.load) +
                                 ", however tensors share bytes" +
                                 (copies_views(*told.plan, op_of) ? ", " + std::string(kAllOrCopies) : std::string()) +
                                 (facts.is_bound_verified ? "; confirmed by code of its own." : "."),
                             StyledText("Proven", Style::good).add(": "));
  if (bound_of(*told.plan).name != "search") return out.append(witness_text(told, options));
  out.append(search_text(told, facts, options));
  Bytes by_choice;
  for (const PeakBuffer& one : told.buffers) {
    const bool may_move = one.freedom == PeakFreedom::written_later || one.freedom == PeakFreedom::read_earlier;
    if (may_move) by_choice += one.living;
  }
  if (by_choice > Bytes(0)) {
    out.append(paragraph("At " + step_text(told, told.step) + ", " + format_bytes(by_choice) +
                         " live by choice of this order (no above). Another order may have any of them elsewhere; then "
                         "another of its steps is as high."));
  }
  return out;
}

StyledText gap_between_text(const PeakExplanation& told, const ExplanationFacts& facts, const SummaryOptions& options) {
  const Bytes bound = bound_of(*told.plan).bytes;
  StyledText out =
      paragraph("this order needs " + format_bytes(told.load) + ", and every order at least " + format_bytes(bound) +
                    (facts.is_bound_verified ? ", confirmed by code of its own." : "."),
                StyledText("Not proven", Style::bad).add(": "));
  const bool is_searched = bound_of(*told.plan).name == "search";
  out.append(is_searched ? search_text(told, facts, options) : witness_text(told, options));
  std::string text = "Between the two lie " + format_bytes(told.load - bound) + ", " + gap_text(told.load, bound) +
                     " of the bound: it is open whether another order needs less than this one.";
  if (!facts.forbidden.empty()) text += " The bound is for plans, too, that " + facts.forbidden + " rules out.";
  if (facts.order != "auto") {
    text += " Only --order " + facts.order + " was asked for; auto tries all, and searches.";
  } else if (told.inside.empty()) {
    text += " More work for the search (--order-effort) may find one, or prove that there is none, or neither.";
  }
  return out.append(paragraph(text));
}

// The buffers that are kept, and lower the load to `below` or less by being away, the best first. What a body was given
// is its own throughout.
std::vector<const PeakBuffer*> best_away(const PeakExplanation& told, Bytes below) {
  std::vector<const PeakBuffer*> found;
  for (const PeakBuffer& one : told.buffers) {
    const bool is_for_somebody = one.next_read || told.plan->layout.buffers[one.buffer].kind == BufferKind::output;
    if (one.load_without && *one.load_without <= below && one.name && is_for_somebody) found.push_back(&one);
  }
  std::stable_sort(found.begin(), found.end(), [](const PeakBuffer* a, const PeakBuffer* b) {
    return std::pair(*a->load_without, a->buffer) < std::pair(*b->load_without, b->buffer);
  });
  return found;
}

StyledText item(const std::string& text) { return paragraph(text, "- "); }

StyledText away_text(const PeakExplanation& told, const PeakBuffer& one) {
  const Bytes size = one.living;
  const TensorId tensor = told.plan->program.values[*one.name].tensor;
  std::string name = value_text(told.graph->tensor(tensor).name, told.ordinals[*one.name]) + " (" + exact(size);
  if (size - one.held >= first_alignment(*told.plan)) name += ", of which " + exact(one.held) + " hold something";
  const std::string left = "the load would be " + format_bytes(*one.load_without) + ".";
  if (!one.next_read) return item(name + ") is kept here for the caller. Handed over before, " + left);
  return item(name + ") is kept here for " + step_text(told, *one.next_read) +
              ". If it were computed again for that, or swapped out meanwhile, " + left);
}

// What is worth less than a hundredth of the load is not worth a line.
StyledText kept_text(const PeakExplanation& told) {
  const Bytes little(told.load.count() / 100);
  Bytes kept;
  for (const PeakBuffer& one : told.buffers) {
    if (one.use == PeakUse::kept) kept += one.living;
  }
  if (kept <= little) return {};
  const std::vector<const PeakBuffer*> best = best_away(told, told.load - little - Bytes(1));
  StyledText out;
  for (std::size_t at = 0; at < std::min(kMostRemedies, best.size()); ++at) out.append(away_text(told, *best[at]));
  if (!best.empty()) return out;
  return item(format_bytes(kept) +
              " are only kept here, but no single tensor would lower the load by 1 % if it were away meanwhile: other "
              "steps are as high, or nearly.");
}

bool is_one_step(const PeakExplanation& told) {
  return told.peaks.size() == 1 && told.peaks[0].end.value() == told.peaks[0].begin.value() + 1;
}

StyledText touched_remedy_text(const PeakExplanation& told) {
  const std::string step = step_text(told, told.largest_touched_step);
  if (told.largest_touched < told.load) {
    return item("If nothing were kept that no kernel touches, " + step +
                ", would be the highest: it reads and writes " + format_bytes(told.largest_touched) +
                ". No recomputation and no swap gets below that with these buffers.");
  }
  const StepSpace& space = told.plan->layout.steps[told.largest_touched_step];
  if (!space.bodies.empty() && space.scratch) {
    return item(format_bytes(told.plan->layout.buffers[*space.scratch].size) + " are what runs inside " + step +
                (told.largest_touched_step == told.step ? "; the next section is about that." : "."));
  }
  std::string text = "Nothing is only kept at " + step +
                     ": it reads or writes every byte that lives then. Only what the step itself needs can become "
                     "less: a smaller input, a smaller element type, the operator in parts.";
  if (is_one_step(told) && told.next_step) {
    text += " At best down to the " + format_bytes(told.next_load) + " of the other steps.";
  }
  return item(text);
}

// What a kernel takes besides its tensors, as the target says; nothing where other steps are as high.
StyledText scratch_text(const PeakExplanation& told) {
  const StepSpace& space = told.plan->layout.steps[told.step];
  if (!space.scratch || !space.bodies.empty() || !is_one_step(told)) return {};
  const Bytes scratch = told.plan->layout.buffers[*space.scratch].size;
  if (scratch.count() <= told.load.count() / 100) return {};
  return item(exact(scratch) +
              " are scratch of the kernel, as the target describes it. Without any, the load would be " +
              format_bytes(std::max(told.load - scratch, told.next_load)) + ".");
}

StyledText refusal_text(const PeakExplanation& told, const InPlaceRefusal& one) {
  const std::string text = tensor_text(told, one.output) + " (" + exact(one.bytes) + ") could be written over " +
                           tensor_text(told, one.input) + ", but ";
  switch (one.reason) {
    case InPlaceRefusal::Reason::switched_off:
      return item(text + "--no-in-place forbids it.");
    case InPlaceRefusal::Reason::not_ours:
      return item(text + "that is the caller's, or a constant.");
    case InPlaceRefusal::Reason::handed_out:
      return item(text + "the caller gets that.");
    case InPlaceRefusal::Reason::read_later:
      return item(text + "those bytes are read again at " + step_text(told, *one.reader) + ".");
  }
  return {};
}

}  // namespace

std::string step_text(const PeakExplanation& told, StepId step) {
  return "step " + with_thousands(step.value()) + ", " + node_text(shown_node(told, step), "");
}

StyledText proof_text(const PeakExplanation& told, const ExplanationFacts& facts, const SummaryOptions& options) {
  StyledText out;
  const bool is_proven = proven_scope(*told.plan, told.load).has_value();
  out.end_line()
      .add(is_proven ? "Why no order needs less" : "What is known of other orders", Style::heading)
      .end_line();
  return out.append(is_proven ? proven_text(told, facts, options) : gap_between_text(told, facts, options));
}

StyledText remedies_text(const PeakExplanation& told) {
  StyledText out;
  out.end_line().add("What would lower it", Style::heading).end_line();
  out.append(kept_text(told)).append(touched_remedy_text(told)).append(scratch_text(told));
  for (std::size_t at = 0; at < std::min(kMostRemedies, told.refusals.size()); ++at) {
    if (told.refusals[at].bytes.count() > told.load.count() / 100) out.append(refusal_text(told, told.refusals[at]));
  }
  const Bytes arena = arena_bytes(*told.plan);
  if (arena > told.load) {
    out.append(item("The arena is " + format_bytes(arena) + ": " + format_bytes(arena - told.load) +
                    " more than what lives at once, lost between the buffers" +
                    (told.plan->machine.regions.size() > 1 ? " and between the memories." : ".")));
  }
  if (!told.inside.empty()) return out;
  return out.append(paragraph("Lowtide itself plans no recomputation, no swap and no operator in parts."));
}

}  // namespace lowtide::detail
