// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/parts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/common/tuning.h"
#include "lowtide/kernels/onednn/stored.h"

namespace lowtide::kernels_internal {
namespace {

using Range = Interval<std::int64_t>;

constexpr std::int64_t kFloatBytes = sizeof(float);

std::int64_t length(Range range) { return range.end - range.begin; }

// Divides [0, count) into one range per thread, as even as possible, or one per unit if there are fewer units. All
// begins are multiples of `unit`. Empty if there is one unit.
std::vector<Range> even_ranges(std::int64_t count, std::int64_t unit, int threads) {
  std::vector<Range> ranges;
  const std::int64_t units = count / unit + (count % unit == 0 ? 0 : 1);
  if (units < 2) return ranges;
  const std::int64_t parts = std::min<std::int64_t>(units, threads);
  std::int64_t begin = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t own = units / parts + (part < units % parts ? 1 : 0);
    ranges.push_back({begin, std::min(count, begin + own * unit)});
    begin += own * unit;
  }
  return ranges;
}

// The smallest number that makes `size` a multiple of `block`.
std::int64_t count_for_block(std::int64_t size, std::int64_t block) { return block / std::gcd(size, block); }

// The number of elements, as an estimate.
double elements_of(const ExtentList& extents) {
  return std::accumulate(extents.begin(), extents.end(), 1.0,
                         [](double product, std::int64_t extent) { return product * static_cast<double>(extent); });
}

// On one core.
double estimated_seconds(double multiply_accumulates, double elements) {
  return multiply_accumulates / kProductsPerSecond + elements * kFloatBytes / kBytesPerSecond;
}

double estimated_seconds(const Convolution& of) {
  const double taps = elements_of(of.weights) / static_cast<double>(of.weights[0]);
  return estimated_seconds(elements_of(of.result) * taps,
                           elements_of(of.source) + elements_of(of.weights) + elements_of(of.result));
}

double estimated_seconds(const Product& of) {
  return estimated_seconds(elements_of(of.result) * static_cast<double>(of.left.back()),
                           elements_of(of.left) + elements_of(of.right) + elements_of(of.result));
}

double estimated_seconds(const Reordering& of) { return estimated_seconds(0, 2 * elements_of(of.extents)); }

// Collects ways to divide a problem, and keeps the best one.
template <typename Problem>
class Ways {
 public:
  Ways(const Problem& whole, int threads) : threads_(threads), best_(estimated_seconds(whole) - kSecondsOfSharing) {}

  // The first of equal ways is kept. `make` returns nullopt if a tensor of the part would not be contiguous.
  template <typename Make>
  void add(std::int64_t count, std::int64_t unit, Make make) {
    std::vector<Part<Problem>> parts;
    double slowest = 0;
    for (Range range : even_ranges(count, unit, threads_)) {
      std::optional<Part<Problem>> part = make(range);
      if (!part) return;
      slowest = std::max(slowest, estimated_seconds(part->problem));
      parts.push_back(*std::move(part));
    }
    if (parts.empty() || slowest >= best_) return;
    best_ = slowest;
    kept_ = std::move(parts);
  }

  [[nodiscard]] std::vector<Part<Problem>> take() { return std::move(kept_); }

