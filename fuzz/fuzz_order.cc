// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as an ordering problem. What is not refused must be a budget problem that its contract allows.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "lowtide/import/order_json.h"
#include "lowtide/plan/budget_problem.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const bool with_costs : {false, true}) {
    const auto file = lowtide::parse_order_graph(text, {.with_costs = with_costs, .with_units = with_costs});
    if (!file) continue;
    const auto checked = lowtide::check_budget_problem(file->problem);
    if (checked.ok() && file->index.size() == file->graph.nodes().size()) continue;
    if (!checked.ok()) std::fprintf(stderr, "%s\n", checked.error().message.c_str());
    std::abort();
  }
  return 0;
}
