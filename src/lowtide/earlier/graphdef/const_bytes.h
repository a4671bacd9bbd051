// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_view.h"

namespace lowtide::graphdef_internal {

// What one number of a file may stand for, if a list of numbers is shorter than the tensor. A few bytes could make a
// tensor of any size otherwise.
inline constexpr std::int64_t kMostFilledBytes = std::int64_t{256} << 20;

// The bytes of a TensorProto, row-major and little-endian: its raw content, or a list of numbers whose last one stands
// for all that follow. Takes the bytes that such a number fills away from `filled_left`. Errors, without a place:
// invalid (the content does not fit the type), unsupported (the type), over_limit.
[[nodiscard]] Result<std::string> const_bytes(const ProtoMessage& tensor, DType dtype, const Extents& extents,
                                              std::int64_t& filled_left);

}  // namespace lowtide::graphdef_internal
