// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// The order of the elements of a tensor with batch, channels and two or fewer spatial axes. A tensor of a lowered graph
// states its format by its shape, so every other room sees dense row-major tensors. The blocked formats pad the
// channels with zeros to a multiple of the block.
//
//   model [N, C, H, W]   plain [N, C, H, W]   nchw16c [N, ceil(C / 16), H, W, 16]   nhwc [N, H, W, C]
enum class Format : std::uint8_t { plain, nchw16c, nchw8c, nhwc };

template <>
inline constexpr auto kEnumNames<Format> = enum_names<Format>(
    {{Format::plain, "plain"}, {Format::nchw16c, "nchw16c"}, {Format::nchw8c, "nchw8c"}, {Format::nhwc, "nhwc"}});

// The channels of a block: 16 or 8. Formats without blocks have blocks of one channel.
[[nodiscard]] std::int64_t block_of(Format format);
// The shape in a format of a tensor whose shape in the model is [N, C, ...]. Requires: one or two spatial axes, except
// for `plain`, which keeps every shape.
[[nodiscard]] Shape shape_in(Format format, const Shape& model);
// The shape in the model of a tensor with this many channels. Returns nullopt if no shape of the model gives `shape`.
[[nodiscard]] std::optional<Shape> model_shape(Format format, const Shape& shape, std::int64_t channels);

// The type of a constant in the order that a kernel reads, and the name of this order for the kernels.
struct PackedConstant {
  DType dtype = DType::f32;
  Shape shape;
  std::string order;  // only kernels understand it
  friend bool operator==(const PackedConstant&, const PackedConstant&) = default;
};

// One way to run a node.
struct FormatOption {
  Format input = Format::plain;           // of operand 0; of a Concat of all operands
  Format output = Format::plain;          // of result 0
  double cost_seconds = 0;                // an estimate, >= 0 and finite
  std::optional<PackedConstant> weights;  // of operand 1; nullopt: it stays as it is
};

// What room `lower` asks a machine, before the plan exists. An implementation must ensure that the answers depend only
// on the graph and the node.
class KernelFormats {
 public:
  KernelFormats() = default;
  KernelFormats(const KernelFormats&) = delete;
  KernelFormats& operator=(const KernelFormats&) = delete;
  virtual ~KernelFormats() = default;

  // The ways to run a node of a graph whose tensors are all plain, the fastest one first. Empty: the node runs on plain
  // tensors only.
  [[nodiscard]] virtual std::vector<FormatOption> options(const Graph& graph, NodeId node) const = 0;
  // Whether a kernel of `product` is the faster one with this epilogue, and as precise as a chain (graph/epilogue.h).
  // The graph has the formats of the machine. The node has no epilogue yet.
  [[nodiscard]] virtual bool can_follow(const Graph& graph, NodeId product, const EpilogueParts& epilogue) const = 0;
  // Whether a kernel of a lowtide::Conv is faster with Winograd's algorithm (lower/machine/use_winograd.h). The graph
  // has the formats of the machine.
  [[nodiscard]] virtual bool is_faster_with_winograd(const Graph& graph, NodeId conv) const = 0;
};

}  // namespace lowtide
