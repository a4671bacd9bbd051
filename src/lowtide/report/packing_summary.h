// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/plan/packing.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// The time at which the live buffers prove the bound. A reader can add up their sizes.
struct PackingWitness {
  std::int64_t time = 0;
  Bytes load;                      // sum of the sizes of `live`
  Bytes proven;                    // proven lower bound of the height; more than `load` if alignment forces padding
  std::vector<PackingId> live;     // the largest first
  std::optional<PackingId> alone;  // a buffer that proves `proven` by itself, by its end or size
};

// The answer of `pack` in figures, for offsets or slots.
struct PackingFigures {
  std::string what;  // "offsets" or "slots"
  Bytes size;        // the height of the offsets, or the total of the slots
  Bytes bound;
  std::string strategy;
  bool proven_optimal = false;
  bool fits = true;            // the capacity, if there is one
  bool is_infeasible = false;  // proven that nothing fits
  StyledText proof = {};       // why nothing fits, if that is proven
  std::optional<Bytes> largest_slot = {};
  std::size_t slots = 0;
};

// The figures of a packing. If nothing fits, the witness is the proof. If `wide`, its table has whole names.
[[nodiscard]] PackingFigures figures_of(const PackingProblem& problem, const Packing& packing,
                                        const std::optional<PackingWitness>& witness, bool wide = false);

// Completes the figures of slots. `sizes` has the largest slot first.
[[nodiscard]] PackingFigures slot_figures(const PackingProblem& problem, PackingFigures figures,
                                          const std::vector<Bytes>& sizes);

[[nodiscard]] StyledText packing_summary(const std::string& path, const PackingProblem& problem,
                                         const PackingFigures& figures);

// The "id" of the file, or the number of the buffer if it has none.
[[nodiscard]] std::string name_of(const PackingProblem& problem, PackingId buffer);

}  // namespace lowtide
