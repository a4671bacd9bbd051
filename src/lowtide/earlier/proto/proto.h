// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/earlier/proto/schema.h"

namespace lowtide {

// The deepest nesting of messages in a file.
inline constexpr int kMaxProtoDepth = 128;

// Reads the binary form. Numbers of repeated fields may be packed. Fields that the schema does not know are kept.
// Errors: malformed (a length or number that is cut off, a group, a field with another wire type than its own), with
// the byte as place; over_limit (kMaxProtoDepth, or a parsed form above 32 MB + 12 x the input). O(bytes).
[[nodiscard]] Result<ProtoMessage> read_proto_binary(const ProtoSchema& schema, std::string_view bytes);

// Reads the text form: `name: value`, `name { ... }`, lists in brackets, comments after #. Errors: malformed, with line
// and column as place (":3:12"), also for a field or an enum value that the schema does not know, because nothing says
// how the binary form would write it; over_limit, as above. O(bytes).
[[nodiscard]] Result<ProtoMessage> read_proto_text(const ProtoSchema& schema, std::string_view text);

// Writes the binary form, with fields in the order of the message. Reading it gives an equal message. Numbers are never
// packed.
[[nodiscard]] std::string write_proto_binary(const ProtoMessage& message);

// Writes the text form, one value per line. Reading it gives an equal message. Errors: unsupported, for a field that
// the schema does not know, because the text form has names and no numbers.
[[nodiscard]] Result<std::string> write_proto_text(const ProtoSchema& schema, const ProtoMessage& message);

// The name of the first field, if the bytes look like the text form: they begin with a name, behind it a colon or a
// brace. Comments and blanks may come before, at most 64 KB. nullopt otherwise. The view is into `bytes`.
[[nodiscard]] std::optional<std::string_view> first_field_of_text(std::string_view bytes);

}  // namespace lowtide
