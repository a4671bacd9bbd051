// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/result.h"
#include "lowtide/earlier/conversion/onnx_builder.h"
#include "lowtide/earlier/graphdef/node_view.h"

namespace lowtide::graphdef_internal {

// The bytes of a TensorProto, row-major and little-endian: its raw content, or a list of numbers whose last one stands
// for all that follow, if `to` may make as many. Errors, without a place: invalid (the content does not fit the type),
// unsupported (the type), over_limit.
[[nodiscard]] Result<std::string> const_bytes(const ProtoMessage& tensor, DType dtype, const Extents& extents,
                                              OnnxBuilder& to);

}  // namespace lowtide::graphdef_internal
