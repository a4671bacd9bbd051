// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/graph/shape.h"

namespace lowtide {

using ConstantId = Id<struct ConstantTag>;
using ConstantFileId = Id<struct ConstantFileTag>;

// Where the bytes of a constant are. They are dense, row-major and little-endian, as ONNX stores raw data.
struct ConstantSource {
  // A range of a file: raw data of the model file, or external data.
  struct InFile {
    ConstantFileId file;
    std::int64_t offset = 0;  // >= 0, in bytes, with any alignment
    friend bool operator==(const InFile&, const InFile&) = default;
  };
  // A copy of the bytes: the content of a Constant node, a list of numbers, or short raw data.
  struct Inline {
    std::vector<std::byte> bytes;  // as many as ConstantSource::size
    friend bool operator==(const Inline&, const Inline&) = default;
  };
  // A result of load-time work. It has no bytes before that work has run.
  struct Computed {
    friend bool operator==(const Computed&, const Computed&) = default;
  };

  std::string name;  // of the tensor in the model
  DType dtype = DType::f32;
  Shape shape;  // without upper bounds
  Bytes size;   // dense_size(dtype, shape)
  std::variant<InFile, Inline, Computed> where;
  friend bool operator==(const ConstantSource&, const ConstantSource&) = default;
};

// The sources of all constants of a model, those of bodies included. Tensor::constant is an index into it. All graphs
// that are made from one model share one table: the graph that runs, its bodies, and the load-time work.
struct ConstantTable {
  // Paths relative to the folder of the model file. The empty path is the model file itself.
  IdVector<ConstantFileId, std::string> files;
  IdVector<ConstantId, ConstantSource> sources;
  friend bool operator==(const ConstantTable&, const ConstantTable&) = default;
};

// Gives the bytes of a constant to a rewrite. Returns nullopt if they are absent, or too many to be read here.
using ConstantValues = std::function<std::optional<std::span<const std::byte>>(ConstantId)>;

// Checks that every source has the size of its type, that inline bytes have that size, and that file ids and offsets
// are in range. Errors: (invalid) the first source that breaks a rule. O(sources).
[[nodiscard]] Result<void> check_constants(const ConstantTable& table);

}  // namespace lowtide
