// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"

namespace lowtide {

enum class NetForm : std::uint8_t { binary, text };

template <>
inline constexpr auto kEnumNames<NetForm> = enum_names<NetForm>({{NetForm::binary, "netdef"},
                                                                 {NetForm::text, "netdef_text"}});

// A NetDef of Caffe2, with all its fields.
struct NetFile {
  ProtoMessage net;
  NetForm form = NetForm::binary;
};

// Whether a file that begins with these bytes is a NetDef rather than of another format: a text that begins with a
// field of NetDef, or a binary message all of whose fields NetDef has, with an operator that has a type among them. A
// last field that is cut off is ignored. O(bytes) at worst.
[[nodiscard]] bool is_net(std::string_view begin);

// Reads both forms of NetDef. Errors: malformed, also for no bytes, with line and column (":3:12") or the byte;
// over_limit (proto.h).
[[nodiscard]] Result<NetFile> read_net(std::string_view bytes);

// Errors: unsupported, for a field that has no name in the text form.
[[nodiscard]] Result<std::string> write_net(const ProtoMessage& net, NetForm form);

}  // namespace lowtide
