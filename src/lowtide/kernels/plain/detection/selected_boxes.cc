// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/detection/selected_boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

constexpr float smaller(float a, float b) { return b < a ? b : a; }
constexpr float larger(float a, float b) { return a < b ? b : a; }

// The arrays of selected boxes.
struct BoxArrays {
  const float* left;
  const float* top;
  const float* right;
  const float* bottom;
  const float* area;
};

// Whether a box may exceed the threshold with some box of a block. A product takes a fraction of the time of a
// division. The threshold is lower by more than the errors of both, so that no box is missed.
LOWTIDE_VECTOR_CLONES bool some_may_overlap(const Box& box, const BoxArrays& of, Interval<std::int64_t> block,
                                            float threshold) {
  const float area = box.area();
  const float lower = threshold - std::fabs(threshold) * 1e-6F;
  std::int32_t hits = 0;
  for (std::int64_t at = block.begin; at < block.end; ++at) {
    const float width = smaller(box.right, of.right[at]) - larger(box.left, of.left[at]);
    const float height = smaller(box.bottom, of.bottom[at]) - larger(box.top, of.top[at]);
    const float common = width * height;
    const float all = area + of.area[at] - common;
    hits |= static_cast<std::int32_t>(width > 0 && height > 0 && !(common < lower * all));
  }
  return hits != 0;
}

}  // namespace

SelectedBoxes::SelectedBoxes(std::byte* memory, std::int64_t most)
    : left_(reinterpret_cast<float*>(memory)),
      top_(left_ + most),
      right_(top_ + most),
      bottom_(right_ + most),
      area_(bottom_ + most),
      first_of_cell_(reinterpret_cast<std::int64_t*>(left_ + (most + most % 2) * kArrays)),
      end_of_cell_(first_of_cell_ + kMostCells + 1) {}

void SelectedBoxes::Axis::see(float begin, float end) {
  first = smaller(begin, first);
  last = larger(begin, last);
  widest = larger(end - begin, widest);
}

// The cells are wider than the widest box by more than the errors of cell_of().
float SelectedBoxes::Axis::cells() const {
  constexpr float kWider = 1.01F;
  const float cells = (last - first) / (widest * kWider);
  return std::isfinite(cells) ? smaller(cells, static_cast<float>(kMostCells - 1)) : 0;
}

void SelectedBoxes::see(const Box& box) {
  for (const float number : {box.left, box.top, box.right, box.bottom}) is_finite_ &= std::isfinite(number);
  across_.see(box.left, box.right);
  down_.see(box.top, box.bottom);
}

void SelectedBoxes::choose_cells() {
  is_down_ = down_.cells() > across_.cells();
  const Axis& axis = is_down_ ? down_ : across_;
  // Boxes that are infinite or NaN may be anywhere, so then there is one cell.
  const float cells = is_finite_ ? axis.cells() : 0;
  origin_ = axis.first;
  cells_per_unit_ = cells > 1 ? cells / (axis.last - axis.first) : 0;
  cells_ = cells > 1 ? static_cast<std::int64_t>(cells) + 1 : 1;
  std::fill_n(first_of_cell_, cells_ + 1, 0);
}

std::int64_t SelectedBoxes::cell_of(const Box& box) const {
  if (cells_ == 1) return 0;
  const float position = ((is_down_ ? box.top : box.left) - origin_) * cells_per_unit_;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(position), 0, cells_ - 1);
}

void SelectedBoxes::reserve(const Box& box) { ++first_of_cell_[cell_of(box) + 1]; }

void SelectedBoxes::begin() {
  for (std::int64_t cell = 0; cell < cells_; ++cell) {
    first_of_cell_[cell + 1] += first_of_cell_[cell];
    end_of_cell_[cell] = first_of_cell_[cell];
  }
}

void SelectedBoxes::add(const Box& box) {
  const std::int64_t at = end_of_cell_[cell_of(box)]++;
  left_[at] = box.left;
  top_[at] = box.top;
  right_[at] = box.right;
  bottom_[at] = box.bottom;
  area_[at] = box.area();
  ++count_;
}

bool SelectedBoxes::overlaps(const Box& box, std::int64_t at, float threshold) const {
  const float width = smaller(box.right, right_[at]) - larger(box.left, left_[at]);
  const float height = smaller(box.bottom, bottom_[at]) - larger(box.top, top_[at]);
  if (!(width > 0) || !(height > 0)) return false;
  const float common = width * height;
  const float all = box.area() + area_[at] - common;
  if (common <= 0 || box.area() <= 0 || area_[at] <= 0 || all <= 0) return false;
  return common / all > threshold;
}

bool SelectedBoxes::overlap_with(const Box& box, float threshold) const {
  constexpr std::int64_t kBlock = 64;
  const std::int64_t own = cell_of(box);
  for (std::int64_t cell = std::max<std::int64_t>(own - 1, 0); cell <= std::min(own + 1, cells_ - 1); ++cell) {
    const std::int64_t end = end_of_cell_[cell];
    for (std::int64_t begin = first_of_cell_[cell]; begin < end; begin += kBlock) {
      const Interval<std::int64_t> block{begin, std::min(begin + kBlock, end)};
      if (!some_may_overlap(box, {left_, top_, right_, bottom_, area_}, block, threshold)) continue;
      for (std::int64_t at = block.begin; at < block.end; ++at) {
        if (overlaps(box, at, threshold)) return true;
      }
    }
  }
  return false;
}

}  // namespace lowtide::kernels_internal
