// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/tensor_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/proto/external_data.h"
#include "lowtide/import/onnx/proto/raw_range.h"

namespace lowtide::import_internal {
namespace {

// The typed lists of a TensorProto. ONNX assigns one of them to each element type.
enum class List : std::uint8_t { floats, doubles, int32s, int64s, uint64s, strings };

List list_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::c64: return List::floats;
    case DType::f64:
    case DType::c128: return List::doubles;
    case DType::i64: return List::int64s;
    case DType::u32:
    case DType::u64: return List::uint64s;
    case DType::string: return List::strings;
    default: return List::int32s;
  }
}

struct Stored {
  List list;
  const char* name;
  std::int64_t count;
};

// The number of list entries. A complex element takes two entries. Elements below 8 bits share an entry as they
// share a byte.
std::int64_t entries_needed(DType dtype, std::int64_t elements) {
  if (dtype == DType::c64 || dtype == DType::c128) return 2 * elements;
  const int bits = bits_of(dtype).value_or(8);
  return bits < 8 ? (elements * bits + 7) / 8 : elements;
}

Error wrong_length(const std::string& field, std::int64_t have, const char* unit, std::int64_t need) {
  return Error{ErrorCode::invalid,
               field + " has " + std::to_string(have) + " " + unit + ", but type and dims need " + std::to_string(need),
               ""};
}

bool is_signed(DType dtype) {
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8;
}

double half_to_real(std::uint16_t half) {
  const int exponent = (half >> 10U) & 0x1F;
  const double mantissa = half & 0x3FF;
  double magnitude = 0;
  if (exponent == 0x1F) {
    magnitude = mantissa == 0 ? INFINITY : NAN;
  } else {
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (half & 0x8000U) != 0 ? -magnitude : magnitude;
}

double real_from_bits(std::uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::f16: return half_to_real(static_cast<std::uint16_t>(bits));
    case DType::bf16: return std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0xFFFFU) << 16U);
    case DType::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
  }
}

// Little-endian on every machine, as ONNX defines raw_data.
std::uint64_t bits_at(std::string_view raw, std::size_t at, std::size_t width) {
  std::uint64_t bits = 0;
  for (std::size_t byte = 0; byte < width; ++byte) {
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[at * width + byte])) << (8 * byte);
  }
  return bits;
}

std::uint64_t bits_in_list(const onnx::TensorProto& tensor, DType dtype, int at) {
  switch (list_of(dtype)) {
    case List::floats: return std::bit_cast<std::uint32_t>(tensor.float_data(at));
    case List::doubles: return std::bit_cast<std::uint64_t>(tensor.double_data(at));
    case List::int64s: return static_cast<std::uint64_t>(tensor.int64_data(at));
    case List::uint64s: return tensor.uint64_data(at);
    default: return static_cast<std::uint64_t>(static_cast<std::int64_t>(tensor.int32_data(at)));
  }
}

int length_of_list(const onnx::TensorProto& tensor, DType dtype) {
  switch (list_of(dtype)) {
    case List::floats: return tensor.float_data_size();
    case List::doubles: return tensor.double_data_size();
    case List::int64s: return tensor.int64_data_size();
    case List::uint64s: return tensor.uint64_data_size();
    default: return tensor.int32_data_size();
  }
}

KnownElement element_from_bits(std::uint64_t bits, DType dtype, unsigned width) {
  KnownElement element;
  element.knowledge = Knowledge::exact;
  if (is_float(dtype)) {
    element.real = real_from_bits(bits, dtype);
    return element;
  }
  const unsigned unused = 64 - 8 * width;
  if (is_signed(dtype)) {
    element.integer = static_cast<std::int64_t>(bits << unused) >> unused;
  } else {
    element.integer = static_cast<std::int64_t>(bits << unused >> unused);
    if (dtype == DType::boolean) element.integer = element.integer != 0 ? 1 : 0;
    if (element.integer < 0) element = {};  // a u64 from 2^63 on, which KnownElement cannot represent
  }
  return element;
}

}  // namespace

