// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/analysis/bounds.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/target.h"

namespace lowtide {

// What a step has to do with a buffer that lives then.
enum class PeakUse : std::uint8_t {
  read,
  written,
  rewritten,  // read and written: in place, or a part of it
  scratch,
  kept,  // no kernel touches it: somebody reads it later, or the caller gets it
};

// Why a buffer need not live at that step in another plan.
enum class PeakFreedom : std::uint8_t {
  none,           // it must
  written_later,  // its writer need not run before the step
  read_earlier,   // nobody who reads it need run after the step
  shared,         // it must live, but may share the bytes of something else that does
};

[[nodiscard]] std::string_view to_string(PeakUse use);
[[nodiscard]] std::string_view to_string(PeakFreedom freedom);

struct PeakBuffer {
  BufferId buffer;
  // What the buffer is called after: of all that it ever holds an output before others, then the largest, then what
  // lives in it now, then the first. Nothing of scratch.
  std::optional<ValueId> name;
  std::vector<ValueId> values;  // that live in it then, the largest first
  Bytes living;                 // of the buffer then: all of it, or of its parts those that live
  // Living bytes that hold them; of the rest, nothing is written yet, or nobody needs it any more.
  Bytes held;
  Bytes must;  // what of it must live while the node runs, by MustBeLiveSet
  PeakUse use = PeakUse::kept;
  PeakFreedom freedom = PeakFreedom::none;
  std::optional<StepId> written;    // the last that wrote one of `values`, up to here; nothing: there before the run
  std::optional<StepId> next_read;  // the first kernel after the step that reads bytes of `values`; nothing: none
  // Only of what is kept: the largest load of this order if the buffer took no bytes from the last kernel before the step
  // that touches it to the next one after it. Of a buffer that no kernel touches any more, to the end.
  std::optional<Bytes> load_without;
};

// An output that could lie in an input's bytes, by the node's kernel, and does not.
struct InPlaceRefusal {
  enum class Reason : std::uint8_t {
    switched_off,  // PlanOptions::in_place
    not_ours,      // the input is the caller's or a constant
    handed_out,    // the input is an output of the graph, or shares bytes with one
    read_later,    // see `reader`
  };
  TensorId input;
  TensorId output;
  Bytes bytes;  // of the output's buffer
  Reason reason = Reason::not_ours;
  std::optional<StepId> reader;
};

[[nodiscard]] std::string_view to_string(InPlaceRefusal::Reason reason);

// Where the largest load of a plan is, what lives there, and what of it every order has.
struct PeakExplanation {
  const Graph* graph = nullptr;  // what the ids below are of; both must outlive the explanation
  const Plan* plan = nullptr;
  IdVector<ValueId, std::uint32_t> ordinals;  // ordinals_of(plan->program)
  std::string inside;                         // "then_branch" for a body, empty for the graph itself
  Bytes load;                                 // the largest
  std::vector<Interval<StepId>> peaks;  // all steps that reach it, in ascending runs; none for a program without steps
  std::optional<StepId> next_step;      // the highest of all other steps, the first of equals
  Bytes next_load;                      // there
  // The step that is explained: the one whose node shows the bound, if the load is reached there; else the first that
  // reaches it and runs a kernel, or is of a node.
  StepId step;
  std::vector<PeakBuffer> buffers;       // with bytes that live then, the most first, then by id; together the load
  std::vector<InPlaceRefusal> refusals;  // at that step, the largest first
  // What a step touches itself: with nothing that is only kept, the largest of these is the load. Of equals `step`, else
  // the first.
  Bytes largest_touched;
  StepId largest_touched_step;
  // The most that must live at one node in every order, and that node; nothing: at the end of the run. Its bytes are
  // the bound of the plan, unless that was found by search (Bound::name) and is more.
  MustBeLiveSet witness;
  std::optional<NodeId> witness_node;
  MustBeLiveSet must;  // of the step's node; empty for a copy
};

// The graph first. Where the node of its step has bodies that take bytes, the one that takes most follows, and so on
// inwards. `planned` is of this graph, target and options, on one stream. O(nodes + edges) a level, the effort of
// load_bound, and O(steps) for each of the 64 largest buffers that are kept.
[[nodiscard]] std::vector<PeakExplanation> explain_peak(const Graph& graph, const Target& target,
                                                        const PlanOptions& options, const Plan& plan);

}  // namespace lowtide
