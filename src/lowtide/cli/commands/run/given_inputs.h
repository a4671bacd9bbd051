// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/import/imported.h"
#include "lowtide/runtime/port.h"
#include "lowtide/runtime/session.h"

// The inputs of a run, from files or made up.
namespace lowtide::cli_internal {

// "f32[1,3,224,224]"
[[nodiscard]] std::string type_of(const Port& port);

// The seed of --synthetic; nullopt if the option was not given.
[[nodiscard]] std::optional<std::uint64_t> read_seed(const Arguments& arguments);

// All names that the words of --input NAME=FILE may begin with, because a name may contain "=". For
// ImportOptions::overrides: an input with a default value in the file that is given is no constant.
[[nodiscard]] std::set<std::string> possible_inputs(const Arguments& arguments);

// Stops with a usage error if a word of --input names an input that the given plan has as a constant.
void refuse_planned_defaults(const Arguments& arguments, const std::vector<std::string>& default_inputs);

// Adds ImportOptions::given and given_types: the shapes of the files of --input, which bind the open sizes of a model,
// and their element types. Files that cannot be read, and stdin, are left out. Reads the files.
void read_given_types(const Arguments& arguments, ImportOptions& to);

// The error of a model that cannot be opened. If sizes of its inputs are not known, it names --input as well, or says
// what is wrong with a file of --input.
[[nodiscard]] Error with_input_hint(Error error, const Arguments& arguments);

// The files of --input NAME=FILE, by name. Stops with a usage error if a word names no input, if an input is given
// twice, or if two files are stdin, where --plan counts.
[[nodiscard]] std::map<std::string, std::string> read_input_files(const Arguments& arguments,
                                                                  const std::vector<Port>& inputs);

// The extents of the files of --input that are not stdin, by name. Reads their heads.
[[nodiscard]] std::map<std::string, std::vector<std::int64_t>> read_input_extents(const Arguments& arguments,
                                                                                  const std::vector<Port>& inputs);

// The inputs of a run. The tensors refer to the bytes and extents, which keep their addresses.
struct GivenInputs {
  std::vector<std::string> bytes;
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<TensorRef> tensors;  // in the order of the model
};

// Reads every input whose file is given, and makes up the others from the seed. Without a seed, stops with a usage
// error that lists the inputs without file. What a file has is not compared with the port.
[[nodiscard]] GivenInputs read_inputs(const Arguments& arguments, std::optional<std::uint64_t> seed,
                                      const std::vector<Port>& ports);

// Stops with exit code 3 if a tensor has another type or other extents than the port.
void check_given(const Port& port, const TensorRef& tensor);

// Reads or makes up the inputs, and binds them all.
[[nodiscard]] GivenInputs bind_inputs(const Arguments& arguments, std::optional<std::uint64_t> seed, Session& session);

}  // namespace lowtide::cli_internal
