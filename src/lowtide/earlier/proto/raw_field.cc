// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/proto/raw_field.h"

#include <algorithm>

#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace proto_internal {
namespace {

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned at = 0; at < bytes.size() && at < 10; ++at) {
    const auto byte = static_cast<std::uint8_t>(bytes[at]);
    value |= at < 9 ? static_cast<std::uint64_t>(byte & 0x7FU) << (7 * at) : 0;
    if ((byte & 0x80U) != 0) continue;
    bytes.remove_prefix(at + 1);
    return value;
  }
  return std::nullopt;
}

struct RawHead {
  std::uint32_t number = 0;
  bool has_length = false;
  std::uint64_t value = 0;  // the number, or the length
};

std::optional<RawHead> take_head(std::string_view& bytes) {
  const std::optional<std::uint64_t> tag = take_varint(bytes);
  const std::optional<std::uint64_t> value = tag ? take_varint(bytes) : std::nullopt;
  if (!value || (*tag & 5U) != 0 || *tag >> 3U == 0 || *tag >> 3U > 0x1FFFFFFF) return std::nullopt;
  return RawHead{static_cast<std::uint32_t>(*tag >> 3U), (*tag & 7U) == 2, *value};
}

}  // namespace
}  // namespace proto_internal

std::optional<RawProtoField> take_raw_field(std::string_view& bytes) {
  const std::optional<proto_internal::RawHead> head = proto_internal::take_head(bytes);
  if (!head) return std::nullopt;
  RawProtoField field{.number = head->number, .has_length = head->has_length, .bytes = {}};
  if (field.has_length) {
    field.bytes = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(head->value, bytes.size())));
    bytes.remove_prefix(field.bytes.size());
  }
  return field;
}

std::optional<std::int64_t> raw_field_size(std::string_view begin) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  const std::size_t all = begin.size();
  const std::optional<proto_internal::RawHead> head = proto_internal::take_head(begin);
  if (!head || (head->has_length && head->value > kMost)) return std::nullopt;
  return static_cast<std::int64_t>(all - begin.size() + (head->has_length ? head->value : 0));
}

bool fits_schema(const ProtoSchema& schema, const RawProtoField& field) {
  const ProtoFieldSchema* known = find_field(schema, field.number);
  return known != nullptr && field.has_length == (wire_of(known->type) == ProtoWire::bytes);
}

bool is_proto_text(std::string_view begin) {
  if (first_field_of_text(begin)) return true;
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && std::string_view("\t\n\v\f\r").find(c) == std::string_view::npos;
  };
  return !begin.empty() && std::none_of(begin.begin(), begin.end(), is_control);
}

}  // namespace lowtide
