// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/schema.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace lowtide::flatbuffer_internal {
namespace {

constexpr std::size_t kAlignment = 64;
// A table of a sane file has at least these bytes of its own, and an entry in a list or a field that points to it.
constexpr std::size_t kLeastBytesPerTable = 4;

using flatbuffers::ElementaryType;
using flatbuffers::Table;
using flatbuffers::TypeTable;

template <typename T>
T scalar_at(const std::uint8_t* at) {
  return flatbuffers::ReadScalar<T>(at);
}

std::optional<std::int64_t> integer_at(ElementaryType type, const std::uint8_t* at) {
  switch (type) {
    case flatbuffers::ET_BOOL:
    case flatbuffers::ET_UTYPE:
    case flatbuffers::ET_UCHAR: return scalar_at<std::uint8_t>(at);
    case flatbuffers::ET_CHAR: return scalar_at<std::int8_t>(at);
    case flatbuffers::ET_SHORT: return scalar_at<std::int16_t>(at);
    case flatbuffers::ET_USHORT: return scalar_at<std::uint16_t>(at);
    case flatbuffers::ET_INT: return scalar_at<std::int32_t>(at);
    case flatbuffers::ET_UINT: return scalar_at<std::uint32_t>(at);
    case flatbuffers::ET_LONG: return scalar_at<std::int64_t>(at);
    default: return std::nullopt;
  }
}

// The name of a value of an enumeration; its number if it has none.
std::string name_in(const TypeTable& names, std::int64_t value) {
  for (std::size_t at = 0; at < names.num_elems; ++at) {
    const std::int64_t known = names.values != nullptr ? names.values[at] : static_cast<std::int64_t>(at);
    if (known == value) return names.names[at];
  }
  return std::to_string(value);
}

template <typename From, typename To>
std::vector<To> numbers_at(const std::uint8_t* field) {
  const auto* list =
      reinterpret_cast<const flatbuffers::Vector<From>*>(field + scalar_at<flatbuffers::uoffset_t>(field));
  return {list->begin(), list->end()};
}

struct Field {
  BuiltinOptions table;
  std::string_view name;
  ElementaryType type;
  bool is_list;
  const TypeTable* names;     // of an enumeration; nullptr otherwise
  const std::uint8_t* bytes;  // nullptr: absent
};

std::optional<TfliteOption> list_option(const Field& field) {
  if (field.bytes == nullptr) return std::nullopt;
  const std::string name(field.name);
  if (field.type == flatbuffers::ET_FLOAT) return TfliteOption{name, numbers_at<float, double>(field.bytes)};
  if (field.type == flatbuffers::ET_INT) return TfliteOption{name, numbers_at<std::int32_t, std::int64_t>(field.bytes)};
  return std::nullopt;
}

std::int64_t default_of(const Field& field) {
  const auto& rows = option_defaults();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionDefault& one) {
    return one.table == field.table && one.field == field.name;
  });
  return row != rows.end() ? row->value : 0;
}

std::optional<TfliteOption> option_of(const Field& field) {
  if (field.is_list) return list_option(field);
  std::string name(field.name);
  if (field.type == flatbuffers::ET_STRING) {
    if (field.bytes == nullptr) return std::nullopt;
    const auto* text =
        reinterpret_cast<const flatbuffers::String*>(field.bytes + scalar_at<flatbuffers::uoffset_t>(field.bytes));
    return TfliteOption{std::move(name), text->str()};
  }
  if (field.type == flatbuffers::ET_FLOAT) {
    return TfliteOption{std::move(name),
                        field.bytes != nullptr ? static_cast<double>(scalar_at<float>(field.bytes)) : 0.0};
  }
  const std::optional<std::int64_t> number =
      field.bytes != nullptr ? integer_at(field.type, field.bytes) : default_of(field);
  if (!number) return std::nullopt;
  if (field.names != nullptr) return TfliteOption{std::move(name), name_in(*field.names, *number)};
  return TfliteOption{std::move(name), *number};
}

}  // namespace

