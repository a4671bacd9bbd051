// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/kernels/onednn/onednn.h"
#include "lowtide/kernels/supported.h"
#include "tests/kernels/kernel_run.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

using Floats = std::vector<float>;

// Numbers in [-1, 1) that look random and are the same on every machine.
inline Floats numbers(std::int64_t count, std::uint64_t seed) {
  Floats values;
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    values.push_back(static_cast<float>(state >> 40U) / 8388608.0F - 1.0F);
  }
  return values;
}

inline std::string text_of(const std::vector<std::int64_t>& extents) { return to_string(Shape(extents)); }

// A convolution of the model with two spatial axes, square window and equal padding.
struct SquareConv {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t size = 1;  // of the image
  std::int64_t results = 1;
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t dilation = 1;
  std::int64_t group = 1;
  bool has_bias = true;

  [[nodiscard]] std::int64_t result_size() const { return (size + 2 * pad - (window - 1) * dilation - 1) / stride + 1; }
  [[nodiscard]] std::vector<std::int64_t> source() const { return {batch, channels, size, size}; }
  [[nodiscard]] std::vector<std::int64_t> weights() const { return {results, channels / group, window, window}; }
  [[nodiscard]] std::vector<std::int64_t> result() const { return {batch, results, result_size(), result_size()}; }
  [[nodiscard]] std::string attributes() const {
    return "strides = " + text_of({stride, stride}) + ", dilations = " + text_of({dilation, dilation}) +
           ", pads = " + text_of({pad, pad, pad, pad}) + ", group = " + std::to_string(group);
  }
  [[nodiscard]] Graph graph() const {
    return graph_of("graph \"g\" {\n  input x : f32" + text_of(source()) + "\n  constant w : f32" + text_of(weights()) +
                    "\n  constant b : f32" + text_of({results}) + "\n  y = Conv(x, w" + (has_bias ? ", b" : "") +
                    ") {" + attributes() + "} : f32" + text_of(result()) + "\n  output y\n}");
  }
};

// The definition of a convolution, in double.
inline Floats naive(const SquareConv& conv, const Floats& x, const Floats& w, const Floats& b) {
  Floats y;
  const std::int64_t depth = conv.channels / conv.group;
  for (std::int64_t n = 0; n < conv.batch; ++n) {
    for (std::int64_t m = 0; m < conv.results; ++m) {
      const std::int64_t first = m / (conv.results / conv.group) * depth;
      for (std::int64_t at = 0; at < conv.result_size() * conv.result_size(); ++at) {
        double sum = conv.has_bias ? b[static_cast<std::size_t>(m)] : 0;
        for (std::int64_t k = 0; k < depth * conv.window * conv.window; ++k) {
          const std::int64_t window = k % (conv.window * conv.window);
          const std::int64_t row =
              at / conv.result_size() * conv.stride - conv.pad + window / conv.window * conv.dilation;
          const std::int64_t column =
              at % conv.result_size() * conv.stride - conv.pad + window % conv.window * conv.dilation;
          if (row < 0 || column < 0 || row >= conv.size || column >= conv.size) continue;
          const std::int64_t channel = n * conv.channels + first + k / (conv.window * conv.window);
          const std::int64_t source = (channel * conv.size + row) * conv.size + column;
          sum += static_cast<double>(x[static_cast<std::size_t>(source)]) *
                 w[static_cast<std::size_t>(m * depth * conv.window * conv.window + k)];
        }
        y.push_back(static_cast<float>(sum));
      }
    }
  }
  return y;
}

// The graph of one operator of a lowered graph.
inline Graph lowered_graph(const std::string& node, const std::vector<std::string>& operands, const Shape& result) {
  std::string text = "graph \"g\" {\n";
  for (const std::string& operand : operands) text += "  input " + operand + "\n";
  return graph_of(text + "  y = lowtide::" + node + " : f32" + to_string(result) + "\n  output y\n}");
}

inline Graph reorder_graph(Format from, Format to, const Shape& model) {
  const std::string node = "Reorder(x) {input_format = \"" + std::string(to_string(from)) + "\", output_format = \"" +
                           std::string(to_string(to)) + "\", channels = " + std::to_string(model[1]) + "}";
  return lowered_graph(node, {"x : f32" + to_string(shape_in(from, model))}, shape_in(to, model));
}

inline Graph pack_graph(const SquareConv& conv, const PackedConstant& packed) {
  return lowered_graph("Pack(w) {order = \"" + packed.order + "\", group = " + std::to_string(conv.group) + "}",
                       {"w : f32" + text_of(conv.weights())}, packed.shape);
}

inline Graph conv_graph(const SquareConv& conv, const FormatOption& option) {
  const std::string node = std::string("Conv(x, w") + (conv.has_bias ? ", b" : "") + ") {" + conv.attributes() +
                           ", weights = " + text_of(conv.weights()) + ", input_format = \"" +
                           std::string(to_string(option.input)) + "\", output_format = \"" +
                           std::string(to_string(option.output)) + "\", order = \"" + option.weights->order + "\"}";
  return lowered_graph(node,
                       {"x : f32" + to_string(shape_in(option.input, Shape(conv.source()))),
                        "w : f32" + to_string(option.weights->shape), "b : f32" + text_of({conv.results})},
                       shape_in(option.output, Shape(conv.result())));
}

// Runs the fastest kernel of a graph of one node, prepared for a number of threads.
inline TensorData run_one(const Graph& graph, const std::vector<TensorData>& reads, int threads = 1,
                          Team* team = nullptr, const CacheSizes& caches = {}) {
  const std::vector<Kernel> offered = offered_kernels(graph, NodeId(0), threads, caches);
  if (offered.empty()) throw std::runtime_error(unsupported(graph).front().missing);
  KernelRun run(graph, offered[0].name);
  run.threads = threads;
  run.team = team;
  run.caches = caches;
  const RunStatus status = run.run(reads);
  if (status != RunStatus()) throw std::runtime_error(std::string(to_string(status.code)));
  return run.writes[0];
}

inline TensorData floats(const Shape& shape, const Floats& values) {
  return tensor_data(DType::f32, shape.extents(), values);
}

}  // namespace lowtide::testing
