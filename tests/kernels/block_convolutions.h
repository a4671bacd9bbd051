// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/kernels/blocks/convolution.h"
#include "lowtide/kernels/blocks/tile.h"
#include "tests/kernels/onednn_convolutions.h"

namespace lowtide::testing {

// The formats for which this machine has instructions.
inline std::vector<Format> formats() {
  std::vector<Format> found;
  if (kernels_internal::has_tiles(16)) found.push_back(Format::nchw16c);
  if (kernels_internal::has_tiles(8)) found.push_back(Format::nchw8c);
  return found;
}

// A convolution with the numbers that it multiplies.
struct ConvCase {
  explicit ConvCase(const SquareConv& of) : conv(of) {
    x = numbers(of.batch * of.channels * of.size * of.size, 1);
    w = numbers(of.results * (of.channels / of.group) * of.window * of.window, 2);
    b = numbers(of.results, 3);
  }
  SquareConv conv;
  Floats x;
  Floats w;
  Floats b;
};

inline TensorData reordered(Format from, Format to, const Shape& model, const TensorData& data) {
  return from == to ? data : run_one(reorder_graph(from, to, model), {data});
}

// The operands in the formats of the option.
inline std::vector<TensorData> operands_of(const ConvCase& of, const FormatOption& option) {
  const Shape source(of.conv.source());
  std::vector<TensorData> reads = {
      reordered(Format::plain, option.input, source, floats(source, of.x)),
      run_one(pack_graph(of.conv, *option.weights), {floats(Shape(of.conv.weights()), of.w)})};
  if (of.conv.has_bias) reads.push_back(floats(Shape({of.conv.results}), of.b));
  return reads;
}

// The graph of the convolution with an epilogue: its result is `t`, `r` is the residual, and `g` has one place.
inline Graph graph_with_epilogue(const SquareConv& conv, const FormatOption& option,
                                 const std::vector<std::string>& nodes, const std::vector<std::string>& numbers = {}) {
  const std::string whole = "f32" + to_string(shape_in(option.output, Shape(conv.result())));
  const std::string gate = "f32" + to_string(shape_in(option.output, Shape({1, conv.results, 1, 1})));
  std::string lines = "\"input t : " + whole + "\", \"input r : " + whole + "\", \"input g : " + gate + "\"";
  std::string operands = "x, w, b, r, g";
  std::vector<std::string> inputs = {"x : f32" + to_string(shape_in(option.input, Shape(conv.source()))),
                                     "w : f32" + to_string(option.weights->shape), "b : f32" + text_of({conv.results}),
                                     "r : " + whole, "g : " + gate};
  for (const std::string& number : numbers) {
    lines += ", \"input " + number + " : f32[]\"";
    operands += ", " + number;
    inputs.push_back(number + " : f32[]");
  }
  for (const std::string& node : nodes) lines += ", \"" + node + " : " + whole + "\"";
  const std::string node = "Conv(" + operands + ") {" + conv.attributes() + ", weights = " + text_of(conv.weights()) +
                           ", input_format = \"" + std::string(to_string(option.input)) + "\", output_format = \"" +
                           std::string(to_string(option.output)) + "\", order = \"" + option.weights->order +
                           "\", product = \"conv\", epilogue = [" + lines + ", \"output y\"]}";
  return lowered_graph(node, inputs, shape_in(option.output, Shape(conv.result())));
}

}  // namespace lowtide::testing
