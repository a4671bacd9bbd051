// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/net.h"

#include <algorithm>
#include <optional>

#include "lowtide/base/try.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/proto/proto.h"
#include "lowtide/earlier/proto/raw_field.h"

namespace lowtide {
namespace netdef_internal {
namespace {

bool is_op_with_type(std::string_view bytes) {
  bool has_type = false;
  while (!bytes.empty()) {
    const std::optional<RawProtoField> field = take_raw_field(bytes);
    if (!field) return has_type;  // the begin of a file may end in a tag
    if (!fits_schema(*find_field(kNetSchema, net_field::kOp)->message, *field)) return false;
    has_type = has_type || field->number == op_field::kType;
  }
  return has_type;
}

bool is_binary_net(std::string_view bytes) {
  bool has_op = false;
  while (!bytes.empty()) {
    const std::optional<RawProtoField> field = take_raw_field(bytes);
    if (!field) return has_op;  // a number that is cut off; a real fault is reported by the reader
    if (field->number == net_field::kOther && field->has_length) continue;
    if (!fits_schema(kNetSchema, *field)) return false;
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

Result<NetFile> read_net(std::string_view bytes) {
  if (bytes.empty()) return Error{ErrorCode::malformed, "not a NetDef: the file is empty", ""};
  const NetForm form = is_proto_text(bytes) ? NetForm::text : NetForm::binary;
  LOWTIDE_TRY(ProtoMessage net, form == NetForm::text ? read_proto_text(netdef_internal::kNetSchema, bytes)
                                                      : read_proto_binary(netdef_internal::kNetSchema, bytes));
  return NetFile{std::move(net), form};
}

Result<std::string> write_net(const ProtoMessage& net, NetForm form) {
  if (form == NetForm::binary) return write_proto_binary(net);
  return write_proto_text(netdef_internal::kNetSchema, net);
}

}  // namespace lowtide
