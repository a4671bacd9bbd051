// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/analysis/view_table.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::share_internal {

// How many members of sets one pass over a graph may examine. It keeps the time linear if many tensors share one set.
[[nodiscard]] inline std::int64_t most_examined(const Graph& graph) {
  return 1'000'000 + 32 * static_cast<std::int64_t>(graph.tensors().size());
}

// Disjoint sets of tensors, each with the place of every member in the set's bytes (union-find with offsets; Tarjan
// 1975). The whole is always the root, and the parts are below it:
//
//   c (128 bytes)                 root c: size 128, from the first write of a or b to the last read of c
//   |-- a   offset 0
//   `-- b   offset 64
class AliasForest {
 public:
  struct Root {
    BufferKind kind = BufferKind::temporary;
    std::int64_t size = 0;
    std::uint32_t begin = 0;   // step of the first write
    std::uint32_t end = 0;     // one past the last use
    bool is_external = false;  // input, constant or state: written only by the next content of the state
    bool is_given = false;     // the caller writes it into the arena (lower/memory/inputs_in_arena.h)
    bool is_kept = false;      // holds a tensor that is needed at the end (Graph::is_needed_at_end)
  };
  struct Place {
    TensorId root;
    std::int64_t offset = 0;
  };

  // `position[node]` is the node's step.
  AliasForest(const Graph& graph, const IdVector<NodeId, std::uint32_t>& position);

  [[nodiscard]] Place find(TensorId tensor);
  [[nodiscard]] const Root& root(TensorId tensor) const { return roots_[tensor]; }

  // Puts the set of `part` at `offset` in the set of `whole`. Requires: both are roots, and they differ.
  void attach(TensorId part, TensorId whole, std::int64_t offset);

  // Calls function(member) for each tensor of the set of a root, until it returns false.
  template <typename Function>
  void for_each_member(TensorId root, Function function) const {
    TensorId member = root;
    do {
      if (!function(member)) return;
      member = next_[member];
    } while (member != root);
  }

  struct Join {
    TensorId part;   // a root
    TensorId whole;  // a root
    std::int64_t offset = 0;
  };
  struct Joins {
    std::vector<Join> joins;  // at least one
    bool has_copies = false;  // of a concat: the other parts cannot be joined
  };
  // Returns the sets to join for the views of a node, or nullopt if the node must compute. It must compute if some view
  // cannot be joined. A concat must compute only if no view can be joined.
  [[nodiscard]] std::optional<Joins> plan_joins(const Graph& graph, std::span<const TableView> views, bool is_concat);

 private:
  [[nodiscard]] std::optional<Join> plan_join_inside(const Graph& graph, std::span<const TableView> views);
  [[nodiscard]] bool may_become(const Graph& graph, const View& view, const Place& part, const Place& whole);
  [[nodiscard]] bool may_attach(const Graph& graph, const View& view, const Place& part, const Place& whole);
  [[nodiscard]] bool holds_kept(const Graph& graph, const Place& place, std::int64_t size);

  IdVector<TensorId, TensorId> parent_;
  IdVector<TensorId, std::int64_t> offset_;  // in the parent
  IdVector<TensorId, Root> roots_;           // meaningful for roots
  IdVector<TensorId, TensorId> next_;        // the members of a set, in a ring
  std::int64_t examinations_left_;           // of members, by holds_kept
};

}  // namespace lowtide::share_internal
