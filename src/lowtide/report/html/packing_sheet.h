// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/json_writer.h"
#include "lowtide/report/packing_page.h"

namespace lowtide::report_internal {

// Writes a packing as a JSON object of columns, the counterpart of write_sheet. The page reads:
//   packing   true; a plan has no such key
//   parent    null
//   facts     graph (the name), tool, sum (of all sizes), bound, how it was proven, and strategy
//   regions   one, with the capacity; its arena is the height
//   time      {epoch, start, bounds, names}   bounds: the times at which a buffer or gap begins or ends, ascending,
//             counted from the first one. A time of the problem is epoch + start + bound. epoch is a text, "0" unless
//             the times are too large for a script's numbers. If even their span is too large, bounds are 0, 1, 2, ...
//             and names are the times
//   whole     {name, size, alignment, offset, fixed, begin, end, pieces}   one row per buffer; begin and end are
//             indexes of bounds
//   bands     {names, name, begin, end, again}   only if there are bands: the names, each once, and one row per band;
//             begin and end are counted from the first time, as bounds are
//   piece     {begin, end}   the times of each buffer without its gaps, in the order of buffers. A buffer that has no
//             such time has one empty piece
void write_packing_sheet(JsonWriter& json, const PackingProblem& problem, const Packing& packing,
                         const PackingPageOptions& options);

}  // namespace lowtide::report_internal
