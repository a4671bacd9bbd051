// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/attribute_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/proto/proto.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::size_t kMostListed = 4096;
constexpr std::size_t kMostText = 4096;

// Names of boolean attributes. No operator of TensorFlow has an integer of one of these names. Sorted.
// clang-format off
constexpr auto kBooleanNames = std::to_array<std::string_view>({
    "Truncate", "adj_x", "adj_y", "adjoint", "align_corners", "antialias", "centered", "clip_boxes", "compute_uv",
    "conjugate", "drop_remainder", "exclusive", "full_matrices", "grad_a", "grad_b", "half_pixel_centers",
    "ignore_longer_outputs_than_inputs", "is_training", "keep_dims", "lower", "narrow_range", "normalized",
    "overlapping", "pad_to_max_output_size", "preserve_cardinality", "range_given", "reverse",
    "scale_after_normalization", "signed_input", "sorted", "time_major", "transpose_a", "transpose_b",
    "transpose_output", "use_cudnn_on_gpu", "use_locking", "use_nesterov", "validate_indices", "validate_shape"
});
// clang-format on
static_assert(std::is_sorted(kBooleanNames.begin(), kBooleanNames.end()));

bool is_boolean_name(std::string_view key) {
  return std::binary_search(kBooleanNames.begin(), kBooleanNames.end(), key);
}

// In one line.
OpaqueAttribute described(const ProtoMessage& value) {
  const std::string size = std::to_string(write_proto_binary(value).size());
  const Result<std::string> text = write_proto_text(kValueSchema, value);
  if (!text || text->size() > kMostText) return {"a value of " + size + " bytes"};
  std::string line;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    const std::size_t word = std::min(text->find_first_not_of(' ', begin), end);
    if (word < end) line += (line.empty() ? "" : " ") + text->substr(word, end - word);
    begin = end + 1;
  }
  return {line};
}

double real_of_bits(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

std::uint64_t bits_of_real(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

bool fits_float(double value) { return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value; }

// nullopt: it is not a short list of numbers or of texts.
std::optional<AttributeValue> short_list(const ProtoMessage& list) {
  if (list.fields.empty()) return std::vector<std::int64_t>();  // of any type
  const std::uint32_t number = list.fields.front().number;
  if (std::ranges::any_of(list.fields, [&](const ProtoField& field) { return field.number != number; })) {
    return std::nullopt;
  }
  if (number == value_field::kText) {
    std::size_t bytes = 0;
    std::vector<std::string> texts;
    for (std::string_view text : texts_of(list, number)) {
      bytes += text.size() + 1;
      if (bytes > kMostText) return std::nullopt;
      texts.emplace_back(text);
    }
    return texts.empty() ? std::nullopt : std::optional<AttributeValue>(std::move(texts));
  }
  const std::vector<std::uint64_t> numbers = numbers_of(list, number);
  if (numbers.empty() || numbers.size() > kMostListed) return std::nullopt;
  if (number == value_field::kInteger) return std::vector<std::int64_t>(numbers.begin(), numbers.end());
  if (number != value_field::kReal) return std::nullopt;
  std::vector<double> reals;
  for (std::uint64_t bits : numbers) reals.push_back(real_of_bits(bits));
  return reals;
}

ProtoField number_field(std::uint32_t number, ProtoWire wire, std::uint64_t bits) {
  return {.number = number, .wire = wire, .content = std::vector<std::uint64_t>{bits}};
}

struct ValueWriter {
  std::string_view key;
  ValueOfAttribute& to;

  ProtoMessage& message() const { return to.value.emplace(); }
  void add_list(ProtoMessage list) const { add_message(message(), value_field::kList, std::move(list)); }

  void operator()(std::int64_t value) const {
    const bool is_boolean = is_boolean_name(key) && (value == 0 || value == 1);
    const std::uint32_t number = is_boolean ? value_field::kBoolean : value_field::kInteger;
    message().fields.push_back(number_field(number, ProtoWire::varint, static_cast<std::uint64_t>(value)));
  }
  void operator()(double value) const {
    to.is_exact = fits_float(value);
    message().fields.push_back(number_field(value_field::kReal, ProtoWire::fixed32, bits_of_real(value)));
  }
  void operator()(const std::string& value) const { add_text(message(), value_field::kText, value); }
  void operator()(const std::vector<std::int64_t>& values) const {
    ProtoMessage list;
    for (std::int64_t value : values) {
      list.fields.push_back(number_field(value_field::kInteger, ProtoWire::varint, static_cast<std::uint64_t>(value)));
    }
    add_list(std::move(list));
  }
  void operator()(const std::vector<double>& values) const {
    ProtoMessage list;
    for (double value : values) {
      to.is_exact = to.is_exact && fits_float(value);
      list.fields.push_back(number_field(value_field::kReal, ProtoWire::fixed32, bits_of_real(value)));
    }
    add_list(std::move(list));
  }
  void operator()(const std::vector<std::string>& values) const {
    ProtoMessage list;
    for (const std::string& value : values) add_text(list, value_field::kText, value);
    add_list(std::move(list));
  }
  void operator()(const OpaqueAttribute& value) const {
    Result<ProtoMessage> read = read_proto_text(kValueSchema, value.description);
    if (read && described(*read) == value) to.value = *std::move(read);
  }
};

}  // namespace

AttributeValue attribute_of_value(std::string_view key, const ProtoMessage& value) {
  if (value.fields.size() != 1) return described(value);
  switch (value.fields.front().number) {
    case value_field::kInteger:
      // A 0 or 1 of such a name would become a boolean.
      if (const auto integer = find_number(value, value_field::kInteger);
          integer && (*integer > 1 || !is_boolean_name(key))) {
        return static_cast<std::int64_t>(*integer);
      }
      break;
    case value_field::kBoolean:
      if (const auto boolean = find_number(value, value_field::kBoolean); boolean && is_boolean_name(key)) {
        return static_cast<std::int64_t>(*boolean != 0);
      }
      break;
    case value_field::kReal:
      if (const auto real = find_number(value, value_field::kReal)) return real_of_bits(*real);
      break;
    case value_field::kText:
      if (const auto text = find_text(value, value_field::kText); text && text->size() < kMostText) {
        return std::string(*text);
      }
      break;
    case value_field::kList:
      if (const ProtoMessage* list = find_message(value, value_field::kList)) {
        if (std::optional<AttributeValue> all = short_list(*list)) return *std::move(all);
      }
      break;
    default: break;
  }
  return described(value);
}

ValueOfAttribute value_of_attribute(const Attribute& attribute) {
  ValueOfAttribute to;
  std::visit(ValueWriter{attribute.name, to}, attribute.value);
  return to;
}

}  // namespace lowtide::graphdef_internal
