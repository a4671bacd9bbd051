// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/interrupt.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/open_given.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/engine/prepared_file.h"
#include "lowtide/weights/file_faults.h"

namespace lowtide::cli_internal {
namespace {

StyledText summary_of(const OpenedModel& opened, const std::string& model, Bytes size) {
  const Executable& executable = *opened.executable;
  const ExecutableMemory& memory = executable.memory();
  StyledText out;
  out.add(shown_path(model), Style::strong)
      .add(" is prepared for " + std::to_string(executable.plan().program.steps.size()) + " steps: arena " +
           format_bytes(executable.plan().layout.arena[0]) + ", constants " +
           format_bytes(memory.mapped + memory.copied) + ", file " + format_bytes(size))
      .end_line();
  return out;
}

}  // namespace

ExitCode run_prepare(const Arguments& arguments, Console& console) {
  const std::string& model = arguments.positional("MODEL");
  const std::optional<std::string> destination = arguments.value("--output");
  if (!destination) stop_usage("'prepare' needs the file to write: -o FILE");
  if (is_prepared_file(model)) stop_usage(shown_path(model) + " is a prepared file already");
  std::vector<std::string> inputs = {model};
  for (const char* option : {"--plan", "--hints"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  const OutputFiles files({*destination}, inputs, false);
  catch_file_faults();
  const Interrupt interrupt;
  const OpenedRange range = open_given(arguments, interrupt, console);
  if (interrupt.was_asked()) throw Stop(ExitCode::no, "interrupted; nothing is written");
  if (range.members.size() > 1) stop_usage("a prepared file has one plan; give one extent, or a file with one plan");
  const OpenedModel& opened = range.members.front();
  check_fits(opened);
  files.protect(weight_files(model, opened.executable->weights().table()));
  if (files.uses_stdout()) console.keep_stdout_free();
  console.notes(opened.notes);

  const PreparedFile file = take(prepared_file(opened), model);
  std::vector<std::string_view> pieces = {file.head};
  pieces.insert(pieces.end(), file.pieces.begin(), file.pieces.end());
  Bytes size;
  for (const std::string_view piece : pieces) size += Bytes(static_cast<std::int64_t>(piece.size()));
  files.write(*destination, pieces, console);
  if (opened.executable->weights().has_lost_bytes()) {
    throw Stop(ExitCode::bad_input, "the weights became shorter while they were read; prepare the model again");
  }
  console.result(summary_of(opened, model, size));
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