AlignedCopy::AlignedCopy(std::string_view bytes)
    : owned_(new std::uint8_t[bytes.size() + kAlignment]), begin_(owned_.get()), size_(bytes.size()) {
  const auto address = reinterpret_cast<std::uintptr_t>(owned_.get());
  begin_ += (kAlignment - address % kAlignment) % kAlignment;
  if (!bytes.empty()) std::memcpy(begin_, bytes.data(), bytes.size());
}

Result<const Model*> root_of(const AlignedCopy& file) {
  const auto refuse = [](const char* what) { return Error{ErrorCode::malformed, what, ""}; };
  if (file.size() < 8 || !ModelBufferHasIdentifier(file.data())) return refuse("this is not a TFLite file");
  if (file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return refuse("a flatbuffer has fewer than 2 GiB");
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(file.size() / kLeastBytesPerTable);
  flatbuffers::Verifier verifier(file.data(), file.size(), options);
  if (!VerifyModelBuffer(verifier)) {
    return refuse("the flatbuffer is damaged: something in it points outside of the file, or is cut off");
  }
  return GetModel(file.data());
}

std::string_view builtin_name(std::int32_t builtin) {
  const TypeTable& names = *BuiltinOperatorTypeTable();
  for (std::size_t at = 0; at < names.num_elems; ++at) {
    if ((names.values != nullptr ? names.values[at] : static_cast<std::int64_t>(at)) == builtin) return names.names[at];
  }
  return {};
}

const std::vector<OptionDefault>& option_defaults() {
  static const std::vector<OptionDefault> rows = {
      {BuiltinOptions::Conv2DOptions, "dilation_w_factor", 1},
      {BuiltinOptions::Conv2DOptions, "dilation_h_factor", 1},
      {BuiltinOptions::DepthwiseConv2DOptions, "dilation_w_factor", 1},
      {BuiltinOptions::DepthwiseConv2DOptions, "dilation_h_factor", 1},
      {BuiltinOptions::Conv3DOptions, "dilation_d_factor", 1},
      {BuiltinOptions::Conv3DOptions, "dilation_w_factor", 1},
      {BuiltinOptions::Conv3DOptions, "dilation_h_factor", 1},
      {BuiltinOptions::AddOptions, "pot_scale_int16", 1},
      {BuiltinOptions::SubOptions, "pot_scale_int16", 1},
      {BuiltinOptions::BidirectionalSequenceLSTMOptions, "time_major", 1},
      {BuiltinOptions::UniqueOptions, "idx_out_type", 2},
  };
  return rows;
}

std::vector<TfliteOption> options_of(const Operator& op) {
  const TypeTable& tables = *BuiltinOptionsTypeTable();
  const auto which = static_cast<std::size_t>(op.builtin_options_type());
  if (which == 0 || which >= tables.num_elems || op.builtin_options() == nullptr) return {};
  const TypeTable& fields = *tables.type_refs[tables.type_codes[which].sequence_ref]();
  const auto* table = static_cast<const Table*>(op.builtin_options());
  std::vector<TfliteOption> options;
  for (std::size_t at = 0; at < fields.num_elems; ++at) {
    const flatbuffers::TypeCode code = fields.type_codes[at];
    const std::string_view name = fields.names[at];
    if (op.builtin_options_type() == BuiltinOptions::ResizeBilinearOptions && name.starts_with("new_")) continue;
    const Field field{
        .table = op.builtin_options_type(),
        .name = name,
        .type = static_cast<ElementaryType>(code.base_type),
        .is_list = code.is_repeating != 0,
        .names = code.sequence_ref >= 0 ? fields.type_refs[code.sequence_ref]() : nullptr,
        .bytes = table->GetAddressOf(flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(at)))};
    if (std::optional<TfliteOption> option = option_of(field)) options.push_back(*std::move(option));
  }
  return options;
}

}  // namespace lowtide::flatbuffer_internal
