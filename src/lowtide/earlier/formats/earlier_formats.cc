// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/formats/earlier_formats.h"

#include <array>
#include <string_view>

#include "lowtide/earlier/formats/net_import.h"

namespace lowtide {
namespace {

Result<bool> is_graphdef_at(const ByteSource& file, std::string_view /*path*/) {
  return formats_internal::is_graphdef_file(file);
}

}  // namespace

std::span<const ModelFormat> earlier_formats() {
  static constexpr std::array<ModelFormat, 2> kFormats = {
      {{formats_internal::is_net_file, formats_internal::import_net, true},
       {is_graphdef_at, formats_internal::import_graphdef, true}}};
  return kFormats;
}

}  // namespace lowtide
