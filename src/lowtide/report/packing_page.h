// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/plan/packing.h"

namespace lowtide {

// A figure for the head of the page, such as "Budget", "4.00 GiB", "peak 99.9 % of it".
struct PageFigure {
  std::string label;
  std::string value;
  std::string detail;
};

// Times [begin, end) that belong together, such as those of a forward pass. Above the map, the page draws a strip of
// all bands, in which each name has one colour.
struct PageBand {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_again = false;  // what happens then has happened before; it is drawn in a row of its own

  friend bool operator==(const PageBand&, const PageBand&) = default;
};

struct PackingPageOptions {
  std::string name;                      // the name of the packing: the file that it comes from
  std::string tool;                      // what made the offsets: "lowtide 0.1.0"
  bool is_verified = false;              // whether the caller has checked the offsets and the bound; the page says so
  std::vector<PageFigure> figures = {};  // shown before those of the packing
  std::vector<PageBand> bands = {};      // ascending, without overlap; times outside of all lifespans are cut off
};

// One self-contained HTML page that works offline. It shows where every buffer is and when: x is the time, to scale,
// and y the address. It works like the page of a plan (page.h), but uses the terms of a packing. A buffer with gaps is
// drawn as several rectangles. Deterministic. O((n + gaps) log n + bands log bands). Requires: one offset per buffer,
// and lifespans (no PackingProblem::conflicts), as in every problem from a file.
[[nodiscard]] std::string packing_page(const PackingProblem& problem, const Packing& packing,
                                       const PackingPageOptions& options = {});

}  // namespace lowtide
