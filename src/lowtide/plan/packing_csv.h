// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// The text form of a packing problem, as import_packing reads it: the same buffers, names and fixed offsets come back.
// A buffer without a name gets its number as id. The columns alignment, gaps and offset are there if some buffer needs
// them; a capacity has no column.
//
//   id,lower,upper,size,alignment,gaps,offset       b rests in [4,6) and [8,9); a is free to go anywhere
//   a,0,3,64,1,,
//   b,2,10,128,64,4-6 8-9,256
//
// Require: names are not empty and hold no comma, line break or zero byte, and times are not negative; the format knows
// no escapes, and import_packing lets nothing else in. Checked (InvariantViolation).
[[nodiscard]] std::string write_packing_csv(const PackingProblem& problem);

// The same with the offset of every buffer: read back, all of them are fixed. Require: one offset a buffer.
[[nodiscard]] std::string write_packing_csv(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets);

// The problem with a column `slot`: the number of the slot of each buffer. import_packing does not read it. Require:
// one slot a buffer.
[[nodiscard]] std::string write_slots_csv(const PackingProblem& problem,
                                          const IdVector<PackingId, std::uint32_t>& slots);

}  // namespace lowtide
