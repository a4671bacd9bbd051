// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/analysis/views.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide::detail {

// Which bytes no plan can save. Every computed tensor is an *origin*: its content exists once at least. A view holds
// the content of origins, not content of its own:
//
//   a = Conv, b = Conv       origins a, b
//   c = Concat(a, b)         holds a and b: beside a and b it may cost nothing; a and b never share a byte
//   s = Slice(c)             holds a part of a or b, unknown which: counts as at most its own size, in one origin
//
// So tensors that live together need at least, for each origin, the most bytes of it that one of them holds.
//
// A view of what is not in the arena (an input, a constant) needs nothing: its bytes are there. A concat of such views
// needs all of its bytes, unless they lie in that constant side by side and in this order:
//
//   w constant, s = Slice(w, 0..2), t = Slice(w, 2..4)
//   c = Concat(t, s)         cannot lie in w: holds t and s, which are origins, though they themselves hold nothing
//   d = Concat(s, t)         may be w's own bytes, and hold nothing
struct Holding {
  TensorId tensor;
  std::int64_t bytes = 0;
};

class Content {
 public:
  // `inputs_take_room`: inputs are origins too (bodies of Loop and Scan). What holds more than kMostHoldingsOfOne
  // origins may leave the rest out, once kMostFurtherHoldings in all are used up, which only lowers a bound.
  // O(nodes + views x kMostHoldingsOfOne + kMostFurtherHoldings).
  Content(const Graph& graph, const ChosenKernels& kernels, Bytes alignment, bool inputs_take_room);

  // Each origin's holders, the largest holding first.
  [[nodiscard]] const std::vector<std::vector<Holding>>& origins() const { return origins_; }
  // Of all origins.
  [[nodiscard]] std::int64_t holdings() const { return holdings_; }

 private:
  static constexpr std::size_t kMostHoldingsOfOne = 256;
  static constexpr std::int64_t kMostFurtherHoldings = 4'000'000;

  // What lies in a tensor that takes no room, or may.
  struct Outside {
    TensorId root;
    std::int64_t offset = 0;
  };

  void hold_views(NodeId node);
  void hold_view(ViewKind kind, const View& view);
  [[nodiscard]] std::optional<Outside> outside_of_concat(const std::vector<View>& views) const;
  void find_rounded(const ChosenKernels& kernels);
  void add_origin(TensorId id);

  struct Part {
    std::uint32_t origin;
    std::int64_t bytes;
  };
  void add_part(std::vector<Part>& parts, Part part);

  const Graph& graph_;
  Bytes alignment_;
  IdVector<TensorId, char> is_rounded_;  // alone in its buffer whatever is decided
  IdVector<TensorId, std::optional<Outside>> outside_;
  IdVector<TensorId, std::vector<Part>> parts_;  // what a tensor holds; of one outside, what a copy of it would hold
  std::vector<std::vector<Holding>> origins_;
  std::int64_t holdings_ = 0;
  std::int64_t further_left_ = kMostFurtherHoldings;
};

// The views of a node that could ever be joined. A concat of something that must stay where it is (an input, a
// constant) copies, and so does a view of such a thing, or of an output, that is handed out: no two outputs share bytes.
[[nodiscard]] std::vector<View> possible_views(const Graph& graph, NodeId id);

}  // namespace lowtide::detail
