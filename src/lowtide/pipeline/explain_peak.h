// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/analysis/bounds.h"
#include "lowtide/analysis/peak.h"
#include "lowtide/analysis/remedies.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/target.h"

namespace lowtide {

// What a step does with a buffer that is live then.
enum class PeakUse : std::uint8_t {
  read,
  written,
  rewritten,  // read and written: in place, or a part of it
  scratch,
  kept,  // no kernel touches it: a later step reads it, or the caller gets it
};

// Why a buffer need not be live at that step in another plan.
enum class PeakFreedom : std::uint8_t {
  none,           // it must be live
  written_later,  // its writer need not run before the step
  read_earlier,   // none of its readers need run after the step
  shared,         // its values must be live, but may share the bytes of another live buffer
};

template <>
inline constexpr auto kEnumNames<PeakUse> = enum_names<PeakUse>({{PeakUse::read, "read"},
                                                                 {PeakUse::written, "written"},
                                                                 {PeakUse::rewritten, "rewritten"},
                                                                 {PeakUse::scratch, "scratch"},
                                                                 {PeakUse::kept, "kept"}});
template <>
inline constexpr auto kEnumNames<PeakFreedom> = enum_names<PeakFreedom>({{PeakFreedom::none, "none"},
                                                                         {PeakFreedom::written_later, "written_later"},
                                                                         {PeakFreedom::read_earlier, "read_earlier"},
                                                                         {PeakFreedom::shared, "shared"}});

struct PeakBuffer {
  LiveBuffer live;
  Bytes held;  // live bytes that hold a value. The others are not written yet, or no longer needed
  Bytes must;  // live bytes that must be live while the node runs, by LiveSet
  PeakUse use = PeakUse::kept;
  PeakFreedom freedom = PeakFreedom::none;
  std::optional<StepId> written;    // the last step up to here that wrote one of the values; nullopt: before the run
  std::optional<StepId> next_read;  // the first kernel after the step that reads bytes of the values; nullopt: none
  // Only for a buffer that is kept: the peak of this order if the buffer occupied no bytes between the kernels that
  // touch it before and after the step. If no later kernel touches it, the gap extends to the end.
  std::optional<Bytes> load_without;
};

// An output that the node's kernel could write over an input, although the plan does not.
struct InPlaceRefusal {
  enum class Reason : std::uint8_t {
    switched_off,  // PlanOptions::in_place
    external,      // the input is the caller's or a constant
    output,        // the input is an output of the graph
    with_output,   // the input is in the buffer of an output
    read_later,    // a later step reads bytes of the input's buffer; see `reader`
  };
  TensorId input;
  TensorId output;
  Bytes bytes;  // of the output's buffer
  Reason reason = Reason::external;
  std::optional<StepId> reader;
};

template <>
inline constexpr auto kEnumNames<InPlaceRefusal::Reason> =
    enum_names<InPlaceRefusal::Reason>({{InPlaceRefusal::Reason::switched_off, "switched_off"},
                                        {InPlaceRefusal::Reason::external, "external"},
                                        {InPlaceRefusal::Reason::output, "output"},
                                        {InPlaceRefusal::Reason::with_output, "with_output"},
                                        {InPlaceRefusal::Reason::read_later, "read_later"}});

// The peak of one graph, with the use of each buffer, and the bytes that must be live in every order.
struct PeakExplanation {
  const Graph* graph = nullptr;  // of the plan; must outlive the explanation
  Peak peak;
  std::vector<Interval<StepId>> ranges;  // all steps that reach the peak, in ascending runs; none without steps
  std::optional<StepId> next_step;       // the other step with the largest load, the first of equals
  Bytes next_load;                       // its load
  std::vector<PeakBuffer> buffers;       // one per entry of peak.buffers, in the same order
  std::vector<InPlaceRefusal> refusals;  // at the step, the largest first
  ModelRemedies remedies;                // what a changed model would save
  // The most bytes that one step reads, writes and has as scratch. If nothing were kept, this would be the peak.
  Bytes largest_touched;
  StepId largest_touched_step;  // among equals the step of the peak, otherwise the first
  // The largest set of bytes that must be live at one node in every order. `witness_node` is that node; nullopt means
  // the end of the run. The size of the set is the bound of the plan, unless a search or a minimum cut proves more
  // (Bound::name).
  // Its tensors have whole units of the alignment, unless several of them may lie in one unit.
  LiveSet witness;
  std::optional<NodeId> witness_node;
  LiveSet must;  // of the node of the peak's step; empty for a copy
  // The kernel of that step with the least scratch, if it needs less than the kernel of the plan.
  std::optional<Kernel> lighter_kernel = std::nullopt;
};

// Explains the peaks of a plan (peaks_of): the graph first, then the bodies inwards. `plan` is of this graph, target
// and options, on one stream; graph, labels and plan must outlive the result. O(nodes + edges) per level, the effort of
// live_set_bound, and O(steps) for each of the 64 largest buffers that are kept.
[[nodiscard]] std::vector<PeakExplanation> explain_peak(const Graph& graph, const Labels& labels, const Target& target,
                                                        const PlanOptions& options, const Plan& plan);

}  // namespace lowtide
