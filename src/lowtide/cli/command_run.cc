// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
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
#include "lowtide/runtime/inspect.h"
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

// Binds an input, or copies it into the arena if the plan has a place for it there.
void give_input(const Port& port, const TensorRef& tensor, Session& session) {
  if (!port.is_in_arena) return take(session.bind_input(port.name, tensor));
  const bool is_equal = tensor.dtype == port.dtype && std::ranges::equal(tensor.extents, port.shape.extents());
  if (!is_equal) {
    const Shape given(std::vector<std::int64_t>(tensor.extents.begin(), tensor.extents.end()));
    throw Stop(ExitCode::bad_input, "input " + lowtide::quoted(port.name) + ": has type " + type_of(port) + ", but " +
                                        std::string(to_string(tensor.dtype)) + to_string(given) + " is given");
  }
  std::ranges::copy(tensor.bytes, take(session.arena_input(port.name)).begin());
}

// The inputs of a run. The tensors refer to the bytes and extents, which keep their addresses.
struct GivenInputs {
  std::vector<std::string> bytes;
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<TensorRef> tensors;  // in the order of the model
};

// Reads or makes up every input, and binds it.
GivenInputs bind_inputs(const Arguments& arguments, const Executable& executable, Session& session) {
  const std::map<std::string, std::string> files = read_input_files(arguments, executable.inputs());
  const std::optional<std::uint64_t> seed = read_seed(arguments);
  GivenInputs given;
  given.bytes.reserve(executable.inputs().size());
  given.extents.reserve(executable.inputs().size());
  std::string missing;
  for (const Port& port : executable.inputs()) {
    const auto file = files.find(port.name);
    if (file != files.end()) {
      const std::string& bytes = given.bytes.emplace_back(take(read_text_file(file->second, limits::kMaxFileBytes)));
      const std::span<const std::byte> content = std::as_bytes(std::span(bytes));
      const NpyHead head = take(read_npy_head(content, name_of_file(file->second)));
      given.extents.push_back(head.extents);
      given.tensors.push_back({head.dtype, given.extents.back(), content.subspan(head.begin)});
    } else if (seed) {
      std::string& bytes = given.bytes.emplace_back(static_cast<std::size_t>(port.size.count()), '\0');
      take(fill_synthetic({port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}}, *seed,
                          std::as_writable_bytes(std::span(bytes))));
      given.tensors.push_back({port.dtype, port.shape.extents(), std::as_bytes(std::span(bytes))});
    } else {
      missing += " --input " + port.name + "=FILE.npy (" + type_of(port) + ")";
      continue;
    }
    give_input(port, given.tensors.back(), session);
  }
  if (!missing.empty()) stop_usage("inputs are missing; add" + missing + ", or --synthetic SEED");
  return given;
}

// What a run computes for the caller: an output of the executable, or a state in which `plan --outputs caller` keeps an
// output.
struct Answer {
  std::string name;
  Port port;
  std::optional<std::size_t> position;  // among the outputs; nullopt: a state
  std::string bytes = {};               // of a state
  std::string path = {};                // empty: not written
};

constexpr std::string_view kAtCaller = " (caller)";

std::string path_of(const std::string& folder, std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return folder + "/" + name + ".npy";
}

// An output that the model lists twice is one answer.
std::vector<Answer> answers_of(const Arguments& arguments, const Executable& executable) {
  const std::optional<std::string> folder = arguments.value("--output-dir");
  if (folder && folder->empty()) stop_usage("'--output-dir' needs the name of a folder, such as .");
  std::vector<Answer> answers;
  std::set<std::string> names;
  const auto add = [&](const Port& port, std::string name, std::optional<std::size_t> position) {
    if (!names.insert(name).second) return;
    answers.push_back({.name = name, .port = port, .position = position});
    if (folder) answers.back().path = path_of(*folder, std::move(name));
  };
  for (std::size_t at = 0; at < executable.outputs().size(); ++at) {
    add(executable.outputs()[at], executable.outputs()[at].name, at);
  }
  for (const Port& port : executable.states()) {
    const bool is_at_caller = port.name.ends_with(kAtCaller);
    add(port, is_at_caller ? port.name.substr(0, port.name.size() - kAtCaller.size()) : port.name, std::nullopt);
  }
  return answers;
}

// Gives the states memory.
void bind_answers(std::vector<Answer>& answers, Session& session) {
  for (Answer& answer : answers) {
    if (answer.position) continue;
    answer.bytes.assign(static_cast<std::size_t>(answer.port.size.count()), '\0');
    take(session.bind_state(answer.port.name, std::as_writable_bytes(std::span(answer.bytes))));
  }
}