 private:
  int threads_;
  double best_;
  std::vector<Part<Problem>> kept_;
};

// The rows of a source that some rows of a result read, and what remains of the padding.
struct SourceRows {
  Range rows;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
};

// A window that moves along one axis.
struct SlidingWindow {
  std::int64_t extent = 0;  // of the source
  std::int64_t reach = 0;   // from its first tap to the end of its last one
  std::int64_t stride = 0;
  std::int64_t pad_begin = 0;
};

// Returns nullopt if the rows of the result read only padding.
std::optional<SourceRows> source_rows(const SlidingWindow& window, Range result) {
  const std::int64_t first = result.begin * window.stride - window.pad_begin;
  const std::int64_t last = (result.end - 1) * window.stride - window.pad_begin + window.reach;
  const Range rows = {std::clamp<std::int64_t>(first, 0, window.extent),
                      std::clamp<std::int64_t>(last, 0, window.extent)};
  if (rows.empty()) return std::nullopt;
  return SourceRows{rows, rows.begin - first, last - rows.end};
}

// Cuts the operands of an epilogue along an axis of the result, whose order they have. An extent of 1 is repeated, and
// stays whole. Returns false if a range of an operand is not contiguous.
template <typename Problem>
bool cut_epilogue(Part<Problem>& part, std::string_view order, std::size_t axis, Range range) {
  for (PostOp& one : part.problem.after) {
    if (one.kind == PostOp::Kind::function || one.extents[axis] == 1) continue;
    const auto first = elements_before(order, one.extents, axis, range.begin);
    if (!first) return false;
    one.extents[axis] = length(range);
    std::vector<std::int64_t>& reads = part.offsets.reads;
    if (reads.size() <= one.operand) reads.resize(one.operand + 1);
    reads[one.operand] = *first * kFloatBytes;
  }
  return true;
}

std::optional<Part<Convolution>> convolution_of_images(const Convolution& whole, Range images) {
  const std::size_t axes = whole.source.size();
  const auto source = elements_before(order_in(whole.input, axes), whole.source, 0, images.begin);
  const auto result = elements_before(order_in(whole.output, axes), whole.result, 0, images.begin);
  if (!source || !result) return std::nullopt;
  Part<Convolution> part{whole, {{*source * kFloatBytes}, *result * kFloatBytes}};
  part.problem.source[0] = part.problem.result[0] = length(images);
  return cut_epilogue(part, order_in(whole.output, axes), 0, images) ? std::optional(std::move(part)) : std::nullopt;
}

// A range of the groups. Without groups, a range of the channels of the result.
std::optional<Part<Convolution>> convolution_of_channels(const Convolution& whole, Range range) {
  const std::size_t axes = whole.source.size();
  const bool has_groups = whole.group > 1;
  const std::int64_t of_source = has_groups ? whole.weights[1] : 0;  // channels per step of the range
  const std::int64_t of_result = has_groups ? whole.weights[0] / whole.group : 1;
  const auto source = elements_before(order_in(whole.input, axes), whole.source, 1, range.begin * of_source);
  const auto result = elements_before(order_in(whole.output, axes), whole.result, 1, range.begin * of_result);
  const auto weights = elements_before(whole.weights_order, onednn_weights(whole.weights, whole.group), 0, range.begin);
  if (!result || !weights || (has_groups && !source)) return std::nullopt;
  const std::int64_t first_source = has_groups ? *source * kFloatBytes : 0;
  Part<Convolution> part{
      whole, {{first_source, *weights * kFloatBytes, range.begin * of_result * kFloatBytes}, *result * kFloatBytes}};
  part.problem.weights[0] = part.problem.result[1] = length(range) * of_result;
  if (has_groups) {
    part.problem.group = length(range);
    part.problem.source[1] = length(range) * of_source;
  }
  const Range channels = {range.begin * of_result, range.end * of_result};
  return cut_epilogue(part, order_in(whole.output, axes), 1, channels) ? std::optional(std::move(part)) : std::nullopt;
}

// Rows of the result. Where windows overlap, both parts read the same rows of the source.
std::optional<Part<Convolution>> convolution_of_rows(const Convolution& whole, Range range) {
  const std::size_t axes = whole.source.size();
  const std::int64_t reach = (whole.weights[2] - 1) * (whole.gaps[0] + 1) + 1;
  const auto read = source_rows({whole.source[2], reach, whole.strides[0], whole.pads_begin[0]}, range);
  if (!read) return std::nullopt;
  const auto source = elements_before(order_in(whole.input, axes), whole.source, 2, read->rows.begin);
  const auto result = elements_before(order_in(whole.output, axes), whole.result, 2, range.begin);
  if (!source || !result) return std::nullopt;
  Part<Convolution> part{whole, {{*source * kFloatBytes}, *result * kFloatBytes}};
  part.problem.source[2] = length(read->rows);
  part.problem.result[2] = length(range);
  part.problem.pads_begin[0] = read->pad_begin;
  part.problem.pads_end[0] = read->pad_end;
  return cut_epilogue(part, order_in(whole.output, axes), 2, range) ? std::optional(std::move(part)) : std::nullopt;
}

// The order of a matrix that may be stored transposed.
std::string matrix_order(std::size_t axes, bool is_transposed) {
  std::string order = dense_order(axes);
  if (is_transposed) std::swap(order[axes - 2], order[axes - 1]);
  return order;
}

// Cuts one operand of a product along an axis. An extent of 1 is repeated, and stays whole. Returns the first element.
std::optional<std::int64_t> cut_operand(ExtentList& extents, bool is_transposed, std::size_t axis, Range range) {
  if (extents.empty() || extents[axis] == 1) return 0;
  const auto first = elements_before(matrix_order(extents.size(), is_transposed), extents, axis, range.begin);
  extents[axis] = length(range);
  return first;
}

// Matrices of a batch, rows of the left operand, or columns of the right one.
std::optional<Part<Product>> product_along(const Product& whole, std::size_t axis, Range range) {
  const std::size_t axes = whole.result.size();
  Part<Product> part{whole, {}};
  Product& cut = part.problem;
  std::optional<std::int64_t> left = 0;
  std::optional<std::int64_t> right = 0;
  std::optional<std::int64_t> bias = 0;
  if (axis + 1 < axes) left = cut_operand(cut.left, whole.is_left_transposed, axis, range);
  if (axis + 2 != axes) right = cut_operand(cut.right, whole.is_right_transposed, axis, range);
  if (axis + 1 == axes) bias = cut_operand(cut.bias, false, axis, range);
  const auto result = cut_operand(cut.result, false, axis, range);
  if (!left || !right || !bias || !result) return std::nullopt;
  part.offsets = {{*left * kFloatBytes, *right * kFloatBytes, *bias * kFloatBytes}, *result * kFloatBytes};
  return cut_epilogue(part, dense_order(axes), axis, range) ? std::optional(std::move(part)) : std::nullopt;
}

std::optional<Part<Reordering>> reordering_along(const Reordering& whole, std::size_t axis, Range range) {
  const auto source = elements_before(whole.from, whole.extents, axis, range.begin);
  const auto result = elements_before(whole.to, whole.extents, axis, range.begin);
  if (!source || !result) return std::nullopt;
  Part<Reordering> part{whole, {{*source * kFloatBytes}, *result * kFloatBytes}};
  part.problem.extents[axis] = length(range);
  return part;
}

}  // namespace

