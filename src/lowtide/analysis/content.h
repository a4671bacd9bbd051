// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/analysis/view_table.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Which bytes no plan can save. What a node computes is an *origin*: its content exists once at least. A view holds
// bytes of origins, none of its own:
//
//   a = Conv, b = Conv       origins a, b
//   c = Concat(a, b)         holds a and b: beside a and b it may cost nothing; a and b never share a byte
//   s = Slice(c)             holds the bytes of a or b, or of both, that it is
//
// A *piece* is a run of bytes of one origin that the same tensors hold. While one of them lives, the piece is
// somewhere.
//
// A view of what is not in the arena (an input, a constant) needs nothing: its bytes are there. A concat of such views
// needs all of its bytes, unless they lie in that constant side by side and in this order:
//
//   w constant, s = Slice(w, 0..2), t = Slice(w, 2..4)
//   c = Concat(t, s)         cannot lie in w: it brings s and t into the arena, which are origins of their own
//   d = Concat(s, t)         may be w's own bytes, and hold nothing
//
// What a state is updated by (StateUpdate::next), and what shares its bytes, may lie in the buffer of the state: it
// counts nothing, unless it is an output too.
//
// Another tensor that brings bytes of the same constant may share them with the first, or find them gone: only the
// first counts.
struct Holding {
  TensorId tensor;
  std::int64_t bytes = 0;
};

class Content {
 public:
  // `inputs_take_room`: inputs are origins too (bodies of Loop and Scan). What is in more than kMostSegmentsOfOne runs
  // of bytes may leave the rest out, once kMostFurther in all are used up, which only lowers a bound; and an origin
  // that would be in too many pieces, or whose pieces too many nodes would touch, stays in one.
  // O(nodes + views x kMostSegmentsOfOne + kMostFurther, and what is sorted of that).
  Content(const Graph& graph, const ChosenKernels& kernels, Bytes alignment, bool inputs_take_room);

  // Each piece's holders, with all of its bytes; of an origin in one piece by what they have of it, the largest first.
  // If several of them are live together, the largest counts.
  [[nodiscard]] const std::vector<std::vector<Holding>>& pieces() const { return pieces_; }
  // What a tensor takes that shares no byte with anybody.
  [[nodiscard]] std::int64_t alone(TensorId id) const {
    const Bytes size = graph_.tensor(id).size;
    return (is_rounded_[id] != 0 ? round_up(size, alignment_) : size).count();
  }
  // Of all pieces.
  [[nodiscard]] std::int64_t holdings() const { return holdings_; }

 private:
  static constexpr std::size_t kMostSegmentsOfOne = 256;
  static constexpr std::int64_t kMostFurther = 4'000'000;
  // Pieces beyond the first, over all accesses of nodes to tensors: an order problem lists each of them, in 4 bytes.
  // 30,000 slices of one tensor would be 900 million.
  static constexpr std::int64_t kMostTouched = 16'000'000;

  struct Origin {
    TensorId tensor;  // what computes it, brings it in, or is it
    std::int64_t size = 0;
    bool is_outside = false;     // an input or constant that takes no room
    bool is_next_state = false;  // some of it is the next content of a state
  };
  // Bytes of a tensor that are bytes of an origin.
  struct Segment {
    std::uint32_t origin = 0;
    std::int64_t begin = 0;  // in the origin
    std::int64_t length = 0;
    std::int64_t at = 0;  // in the tensor, or kSomewhere
  };
  // Beyond all bytes of a tensor: it is open where in the tensor a copy lies, so no slice has a certain byte of it.
  static constexpr std::int64_t kSomewhere = std::int64_t{1} << 60;
  struct Held {
    Interval<std::int64_t> bytes;
    Holding holder;  // of all these bytes
  };

  void find_rounded(const ViewTable& views, const ChosenKernels& kernels);
  void add_origin(TensorId id, bool is_outside);
  void fill(const ViewTable& views, NodeId node);
  void hold_part(const TableView& view);
  void hold_view(const View& view, bool is_whole);
  void add_segment(TensorId id, const Segment& segment);
  [[nodiscard]] bool stays_outside(TensorId id) const;
  void bring_in(TensorId id);
  void mark_next_states();
  void divide(const Origin& origin, const std::vector<Held>& held);
  void keep_whole(const std::vector<Held>& held);

  const Graph& graph_;
  Bytes alignment_;
  IdVector<TensorId, char> is_rounded_;  // alone in its buffer whatever is decided
  IdVector<TensorId, std::vector<Segment>> segments_;
  std::vector<Origin> origins_;
  IdVector<TensorId, char> is_brought_;  // of what is outside: some tensor has brought it in
  IdVector<TensorId, char> has_copy_;    // of the part of a concat: some concat has counted a copy of it
  std::vector<std::vector<Holding>> pieces_;
  std::int64_t holdings_ = 0;
  std::int64_t further_left_ = kMostFurther;
  std::int64_t touched_left_ = kMostTouched;
};

}  // namespace lowtide
