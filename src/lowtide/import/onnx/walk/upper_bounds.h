// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// The upper bounds that the user gives (ImportOptions::at_most). A name is one of
//
//   frames     a symbol of the file, or one that messages show: all extents that have it
//   pos[0]     an extent of a tensor
//   pos        a tensor, of which one extent is not known, or only bounded
//
// and may have the escapes of `quoted` (base/quote.h). A run checks the bounds, because nothing proves them.
class UpperBounds {
 public:
  explicit UpperBounds(const std::map<std::string, std::int64_t>& given);

  // Bounds the extents of a tensor that are not exact. `declared`: its type in the file, or nullptr. Errors (invalid):
  // an extent is known and above its bound; the tensor is named, and several of its extents are not known.
  [[nodiscard]] Result<void> apply(std::string_view tensor, const onnx::TypeProto* declared, TensorFact& fact);

  // Errors (invalid): a name was never met. Lists the names of `open`, which could have been meant.
  [[nodiscard]] Result<void> check_all_met(const std::vector<std::string>& open) const;

  // The bounds whose extents are all known, such as "x=3". They change nothing.
  [[nodiscard]] std::vector<std::string> without_effect() const;

 private:
  struct Entry {
    std::string given;  // as the user typed it
    std::int64_t most = 0;
    bool is_met = false;
    bool is_open = false;  // it met an extent that is not exact
  };

  Entry* find(const std::string& name);
  Result<void> bound(Entry& entry, std::string_view tensor, std::size_t axis, KnownExtent& extent);

  std::map<std::string, Entry> entries_;
};

}  // namespace lowtide::import_internal