std::vector<Part<Convolution>> parts_of(const Convolution& convolution, int threads) {
  const Convolution& whole = convolution;
  const std::size_t axes = whole.source.size();
  const std::int64_t of_result = block_along(order_in(whole.output, axes), 1);
  const std::int64_t of_weights = block_along(whole.weights_order, 0);
  std::int64_t unit = std::lcm(of_result, of_weights);
  if (whole.group > 1) {
    const std::int64_t of_source = block_along(order_in(whole.input, axes), 1);
    unit = std::lcm(of_weights, count_for_block(whole.weights[0] / whole.group, of_result));
    unit = std::lcm(unit, count_for_block(whole.weights[1], of_source));
  }
  Ways<Convolution> ways(whole, threads);
  ways.add(whole.source[0], 1, [&](Range range) { return convolution_of_images(whole, range); });
  ways.add(whole.group > 1 ? whole.group : whole.weights[0], unit,
           [&](Range range) { return convolution_of_channels(whole, range); });
  ways.add(whole.result[2], 1, [&](Range range) { return convolution_of_rows(whole, range); });
  return ways.take();
}

std::vector<Part<Product>> parts_of(const Product& product, int threads) {
  Ways<Product> ways(product, threads);
  for (std::size_t axis = 0; axis < product.result.size(); ++axis) {
    ways.add(product.result[axis], 1, [&](Range range) { return product_along(product, axis, range); });
  }
  return ways.take();
}

std::vector<Part<Reordering>> parts_of(const Reordering& reordering, int threads) {
  Ways<Reordering> ways(reordering, threads);
  for (std::size_t axis = 0; axis < reordering.extents.size(); ++axis) {
    const std::int64_t unit = std::lcm(block_along(reordering.from, axis), block_along(reordering.to, axis));
    ways.add(reordering.extents[axis], unit, [&](Range range) { return reordering_along(reordering, axis, range); });
  }
  return ways.take();
}

std::vector<std::int64_t> scratch_offsets(const std::vector<PrimitivePart>& parts) {
  constexpr std::int64_t kAlignment = 64;
  std::vector<std::int64_t> offsets = {0};
  for (const PrimitivePart& part : parts) {
    offsets.back() = (offsets.back() + kAlignment - 1) / kAlignment * kAlignment;
    offsets.push_back(offsets.back() + scratch_of(part.description.get()).count());
  }
  return offsets;
}

}  // namespace lowtide::kernels_internal
