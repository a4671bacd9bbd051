// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/given_inputs.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/typed_name.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/engine/npy.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kMostElementBytes = 16;  // of c128; the memory of a string begins at a multiple of it

// Where each name ends that a word of --input NAME=FILE may begin with, because a name may contain "=".
std::vector<std::size_t> ends_of_names(const std::string& word) {
  std::vector<std::size_t> ends;
  for (std::size_t end = word.find('='); end != std::string::npos; end = word.find('=', end + 1)) ends.push_back(end);
  return ends;
}

// Where this name ends in a word of --input, as it is or with the escapes of messages. nullopt: the word is of another
// input.
std::optional<std::size_t> end_of_name(const std::string& word, const std::string& name) {
  for (const std::size_t end : ends_of_names(word)) {
    if (means_name(std::string_view(word).substr(0, end), name)) return end;
  }
  return std::nullopt;
}

// The names of inputs that these characters may be: themselves, and what they mean with escapes.
std::set<std::string> names_meant(const std::string& given) {
  std::set<std::string> names = {given};
  std::string meant;
  if (unescaped(given, meant)) names.insert(meant);
  return names;
}

// Only one file can be stdin, because it is read to its end.
void check_stdin(const Arguments& arguments, const std::map<std::string, std::string>& files) {
  std::string user = arguments.value("--plan") == "-" ? "the plan" : "";
  for (const auto& [name, file] : files) {
    if (file != "-") continue;
    const std::string input = "input " + lowtide::quoted(name, 60);
    if (!user.empty()) stop_usage(user + " and " + input + " are both read from stdin; give one of them as a file");
    user = input;
  }
}

// Binds an input, or copies it into the arena if the plan has a place for it there.
void give_input(const Port& port, const TensorRef& tensor, Session& session) {
  if (!port.is_in_arena) return take(session.bind_input(port.name, tensor));
  check_given(port, tensor);
  std::ranges::copy(tensor.bytes, take(session.arena_input(port.name)).begin());
}

// Memory for an input that is made up.
std::string memory_for(const Port& port) {
  try {
    return std::string(static_cast<std::size_t>(port.size.count()), '\0');
  } catch (const std::bad_alloc&) {
    throw Stop(ExitCode::bad_input, "input " + lowtide::quoted(port.name, 60) + " is made up with " +
                                        format_bytes(port.size) +
                                        ", which the system does not have; --shape or --dim makes it smaller");
  }
}

}  // namespace

std::string type_of(const Port& port) { return std::string(to_string(port.dtype)) + to_string(port.shape); }

std::optional<std::uint64_t> read_seed(const Arguments& arguments) {
  const std::optional<std::int64_t> seed = read_count(arguments, "--synthetic", 0);
  if (!seed) return std::nullopt;
  return static_cast<std::uint64_t>(*seed);
}

std::set<std::string> possible_inputs(const Arguments& arguments) {
  std::set<std::string> names;
  for (const std::string& word : arguments.values("--input")) {
    if (word.find('=', 1) == std::string::npos) {
      stop_usage("'--input' must have the form NAME=FILE, not " + lowtide::quoted(word, 60));
    }
    for (const std::size_t end : ends_of_names(word)) names.merge(names_meant(word.substr(0, end)));
  }
  return names;
}

void refuse_planned_defaults(const Arguments& arguments, const std::vector<std::string>& default_inputs) {
  for (const std::string& word : arguments.values("--input")) {
    for (const std::string& name : default_inputs) {
      if (!end_of_name(word, name)) continue;
      stop_unfit("input " + lowtide::quoted(name, 60) +
                 " has a default value in the model, and the plan has it as a constant; plan or prepare again with: "
                 "--override " +
                 lowtide::quoted(name, 60));
    }
  }
}

void read_given_types(const Arguments& arguments, ImportOptions& to) {
  for (const std::string& word : arguments.values("--input")) {
    auto& meanings = to.given.emplace_back();
    // The model decides where the name ends.
    for (const std::size_t end : ends_of_names(word)) {
      const std::string file = word.substr(end + 1);
      if (file.empty() || file == "-") continue;
      const Result<std::string> bytes = read_text_file(file, limits::kMaxFileBytes);
      if (!bytes) continue;
      const Result<NpyHead> head = read_npy_head(std::as_bytes(std::span(*bytes)), name_of_file(file));
      if (!head) continue;
      for (const std::string& name : names_meant(word.substr(0, end))) {
        meanings.emplace(name, head->extents);
        to.given_types.emplace(name, head->dtype);
      }
    }
  }
}

Error with_input_hint(Error error, const Arguments& arguments) {
  constexpr std::string_view kShape = "--shape";
  if (error.code != ErrorCode::unresolved || error.message.find(kShape) == std::string::npos) return error;
  for (const std::string& word : arguments.values("--input")) {
    const std::size_t end = word.find('=');
    if (end == std::string::npos || word.find('=', end + 1) != std::string::npos) continue;
    const std::string file = word.substr(end + 1);
    if (file.empty() || file == "-") continue;
    const std::string bytes = take(read_text_file(file, limits::kMaxFileBytes));
    static_cast<void>(take(read_npy_head(std::as_bytes(std::span(bytes)), name_of_file(file))));
  }
  error.message += "\n  or give the inputs as files, whose shapes count: --input NAME=FILE.npy";
  return error;
}

