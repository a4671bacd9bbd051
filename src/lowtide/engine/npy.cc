// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/npy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/shape.h"

namespace lowtide {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY";

constexpr std::array kCodes{
    std::pair{DType::f64, "<f8"sv}, std::pair{DType::f32, "<f4"sv},   std::pair{DType::f16, "<f2"sv},
    std::pair{DType::i64, "<i8"sv}, std::pair{DType::i32, "<i4"sv},   std::pair{DType::i16, "<i2"sv},
    std::pair{DType::i8, "|i1"sv},  std::pair{DType::u64, "<u8"sv},   std::pair{DType::u32, "<u4"sv},
    std::pair{DType::u16, "<u2"sv}, std::pair{DType::u8, "|u1"sv},    std::pair{DType::boolean, "|b1"sv},
    std::pair{DType::c64, "<c8"sv}, std::pair{DType::c128, "<c16"sv},
};

// The text between `before` and the next `after`. nullopt if one of them is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + before.size());
  const std::size_t end = text.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

// "3, 4" or "3," or "". nullopt if it is not a list of extents.
std::optional<std::vector<std::int64_t>> parse_extents(std::string_view text) {
  std::vector<std::int64_t> extents;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::optional<std::int64_t> extent = parse_number(text.substr(0, comma));
    if (!extent || *extent < 0) return std::nullopt;
    extents.push_back(*extent);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return extents;
}

// The dictionary of the head, and where it ends. nullopt if the file has another format.
std::optional<std::string_view> dictionary_of(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < 12) return std::nullopt;
  const auto byte_at = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(file[at])); };
  const std::size_t version = byte_at(6);
  if (version < 1 || version > 3) return std::nullopt;
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = byte_at(8) + (byte_at(9) << 8U);
  if (version > 1) length += (byte_at(10) << 16U) + (byte_at(11) << 24U);
  if (length > file.size() - begin) return std::nullopt;
  return file.substr(begin, length);
}

}  // namespace

Result<NpyHead> read_npy_head(std::span<const std::byte> file, const std::string& source_name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::optional<std::string_view> head = dictionary_of(text);
  const std::optional<std::string_view> code = head ? between(*head, "'descr': '", "'") : std::nullopt;
  const std::optional<std::string_view> shape = head ? between(*head, "'shape': (", ")") : std::nullopt;
  std::optional<std::vector<std::int64_t>> extents = shape ? parse_extents(*shape) : std::nullopt;
  if (!code || !extents) return Error{ErrorCode::malformed, "is not a .npy file of NumPy", source_name};
  if (!between(*head, "'fortran_order': ", "alse")) {
    return Error{ErrorCode::unsupported, "is in column-major order; save numpy.ascontiguousarray(x)", source_name};
  }
  const auto row = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& one) { return one.second == *code; });
  if (row == kCodes.end()) {
    return Error{ErrorCode::unsupported, "has elements of type " + quoted(*code, 20) + ", which are not supported",
                 source_name};
  }
  const Result<Bytes> size = dense_size(row->first, Shape(*extents));
  if (!size) return Error{size.error().code, size.error().message, source_name};
  NpyHead read{row->first, std::move(*extents), static_cast<std::size_t>(head->data() + head->size() - text.data())};
  const std::size_t given = file.size() - read.begin;
  if (static_cast<std::int64_t>(given) == size->count()) return read;
  return Error{
      ErrorCode::invalid,
      "has " + std::to_string(given) + " bytes of elements, but its shape needs " + std::to_string(size->count()),
      source_name};
}

Result<std::string> write_npy(DType dtype, std::span<const std::int64_t> extents, std::span<const std::byte> elements) {
  const auto row = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& one) { return one.first == dtype; });
  if (row == kCodes.end()) {
    return Error{ErrorCode::unsupported, "NumPy has no element type for " + std::string(to_string(dtype)), ""};
  }
  std::string shape;
  for (std::int64_t extent : extents) shape += std::to_string(extent) + (extents.size() == 1 ? "," : ", ");
  if (extents.size() > 1) shape.resize(shape.size() - 2);
  std::string head =
      "{'descr': '" + std::string(row->second) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  head.resize((kMagic.size() + 4 + head.size() + 1 + 63) / 64 * 64 - kMagic.size() - 4 - 1, ' ');
  head += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(head.size() & 0xFFU), static_cast<char>(head.size() >> 8U)};
  file += head;
  return file.append(reinterpret_cast<const char*>(elements.data()), elements.size());
}

}  // namespace lowtide
