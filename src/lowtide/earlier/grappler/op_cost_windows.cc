// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/grappler/op_cost.h"

namespace lowtide::grappler_internal {
namespace {

constexpr double kRsqrtOperations = 5;

using Extents = std::vector<std::int64_t>;

// An image, the window that moves over it, and where it stops.
struct Windows {
  double batch = 1;
  std::array<double, 2> image = {1, 1};  // height, width
  std::array<double, 2> window = {1, 1};
  std::array<double, 2> stride = {1, 1};
  std::array<double, 2> result = {1, 1};
  double channels = 1;
  double window_channels = 1;  // of a filter, before its results
  double results = 1;          // of a filter

  [[nodiscard]] double stops() const { return batch * result[0] * result[1]; }
  [[nodiscard]] double pixels() const { return image[0] * image[1]; }
  [[nodiscard]] double window_size() const { return window[0] * window[1]; }
  [[nodiscard]] bool overlaps() const { return window[0] > stride[0] || window[1] > stride[1]; }
};

double at_or_one(const Extents* extents, std::size_t axis) {
  const bool is_known = extents != nullptr && axis < extents->size() && (*extents)[axis] >= 0;
  return is_known ? static_cast<double>((*extents)[axis]) : 1;
}

const Extents* known(const OutputType& type) { return type.extents ? &*type.extents : nullptr; }

// Where the result of the original would be negative or its division by 0, there is none.
double stops_along(double image, double window, double stride, bool is_valid) {
  if (stride < 1) return 0;
  const auto free = static_cast<std::int64_t>(is_valid ? image - window + stride : image + stride - 1);
  return std::floor(static_cast<double>(std::max<std::int64_t>(free, 0)) / stride);
}

void move_windows(const DefNode& node, Windows& windows) {
  const bool is_valid = attribute_text(node, "padding") == "VALID";
  const Extents strides = attribute_integers(node, "strides");
  const std::size_t first = attribute_text(node, "data_format") == "NCHW" ? 2 : 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (strides.size() == 4) windows.stride[axis] = static_cast<double>(strides[first + axis]);
    windows.result[axis] = stops_along(windows.image[axis], windows.window[axis], windows.stride[axis], is_valid);
  }
}

Windows windows_over(const DefNode& node, const Extents* image) {
  const bool is_channels_first = attribute_text(node, "data_format") == "NCHW";
  const std::size_t first = is_channels_first ? 2 : 1;
  Windows windows;
  windows.batch = at_or_one(image, 0);
  windows.image = {at_or_one(image, first), at_or_one(image, first + 1)};
  windows.channels = at_or_one(image, is_channels_first ? 1 : 3);
  return windows;
}

Windows pool_windows(const DefNode& node, const Extents* image) {
  Windows windows = windows_over(node, image);
  const Extents kernel = attribute_integers(node, "ksize");
  const std::size_t first = attribute_text(node, "data_format") == "NCHW" ? 2 : 1;
  for (std::size_t axis = 0; axis < 2 && kernel.size() == 4; ++axis) {
    windows.window[axis] = static_cast<double>(kernel[first + axis]);
  }
  move_windows(node, windows);
  return windows;
}

Windows filter_windows(const DefNode& node, const Extents* image, const Extents* filter) {
  Windows windows = windows_over(node, image);
  const auto format = attribute_text(node, "filter_format");
  const bool is_results_last = !format || *format == "HWIO";
  const std::size_t first = is_results_last ? 0 : 2;
  windows.window = {at_or_one(filter, first), at_or_one(filter, first + 1)};
  windows.window_channels = at_or_one(filter, is_results_last ? 2 : 1);
  windows.results = at_or_one(filter, is_results_last ? 3 : 0);
  if (windows.channels == 1 || windows.window_channels == 1) {
    windows.channels = std::max(windows.channels, windows.window_channels);
  }
  move_windows(node, windows);
  return windows;
}

// The extents that an input lists, or else those of the result.
const Extents* listed_or_result(const CostedNode& costed, std::size_t input) {
  if (input < costed.inputs.size() && costed.inputs[input]->content) return &*costed.inputs[input]->content;
  return costed.outputs.size() == 1 ? known(costed.outputs.front()) : nullptr;
}

void count_bytes(const CostedNode& costed, OpWork& work) {
  for (const OutputType* input : costed.inputs) work.read_bytes += bytes_of(*input);
  for (const OutputType& output : costed.outputs) work.written_bytes += bytes_of(output);
}

bool has_empty_input(const CostedNode& costed) {
  return std::ranges::any_of(costed.inputs, [](const OutputType* input) {
    return input->extents && std::ranges::find(*input->extents, 0) != input->extents->end();
  });
}

bool count_convolution(const CostedNode& costed, OpWork& work) {
  const std::string_view op = costed.node.op;
  const bool is_depthwise = op.starts_with("DepthwiseConv2dNative");
  const std::string_view rest = op.substr(is_depthwise ? 21 : std::min<std::size_t>(op.size(), 6));
  if (!is_depthwise && !op.starts_with("Conv2D")) return false;
  if (!rest.empty() && rest != "BackpropInput" && rest != "BackpropFilter") return false;
  if (costed.inputs.size() < 2 || has_empty_input(costed)) return true;
  const Extents* image = rest == "BackpropInput" ? listed_or_result(costed, 0) : known(*costed.inputs[0]);
  const Extents* filter = rest == "BackpropFilter" ? listed_or_result(costed, 1) : known(*costed.inputs[1]);
  const Windows windows = filter_windows(costed.node, image, filter);
  const double inner = is_depthwise ? windows.channels : windows.window_channels;
  work.operations = 2 * windows.stops() * windows.window_size() * inner * windows.results;
  count_bytes(costed, work);
  return true;
}

// A window that is lower than its stride leaves out rows.
double pooled_bytes(const OutputType& x, const Windows& windows) {
  if (windows.window[0] >= windows.stride[0]) return bytes_of(x);
  return static_cast<double>(x.element_bytes) * windows.batch * windows.image[1] * windows.window[0] *
         windows.result[0] * windows.channels;
}

bool count_pool(const CostedNode& costed, OpWork& work) {
  const std::string& op = costed.node.op;
  if (op != "MaxPool" && op != "AvgPool") return false;
  if (costed.inputs.empty()) return true;
  const Windows windows = pool_windows(costed.node, known(*costed.inputs[0]));
  const double size = windows.window_size();
  const double per_result = op == "AvgPool" ? size : std::max(size - 1, 1.0);
  work.operations = windows.stops() * windows.channels * per_result;
  work.read_bytes = pooled_bytes(*costed.inputs[0], windows);
  for (const OutputType& output : costed.outputs) work.written_bytes += bytes_of(output);
  return true;
}

// x, y and the gradient of y. The maxima are looked for again, so y is not read.
bool count_max_pool_gradient(const CostedNode& costed, OpWork& work) {
  if (costed.node.op != "MaxPoolGrad") return false;
  if (costed.inputs.size() < 3) return true;
  const Windows windows = pool_windows(costed.node, known(*costed.inputs[0]));
  const double pixels = windows.batch * windows.channels * windows.pixels();
  const double compared = windows.stops() * windows.channels * (windows.window_size() - 1);
  work.operations = windows.window_size() == 1 ? pixels : compared + pixels * (windows.overlaps() ? 2 : 1);
  work.written_bytes = bytes_of(*costed.inputs[0]);
  work.read_bytes = work.written_bytes + bytes_of(*costed.inputs[2]);
  return true;
}

bool count_average_pool_gradient(const CostedNode& costed, OpWork& work) {
  if (costed.node.op != "AvgPoolGrad") return false;
  const Windows windows = pool_windows(costed.node, listed_or_result(costed, 0));
  const double per_result = windows.overlaps() ? windows.window_size() + 1 : 1;
  work.operations = windows.channels * (windows.batch * windows.pixels() + windows.stops() * per_result);
  count_bytes(costed, work);
  return true;
}

// In training, x is read once more for the variance.
bool count_batch_norm(const CostedNode& costed, OpWork& work) {
  if (costed.node.op != "FusedBatchNorm") return false;
  if (costed.inputs.size() < 2) return true;
  const Windows windows = windows_over(costed.node, known(*costed.inputs[0]));
  const double pixels = windows.batch * windows.pixels();
  const double x = bytes_of(*costed.inputs[0]);
  const double row = bytes_of(*costed.inputs[1]);
  if (is_attribute_true(costed.node, "is_training")) {
    work = {.operations = windows.channels * (pixels * 4 + 6 + kRsqrtOperations),
            .read_bytes = 2 * x + 2 * row,
            .written_bytes = x + 4 * row};
  } else {
    work = {.operations = pixels * windows.channels * 2, .read_bytes = x + 4 * row, .written_bytes = x};
  }
  return true;
}

bool count_batch_norm_gradient(const CostedNode& costed, OpWork& work) {
  if (costed.node.op != "FusedBatchNormGrad") return false;
  if (costed.inputs.size() < 3) return true;
  const Windows windows = windows_over(costed.node, known(*costed.inputs[1]));
  const double x = bytes_of(*costed.inputs[1]);
  const double row = bytes_of(*costed.inputs[2]);
  work = {.operations = windows.channels * (windows.batch * windows.pixels() * 11 + 5 + kRsqrtOperations),
          .read_bytes = 3 * x + 2 * row,
          .written_bytes = x + 2 * row};
  return true;
}

}  // namespace

bool count_window_work(const CostedNode& costed, OpWork& work) {
  return count_convolution(costed, work) || count_pool(costed, work) || count_max_pool_gradient(costed, work) ||
         count_average_pool_gradient(costed, work) || count_batch_norm(costed, work) ||
         count_batch_norm_gradient(costed, work);
}

}  // namespace lowtide::grappler_internal
