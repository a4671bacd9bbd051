// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// Every way to share bytes in a small graph, for comparison with the planner's choice and with the bounds. There is a
// choice for each pair of tensors that might share: for each operand of a concat, each view, and each in-place pair
// that a kernel permits. A choice is checked by running the graph on rows that remember what was written to them, with
// the copies of each concat one after another. All tensors consist of rows of 16 bytes.
class EverySharing {
 public:
  EverySharing(const Graph& graph, const ChosenKernels& kernels);

  // The number of choices, each of which is taken or not.
  [[nodiscard]] std::uint32_t choices() const { return static_cast<std::uint32_t>(pairs_.size()); }

  // Returns the peak of an order in bytes, with the choices that are set in `mask`. Returns nullopt if they contradict
  // each other or a node would read bytes that have been overwritten.
  [[nodiscard]] std::optional<std::int64_t> peak(const std::vector<NodeId>& order, std::uint32_t mask) const;

  // Returns the lowest peak of an order over all choices. Requires: few choices.
  [[nodiscard]] std::int64_t least_peak(const std::vector<NodeId>& order) const;

 private:
  // Bytes of `part` are those of `whole` from row `offset` on.
  struct Pair {
    NodeId node;
    std::uint32_t operand = 0;
    TensorId part;
    TensorId whole;
    std::int64_t offset = 0;
    bool is_in_place = false;  // a kernel writes `whole` over `part`
    bool is_concat = false;
  };
  struct Place {
    TensorId root;
    std::int64_t row = 0;
  };
  class Run;

  [[nodiscard]] std::int64_t rows(TensorId id) const { return graph_.tensor(id).size.count() / 16; }
  [[nodiscard]] std::optional<IdVector<TensorId, Place>> places(std::uint32_t mask) const;

  const Graph& graph_;
  std::vector<Pair> pairs_;
  IdVector<TensorId, std::vector<std::int64_t>> content_;  // of each row; equal numbers are equal bytes
};

}  // namespace lowtide::testing