OutputRef content_of(const Answer& answer, const Session& session) {
  if (answer.position) return session.output(*answer.position);
  return {answer.port.dtype, answer.port.shape.extents(), std::as_bytes(std::span(answer.bytes))};
}

OutputFiles check_outputs(const Arguments& arguments, const Executable& executable, std::span<const Answer> answers) {
  std::vector<std::string> read = {arguments.positional("MODEL")};
  if (const std::optional<std::string> plan = arguments.value("--plan")) read.push_back(*plan);
  for (const auto& [name, file] : read_input_files(arguments, executable.inputs())) read.push_back(file);
  for (std::string& file : weight_files(arguments.positional("MODEL"), executable.weights().table())) {
    read.push_back(std::move(file));
  }
  std::vector<std::string> paths;
  for (const Answer& answer : answers) {
    if (!answer.path.empty()) paths.push_back(answer.path);
  }
  return {paths, read, false};
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

StyledText summary(const Executable& executable, const Session& session, std::span<const Answer> answers,
                   double seconds) {
  StyledText out;
  TextTable table({TextTable::Align::left, TextTable::Align::left, TextTable::Align::right});
  for (const Answer& answer : answers) {
    const Bytes bytes(static_cast<std::int64_t>(content_of(answer, session).bytes.size()));
    table.add_row({StyledText(shown_name(answer.name), Style::strong), type_of(answer.port), format_bytes(bytes)});
  }
  out.append(table.text());
  const ExecutableMemory& memory = executable.memory();
  out.add("  arena " + format_bytes(executable.required_bytes()) + ", weights " +
          format_bytes(memory.mapped + memory.copied) + ", of which " + format_bytes(memory.copied) + " are copied");
  out.add("; one run in " + std::to_string(std::llround(seconds * 1e6)) + " us").end_line();
  add_dynamic_sizes(session, out);
  return out;
}

// A line that says what one of the runs that look for defects has found.
void add_check(const std::string& name, const RunInspection& inspection, const std::string& nothing, StyledText& out) {
  out.add("  " + name + ": ", Style::strong);
  if (inspection.fault) {
    out.add(*inspection.fault, Style::bad);
  } else {
    out.add(nothing);
  }
  out.end_line();
}

// Runs the model again in the ways that the options ask for. Returns whether no defect was found.
bool run_checks(const Arguments& arguments, const Executable& executable, const GivenInputs& inputs, StyledText& out) {
  bool is_right = true;
  const auto note = [&](const char* name, const RunInspection& inspection, const std::string& nothing) {
    add_check(name, inspection, nothing, out);
    is_right = is_right && !inspection.fault;
  };
  if (arguments.has("--poison")) {
    const RunInspection found = take(run_poisoned(executable, inputs.tensors));
    const Plan& plan = executable.plan();
    note("poison", found,
         "no step reads or writes bytes that no tensor has; peak " + format_bytes(found.seen_peak) + " of " +
             format_bytes(plan.claims.load) + " planned, arena " + format_bytes(found.seen_arena) + " of " +
             format_bytes(plan.layout.arena[0]));
  }
  if (arguments.has("--guard")) {
    note("guard", take(run_guarded(executable, inputs.tensors)), "no step accesses memory outside of its buffers");
  }
  if (arguments.has("--compare")) {
    note("compare", take(compare_without_reuse(executable, inputs.tensors)),
         "all values are equal to those of a run without reuse");
  }
  return is_right;
}

}  // namespace

ExitCode run_run(const Arguments& arguments, Console& console) {
  const OpenedModel opened = open_given(arguments, console);
  for (const std::string& note : opened.notes) console.remark(StyledText("note: ", Style::dim).add(note).end_line());
  const Executable& executable = *opened.executable;
  std::vector<Answer> answers = answers_of(arguments, executable);
  const OutputFiles files = check_outputs(arguments, executable, answers);

  const Arena arena = take(Arena::allocate(executable.required_bytes()));
  Session session = take(Session::open(opened.executable, arena, {.touch = false}));  // there is one run only
  const GivenInputs inputs = bind_inputs(arguments, executable, session);
  bind_answers(answers, session);
  take(executable.weights().check_files());
  const Stopwatch watch;
  const RunResult result = session.run();
  const double seconds = watch.seconds();
  if (!result.ok()) throw Stop(ExitCode::bad_input, describe(executable, result).describe());
  for (const Answer& answer : answers) {
    if (answer.path.empty()) continue;
    const OutputRef output = content_of(answer, session);
    files.write(answer.path, take(write_npy(output.dtype, output.extents, output.bytes)), console);
  }
  StyledText text = summary(executable, session, answers, seconds);
  const bool is_right = run_checks(arguments, executable, inputs, text);
  console.result(text);
  return is_right ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
