// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// The text form of a packing problem. import_packing reads the same buffers, names and fixed offsets from it. A buffer
// without a name gets its number as id. The columns alignment, gaps and offset are present if some buffer needs them.
// The capacity is not written.
//
//   id,lower,upper,size,alignment,gaps,offset       b is not live in [4,6) and [8,9); a may have any offset
//   a,0,3,64,1,,
//   b,2,10,128,64,4-6 8-9,256
//
// Requires: names are not empty and have no comma, line break or zero byte, and times are not negative. The format has
// no escapes, and import_packing refuses such names. A violation throws InvariantViolation.
[[nodiscard]] std::string write_packing_csv(const PackingProblem& problem);

// Returns the same text with the offset of each buffer, so that all offsets are fixed when the text is read. Requires:
// one offset per buffer.
[[nodiscard]] std::string write_packing_csv(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets);

// Returns the text of the problem with a column `slot`: the slot number of each buffer. import_packing does not read
// this column. Requires: one slot per buffer.
[[nodiscard]] std::string write_slots_csv(const PackingProblem& problem,
                                          const IdVector<PackingId, std::uint32_t>& slots);

}  // namespace lowtide
