// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/report/packing_page.h"

namespace lowtide::report_internal {

// Appends a packing as a JSON object of columns, beside append_sheet_json. What the page reads:
//   packing   true: tells it from a plan
//   parent    null
//   facts     name, tool, and what is known of height and bound
//   regions   one, with the capacity and the height
//   time      {origin, start, bounds, names}: the times at which something begins or ends, ascending, counted from the
//             first of them. A time of the problem is origin + start + bound; origin is a text, "0" unless times are
//             too large for a script's numbers. Where even their span is, bounds are 0, 1, 2, ... and names their times
//   whole     {name, size, alignment, offset, fixed, begin, end, pieces}   a buffer each; begin and end index bounds
//   piece     {begin, end}   what the gaps leave of each buffer, in the order of buffers; one without bytes of its own at
//             any time has one piece of no length
void append_packing_sheet_json(std::string& out, const PackingProblem& problem, const Packing& packing,
                               const PackingPageOptions& options);

}  // namespace lowtide::report_internal
