// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace lowtide::kernels_internal {

struct Box {
  float left;
  float top;
  float right;
  float bottom;
  [[nodiscard]] float area() const { return (right - left) * (bottom - top); }
};

// The boxes that NonMaxSuppression has selected so far, for one class.
//
// They are in cells along one axis. A cell is wider than any box, so a box may overlap those of its own cell and of the
// two beside it, and no others. Detectors often move the boxes of each class to a place of their own, and then call
// NonMaxSuppression for all classes at once: each class has its own cells. If a coordinate of some
// box is not finite, all boxes share one cell.
class SelectedBoxes {
 public:
  // `memory` has bytes(most) and is aligned for 64 bits. Allocates nothing.
  SelectedBoxes(std::byte* memory, std::int64_t most);
  [[nodiscard]] static constexpr std::int64_t bytes(std::int64_t boxes) {
    return (boxes + boxes % 2) * kArrays * std::int64_t{sizeof(float)} +
           (2 * kMostCells + 1) * std::int64_t{sizeof(std::int64_t)};
  }

  // First, all boxes that may be selected come by twice: see() each, choose_cells(), reserve() each, begin().
  void see(const Box& box);
  void choose_cells();
  void reserve(const Box& box);
  void begin();

  // Requires: a call of reserve() for this box.
  void add(const Box& box);
  [[nodiscard]] std::int64_t count() const { return count_; }
  // Whether the common part of the box and some selected box exceeds this fraction of their union. Boxes without area
  // never do. O(selected boxes of three cells).
  [[nodiscard]] bool overlap_with(const Box& box, float threshold) const;

 private:
  static constexpr std::int64_t kArrays = 5;
  static constexpr std::int64_t kMostCells = 1024;
  // Where boxes begin along an axis, and the extent of the largest.
  struct Axis {
    float first = std::numeric_limits<float>::infinity();
    float last = -std::numeric_limits<float>::infinity();
    float widest = 0;
    void see(float begin, float end);
    [[nodiscard]] float cells() const;
  };
  [[nodiscard]] std::int64_t cell_of(const Box& box) const;
  [[nodiscard]] bool overlaps(const Box& box, std::int64_t at, float threshold) const;

  // A coordinate of all boxes behind another, for vector code. A cell has neighboring places.
  float* left_;
  float* top_;
  float* right_;
  float* bottom_;
  float* area_;
  std::int64_t* first_of_cell_;  // kMostCells + 1
  std::int64_t* end_of_cell_;    // behind the selected boxes of the cell
  Axis across_;
  Axis down_;
  bool is_finite_ = true;
  bool is_down_ = false;  // the cells are along this axis
  float origin_ = 0;
  float cells_per_unit_ = 0;
  std::int64_t cells_ = 1;
  std::int64_t count_ = 0;
};

}  // namespace lowtide::kernels_internal
