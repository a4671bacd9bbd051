// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lowtide/earlier/proto/schema.h"

namespace lowtide {

// A field of the binary form, without a schema: a varint, or bytes with a length, which may be cut off. It serves to
// recognize a format by the begin of a file.
struct RawProtoField {
  std::uint32_t number = 0;
  bool has_length = false;
  std::string_view bytes;
};

// Removes the first field from the bytes. nullopt for a field of another kind, and for a tag or number that is cut off.
[[nodiscard]] std::optional<RawProtoField> take_raw_field(std::string_view& bytes);

// The size of the first field with its tag, from the first 20 bytes or all bytes of a file. nullopt as above.
[[nodiscard]] std::optional<std::int64_t> raw_field_size(std::string_view begin);

// Whether the schema has a field of this number and kind.
[[nodiscard]] bool fits_schema(const ProtoSchema& schema, const RawProtoField& field);

// Whether a file that begins with these bytes is a text rather than a binary message: its first word is a name, and a
// field begins there, or there are no control characters.
[[nodiscard]] bool is_proto_text(std::string_view begin);

}  // namespace lowtide
