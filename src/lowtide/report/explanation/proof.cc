// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation/proof.h"

#include <algorithm>
#include <vector>

#include "lowtide/report/text/figures.h"

namespace lowtide::report_internal {
namespace {

// "64 B", or "16 of 64 B" if the rest is counted with another tensor.
std::string counted_bytes(const PeakExplanation& level, const LiveSet::Member& member) {
  const Bytes size = level.peak.labels->tensors[member.tensor].size;
  return member.bytes < size ? with_thousands(member.bytes.count()) + " of " + exact(size) : exact(member.bytes);
}

// "a (64 B), b (32 B) and 3 more (20 B)"
std::string listed_members(const PeakExplanation& level, const std::vector<LiveSet::Member>& members, std::size_t top) {
  std::string text;
  Bytes rest;
  const std::size_t shown = std::min(std::max<std::size_t>(top, 1), members.size());
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (at >= shown) {
      rest += members[at].bytes;
      continue;
    }
    if (at > 0) text += at + 1 == members.size() ? " and " : ", ";
    text += tensor_text(level, members[at].tensor) + " (" + counted_bytes(level, members[at]) + ")";
  }
  if (shown < members.size()) text += " and " + std::to_string(members.size() - shown) + " more (" + exact(rest) + ")";
  return text;
}

// Why the counted bytes may be fewer than the sizes of the tensors, and how they add up to those of the live set.
std::string counting_text(const PeakExplanation& level) {
  const LiveSet& witness = level.witness;
  std::string text;
  if (std::any_of(witness.tensors.begin(), witness.tensors.end(), [&](const LiveSet::Member& member) {
        return member.bytes < level.peak.labels->tensors[member.tensor].size;
      })) {
    text += " A tensor that can share bytes with another one is counted only with the bytes that it adds.";
  }
  Bytes sum = witness.scratch;
  for (const LiveSet::Member& member : witness.tensors) sum += member.bytes;
  if (sum < witness.bytes) {
    text += " Several tensors may lie in one unit of the alignment, so only their sum, " + exact(sum) +
            ", is rounded up: to " + exact(witness.bytes) + ".";
  }
  return text;
}

// The tensors that must be live at one node, by what the node does with them.
struct WitnessMembers {
  std::vector<LiveSet::Member> read;
  std::vector<LiveSet::Member> written;
  std::vector<LiveSet::Member> kept;
};

WitnessMembers members_of(const PeakExplanation& level, NodeId node) {
  WitnessMembers members;
  const auto reads = level.graph->reads(node);
  for (const LiveSet::Member& member : level.witness.tensors) {
    if (level.graph->tensor(member.tensor).producer == node) {
      members.written.push_back(member);
    } else if (std::binary_search(reads.begin(), reads.end(), member.tensor)) {
      members.read.push_back(member);
    } else {
      members.kept.push_back(member);
    }
  }
  return members;
}

// "it reads a (64 B) and b (64 B), writes c (32 B), and needs 128 B of scratch"
std::string touched_text(const PeakExplanation& level, const WitnessMembers& members, std::size_t top) {
  std::vector<std::string> clauses;
  if (!members.read.empty()) clauses.push_back("reads " + listed_members(level, members.read, top));
  if (!members.written.empty()) clauses.push_back("writes " + listed_members(level, members.written, top));
  if (level.witness.scratch > Bytes(0)) {
    const bool has_bodies = !level.graph->node(*level.witness_node).bodies.empty();
    clauses.push_back("needs " + exact(level.witness.scratch) +
                      (has_bodies ? " for the body that it runs" : " of scratch"));
  }
  std::string text = clauses.empty() ? "" : "it ";
  for (std::size_t at = 0; at < clauses.size(); ++at) {
    if (at > 0) text += at + 1 == clauses.size() ? ", and " : ", ";
    text += clauses[at];
  }
  return text;
}

// The witness in words: the bytes that are live at the same time in every order, and the reason.
std::string witness_text(const PeakExplanation& level, const SummaryOptions& options) {
  const std::string sum = format_bytes(level.witness.bytes);
  if (!level.witness_node) {
    return std::string("At the end of the run, all outputs") + (level.peak.body.empty() ? "" : " and inputs") +
           " are in memory, in every order: " + listed_members(level, level.witness.tensors, options.top) + "." +
           counting_text(level);
  }
  const std::string node = node_text(shown_node(*level.peak.labels, *level.witness_node), "");
  const WitnessMembers members = members_of(level, *level.witness_node);
  const std::string touched = touched_text(level, members, options.top);
  if (members.kept.empty()) {
    return node + " alone needs " + sum + ": " + touched +
           ". All of these must be in memory while it runs, in any order." + counting_text(level);
  }
  const bool is_one = members.kept.size() == 1;
  return "While " + node + " runs, " + sum + " are live in every order" + (touched.empty() ? "" : ": " + touched) +
         ". In addition, " + listed_members(level, members.kept, options.top) +
         (is_one ? " is kept: it is" : " are kept: each is") +
         " written by a node that must run earlier, and read by a node that must run later, or it is an output." +
         counting_text(level);
}

// Adds the reason for the bound: a search over all orders, minimum cuts, or the live bytes at one node.
void add_reason(std::vector<Remark>& out, const PeakExplanation& level, const ExplanationFacts& facts,
                const SummaryOptions& options) {
  const std::string witness = witness_text(level, options);
  const Bound& bound = bound_of(*level.peak.plan);
  const std::string claim = " that every order has a step with at least " + format_bytes(bound.bytes) + " live. ";
  if (bound.name == "search") {
    std::string text = "A search over all orders";
    if (level.peak.body.empty() && facts.searched_sets > 0) {
      text += " (" + counted(facts.searched_sets, "set") + " of nodes that can have run)";
    }
    out.push_back(
        {text + " shows" + claim + "No single node proves this bound. The highest bound of a single node is this:"});
  } else if (bound.name == "cut") {
    out.push_back(
        {"A minimum cut between the nodes that have run and those that have not shows" + claim +
         "The tensors that are live at one node in every order prove less. The most that they prove is this:"});
  }
  out.push_back({witness});
}

std::vector<Remark> proven(const PeakExplanation& level, const ExplanationFacts& facts, const SummaryOptions& options) {
  const auto op_of = [&](NodeId id) -> const std::string& { return level.graph->op(id).type; };
  const BoundScope scope = *proven_scope(*level.peak.plan, level.peak.bytes);
  std::vector<Remark> out = {
      {.text = std::string(no_plan_text(scope)) + " needs less than " + format_bytes(level.peak.bytes) +
               ", no matter how tensors share bytes" +
               (copies_views(*level.peak.plan, op_of) ? ". " + std::string(kAllOrCopies) : std::string()) +
               (has_outputs_at_caller(*level.peak.plan) ? ". " + std::string(kWrittenOnce) : std::string()) +
               (facts.is_bound_verified ? ". An independent check confirms it." : "."),
       .lead = StyledText("Proven", Style::good).add(": ")}};
  add_reason(out, level, facts, options);
  Bytes by_choice;
  for (const PeakBuffer& one : level.buffers) {
    const bool may_move = one.freedom == PeakFreedom::written_later || one.freedom == PeakFreedom::read_earlier;
    if (may_move) by_choice += one.live.bytes;
  }
  if (by_choice > Bytes(0)) {
    out.push_back({"At " + step_text(level, *level.peak.step) + ", " + format_bytes(by_choice) +
                   " are live only in some orders. In an order in which they are not live there, another step needs "
                   "at least as much."});
  }
  return out;
}

// If an operator is not counted, nothing is proven. Only the bound for what is counted remains.
std::vector<Remark> withheld(const PeakExplanation& level, const ExplanationFacts& facts,
                             const SummaryOptions& options) {
  const Plan& plan = *level.peak.plan;
  std::vector<Remark> out = {
      {.text = uncounted_text(plan.claims.uncounted), .lead = StyledText("Not proven", Style::bad).add(": ")},
      {"Of what is counted, every order needs at least " + format_bytes(bound_of(plan).bytes) + "."}};
  add_reason(out, level, facts, options);
  return out;
}

std::vector<Remark> gap_between(const PeakExplanation& level, const ExplanationFacts& facts,
                                const SummaryOptions& options) {
  const Bytes bound = bound_of(*level.peak.plan).bytes;
  std::vector<Remark> out = {{.text = "this order needs " + format_bytes(level.peak.bytes) +
                                      ", and every order needs at least " + format_bytes(bound) +
                                      (facts.is_bound_verified ? ", as an independent check confirms." : "."),
                              .lead = StyledText("Not proven", Style::bad).add(": ")}};
  add_reason(out, level, facts, options);
  std::string text = "The difference is " + format_bytes(level.peak.bytes - bound) + ", " +
                     gap_text(level.peak.bytes, bound) +
                     " of the bound. Whether another order needs less than this one is not known.";
  if (!facts.forbidden.empty()) text += " The bound also holds for plans that " + facts.forbidden + " rules out.";
  if (facts.order != "auto") {
    text += " Only --order " + facts.order + " was tried; --order auto tries every strategy and searches.";
  } else if (level.peak.body.empty() && facts.is_search_complete) {
    text +=
        " The search has examined all orders, so a longer one (a larger --order-effort) does not help. The bound may "
        "assume that tensors share more bytes than a plan can.";
  } else if (level.peak.body.empty()) {
    text += " A longer search (a larger --order-effort) may find one or prove that there is none.";
  }
  out.push_back({text});
  return out;
}

}  // namespace

std::string step_text(const PeakExplanation& level, StepId step) {
  return "step " + with_thousands(step.value()) + ", " + node_text(shown_step(level, step), "");
}

bool is_proven(const PeakExplanation& level) { return proven_scope(*level.peak.plan, level.peak.bytes).has_value(); }

std::vector<Remark> proof_of(const PeakExplanation& level, const ExplanationFacts& facts,
                             const SummaryOptions& options) {
  if (is_proven(level)) return proven(level, facts, options);
  return counts_all(level.peak.plan->claims) ? gap_between(level, facts, options) : withheld(level, facts, options);
}

StyledText proof_text(const PeakExplanation& level, const ExplanationFacts& facts, const SummaryOptions& options) {
  StyledText out;
  out.end_line()
      .add(is_proven(level) ? "Why no order needs less" : "What is known about other orders", Style::heading)
      .end_line();
  for (const Remark& remark : proof_of(level, facts, options)) out.append(paragraph(remark.text, remark.lead));
  return out;
}

}  // namespace lowtide::report_internal
