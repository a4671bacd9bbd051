// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/cli/commands/run/handlers.h"
#include "lowtide/cli/commands/run/open_given.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/engine/prepared_file.h"
#include "lowtide/engine/process.h"
#include "lowtide/import/import.h"

namespace lowtide::cli_internal {
namespace {

Bytes size_of(const std::vector<std::string_view>& pieces) {
  Bytes size;
  for (const std::string_view piece : pieces) size += Bytes(static_cast<std::int64_t>(piece.size()));
  return size;
}

StyledText summary_of(const OpenedRange& range, const std::string& model, const PreparedFile& file) {
  const Executable& first = *range.members.front().executable;
  const bool is_one = range.members.size() == 1;
  const ExecutableMemory& memory = first.memory();
  const Bytes pieces = size_of(file.pieces);
  const auto count = static_cast<std::int64_t>(is_one ? first.plan().program.steps.size() : range.members.size());
  StyledText out;
  out.add(shown_path(model), Style::strong)
      .add(" is prepared: " + with_count(count, is_one ? "step" : "plan") + ", arena " +
           format_bytes(is_one ? first.plan().layout.arena[0] : range.required_bytes()) + ", constants " +
           format_bytes(is_one ? memory.mapped + memory.copied : pieces) + ", file " +
           format_bytes(size_of({file.head}) + pieces))
      .end_line();
  return out;
}

// Only a plan for the kernels of a machine says where its file is valid.
void check_plan(const OpenedModel& opened) {
  if (!opened.executable->plan().provenance.machine_key.empty()) return;
  stop_unfit("the plan is for the target " + lowtide::quoted(opened.executable->plan().provenance.target, 60) +
             ", and a prepared file needs one for this machine; plan with --target cpu");
}

// Stops if a plan cannot be prepared. No output may replace a file that is read.
void check_members(const OpenedRange& range, const Arguments& arguments, const OutputFiles& files) {
  const std::vector<std::string>& overrides = arguments.values("--override");
  for (const OpenedModel& opened : range.members) {
    const Executable& executable = *opened.executable;
    check_fits(opened, "is written");
    check_plan(opened);
    take(check_overrides(executable.graph(), opened.default_inputs, {overrides.begin(), overrides.end()}));
    files.protect(weight_files(arguments.positional("MODEL"), executable.weights().table()));
  }
}

// Plans for other sizes of one model often have the same notes.
void add_notes(const OpenedRange& range, Console& console) {
  std::set<std::string> known;
  for (const OpenedModel& opened : range.members) {
    std::vector<std::string> notes;
    for (const std::string& note : opened.notes) {
      if (known.insert(note).second) notes.push_back(note);
    }
    console.notes(notes);
  }
}

}  // namespace

ExitCode run_prepare(const Arguments& arguments, Console& console) {
  const std::string& model = arguments.positional("MODEL");
  const std::optional<std::string> destination = arguments.value("--output");
  if (!destination) stop_usage("'prepare' needs the file to write: -o FILE");
  if (is_prepared_file(model)) stop_usage(shown_path(model) + " is a prepared file already");
  std::vector<std::string> inputs = {model};
  for (const char* option : {"--plan", "--hints", "--costs"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  const OutputFiles files({*destination}, inputs, false);
  configure_process({.kernels = {.keeps_runs_off_heap = true}, .catches_file_faults = true});
  const Interrupt interrupt;
  const OpenedRange range = open_given(arguments, interrupt, console);
  if (interrupt.was_asked()) throw Stop(ExitCode::no, "interrupted; nothing is written");
  check_members(range, arguments, files);
  if (files.uses_stdout()) console.keep_stdout_free();
  add_notes(range, console);

  const PreparedFile file = take(prepared_file(range), model);
  std::vector<std::string_view> pieces = {file.head};
  pieces.insert(pieces.end(), file.pieces.begin(), file.pieces.end());
  const auto check = [&]() -> Result<void> {
    if (interrupt.was_asked()) throw Stop(ExitCode::no, "interrupted; nothing is written");
    for (const OpenedModel& opened : range.members) {
      LOWTIDE_RETURN_IF_ERROR(opened.executable->weights().check_files());
    }
    return {};
  };
  files.write(*destination, pieces, console, check);
  console.result(summary_of(range, model, file));
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
