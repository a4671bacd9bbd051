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

// NumPy has no bf16. The package ml_dtypes, which adds it, saves its elements as two bytes of any content.
constexpr std::array kCodes{
    std::pair{DType::f64, "<f8"sv}, std::pair{DType::f32, "<f4"sv},   std::pair{DType::f16, "<f2"sv},
    std::pair{DType::i64, "<i8"sv}, std::pair{DType::i32, "<i4"sv},   std::pair{DType::i16, "<i2"sv},
    std::pair{DType::i8, "|i1"sv},  std::pair{DType::u64, "<u8"sv},   std::pair{DType::u32, "<u4"sv},
    std::pair{DType::u16, "<u2"sv}, std::pair{DType::u8, "|u1"sv},    std::pair{DType::boolean, "|b1"sv},
    std::pair{DType::c64, "<c8"sv}, std::pair{DType::c128, "<c16"sv}, std::pair{DType::bf16, "<V2"sv},
};

// Reads the dictionary of a head, a literal of Python with three keys:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
// Blanks may be anywhere between its parts.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : rest_(text) {}

  // Returns false if the text is anything else: another key, or one that is missing or there twice.
  bool read() {
    if (!take('{')) return false;
    while (!take('}')) {
      if (!read_entry()) return false;
      if (!take(',') && !peek('}')) return false;
    }
    skip_blanks();
    return rest_.empty() && code && is_column_major && extents;
  }

  std::optional<std::string> code;
  std::optional<bool> is_column_major;
  std::optional<std::vector<std::int64_t>> extents;

 private:
  void skip_blanks() {
    const std::size_t blanks = rest_.find_first_not_of(" \t\n");
    rest_.remove_prefix(std::min(blanks, rest_.size()));
  }
  bool peek(char character) {
    skip_blanks();
    return rest_.starts_with(character);
  }
  bool take(char character) {
    if (!peek(character)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // The next characters of a number or a word.
  std::string_view take_word() {
    skip_blanks();
    const std::size_t end = std::min(rest_.find_first_of(" \t\n,:(){}'\""), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }
  std::optional<std::string> take_text() {
    const char quote = peek('"') ? '"' : '\'';
    if (!take(quote)) return std::nullopt;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool read_entry() {
    const std::optional<std::string> key = take_text();
    if (!key || !take(':')) return false;
    if (*key == "descr" && !code) return (code = take_text()).has_value();
    if (*key == "shape" && !extents) return read_shape();
    if (*key != "fortran_order" || is_column_major) return false;
    const std::string_view word = take_word();
    is_column_major = word == "True";
    return word == "True" || word == "False";
  }

  // A tuple. One extent has a comma behind it.
  bool read_shape() {
    if (!take('(')) return false;
    extents.emplace();
    bool has_comma = true;
    while (!take(')')) {
      const std::optional<std::int64_t> extent = parse_number(take_word());
      if (!has_comma || !extent || *extent < 0) return false;
      extents->push_back(*extent);
      has_comma = take(',');
    }
    return extents->size() != 1 || has_comma;
  }

  std::string_view rest_;
};

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

Error unknown_elements(const std::string& code, const std::string& source_name) {
  const bool is_big_endian = code.starts_with('>') && code.size() < 6;
  const std::string way_out = is_big_endian ? "big-endian and not supported; save x.astype('<" + code.substr(1) + "')"
                                            : "not supported; save an array of numbers or booleans";
  return {ErrorCode::unsupported, "has elements of type " + quoted(code, 20) + ", which is " + way_out, source_name};
}

}  // namespace

Result<NpyHead> read_npy_head(std::span<const std::byte> file, const std::string& source_name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::optional<std::string_view> head = dictionary_of(text);
  Dictionary dictionary(head.value_or(""));
  if (!dictionary.read()) {
    return Error{ErrorCode::malformed,
                 "is not a .npy file of NumPy with one array of numbers; numpy.save writes such a file", source_name};
  }
  if (*dictionary.is_column_major) {
    return Error{ErrorCode::unsupported, "is in column-major order; save numpy.ascontiguousarray(x)", source_name};
  }
  const std::string_view code = *dictionary.code == "|V2" ? std::string_view("<V2") : *dictionary.code;
  const auto row = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& one) { return one.second == code; });
  if (row == kCodes.end()) return unknown_elements(*dictionary.code, source_name);
  const Result<Bytes> size = dense_size(row->first, Shape(*dictionary.extents));
  if (!size) return Error{size.error().code, size.error().message, source_name};
  NpyHead read{row->first, *std::move(dictionary.extents),
               static_cast<std::size_t>(head->data() + head->size() - text.data())};
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
