// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/lowering.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/progress.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/npy.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide::cli_internal {
namespace {

std::string type_of(const Port& port) { return std::string(to_string(port.dtype)) + to_string(port.shape); }

std::optional<std::uint64_t> read_seed(const Arguments& arguments) {
  const std::optional<std::int64_t> seed = read_count(arguments, "--synthetic", 0);
  if (!seed) return std::nullopt;
  return static_cast<std::uint64_t>(*seed);
}

OpenedModel open_given(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("MODEL");
  OpenOptions options{.import = read_bindings(arguments),
                      .lower = read_kernel_lowering(arguments),
                      .synthetic_seed = read_seed(arguments)};
  if (const std::optional<std::string> plan = arguments.value("--plan")) {
    if (arguments.has("--without")) stop_usage("--without has no effect with --plan, whose rewrites are used; omit it");
    options.given_plan = read_plan_file(*plan).plan;
    add_written_bindings(options.given_plan->provenance.dims, options.import);
  }
  const Progress progress(console, "preparing the model");
  Result<OpenedModel> opened = open_model(path, options);
  const bool is_hint_useful = !opened && opened.error().code == ErrorCode::io && opened.error().place != path;
  if (!is_hint_useful || options.synthetic_seed) return take(std::move(opened));
  Error error = opened.error();
  error.message += "; --synthetic 1 makes up the weights of absent files";
  return take(Result<OpenedModel>(std::move(error)));
}

// The file of each input that is given, by name. A name may contain "=", so the inputs of the model decide where it
// ends.
std::map<std::string, std::string> read_input_files(const Arguments& arguments, const std::vector<Port>& inputs) {
  std::map<std::string, std::string> files;
  for (const std::string& word : arguments.values("--input")) {
    const auto is_meant = [&](const Port& port) { return word.starts_with(port.name + "="); };
    const auto port = std::find_if(inputs.begin(), inputs.end(), is_meant);
    if (port == inputs.end()) {
      std::string names;
      for (const Port& known : inputs) names += (names.empty() ? "" : ", ") + lowtide::quoted(known.name, 60);
      stop_usage("'--input' must have the form NAME=FILE, with one of the inputs " + names + ", not " +
                 lowtide::quoted(word, 60));
    }
    if (!files.emplace(port->name, word.substr(port->name.size() + 1)).second) {
      stop_usage("input " + lowtide::quoted(port->name, 60) + " is given twice; give it once");
    }
  }
  return files;
}

// Binds every input, and returns the bytes that must stay in memory during the run.
std::vector<std::string> bind_inputs(const Arguments& arguments, const Executable& executable, Session& session) {
  const std::map<std::string, std::string> files = read_input_files(arguments, executable.inputs());
  const std::optional<std::uint64_t> seed = read_seed(arguments);
  std::vector<std::string> kept;
  kept.reserve(executable.inputs().size());  // the bytes keep their addresses
  std::string missing;
  for (const Port& port : executable.inputs()) {
    const auto file = files.find(port.name);
    if (file != files.end()) {
      const std::string& bytes = kept.emplace_back(take(read_text_file(file->second, limits::kMaxFileBytes)));
      const std::span<const std::byte> content = std::as_bytes(std::span(bytes));
      const NpyHead head = take(read_npy_head(content, name_of_file(file->second)));
      take(session.bind_input(port.name, {head.dtype, head.extents, content.subspan(head.begin)}));
    } else if (seed) {
      std::string& bytes = kept.emplace_back(static_cast<std::size_t>(port.size.count()), '\0');
      take(fill_synthetic({port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}}, *seed,
                          std::as_writable_bytes(std::span(bytes))));
      take(session.bind_input(port.name, {port.dtype, port.shape.extents(), std::as_bytes(std::span(bytes))}));
    } else {
      missing += " --input " + port.name + "=FILE.npy (" + type_of(port) + ")";
    }
  }
  if (!missing.empty()) stop_usage("inputs are missing; add" + missing + ", or --synthetic SEED");
  return kept;
}

// The file of each output: its name with "_" for "/".
std::vector<std::string> output_paths(const Arguments& arguments, const Executable& executable) {
  const std::optional<std::string> folder = arguments.value("--output-dir");
  std::vector<std::string> paths;
  if (!folder) return paths;
  for (const Port& port : executable.outputs()) {
    std::string name = port.name;
    std::replace(name.begin(), name.end(), '/', '_');
    paths.push_back(*folder + "/" + name + ".npy");
  }
  return paths;
}

// What the plan reserves for sizes that depend on data, and what the run needed.
void add_dynamic_sizes(const Session& session, StyledText& out) {
  const std::vector<DynamicSize> sizes = session.dynamic_sizes();
  if (sizes.empty()) return;
  Bytes planned;
  Bytes seen;
  for (const DynamicSize& size : sizes) {
    planned += size.planned;
    seen += size.seen;
  }
  out.add("  " + with_count(static_cast<std::int64_t>(sizes.size()), "tensor") +
          " with sizes that depend on data: " + format_bytes(planned) + " planned, " + format_bytes(seen) + " seen")
      .end_line();
}

StyledText summary(const Executable& executable, const Session& session, double seconds) {
  StyledText out;
  TextTable table({TextTable::Align::left, TextTable::Align::left, TextTable::Align::right});
  for (std::size_t at = 0; at < executable.outputs().size(); ++at) {
    const Port& port = executable.outputs()[at];
    const Bytes bytes(static_cast<std::int64_t>(session.output(at).bytes.size()));
    table.add_row({StyledText(shown_name(port.name), Style::strong), type_of(port), format_bytes(bytes)});
  }
  out.append(table.text());
  const ExecutableMemory& memory = executable.memory();
  out.add("  arena " + format_bytes(executable.required_bytes()) + ", weights " +
          format_bytes(memory.mapped + memory.copied) + ", of which " + format_bytes(memory.copied) + " are copied");
  out.add("; one run in " + std::to_string(std::llround(seconds * 1e6)) + " us").end_line();
  add_dynamic_sizes(session, out);
  return out;
}

}  // namespace

ExitCode run_run(const Arguments& arguments, Console& console) {
  const OpenedModel opened = open_given(arguments, console);
  for (const std::string& note : opened.notes) console.remark(StyledText("note: ", Style::dim).add(note).end_line());
  const Executable& executable = *opened.executable;
  const std::vector<std::string> paths = output_paths(arguments, executable);
  std::vector<std::string> read = {arguments.positional("MODEL")};
  if (const std::optional<std::string> plan = arguments.value("--plan")) read.push_back(*plan);
  const OutputFiles files(paths, read, false);

  const Arena arena = take(Arena::allocate(executable.required_bytes()));
  Session session = take(Session::open(opened.executable, arena));
  const std::vector<std::string> inputs = bind_inputs(arguments, executable, session);
  take(executable.weights().check_files());
  const Stopwatch watch;
  const RunResult result = session.run();
  const double seconds = watch.seconds();
  if (!result.ok()) throw Stop(ExitCode::bad_input, describe(executable, result).describe());
  for (std::size_t at = 0; at < paths.size(); ++at) {
    const OutputRef output = session.output(at);
    files.write(paths[at], take(write_npy(output.dtype, output.extents, output.bytes)), console);
  }
  console.result(summary(executable, session, seconds));
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
