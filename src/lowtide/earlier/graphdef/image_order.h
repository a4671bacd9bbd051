// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lowtide/earlier/graphdef/node_conversion.h"

namespace lowtide::graphdef_internal {

// Where the axes of an image or a volume are in the file.
struct ImageOrder {
  bool is_last = true;      // channels
  std::size_t spatial = 1;  // the first spatial axis
  std::size_t count = 2;    // of spatial axes
  std::size_t channel = 3;
};

// By data_format and the rank of a tensor. nullopt, with a fault: it is not known.
[[nodiscard]] std::optional<ImageOrder> image_order(NodeConversion& node, std::size_t rank);

// An operand in the order of axes that ONNX has.
[[nodiscard]] std::string image_operand(NodeConversion& node, std::size_t operand, const ImageOrder& order);

// Writes result 0 with a node that makes it in the order of axes that ONNX has.
void write_image(NodeConversion& node, const ImageOrder& order, OnnxNode last);

}  // namespace lowtide::graphdef_internal
