// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "lowtide/engine/prepared_head.h"
#include "lowtide/graph/constant_table.h"

namespace lowtide::engine_internal {

// The tables of constants of the plans of a prepared file. Plans share a table, and so the weights, unless an id means
// different constants to them. Plans for sizes of one model rarely do: their ids are those of the model and of the
// results of its load-time work.
//
//   plan 0 reads  3: "w" at 0, 7: "b" at 64     table 0:  3: "w" at 0, 5: "c" at 128, 7: "b" at 64
//   plan 1 reads  3: "w" at 0, 5: "c" at 128
//   plan 2 reads  3: "v" at 192                 table 1:  3: "v" at 192
class PreparedTables {
 public:
  // Adds the constants of a plan, whose table of its own is empty then. Returns the number of the table that has them.
  // O(plans x constants).
  std::size_t add(PreparedHead& head);

  // Requires: no plan is added later.
  [[nodiscard]] std::vector<ConstantTable> take() &&;

 private:
  struct Shared {
    ConstantTable table;
    // The lowest id that a graph has for a constant whose content is in the graph. The runtime looks there only if the
    // table ends before the id.
    std::size_t first_absent = 0;
  };

  std::vector<Shared> shared_;
};

}  // namespace lowtide::engine_internal
