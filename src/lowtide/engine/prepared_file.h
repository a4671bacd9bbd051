// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/range.h"

namespace lowtide {

// A prepared file has all that a run needs: the graph that runs, its plan, and the bytes of its constants in the order
// in which kernels read them. open_model() takes it in place of a model, and maps the constants: nothing is imported,
// lowered, planned or packed, and the system shares their pages among processes. docs/prepared-format.md describes the
// format. It is valid on machines with the same instruction set, kernels and number of threads.
//
// A file of a range has a graph and a plan for each of its members. open_range() opens all of them, and open_model()
// the one with the sizes of OpenOptions::import.
struct PreparedFile {
  std::string head;                      // what the file begins with
  std::vector<std::string_view> pieces;  // what follows it; valid as long as the executables
};

// The file of a model that open_model() has opened, from a model or from a prepared file. Errors (over_limit): a graph
// or a plan that is too long to be read again (limits). O(graph + plan); the constants are not copied.
[[nodiscard]] Result<PreparedFile> prepared_file(const OpenedModel& model);

// The file of all members of a range. Constants with equal bytes are there once. A range with one member gives the file
// of that model. Errors: those above, and (over_limit) more than kMaxPlansPerFile members. O(graphs + plans + bytes of
// the constants).
[[nodiscard]] Result<PreparedFile> prepared_file(const OpenedRange& range);

}  // namespace lowtide
