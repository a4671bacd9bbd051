// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide::detail {

// One plan of the page: the plan shown, the one it is compared with, or the plan of a body inside one of them.
struct Sheet {
  const Plan* plan = nullptr;
  const Labels* labels = nullptr;  // of the same graph
  // For a body: whose step runs it, and where in that step's scratch buffer it stands.
  std::ptrdiff_t parent = -1;  // index of a sheet before this one; -1: not a body
  std::int64_t parent_step = -1;
  std::string body;
  Offset offset;
};

// The plan and all plans of bodies inside it, appended to `sheets`, each after the sheet that runs it. No recursion.
void append_sheets(std::vector<Sheet>& sheets, const Plan& plan, const Labels& labels);

// Appends the sheet as a JSON object of columns: one list an attribute, not one object a thing. What the page reads:
//   parent      null, or [sheet, step, body name, offset]
//   facts       provenance and claims, with the best bound for plans such as this one; streams, where there are several;
//               extra_work, where nodes run again or bytes are copied
//   streams     [null or [region, region]]   where there are several: a worker's, or a link's
//   regions     [{name, capacity, alignment, arena}]
//   ops, types  texts that the columns below point into ("Conv"; "f32[1,64]")
//   node        {name, op}
//   tensor      {name, type, role, size}
//   step        {node, alias, scratch, stream, copy, read_count, read}   stream where there are several; copy where there
//               are copies: the region that one moves to, -2 within its region, -1 for other steps; the last a pool of
//               value ids, read_count of them per step
//   value       {tensor, written, buffer, offset}
//   outputs     [value]   handed to the caller
//   buffer      {kind, size, begin, end, region, offset}
//   part        {buffer, size, begin, end}   where buffers have parts: those of one stand together, from its first byte
//               on, and buffers in the order of their ids
// -1 stands for "none", and for every id that is out of range: the page trusts its ids, plans come from anywhere.
// Steps are numbered from 0, spans are half-open and lie within the program.
void append_sheet_json(std::string& out, const Sheet& sheet);

}  // namespace lowtide::detail
