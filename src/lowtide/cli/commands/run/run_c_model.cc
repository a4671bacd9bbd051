// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/run_c_model.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/unique_names.h"
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

// An input or output, once for each tensor.
struct DistinctPort {
  std::size_t position = 0;  // the first one among those of the model
  Port port;
};

// Gives "_2" or another number to names that several tensors have.
void make_names_unique(std::vector<DistinctPort>& ports) {
  std::vector<std::string> names;
  for (const DistinctPort& one : ports) names.push_back(one.port.name);
  names = unique_names(names, [](std::string_view name) { return std::string(name.empty() ? "tensor" : name); });
  for (std::size_t at = 0; at < ports.size(); ++at) ports[at].port.name = std::move(names[at]);
}

// nullopt: one of them has a type that C source does not have.
std::optional<std::vector<DistinctPort>> ports_of(const std::vector<CModelPort>& from) {
  std::vector<DistinctPort> ports;
  std::set<std::uint32_t> tensors;
  for (std::size_t at = 0; at < from.size(); ++at) {
    if (!from[at].type) return std::nullopt;
    if (!tensors.insert(from[at].tensor).second) continue;
    const DType dtype = dtype_of(*from[at].type);
    const Shape shape(from[at].shape);
    const Bytes size = take(dense_size(dtype, shape));
    ports.push_back({at, {.name = from[at].name, .dtype = dtype, .shape = shape, .size = size, .is_in_arena = true}});
  }
  make_names_unique(ports);
  return ports;
}

std::vector<Port> without_positions(const std::vector<DistinctPort>& from) {
  std::vector<Port> ports;
  for (const DistinctPort& one : from) ports.push_back(one.port);
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

// One file per output; none without --output-dir.
std::vector<std::string> output_paths(const Arguments& arguments, const std::vector<DistinctPort>& outputs) {
  const std::optional<std::string> folder = arguments.value("--output-dir");
  if (!folder) return {};
  std::vector<std::string> names;
  for (const DistinctPort& output : outputs) names.push_back(output.port.name);
  make_folder(*folder);
  return paths_of_tensors(*folder, names);
}

OutputFiles check_files(const Arguments& arguments, const std::vector<Port>& inputs,
                        const std::vector<std::string>& paths) {
  std::vector<std::string> read = {arguments.positional("MODEL")};
  for (const auto& [name, file] : read_input_files(arguments, inputs)) read.push_back(file);
  return {paths, read, false};
}

StyledText summary(const CModel& model, const std::vector<DistinctPort>& outputs, double seconds) {
  StyledText out;
  TextTable table({TextTable::Align::left, TextTable::Align::left, TextTable::Align::right});
  for (const DistinctPort& output : outputs) {
    table.add_row({StyledText(shown_name(output.port.name), Style::strong), type_of(output.port),
                   format_bytes(output.port.size)});
  }
  out.append(table.text());
  Bytes constants;
  for (const CConstant& one : model.program.constants) constants += Bytes(static_cast<std::int64_t>(one.bytes.size()));
  out.add("  arena " + format_bytes(model.program.arena) + ", constants " + format_bytes(constants) + "; one run in " +
          time_text(seconds * 1000) + " with the kernels of its C source");
  out.end_line();
  return out;
}

// Reads or makes up the inputs. Stops if one has neither file nor seed, or another type than its file.
GivenInputs read_all(const Arguments& arguments, const std::vector<Port>& inputs) {
  GivenInputs given = read_inputs(arguments, read_seed(arguments), inputs);
  for (std::size_t at = 0; at < inputs.size(); ++at) check_given(inputs[at], given.tensors[at]);
  return given;
}

// All that can be known without a plan, which may take minutes.
struct Request {
  std::vector<DistinctPort> inputs;
  std::vector<DistinctPort> outputs;
  GivenInputs given;               // in the order of `inputs`
  std::vector<std::string> paths;  // in the order of `outputs`; empty: not written
};

// nullopt: the model has no program in C, because an input or output has a type that C source does not have.
std::optional<Request> read_request(const Arguments& arguments, const CModelPorts& ports) {
  std::optional<std::vector<DistinctPort>> inputs = ports_of(ports.inputs);
  std::optional<std::vector<DistinctPort>> outputs = ports_of(ports.outputs);
  if (!inputs || !outputs) return std::nullopt;
  Request request{.inputs = *std::move(inputs), .outputs = *std::move(outputs)};
  request.given = read_all(arguments, without_positions(request.inputs));
  request.paths = output_paths(arguments, request.outputs);
  return request;
}

void run_request(const Request& request, const CModel& model, const OutputFiles& files, Console& console) {
  const CProgram& program = model.program;
  const Arena arena = take(Arena::allocate(program.arena));
  set_initial_states(program, arena.memory());
  for (std::size_t at = 0; at < request.inputs.size(); ++at) {
    const CPort& input = program.inputs[request.inputs[at].position];
    std::ranges::copy(request.given.tensors[at].bytes, bytes_of(program.tensors[input.tensor], arena).begin());
  }
  const Stopwatch watch;
  take(run_c_program(program, arena.memory()));
  const double seconds = watch.seconds();
  for (std::size_t at = 0; at < request.paths.size(); ++at) {
    const DistinctPort& output = request.outputs[at];
    const std::span<std::byte> bytes = bytes_of(program.tensors[program.outputs[output.position].tensor], arena);
    files.write(request.paths[at], take(write_npy(output.port.dtype, output.port.shape.extents(), bytes)), console);
  }
  console.result(summary(model, request.outputs, seconds));
}

}  // namespace

std::optional<ExitCode> run_c_model(const Arguments& arguments, Console& console) {
  const Interrupt interrupt;
  const std::string& path = arguments.positional("MODEL");
  const std::optional<CModelPorts> ports = c_ports_of_tflite(path);
  if (!ports) return std::nullopt;
  refuse_other_options(arguments);
  const std::optional<Request> request = read_request(arguments, *ports);
  std::optional<OutputFiles> files;
  if (request) files = check_files(arguments, without_positions(request->inputs), request->paths);
  const std::optional<CModel> model = c_model_of_tflite(path, {.name = path, .stop = interrupt.flag()});
  LOWTIDE_CHECK(model && request, "a model whose inputs and outputs have types of C is a program, or stops");
  if (files->uses_stdout()) console.keep_stdout_free();
  run_request(*request, *model, *files, console);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
