// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Runs models by the calls of their operators, each tensor in memory of its own, for tests/tflm:
//
//     run_calls FOLDER [RUNS]
//
// For each NAME.tflite of the folder, NAME.in has the bytes of all inputs of one run after another. Writes NAME.out,
// the bytes of all outputs of each run, or NAME.error. With RUNS, the last inputs run that many times more, and
// NAME.time has the seconds.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/c_source/c_kernels/run_c_program.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/tflite_program/c_type.h"
#include "lowtide/tflite/tflite_program/operator_call.h"

namespace lowtide {
namespace {

constexpr std::int64_t kAlignment = 16;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Puts something of this size behind everything else.
Offset append_to_arena(CProgram& program, Bytes size) {
  const Offset offset(program.arena.count());
  program.arena = round_up(program.arena + size, Bytes(kAlignment));
  return offset;
}

Result<std::vector<COperand>> add_tensors(const TfliteModel& model, const std::string& file, CProgram& program) {
  std::vector<COperand> operands;
  for (const TfliteTensor& tensor : model.subgraphs.front().tensors) {
    if (is_constant(model, tensor)) {
      // Constants of other types are read by the operators alone.
      Result<CConstant> constant = c_constant(model, file, tensor);
      operands.emplace_back();
      if (!constant.ok()) continue;
      operands.back() = CConstantIndex{program.constants.size()};
      program.constants.push_back(*std::move(constant));
      continue;
    }
    const std::optional<CType> type = c_type(tensor.type);
    if (!type) return Error{ErrorCode::unsupported, "a tensor has another type", tensor.name};
    CTensor added{.name = tensor.name, .type = *type, .shape = tensor.shape, .is_state = tensor.is_variable};
    added.size = Bytes(size_of(*type));
    for (std::int64_t extent : tensor.shape) added.size = added.size * extent;
    added.offset = append_to_arena(program, added.size);
    operands.emplace_back(CTensorIndex{program.tensors.size()});
    program.tensors.push_back(std::move(added));
  }
  return operands;
}

Result<CProgram> program_of(const TfliteModel& model, const std::string& file) {
  CProgram program;
  LOWTIDE_TRY(const std::vector<COperand> operands, add_tensors(model, file, program));
  const TfliteSubgraph& graph = model.subgraphs.front();
  for (std::uint32_t op = 0; op < graph.operators.size(); ++op) {
    LOWTIDE_TRY(std::vector<CCall> calls, calls_of_operator({model, file, 0, op}, operands, program.constants));
    for (CCall& call : calls) program.calls.push_back(std::move(call));
  }
  const auto add_ports = [&](const std::vector<std::uint32_t>& tensors, std::vector<CPort>& ports) {
    for (std::uint32_t tensor : tensors) {
      if (const auto* index = std::get_if<CTensorIndex>(&operands[tensor])) ports.push_back({.tensor = index->value});
    }
  };
  add_ports(graph.inputs, program.inputs);
  add_ports(graph.outputs, program.outputs);
  return program;
}

struct Outcome {
  std::string outputs;
  double seconds = 0;
};

Result<Outcome> run(const std::string& file, std::string_view inputs, int timed_runs) {
  LOWTIDE_TRY(const TfliteModel model, read_tflite(file));
  LOWTIDE_TRY(const CProgram program, program_of(model, file));
  struct alignas(kAlignment) Unit {
    std::byte bytes[kAlignment];
  };
  std::vector<Unit> units(static_cast<std::size_t>(program.arena.count() / kAlignment + 1));
  const std::span<std::byte> arena(units.front().bytes, units.size() * kAlignment);
  set_initial_states(program, arena);
  Outcome outcome;
  do {
    for (const CPort& port : program.inputs) {
      const CTensor& tensor = program.tensors[port.tensor];
      const std::string_view bytes = inputs.substr(0, static_cast<std::size_t>(tensor.size.count()));
      std::copy_n(bytes.begin(), bytes.size(), reinterpret_cast<char*>(arena.data()) + tensor.offset.position());
      inputs.remove_prefix(bytes.size());
    }
    LOWTIDE_RETURN_IF_ERROR(run_c_program(program, arena));
    for (const CPort& port : program.outputs) {
      const CTensor& tensor = program.tensors[port.tensor];
      outcome.outputs.append(reinterpret_cast<const char*>(arena.data()) + tensor.offset.position(),
                             static_cast<std::size_t>(tensor.size.count()));
    }
  } while (!inputs.empty());
  const auto start = std::chrono::steady_clock::now();
  for (int at = 0; at < timed_runs; ++at) LOWTIDE_RETURN_IF_ERROR(run_c_program(program, arena));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

void run_case(const std::filesystem::path& model, int timed_runs) {
  const auto with = [&](const char* extension) { return std::filesystem::path(model).replace_extension(extension); };
  const Result<Outcome> outcome = run(read_file(model), read_file(with(".in")), timed_runs);
  if (!outcome.ok()) {
    std::ofstream(with(".error")) << outcome.error().describe();
    return;
  }
  std::ofstream(with(".out"), std::ios::binary) << outcome->outputs;
  if (timed_runs > 0) std::ofstream(with(".time")) << outcome->seconds;
}

}  // namespace
}  // namespace lowtide

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: run_calls FOLDER [RUNS]\n";
    return 2;
  }
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() == ".tflite") lowtide::run_case(entry.path(), argc > 2 ? std::atoi(argv[2]) : 0);
  }
  return 0;
}
