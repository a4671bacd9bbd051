// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/analysis/views.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide::detail {

// Which bytes no plan can save. Every computed tensor is an *origin*: its content exists once at least. A view holds the
// content of origins, not content of its own:
//
//   a = Conv, b = Conv       origins a, b
//   c = Concat(a, b)         holds a and b: beside a and b it may cost nothing; a and b never share a byte
//   s = Slice(c)             holds a part of a or b, unknown which: counts as at most its own size, in one origin
//
// So tensors that live together need at least, for each origin, the most bytes of it that one of them holds.
struct Holding {
  TensorId tensor;
  std::int64_t bytes = 0;
};

class Content {
 public:
  // `inputs_take_room`: inputs are origins too (bodies of Loop and Scan). A concat of more than kMostHoldingsOfOne
  // origins leaves the rest out, which only lowers a bound. O(nodes + views x kMostHoldingsOfOne).
  Content(const Graph& graph, const ChosenKernels& kernels, Bytes alignment, bool inputs_take_room);

  // Each origin's holders, the largest holding first.
  [[nodiscard]] const std::vector<std::vector<Holding>>& origins() const { return origins_; }

 private:
  static constexpr std::size_t kMostHoldingsOfOne = 256;

  void hold_views(NodeId node);
  void find_rounded(const ChosenKernels& kernels);
  void add_origin(TensorId id);

  struct Part {
    std::uint32_t origin;
    std::int64_t bytes;
  };

  const Graph& graph_;
  Bytes alignment_;
  IdVector<TensorId, char> is_rounded_;           // alone in its buffer whatever is decided
  IdVector<TensorId, std::vector<Part>> parts_;   // what a tensor holds
  std::vector<std::vector<Holding>> origins_;
};

// The views of a node that could ever be joined. A concat of something that must stay where it is (an input, a
// constant) copies, and so does a view of such a thing that is handed out.
[[nodiscard]] std::vector<View> possible_views(const Graph& graph, NodeId id);

}  // namespace lowtide::detail
