// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/image_order.h"

#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"

namespace lowtide::graphdef_internal {

std::optional<ImageOrder> image_order(NodeConversion& node, std::size_t rank) {
  const std::string_view format = node.node().text("data_format", rank == 5 ? "NDHWC" : "NHWC");
  if ((rank == 4 && format == "NHWC") || (rank == 5 && format == "NDHWC")) {
    return ImageOrder{.is_last = true, .spatial = 1, .count = rank - 2, .channel = rank - 1};
  }
  if ((rank == 4 && format == "NCHW") || (rank == 5 && format == "NCDHW")) {
    return ImageOrder{.is_last = false, .spatial = 2, .count = rank - 2, .channel = 1};
  }
  node.fault =
      "its data_format " + quoted(format, 60) + " has no conversion for tensors of rank " + std::to_string(rank);
  return std::nullopt;
}

std::string image_operand(NodeConversion& node, std::size_t operand, const ImageOrder& order) {
  return order.is_last ? node.to.channels_first(node.operands[operand], order.count + 2) : node.operands[operand];
}

void write_image(NodeConversion& node, const ImageOrder& order, OnnxNode last) {
  write_aligned(node, order.is_last, std::move(last));
}

}  // namespace lowtide::graphdef_internal
