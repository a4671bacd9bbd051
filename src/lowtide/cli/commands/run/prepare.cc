// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
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

StyledText summary_of(const OpenedModel& opened, const std::string& model, Bytes size) {
  const Executable& executable = *opened.executable;
  const ExecutableMemory& memory = executable.memory();
  StyledText out;
  out.add(shown_path(model), Style::strong)
      .add(" is prepared: " + with_count(static_cast<std::int64_t>(executable.plan().program.steps.size()), "step") +
           ", arena " + format_bytes(executable.plan().layout.arena[0]) + ", constants " +
           format_bytes(memory.mapped + memory.copied) + ", file " + format_bytes(size))
      .end_line();
  return out;
}

// Only a plan for the kernels of a machine says where its file is valid.
void check_plan(const OpenedModel& opened) {
  if (!opened.executable->plan().provenance.machine_key.empty()) return;
  stop_unfit("the plan is for the target " + lowtide::quoted(opened.executable->plan().provenance.target, 60) +
             ", and a prepared file needs one for this machine; plan with --target cpu");
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
  if (range.members.size() > 1) stop_usage("a prepared file has one plan; give one extent, or a file with one plan");
  const OpenedModel& opened = range.members.front();
  check_fits(opened, "is written");
  check_plan(opened);
  const std::vector<std::string>& overrides = arguments.values("--override");
  take(check_overrides(opened.executable->graph(), opened.default_inputs, {overrides.begin(), overrides.end()}));
  files.protect(weight_files(model, opened.executable->weights().table()));
  if (files.uses_stdout()) console.keep_stdout_free();
  console.notes(opened.notes);

  const PreparedFile file = take(prepared_file(opened), model);
  std::vector<std::string_view> pieces = {file.head};
  pieces.insert(pieces.end(), file.pieces.begin(), file.pieces.end());
  Bytes size;
  for (const std::string_view piece : pieces) size += Bytes(static_cast<std::int64_t>(piece.size()));
  const auto check = [&]() -> Result<void> {
    if (interrupt.was_asked()) throw Stop(ExitCode::no, "interrupted; nothing is written");
    return opened.executable->weights().check_files();
  };
  files.write(*destination, pieces, console, check);
  console.result(summary_of(opened, model, size));
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
