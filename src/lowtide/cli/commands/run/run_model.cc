// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/commands/run/given_inputs.h"
#include "lowtide/cli/commands/run/handlers.h"
#include "lowtide/cli/commands/run/open_given.h"
#include "lowtide/cli/commands/run/outside.h"
#include "lowtide/cli/commands/run/run_c_model.h"
#include "lowtide/cli/commands/run/step_figures.h"
#include "lowtide/cli/commands/run/trace.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/link_options.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/npy.h"
#include "lowtide/engine/process.h"
#include "lowtide/engine/range.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "lowtide/runtime/step_times.h"

namespace lowtide::cli_internal {
namespace {

// The member for the extents of the inputs that are given. Without inputs, the last one.
const OpenedModel& choose_member(const Arguments& arguments, const OpenedRange& range) {
  const OpenedModel& last = range.members.back();
  if (range.members.size() == 1) return last;
  const std::map<std::string, std::vector<std::int64_t>> given =
      read_input_extents(arguments, last.executable->inputs());
  if (given.empty()) return last;
  if (const OpenedModel* chosen = range.find(given)) return *chosen;
  std::string shown;
  for (const auto& [name, extents] : given) {
    shown += (shown.empty() ? "input " : ", input ") + lowtide::quoted(name, 60) + " has the shape " +
             to_string(Shape(extents));
  }
  stop_unfit(shown + ", for which there is no plan; give an input of another shape, or plan for this one");
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

// An output that the model lists twice is one answer.
std::vector<Answer> answers_of(const Executable& executable) {
  std::vector<Answer> answers;
  std::set<std::string> names;
  const auto add = [&](const Port& port, const std::string& name, std::optional<std::size_t> position) {
    if (names.insert(name).second) answers.push_back({.name = name, .port = port, .position = position});
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

// Decides to which files --output-dir writes.
void add_paths(const Arguments& arguments, std::vector<Answer>& answers) {
  const std::optional<std::string> folder = arguments.value("--output-dir");
  if (!folder) return;
  std::vector<std::string> names;
  for (const Answer& answer : answers) names.push_back(answer.name);
  const std::vector<std::string> paths = paths_of_tensors(*folder, names);
  for (std::size_t at = 0; at < answers.size(); ++at) answers[at].path = paths[at];
}

// The file of an output does not have its name if another output has that file.
void note_other_name(const Arguments& arguments, const Answer& answer, Console& console) {
  const std::string usual = paths_of_tensors(*arguments.value("--output-dir"), std::span(&answer.name, 1)).front();
  if (answer.path == usual) return;
  console.note("output " + lowtide::quoted(answer.name, 60) + " is in " + shown_name(answer.path) +
               ", because another output is in " + shown_name(usual));
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
  for (const char* option : {"--plan", "--hints", "--costs"}) {
    if (const std::optional<std::string> file = arguments.value(option)) read.push_back(*file);
  }
  for (const auto& [name, file] : read_input_files(arguments, executable.inputs())) read.push_back(file);
  for (std::string& file : weight_files(arguments.positional("MODEL"), executable.weights().table())) {
    read.push_back(std::move(file));
  }
  std::vector<std::string> paths;
  for (const Answer& answer : answers) {
    if (!answer.path.empty()) paths.push_back(answer.path);
  }
  if (const std::optional<std::string> trace = arguments.value("--trace")) paths.push_back(*trace);
  if (const std::optional<std::string> folder = arguments.value("--output-dir")) make_folder(*folder);
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
  if (memory.outside > Bytes(0)) out.add(", outside " + format_bytes(memory.outside));
  out.add("; one run in " + time_text(seconds * 1000)).end_line();
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

// The remarks of the importer, and one on kernels. A plan of this machine has a key.
void add_notes(const OpenedModel& opened, const Plan& plan, Console& console) {
  std::vector<std::string> notes = opened.notes;
  if (plan.provenance.machine_key.empty()) {
    notes.push_back("the plan is for the target " + lowtide::quoted(plan.provenance.target, 60) +
                    ", so plain kernels run, which are slow; plan with --target cpu for the kernels of this machine");
  }
  console.notes(notes);
}

// Ctrl-C during a step has no effect until the step has ended.
[[noreturn]] void stop_interrupted() {
  throw Stop(ExitCode::no, "interrupted before the run ended; no output is written");
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
  if (arguments.value("--output-dir") == "") stop_usage("'--output-dir' needs the name of a folder, such as .");
  if (const std::optional<ExitCode> done = run_c_model(arguments, console)) return *done;
  configure_process({.kernels = {.keeps_runs_off_heap = true}, .catches_file_faults = true});
  const Interrupt interrupt;
  const OpenedRange range = open_given(arguments, interrupt, console);
  if (interrupt.was_asked()) stop_interrupted();
  refuse_planned_defaults(arguments, range.members.front().default_inputs);
  const OpenedModel& opened = choose_member(arguments, range);
  check_fits(opened);
  const Executable& executable = *opened.executable;
  add_notes(opened, executable.plan(), console);
  std::vector<Answer> answers = answers_of(executable);
  add_paths(arguments, answers);
  const std::optional<std::string> trace = arguments.value("--trace");

  const Arena arena = take(Arena::allocate(range.required_bytes()));
  // There is one run only. What a first run does more is left out of a trace.
  Session session = take(Session::open(
      opened.executable, arena,
      {.touch = trace.has_value(), .outside = read_outside(arguments, executable, console), .stop = interrupt.flag()}));
  const GivenInputs inputs = bind_inputs(arguments, read_seed(arguments), session);
  bind_answers(answers, session);
  const OutputFiles files = check_outputs(arguments, executable, answers);
  if (files.uses_stdout()) console.keep_stdout_free();
  take(session.check_files());
  const Stopwatch watch;
  std::vector<StepTime> times;
  const RunResult result = trace ? run_with_times(session, times) : session.run();
  const double seconds = watch.seconds();
  if (result.status.code == RunCode::stopped) stop_interrupted();
  if (!result.ok()) throw Stop(ExitCode::bad_input, describe(executable, result).describe());
  take(session.check_files());
  for (const Answer& answer : answers) {
    if (answer.path.empty()) continue;
    const OutputRef output = content_of(answer, session);
    note_other_name(arguments, answer, console);
    files.write(answer.path, take(write_npy(output.dtype, output.extents, output.bytes)), console);
  }
  if (trace) files.write(*trace, trace_of(executable, times), console);
  StyledText text = summary(executable, session, answers, seconds);
  const bool is_right = run_checks(arguments, executable, inputs, text);
  console.result(text);
  return is_right ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
