// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide::report_internal {

struct SheetParent {
  std::size_t sheet = 0;  // position of a sheet before this one
  StepId step;
};

// One plan of the page: the plan shown, the one it is compared with, or the plan of a body inside one of them.
struct Sheet {
  const Plan* plan = nullptr;
  const Labels* labels = nullptr;     // of the same graph
  std::optional<SheetParent> parent;  // of a body: the step that runs it
  std::string body;                   // its name
  Offset offset;                      // of its arena in the scratch buffer of that step
};

// The plan and all plans of bodies inside it, appended to `sheets`, each after the sheet that runs it. No recursion.
void append_sheets(std::vector<Sheet>& sheets, const Plan& plan, const Labels& labels);

// Appends the sheet as a JSON object of columns: one list an attribute, not one object a thing. What the page reads:
//   parent      null, or [sheet, step, body name, offset]
//   facts       provenance and claims, with the best bound for plans such as this one; streams, where there are several;
//               extra_work, where nodes run again or bytes are copied
//   streams     [null or [region, region]]   where there are several: a worker's, or a link's
//   regions     [{name, capacity, alignment, arena, peak}]   peak: the step, as peak_step() chooses it in the region
//   ops, types  texts that the columns below point into ("Conv"; "f32[1,64]")
//   node        {name, op}
//   tensor      {name, type, role, size}
//   step        {node, alias, scratch, stream, copy, read_count, read}   stream where there are several; copy where there
//               are copies: the region that one moves to, -2 within its region, -1 for other steps; the last a pool of
//               value ids, read_count of them per step
//   value       {tensor, written, buffer, offset}
//   outputs     [value]   handed to the caller
//   buffer      {kind, size, begin, end, region, offset, name}   name: the value that gives the buffer its name
//   part        {buffer, size, begin, end}   where buffers have parts: those of one stand together, from its first byte
//               on, and buffers in the order of their ids
// -1 stands for "none". Steps are numbered from 0, and intervals are half-open.
void append_sheet_json(std::string& out, const Sheet& sheet);

}  // namespace lowtide::report_internal
