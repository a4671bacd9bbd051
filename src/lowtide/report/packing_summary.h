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

// What a person can add up: the moment at which what lives needs the bound.
struct PackingWitness {
  std::int64_t time = 0;
  Bytes load;                      // bytes of `live`
  Bytes proven;                    // no height is lower; more than `load` where alignment forces padding
  std::vector<PackingId> live;     // the largest first
  std::optional<PackingId> alone;  // `proven` is the end or size of this buffer, whoever else lives
};

// What a person reads after `pack`. The witness is listed where it shows that nothing fits.
[[nodiscard]] StyledText packing_summary(const std::string& path, const PackingProblem& problem, const Packing& packing,
                                         const std::optional<PackingWitness>& witness = std::nullopt);

// Whole-buffer sharing in figures.
struct SlotFigures {
  std::size_t slots = 0;
  Bytes largest;
  Bytes total;
  Bytes bound;
  bool proven_optimal = false;
  std::string strategy;
};

[[nodiscard]] StyledText slots_summary(const std::string& path, const PackingProblem& problem,
                                       const SlotFigures& figures);

// "id" of the file, or the number of a buffer that has none.
[[nodiscard]] std::string name_of(const PackingProblem& problem, PackingId buffer);

}  // namespace lowtide
