// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/plan/packing.h"

namespace lowtide {

struct PackingPageOptions {
  std::string name;          // what the packing is called: the file it comes from
  std::string tool;          // what made the offsets: "lowtide 0.1.0"
  bool is_verified = false;  // whether the caller has checked the offsets and the bound: the page says so
};

// One self-contained HTML page, offline, that shows where every buffer is and when: x = time, to scale, y = address.
// The page of a plan (page.h) with the words of a packing; a buffer with gaps is drawn in pieces. Where a relation
// (`conflicts`) replaces time, a column is a set of buffers any two of which are in conflict, and every pair in conflict
// has a column; where these would be too many, a buffer. The page says so.
// Deterministic. O((n + gaps) log n); with a relation, and up to a fixed amount of work for its columns.
// Require: one offset a buffer.
[[nodiscard]] std::string packing_page(const PackingProblem& problem, const Packing& packing,
                                       const PackingPageOptions& options = {});

}  // namespace lowtide
