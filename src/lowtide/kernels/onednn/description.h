// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/kernels/onednn/handles.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// How oneDNN describes tensors and primitives. All tensors are f32. A function returns nullptr if oneDNN
// refuses, and throws std::bad_alloc if oneDNN gets no memory.

using ExtentList = std::vector<std::int64_t>;  // of a tensor as the model has it: [N, C, H, W]

// A tensor whose element [i, j, ...] lies at i * strides[0] + j * strides[1] + ...
[[nodiscard]] MemoryDescription tensor_with_strides(const ExtentList& extents, const ExtentList& strides);
// A dense row-major tensor.
[[nodiscard]] MemoryDescription dense_tensor(const ExtentList& extents);
// A matrix, or a batch of matrices, whose last two axes are stored in the other order.
[[nodiscard]] MemoryDescription transposed_tensor(const ExtentList& extents);
// A tensor whose order the primitive chooses.
[[nodiscard]] MemoryDescription tensor_in_any_order(const ExtentList& extents);
// A tensor in a named order. oneDNN has a name for each order: "acdb" for NHWC, "ABcd16b16a" for packed weights. A
// capital letter is an axis that is divided into blocks.
[[nodiscard]] MemoryDescription tensor_in_order(std::string_view order, const ExtentList& extents);

// The name of a format of tensors with three or four axes.
[[nodiscard]] std::string_view order_in(Format format, std::size_t axes);
// Whether an order has the name.
[[nodiscard]] bool is_order(std::string_view name);
// The name of the order of a tensor. Returns nullopt if it has none. O(orders that oneDNN knows), about 0.2 ms.
[[nodiscard]] std::optional<std::string> order_of(const_dnnl_memory_desc_t tensor);
[[nodiscard]] Bytes size_of(const_dnnl_memory_desc_t tensor);

// Attributes for primitives whose scratchpad is memory of the caller.
[[nodiscard]] PrimitiveAttributes caller_scratchpad();

// The description of one tensor of a primitive, such as dnnl_query_weights_md. The bias is number 1 of the weights.
// Belongs to the primitive.
[[nodiscard]] const_dnnl_memory_desc_t tensor_of(const_dnnl_primitive_desc_t primitive, dnnl_query_t which,
                                                 int number = 0);
// oneDNN's name of its code, such as "jit:avx512_core". Returns "" for nullptr.
[[nodiscard]] std::string_view implementation_of(const PrimitiveDescription& primitive);
// The bytes of its scratchpad.
[[nodiscard]] Bytes scratch_of(const_dnnl_primitive_desc_t primitive);

// Generates the code of a primitive. Returns nullptr for nullptr, or if oneDNN refuses. The description is not
// needed afterwards. One takes 20 to 60 KB, so a kernel keeps the primitive alone.
[[nodiscard]] Primitive primitive_of(PrimitiveDescription description);
// The description that a primitive has of its own.
[[nodiscard]] const_dnnl_primitive_desc_t description_of(const Primitive& primitive);

// The first implementation, from the given one on, that computes with generated code and allocates only a few small
// objects. oneDNN's fallbacks are refused: the one for plain convolutions allocates 742 KB in each execution,
// although its scratchpad belongs to the caller. Returns nullptr if there is none.
[[nodiscard]] PrimitiveDescription first_suitable(PrimitiveDescription primitive);

}  // namespace lowtide::kernels_internal