Result<void> check_tensor_data(const onnx::TensorProto& tensor, DType dtype, std::int64_t elements) {
  const Stored lists[] = {
      {List::floats, "float_data", tensor.float_data_size()},
      {List::doubles, "double_data", tensor.double_data_size()},
      {List::int32s, "int32_data", tensor.int32_data_size()},
      {List::int64s, "int64_data", tensor.int64_data_size()},
      {List::uint64s, "uint64_data", tensor.uint64_data_size()},
      {List::strings, "string_data", tensor.string_data_size()},
  };
  const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  const std::int64_t bytes = (elements * bits_of(dtype).value_or(0) + 7) / 8;
  const auto raw_bytes = static_cast<std::int64_t>(tensor.raw_data().size());
  const std::optional<RawRange> in_file = raw_range_of(tensor);
  const std::int64_t have = in_file ? in_file->size : raw_bytes;
  if (is_external) {
    LOWTIDE_TRY(const ExternalPlace place, external_place_of(tensor, bytes));
  }
  if (is_external && have > 0) {
    return Error{ErrorCode::invalid, "the tensor has both external data and raw_data", ""};
  }
  const bool is_raw = tensor.has_raw_data() && (have > 0 || elements == 0);
  for (const Stored& stored : lists) {
    if (stored.count == 0) continue;
    if (is_external || is_raw) {
      return Error{
          ErrorCode::invalid,
          std::string("the tensor has both ") + (is_raw ? "raw_data" : "external data") + " and " + stored.name, ""};
    }
    if (stored.list != list_of(dtype)) {
      return Error{ErrorCode::invalid,
                   std::string("the data are in ") + stored.name + ", which is not the list for elements of type " +
                       std::string(to_string(dtype)),
                   ""};
    }
  }
  if (is_external) return {};
  if (is_raw) {
    if (dtype == DType::string)
      return Error{ErrorCode::invalid, "the tensor has strings in raw_data; they must be in string_data", ""};
    if (have != bytes) return wrong_length("raw_data", have, "bytes", bytes);
    return {};
  }
  for (const Stored& stored : lists) {
    if (stored.list != list_of(dtype)) continue;
    const std::int64_t need = entries_needed(dtype, elements);
    if (stored.count != need) return wrong_length(stored.name, stored.count, "numbers", need);
  }
  return {};
}

bool is_readable(DType dtype) {
  return is_float(dtype) || is_signed(dtype) || dtype == DType::boolean || dtype == DType::u8 || dtype == DType::u16 ||
         dtype == DType::u32 || dtype == DType::u64;
}

Result<std::string> raw_data_of(const onnx::TensorProto& tensor, const ByteSource* file) {
  const std::optional<RawRange> range = raw_range_of(tensor);
  if (!range) return tensor.raw_data();
  LOWTIDE_CHECK(file != nullptr, "raw data that stay in a file are read from that file");
  std::string raw(static_cast<std::size_t>(range->size), '\0');
  LOWTIDE_RETURN_IF_ERROR(file->read(range->offset, raw));
  return raw;
}

std::vector<KnownElement> read_elements(const onnx::TensorProto& tensor, std::string_view raw, DType dtype,
                                        std::int64_t elements) {
  const auto width = static_cast<unsigned>(*bits_of(dtype) / 8);
  std::vector<KnownElement> out;
  out.reserve(static_cast<std::size_t>(elements));
  for (std::int64_t at = 0; at < elements; ++at) {
    const std::uint64_t bits = !raw.empty() ? bits_at(raw, static_cast<std::size_t>(at), width)
                                            : bits_in_list(tensor, dtype, static_cast<int>(at));
    out.push_back(element_from_bits(bits, dtype, width));
  }
  return out;
}

std::vector<std::int64_t> read_i64(const onnx::TensorProto& tensor, std::string_view raw, std::int64_t elements) {
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(elements));
  for (std::int64_t at = 0; at < elements; ++at) {
    out.push_back(!raw.empty() ? static_cast<std::int64_t>(bits_at(raw, static_cast<std::size_t>(at), 8))
                               : tensor.int64_data(static_cast<int>(at)));
  }
  return out;
}

std::vector<std::byte> read_bytes(const onnx::TensorProto& tensor, std::string_view raw, DType dtype) {
  std::vector<std::byte> out(raw.size());
  std::transform(raw.begin(), raw.end(), out.begin(), [](char byte) { return static_cast<std::byte>(byte); });
  if (!raw.empty()) return out;
  // A complex number is two entries of a list. Elements below 8 bits share an entry, which is a byte.
  const int parts = dtype == DType::c64 || dtype == DType::c128 ? 2 : 1;
  const auto width = static_cast<std::size_t>(std::max(*bits_of(dtype) / parts, 8) / 8);
  const int entries = length_of_list(tensor, dtype);
  out.reserve(static_cast<std::size_t>(entries) * width);
  for (int at = 0; at < entries; ++at) {
    const std::uint64_t bits = bits_in_list(tensor, dtype, at);
    append_bits(out, dtype == DType::boolean ? std::uint64_t{bits != 0} : bits, width);
  }
  return out;
}

void append_bits(std::vector<std::byte>& to, std::uint64_t bits, std::size_t width) {
  for (std::size_t at = 0; at < width; ++at) to.push_back(static_cast<std::byte>(bits >> (8 * at)));
}

}  // namespace lowtide::import_internal
