// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/run_c_model.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/c_source/c_kernels/run_c_program.h"
#include "lowtide/cli/commands/run/given_inputs.h"
#include "lowtide/cli/commands/run/step_figures.h"
#include "lowtide/cli/model/c_model.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/engine/npy.h"
#include "lowtide/runtime/arena.h"

namespace lowtide::cli_internal {
namespace {

DType dtype_of(CType type) {
  switch (type) {
    case CType::int8: return DType::i8;
    case CType::uint8: return DType::u8;
    case CType::int16: return DType::i16;
    case CType::int32: return DType::i32;
    case CType::int64: return DType::i64;
    case CType::boolean: return DType::boolean;
    case CType::float32: break;
  }
  return DType::f32;
}

std::vector<Port> ports_of(const CProgram& program, const std::vector<CPort>& from) {
  std::vector<Port> ports;
  for (const CPort& one : from) {
    const CTensor& tensor = program.tensors[one.tensor];
    ports.push_back({.name = one.name,
                     .dtype = dtype_of(tensor.type),
                     .shape = Shape(tensor.shape),
                     .size = tensor.size,
                     .is_in_arena = true});
  }
  return ports;
}

std::span<std::byte> bytes_of(const CTensor& tensor, const Arena& arena) {
  return arena.memory().subspan(static_cast<std::size_t>(tensor.offset.position()),
                                static_cast<std::size_t>(tensor.size.count()));
}

// The options that choose among plans, kernels or graphs of other models.
void refuse_other_options(const Arguments& arguments) {
  for (const char* option :
       {"--plan", "--budget", "--hints", "--costs", "--link", "--link-latency", "--swap-dir", "--threads", "--trace",
        "--poison", "--guard", "--compare", "--without", "--dim", "--shape", "--at-most", "--init-net", "--shapes"}) {
    if (!arguments.has(option)) continue;
    stop_usage(std::string(option) + " has no effect on a TFLite model, which runs with the kernels of its C source");
  }
}

// An output that the model lists twice is written once.
std::vector<std::size_t> distinct(const std::vector<Port>& outputs) {
  std::set<std::string> names;
  std::vector<std::size_t> first;
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (names.insert(outputs[at].name).second) first.push_back(at);
  }
  return first;
}

// One file per output; none without --output-dir.
std::vector<std::string> output_paths(const Arguments& arguments, const std::vector<Port>& outputs,
                                      std::span<const std::size_t> written) {
  const std::optional<std::string> folder = arguments.value("--output-dir");
  if (!folder) return {};
  std::vector<std::string> names;
  for (std::size_t at : written) names.push_back(outputs[at].name);
  make_folder(*folder);
  return paths_of_tensors(*folder, names);
}

OutputFiles check_files(const Arguments& arguments, const std::vector<Port>& inputs,
                        const std::vector<std::string>& paths) {
  std::vector<std::string> read = {arguments.positional("MODEL")};
  for (const auto& [name, file] : read_input_files(arguments, inputs)) read.push_back(file);
  return {paths, read, false};
}

StyledText summary(const CModel& model, const std::vector<Port>& outputs, std::span<const std::size_t> shown,
                   double seconds) {
  StyledText out;
  TextTable table({TextTable::Align::left, TextTable::Align::left, TextTable::Align::right});
  for (std::size_t at : shown) {
    table.add_row({StyledText(shown_name(outputs[at].name), Style::strong), type_of(outputs[at]),
                   format_bytes(outputs[at].size)});
  }
  out.append(table.text());
  Bytes constants;
  for (const CConstant& one : model.program.constants) constants += Bytes(static_cast<std::int64_t>(one.bytes.size()));
  out.add("  arena " + format_bytes(model.program.arena) + ", constants " + format_bytes(constants) + "; one run in " +
          time_text(seconds * 1000) + " with the kernels of its C source");
  out.end_line();
  return out;
}

// Copies the inputs to their places. Without a file or seed for each, stops.
void give_inputs(const Arguments& arguments, const CProgram& program, const std::vector<Port>& inputs,
                 const Arena& arena) {
  const GivenInputs given = read_inputs(arguments, read_seed(arguments), inputs);
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    check_given(inputs[at], given.tensors[at]);
    std::ranges::copy(given.tensors[at].bytes, bytes_of(program.tensors[program.inputs[at].tensor], arena).begin());
  }
}

}  // namespace

std::optional<ExitCode> run_c_model(const Arguments& arguments, Console& console) {
  const Interrupt interrupt;
  const std::string& path = arguments.positional("MODEL");
  const std::optional<CModel> model = c_model_of_tflite(path, {.name = path, .stop = interrupt.flag()});
  if (!model) return std::nullopt;
  refuse_other_options(arguments);
  const CProgram& program = model->program;
  const std::vector<Port> inputs = ports_of(program, program.inputs);
  const std::vector<Port> outputs = ports_of(program, program.outputs);
  const std::vector<std::size_t> written = distinct(outputs);
  const Arena arena = take(Arena::allocate(program.arena));
  set_initial_states(program, arena.memory());
  give_inputs(arguments, program, inputs, arena);
  const std::vector<std::string> paths = output_paths(arguments, outputs, written);
  const OutputFiles files = check_files(arguments, inputs, paths);
  if (files.uses_stdout()) console.keep_stdout_free();
  const Stopwatch watch;
  take(run_c_program(program, arena.memory()));
  const double seconds = watch.seconds();
  for (std::size_t at = 0; at < paths.size(); ++at) {
    const Port& port = outputs[written[at]];
    const std::span<std::byte> bytes = bytes_of(program.tensors[program.outputs[written[at]].tensor], arena);
    files.write(paths[at], take(write_npy(port.dtype, port.shape.extents(), bytes)), console);
  }
  console.result(summary(*model, outputs, written, seconds));
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
