// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/analysis/view_table.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// The bytes that every plan needs. What a node computes is a *source*: its content exists at least once. A view holds
// bytes of sources and adds none:
//
//   a = Conv, b = Conv       sources a, b
//   c = Concat(a, b)         holds a and b. It may cost nothing beyond a and b, which never share a byte
//   s = Slice(c)             holds bytes of a, of b, or of both
//
// A *piece* is a range of bytes of one source that the same tensors hold. While one of them is live, the piece is in
// memory.
//
// A view of an input or constant, which is outside of the arena, needs no bytes. A concat of such views needs all of
// its bytes, unless they are adjacent in that input or constant in the same order:
//
//   w constant, s = Slice(w, 0..2), t = Slice(w, 2..4)
//   c = Concat(t, s)         cannot be bytes of w: it brings s and t into the arena, as two more sources
//   d = Concat(s, t)         may be the bytes of w, so it holds nothing
//
// The next content of a state (StateUpdate::next), and what shares its bytes, may be written into the buffer of the
// state. It counts nothing, unless it is also an output.
//
// Several tensors may bring bytes of the same constant into the arena. A later tensor may share them with the first, or
// the first may be dead by then. So only the first counts.
//
// All of this is about plans that keep each output in its place (BoundScope::run_once). In the scope all_plans, a plan
// may copy an output to its place at the end of the run. Until then, the output needs no more than any other tensor.
struct Holder {
  TensorId tensor;
  std::int64_t bytes = 0;
};

// Limits on the work of a division into pieces. They can only lower a bound.
struct ContentLimits {
  // The runs of bytes of one tensor that are always listed. More are listed only while `further` is not used up.
  std::size_t segments_of_one = 256;
  // The most runs beyond that limit, and the most pieces beyond the first of each tensor. Both count over all tensors.
  // A source that would have more pieces is not divided.
  std::int64_t further = 4'000'000;
  // The most pieces beyond the first, summed over all accesses of nodes to tensors. An order problem lists each of them
  // in 4 bytes. 30,000 slices of one tensor would have 900 million. A source beyond this limit is not divided.
  std::int64_t touched = 16'000'000;
};

struct ContentOptions {
  Bytes alignment = Bytes(1);
  bool inputs_in_arena = false;             // inputs are sources, too (bodies of Loop and Scan)
  BoundScope scope = BoundScope::run_once;  // the plans that need the bytes; chosen_kernels is the same as run_once
  ContentLimits limits = {};
};

class Content {
 public:
  // O(nodes + views x limits.segments_of_one + limits.further), and the time to sort the runs.
  Content(const Graph& graph, const ChosenKernels& kernels, const ContentOptions& options);

  // The holders of each piece, each with all bytes of the piece. The holders of an undivided source may have only some
  // of its bytes; they are sorted from large to small. A byte of the source that a tensor repeats counts once. Of the
  // holders that are live at the same time, the largest counts.
  [[nodiscard]] const std::vector<std::vector<Holder>>& pieces() const { return pieces_; }
  // The bytes that a tensor occupies if it shares none.
  [[nodiscard]] std::int64_t alone(TensorId id) const {
    const Bytes size = graph_.tensor(id).size;
    return (is_rounded_.test(id) ? round_up(size, alignment_) : size).count();
  }
  // The number of holders of all pieces.
  [[nodiscard]] std::int64_t holder_count() const { return holder_count_; }

 private:
  struct Source {
    TensorId tensor;  // computed by a node, brought into the arena, or outside of it
    std::int64_t size = 0;
    bool is_outside = false;  // an input or constant that occupies no bytes of the arena
  };
  // Bytes of a tensor that are bytes of a source.
  struct Segment {
    std::uint32_t source = 0;
    std::int64_t begin = 0;  // in the source
    std::int64_t length = 0;
    std::int64_t at = 0;  // in the tensor, or kSomewhere
  };
  // A position beyond every tensor. It stands for a copy whose position in the tensor is unknown, so no slice certainly
  // holds a byte of it.
  static constexpr std::int64_t kSomewhere = std::int64_t{1} << 60;
  struct Held {
    Interval<std::int64_t> bytes;
    Holder holder;  // of all these bytes
  };

  void find_rounded(const ViewTable& views, const ChosenKernels& kernels);
  void add_source(TensorId id, bool is_outside);
  void fill(const ViewTable& views, NodeId node);
  void hold_part(const TableView& view);
  void hold_view(const View& view, bool is_whole);
  void add_segment(TensorId id, const Segment& segment);
  [[nodiscard]] bool stays_outside(TensorId id) const;
  void bring_in(TensorId id);
  // Finds the tensors that some plan may hold in a state, which is outside the arena. A state is written only by its
  // next content, so only tensors that are linked to it by views can lie there, if they are not larger.
  void find_movable(const ViewTable& views);
  void divide(const Source& source, const std::vector<Held>& held);
  void keep_whole(std::vector<Held> held);

  [[nodiscard]] bool keeps_its_place(TensorId id) const {
    return scope_ != BoundScope::all_plans && graph_.tensor(id).role == Role::output;
  }

  const Graph& graph_;
  Bytes alignment_;
  BoundScope scope_;
  ContentLimits left_;          // `further` and `touched` fall to 0 as the runs use them up
  Flags<TensorId> is_rounded_;  // alone in its buffer in every plan
  IdVector<TensorId, std::vector<Segment>> segments_;
  std::vector<Source> sources_;
  Flags<TensorId> is_brought_;   // inputs and constants of which a tensor has brought bytes into the arena
  Flags<TensorId> is_in_state_;  // may lie in a state
  Flags<TensorId> has_copy_;     // operands of concats: a copy has been counted
  std::vector<std::vector<Holder>> pieces_;
  std::int64_t holder_count_ = 0;
};

}  // namespace lowtide
