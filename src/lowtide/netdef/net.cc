// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/netdef/net.h"

#include <algorithm>
#include <optional>

#include "lowtide/netdef/format.h"
#include "lowtide/proto/proto.h"

namespace lowtide {
namespace netdef_internal {
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

// A field of the wire format: a number, or bytes that may be cut off.
struct RawField {
  std::uint32_t number = 0;
  bool has_length = false;
  std::string_view bytes;
};

// Takes a field that is a varint or has a length, because NetDef has no other fields. nullopt for any other field.
std::optional<RawField> take_field(std::string_view& bytes) {
  const std::optional<std::uint64_t> tag = take_varint(bytes);
  const std::optional<std::uint64_t> value = tag ? take_varint(bytes) : std::nullopt;
  if (!value || (*tag & 5U) != 0 || *tag >> 3U == 0 || *tag >> 3U > 0xFFFF) return std::nullopt;
  RawField field{.number = static_cast<std::uint32_t>(*tag >> 3U), .has_length = (*tag & 7U) == 2, .bytes = {}};
  if (field.has_length) {
    field.bytes = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*value, bytes.size())));
    bytes.remove_prefix(field.bytes.size());
  }
  return field;
}

bool fits(const ProtoSchema& schema, const RawField& field) {
  const ProtoFieldSchema* known = find_field(schema, field.number);
  return known != nullptr && field.has_length == (wire_of(known->type) == ProtoWire::bytes);
}

bool is_op_with_type(std::string_view bytes) {
  bool has_type = false;
  while (!bytes.empty()) {
    const std::optional<RawField> field = take_field(bytes);
    if (!field || !fits(*find_field(kNetSchema, net_field::kOp)->message, *field)) return false;
    has_type = has_type || field->number == op_field::kType;
  }
  return has_type;
}

bool is_binary_net(std::string_view bytes) {
  bool has_op = false;
  while (!bytes.empty()) {
    const std::optional<RawField> field = take_field(bytes);
    if (!field) return has_op;  // a number that is cut off; a real fault is reported by the reader
    if (field->number == net_field::kOther && field->has_length) continue;
    if (!fits(kNetSchema, *field)) return false;
    if (field->number != net_field::kOp || has_op) continue;
    if (!is_op_with_type(field->bytes)) return false;
    has_op = true;
  }
  return has_op;
}

}  // namespace
}  // namespace netdef_internal

bool is_net(std::string_view begin) {
  if (const std::optional<std::string_view> field = first_field_of_text(begin)) {
    return find_field(netdef_internal::kNetSchema, *field) != nullptr;
  }
  return netdef_internal::is_binary_net(begin);
}

bool is_net_text(std::string_view begin) {
  if (first_field_of_text(begin)) return true;
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && std::string_view("\t\n\v\f\r").find(c) == std::string_view::npos);
  };
  return !begin.empty() && std::none_of(begin.begin(), begin.end(), is_control);
}

std::optional<std::int64_t> net_field_size(std::string_view begin) {
  const std::size_t all = begin.size();
  const std::optional<std::uint64_t> tag = netdef_internal::take_varint(begin);
  const std::optional<std::uint64_t> value = tag ? netdef_internal::take_varint(begin) : std::nullopt;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  if (!value || (*tag & 5U) != 0 || *tag >> 3U == 0) return std::nullopt;
  const bool has_length = (*tag & 7U) == 2;
  if (has_length && *value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(all - begin.size() + (has_length ? *value : 0));
}

Result<NetFile> read_net(std::string_view bytes) {
  if (bytes.empty()) return Error{ErrorCode::malformed, "not a NetDef: the file is empty", ""};
  const NetForm form = is_net_text(bytes) ? NetForm::text : NetForm::binary;
  Result<ProtoMessage> net = form == NetForm::text ? read_proto_text(netdef_internal::kNetSchema, bytes)
                                                   : read_proto_binary(netdef_internal::kNetSchema, bytes);
  if (!net) return net.error();
  return NetFile{*std::move(net), form};
}

Result<std::string> write_net(const ProtoMessage& net, NetForm form) {
  if (form == NetForm::binary) return write_proto_binary(net);
  return write_proto_text(netdef_internal::kNetSchema, net);
}

}  // namespace lowtide
