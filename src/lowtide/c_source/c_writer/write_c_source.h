// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide {

struct CSourceOptions {
  // The prefix of all symbols (is_c_prefix). Empty: made of the program's name.
  std::string name;
  // Functions take a context, which has the arena, so that one program can have several of them.
  bool reentrant = false;
  // The constants are bytes of their own, whose address the caller gives at run time.
  bool weights_as_blob = false;
  std::optional<Bytes> budget;   // the source does not compile if its arena is larger
  std::string tool = "lowtide";  // named in the files
};

// C99 source of a program. It allocates nothing, and calls no function except those of <math.h>.
struct CSource {
  std::string name;                  // the prefix of all symbols
  std::string model_c;               // kernels, and the functions of model_h
  std::string model_h;               // sizes, inputs, outputs, and functions that initialize and run the model
  std::string weights_c;             // empty with weights_as_blob
  std::string blob;                  // empty without weights_as_blob
  Bytes weights;                     // the size of the blob, or the sum of the constants
  std::vector<std::string> kernels;  // that the program calls, sorted
};

// A line of model_h with weights_as_blob, near its begin. No name of a model can make it.
inline constexpr std::string_view kBlobLine = "\n * The constants are in weights.bin.\n";

// Whether a text can begin the names of symbols: a letter, then letters, digits and underscores, 100 in all at most.
[[nodiscard]] bool is_c_prefix(std::string_view name);

// Writes a program as C source. The same program and options give the same bytes. O(size of the result + tensors).
//
// The names of the program may be any text: identifiers are made of them, and comments quote them. All symbols begin
// with the prefix, or are static. Requires: the program is as c_program.h says. Errors: invalid (options.name),
// over_limit (an arena or constants of 2 GiB or more), those of check_c_call().
[[nodiscard]] Result<CSource> write_c_source(const CProgram& program, const CSourceOptions& options = {});

}  // namespace lowtide
