// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/plan/packing.h"
#include "lowtide/report/packing_page.h"

namespace lowtide {

// A problem and its offsets, for the tests of the page of a packing.
struct PackingSketch {
  PackingProblem problem;
  Packing packing;
};

// Everything that a buffer of a packing can be (KiB over time; `.` is free):
//
//   address
//    192 |        [late      ]        fits into the gap of `resting` and above
//    128 |[resting]......[resting]    64 KiB, with a gap in [30, 60)
//     64 |[low             ]          64 KiB at alignment 4 KiB
//      0 +[fixed                 ]    64 KiB at address 0
//        0        30     60     90
[[nodiscard]] PackingSketch small_packing();
// Names that try to end a script or start a tag, as in hostile_plan().
[[nodiscard]] PackingSketch hostile_packing();
[[nodiscard]] PackingSketch empty_packing();
// Two buffers as far apart as a clock of 64 bits allows, and one between them.
[[nodiscard]] PackingSketch far_packing();
// The phases of small_packing(). At the time 60, `forward` happens again:
//
//   first  [forward       ][backward  ]         [update]
//   again                             [forward]
//          0              30          60       70      80    90
[[nodiscard]] std::vector<PageBand> small_bands();
// A band of each time of a packing, from 0 on, of the names in turn; each fourth one happens again.
[[nodiscard]] std::vector<PageBand> many_bands(std::int64_t count, std::int64_t length);
// Random lifespans and a few sizes, packed by best fit.
[[nodiscard]] PackingSketch generated_packing(std::uint32_t buffers, std::uint64_t seed);

}  // namespace lowtide
