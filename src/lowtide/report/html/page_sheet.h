// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/json_writer.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/page.h"

namespace lowtide::report_internal {

struct SheetParent {
  std::size_t sheet = 0;  // position of a sheet before this one
  StepId step;
};

// One plan of the page: the plan shown, the one it is compared with, or the plan of a body inside one of them.
struct Sheet {
  const Plan* plan = nullptr;
  const Labels* labels = nullptr;                         // of the same graph
  std::optional<SheetParent> parent;                      // of a body: the step that runs it
  std::string body;                                       // its name
  Offset offset;                                          // of its arena in the scratch buffer of that step
  const PlanProof* proof = nullptr;                       // nullptr: not known
  const IdVector<NodeId, std::int64_t>* costs = nullptr;  // PageOptions::costs
  const Graph* graph = nullptr;                           // of the plan; nullptr: not known
  const PageMeasurement* measured = nullptr;              // PageOptions::measured
  std::string quantized = {};                             // PageOptions::quantized
  const LoweringFacts* lowering = nullptr;                // PageOptions::lowering
  const std::vector<CopyLeft>* copies = nullptr;          // PageOptions::copies
  const std::vector<KeptTensor>* kept = nullptr;          // PageOptions::kept
  const PlanVerdict* verdict = nullptr;                   // PageOptions::verdict
};

// Appends the plan and all plans of bodies inside it, each after the sheet that runs it. `graph` is that of the plan,
// or nullptr. No recursion.
void append_sheets(std::vector<Sheet>& sheets, const Plan& plan, const Labels& labels, const Graph* graph = nullptr);

// Writes the sheet as a JSON object of columns, with one list per attribute. The page reads:
//   parent      null, or [sheet, step, body name, offset]
//   proof       [paragraph]   if the caller has them: why no order needs less
//   not_in_place   [paragraph]   the same: why results at the peak are not written in place
//   facts       provenance and claims, with the best bound for plans such as this one; execution; streams, if there are
//               several; extra_work, if nodes run again or bytes are copied; missed_budget, if the plan exceeds one;
//               verdict, proven and recomputed, if they are known (page_verdict.h)
//   streams     [null or [region, region]]   if there are several: null for a worker, the regions of a link
//   regions     [{name, capacity, alignment, arena, peak}]   peak: the step, as peak_step() chooses it in the region
//   ops, types  texts to which the columns below refer by index ("Conv"; "f32[1,64]")
//   quantized   a paragraph, if the model is quantized
//   lowered     a paragraph, if it is known what lowering changed; then also
//   rewrites    [[node, [name]]]   the nodes of the model that a node runs instead of
//   copies      [[step, bytes, reason]]   if there are any: the steps of this plan that only move bytes
//   kept        [[step, tensor, reason]]   for a plan that keeps a budget: why the tensor stays in the arena there
//   node        {name, op, macs}   macs: if the graph is known; -1 for a number that is not
//   tensor      {name, type, role, size}
//   step        {node, alias, scratch, stream, after_count, after, picoseconds, copy, read_count, read}   stream, and
//               the steps of other streams that must end before: if there are several streams; picoseconds: if costs
//               are known; copy: if there are copies, the region that one moves to, -2 within its region, -1 for other
//               steps; after and read: the ids of all steps, one after another
//   runs        if the plan was measured: the number of runs; then also nanoseconds in step, and seen in buffer, which
//               is -1 outside of the arena
//   value       {tensor, written, buffer, offset}
//   outputs     [value]   of the program
//   buffer      {kind, size, begin, end, region, offset, name}   name: the value that gives the buffer its name
//   part        {buffer, size, begin, end}   if there are parts: sorted by buffer, then by address
// -1 stands for "none". Steps are numbered from 0, and intervals are half-open.
void write_sheet(JsonWriter& json, const Sheet& sheet);

}  // namespace lowtide::report_internal
