// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "schema_generated.h"  // made from schema.fbs
#pragma GCC diagnostic pop

// What only this room sees: the generated types of the schema.
namespace lowtide::flatbuffer_internal {

// A copy of the bytes of a file at an address that the largest alignment of the format divides.
class AlignedCopy {
 public:
  explicit AlignedCopy(std::string_view bytes);
  [[nodiscard]] const std::uint8_t* data() const { return begin_; }
  [[nodiscard]] std::uint8_t* data() { return begin_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // The place of something in the copy, from its start.
  [[nodiscard]] std::int64_t offset_of(const void* inside) const {
    return static_cast<const std::uint8_t*>(inside) - begin_;
  }

 private:
  std::unique_ptr<std::uint8_t[]> owned_;
  std::uint8_t* begin_;
  std::size_t size_;
};

// Checks the form of the flatbuffer, and returns its root. Errors: malformed.
[[nodiscard]] Result<const Model*> root_of(const AlignedCopy& file);

// The name of a builtin operator: "CONV_2D". Empty: there is none with this number.
[[nodiscard]] std::string_view builtin_name(std::int32_t builtin);

// Options that are absent in the file, but not 0.
struct OptionDefault {
  BuiltinOptions table;
  std::string_view field;
  std::int64_t value;
};
[[nodiscard]] const std::vector<OptionDefault>& option_defaults();

// The fields of the options of an operator, without those that are deprecated or are lists that the file omits.
[[nodiscard]] std::vector<TfliteOption> options_of(const Operator& op);

}  // namespace lowtide::flatbuffer_internal
