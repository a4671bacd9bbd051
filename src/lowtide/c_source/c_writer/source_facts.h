// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/c_source/c_writer/write_c_source.h"

// What the texts of all files agree on.
namespace lowtide::c_writer_internal {

struct SourceFacts {
  const CProgram& program;
  const CSourceOptions& options;
  std::string prefix;                      // "kws"
  std::string capitals;                    // "KWS"
  std::vector<std::string> inputs;         // per input, its name in identifiers
  std::vector<std::string> outputs;        // per output
  std::vector<std::string> constants;      // per constant, its identifier
  std::vector<std::int64_t> blob_offsets;  // per constant
  Bytes weights;                           // CSource::weights
  bool has_states = false;

  // The parameters of a function that needs the arena: "void", or "kws_context *context".
  [[nodiscard]] std::string arena_parameter() const;
};

[[nodiscard]] SourceFacts facts_of(const CProgram& program, const CSourceOptions& options);

// The texts of the files. O(their sizes).
[[nodiscard]] std::string header_text(const SourceFacts& facts);
[[nodiscard]] std::string program_text(const SourceFacts& facts);
[[nodiscard]] std::string weights_text(const SourceFacts& facts);
[[nodiscard]] std::string blob_bytes(const SourceFacts& facts);

// The declaration of a constant, without a semicolon: "const int8_t kws_data_x[64]".
[[nodiscard]] std::string constant_declaration(const SourceFacts& facts, std::size_t constant);

// "#define KWS_NAME value" as a line.
[[nodiscard]] std::string define_text(const SourceFacts& facts, std::string_view name, const std::string& value);

// A comment whose lines are " * line".
[[nodiscard]] std::string block_comment(const std::vector<std::string>& lines);

// The number of elements of a shape.
[[nodiscard]] std::int64_t element_count(const std::vector<std::int64_t>& shape);

}  // namespace lowtide::c_writer_internal
