// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/bounds.h"
#include "lowtide/share/alias_classes.h"
#include "lowtide/share/load.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

// What is shared in a graph that runs in its given order.
struct Decided {
  Graph graph;
  AliasClasses aliases;
  Bytes load;
  Bytes bound;

  [[nodiscard]] bool share(const char* a, const char* b) const {
    return aliases.class_of[tensor_named(graph, a)] == aliases.class_of[tensor_named(graph, b)];
  }
  [[nodiscard]] const AliasClass& class_of(const char* name) const {
    return aliases.classes[aliases.class_of[tensor_named(graph, name)]];
  }
  [[nodiscard]] std::int64_t offset(const char* name) const {
    return aliases.offset_in_class[tensor_named(graph, name)].position();
  }
  // "operand at offset", one per line.
  [[nodiscard]] std::string copies() const {
    std::string text;
    for (const OperandCopy& copy : aliases.copies) {
      text += graph.tensor(copy.tensor).name + " at " + std::to_string(copy.offset.position()) + "\n";
    }
    return text;
  }
};

// Decides what is shared in a graph of these lines.
inline Decided decide(const std::string& text, const AliasOptions& options = {}) {
  Graph graph = graph_of("graph \"g\" {\n" + text + "\n}\n");
  const ChosenKernels kernels = dense_kernels(graph);
  AliasClasses aliases = alias_classes(graph, kernels, given_order(graph), options);
  const std::vector<Bytes> profile = load_profile(aliases, kernels, given_order(graph), options);
  const Bytes bound =
      live_set_bound(graph, kernels, given_order(graph), profile,
                     {.alignment = options.alignment, .inputs_live_throughout = options.inputs_live_throughout})
          .bytes;
  return {std::move(graph), std::move(aliases), largest(profile), bound};
}

}  // namespace lowtide::testing