std::map<std::string, std::string> read_input_files(const Arguments& arguments, const std::vector<Port>& inputs) {
  // A name may contain "=", so the inputs of the model decide where it ends. In "a=b=x.npy", the input "a=b" is meant
  // if the model has it. "a=./b=x.npy" is the input "a".
  std::map<std::string, std::string> files;
  for (const std::string& word : arguments.values("--input")) {
    const Port* port = nullptr;
    std::size_t name_end = 0;
    for (const Port& known : inputs) {
      const std::optional<std::size_t> end = end_of_name(word, known.name);
      if (!end || (port != nullptr && *end <= name_end)) continue;
      port = &known;
      name_end = *end;
    }
    if (port == nullptr) {
      std::string names;
      for (const Port& known : inputs) names += (names.empty() ? "" : ", ") + lowtide::quoted(known.name, 60);
      const auto stop = word.find('=') == std::string::npos ? stop_usage : stop_unfit;
      stop("'--input' must have the form NAME=FILE, with one of the inputs " + names + ", not " +
           lowtide::quoted(word, 60));
    }
    if (word.size() == name_end + 1) {
      stop_usage("'--input' has no file for input " + lowtide::quoted(port->name, 60) + "; add one, as in --input " +
                 typed_name(port->name) + "=FILE.npy");
    }
    if (!files.emplace(port->name, word.substr(name_end + 1)).second) {
      stop_usage("input " + lowtide::quoted(port->name, 60) + " is given twice; give it once");
    }
  }
  check_stdin(arguments, files);
  return files;
}

std::map<std::string, std::vector<std::int64_t>> read_input_extents(const Arguments& arguments,
                                                                    const std::vector<Port>& inputs) {
  std::map<std::string, std::vector<std::int64_t>> extents;
  for (const auto& [name, file] : read_input_files(arguments, inputs)) {
    if (file == "-") continue;
    const std::string bytes = take(read_text_file(file, limits::kMaxFileBytes));
    extents.emplace(name, take(read_npy_head(std::as_bytes(std::span(bytes)), name_of_file(file))).extents);
  }
  return extents;
}

void check_given(const Port& port, const TensorRef& tensor) {
  if (tensor.dtype == port.dtype && std::ranges::equal(tensor.extents, port.shape.extents())) return;
  const Shape given(std::vector<std::int64_t>(tensor.extents.begin(), tensor.extents.end()));
  throw Stop(ExitCode::bad_input, "input " + lowtide::quoted(port.name) + ": has type " + type_of(port) + ", but " +
                                      std::string(to_string(tensor.dtype)) + to_string(given) + " is given");
}

GivenInputs read_inputs(const Arguments& arguments, std::optional<std::uint64_t> seed, const std::vector<Port>& ports) {
  const std::map<std::string, std::string> files = read_input_files(arguments, ports);
  GivenInputs given;
  given.bytes.reserve(ports.size());
  given.extents.reserve(ports.size());
  std::string missing;
  for (const Port& port : ports) {
    const auto file = files.find(port.name);
    if (file != files.end()) {
      std::string& bytes = given.bytes.emplace_back(take(read_text_file(file->second, limits::kMaxFileBytes)));
      const NpyHead head = take(read_npy_head(std::as_bytes(std::span(bytes)), name_of_file(file->second)));
      // NumPy pads the head, but not every writer does. Elements need an address that is a multiple of their size.
      const bool is_aligned = head.begin % kMostElementBytes == 0;
      if (!is_aligned) bytes.erase(0, head.begin);
      given.extents.push_back(head.extents);
      given.tensors.push_back(
          {head.dtype, given.extents.back(), std::as_bytes(std::span(bytes)).subspan(is_aligned ? head.begin : 0)});
    } else if (seed) {
      std::string& bytes = given.bytes.emplace_back(memory_for(port));
      take(fill_synthetic({port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}}, *seed,
                          std::as_writable_bytes(std::span(bytes))));
      given.tensors.push_back({port.dtype, port.shape.extents(), std::as_bytes(std::span(bytes))});
    } else {
      missing += " --input " + typed_name(port.name) + "=FILE.npy (" + type_of(port) + ")";
    }
  }
  if (!missing.empty()) stop_unfit("inputs are missing; add" + missing + ", or --synthetic SEED");
  return given;
}

GivenInputs bind_inputs(const Arguments& arguments, std::optional<std::uint64_t> seed, Session& session) {
  const std::vector<Port>& ports = session.executable().inputs();
  GivenInputs given = read_inputs(arguments, seed, ports);
  for (std::size_t at = 0; at < ports.size(); ++at) give_input(ports[at], given.tensors[at], session);
  return given;
}

}  // namespace lowtide::cli_internal
