// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/c_type.h"

#include <cstddef>
#include <string>

#include "lowtide/base/quote.h"

namespace lowtide {

std::optional<CType> c_type(TfliteType type) {
  switch (type) {
    case TfliteType::int8: return CType::int8;
    case TfliteType::uint8: return CType::uint8;
    case TfliteType::int16: return CType::int16;
    case TfliteType::int32: return CType::int32;
    case TfliteType::int64: return CType::int64;
    case TfliteType::float32: return CType::float32;
    case TfliteType::boolean: return CType::boolean;
    default: return std::nullopt;
  }
}

Result<CConstant> c_constant(const TfliteModel& model, std::string_view file, const TfliteTensor& tensor) {
  const std::optional<CType> type = c_type(tensor.type);
  if (!type || tensor.is_sparse) {
    return Error{ErrorCode::unsupported,
                 "C source has no constants of type " + std::string(to_string(tensor.type)) +
                     (tensor.is_sparse ? " that are sparse" : ""),
                 "tensor " + quoted(tensor.name)};
  }
  const TfliteBytes& where = model.buffers[tensor.buffer];
  return CConstant{
      .name = tensor.name,
      .type = *type,
      .shape = tensor.shape,
      .bytes = std::string(file.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size)))};
}

}  // namespace lowtide
