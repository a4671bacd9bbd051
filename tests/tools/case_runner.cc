// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Runs many small models in one process. Each line of stdin is a folder with `model.onnx` and the inputs `input_0.npy`,
// `input_1.npy` and so on, in the order of the model. The program writes `output_0.npy` and so on into the folder. It
// prints one line per folder: "ok", or a word and the reason why there is no output:
//
//   refused    the model cannot be imported, planned or prepared
//   failed     an input cannot be bound, or the run ended with an error
//   allocated  the run allocated memory
//
// The nodes run as they are written, because the subject is the kernel of each of them. With the argument --lowered
// they are rewritten for the kernels of this machine.
//
// With the argument --forged N it prepares each model, declares other types for its tensors in the prepared file, and
// opens and runs every N-th of these files (forged_files.h). It prints "ok" with the counts, and writes the cases that
// are not refused to `not_refused.txt` in the folder. With --range as well, the files have two plans.
//
// With the argument --operators the program prints all operators of the ONNX standard that have a kernel instead, one
// per line: its name, with its domain if it has one, then the element types of its first operand.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/engine/npy.h"
#include "lowtide/engine/process.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "tests/tools/forged_files.h"
#include "tests/tools/run_costs.h"

namespace lowtide {
namespace {

// A reason that stands on one line.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

template <typename T>
T take(const char* word, Result<T> result) {
  if (!result.ok()) throw Failure(std::string(word) + " " + on_one_line(result.error().describe()));
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure("failed " + path + ": cannot be opened");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string file_name(const std::string& folder, const char* kind, std::size_t number) {
  return folder + "/" + kind + "_" + std::to_string(number) + ".npy";
}

// The plan is quick to find, because these models are small and their plans are not the subject.
OpenOptions quick_options(bool is_lowered) {
  OpenOptions options;
  if (!is_lowered) options.lower = LowerOptions{};
  options.plan = {.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  return options;
}

// A plan that is read from a file is compared with the model first: the rewrites, the steps and the kernels.
void expect_accepted(const std::string& path, const Plan& plan) {
  OpenOptions options;
  options.given_plan = plan;
  take("failed: its own plan is not accepted:", open_model(path, options));
}

void run_case(const std::string& folder, bool is_lowered) {
  const OpenedModel model = take("refused", open_model(folder + "/model.onnx", quick_options(is_lowered)));
  const Executable& executable = *model.executable;
  if (is_lowered) expect_accepted(folder + "/model.onnx", executable.plan());
  const Arena arena = take("refused", Arena::allocate(executable.required_bytes()));
  Session session = take("refused", Session::open(model.executable, arena));
  std::vector<std::vector<std::byte>> inputs;
  for (std::size_t at = 0; at < executable.inputs().size(); ++at) {
    const std::string path = file_name(folder, "input", at);
    const std::vector<std::byte>& file = inputs.emplace_back(read_file(path));
    const NpyHead head = take("failed", read_npy_head(file, path));
    take("failed", session.bind_input(executable.inputs()[at].name,
                                      {head.dtype, head.extents, std::span(file).subspan(head.begin)}));
  }
  testing::begin_counting();
  const RunResult result = session.run();
  const std::int64_t allocations = testing::end_counting().allocations;
  if (!result.ok()) throw Failure("failed " + on_one_line(describe(executable, result).describe()));
  if (allocations > 0) throw Failure("allocated " + std::to_string(allocations) + " times");
  for (std::size_t at = 0; at < executable.outputs().size(); ++at) {
    const OutputRef output = session.output(at);
    const std::string file = take("failed", write_npy(output.dtype, output.extents, output.bytes));
    std::ofstream(file_name(folder, "output", at), std::ios::binary) << file;
  }
}

// "refused=12 stopped=1 harmless=0 result=8/8 input=4/5"
std::string run_forged(const std::string& folder, const testing::ForgedOptions& options, bool is_lowered) {
  static int number = 0;
  const OpenedModel model = take("refused", open_model(folder + "/model.onnx", quick_options(is_lowered)));
  const testing::ForgedOutcomes outcomes = testing::try_forged_files(model, folder, options, number);
  std::ofstream(folder + "/not_refused.txt") << outcomes.listed;
  std::string line = " refused=" + std::to_string(outcomes.refused) + " stopped=" + std::to_string(outcomes.stopped) +
                     " harmless=" + std::to_string(outcomes.harmless);
  for (const auto& [role, counts] : outcomes.by_role) {
    line += " " + role + "=" + std::to_string(counts.second) + "/" + std::to_string(counts.first);
  }
  return line;
}

void print_operators() {
  for (const SupportedOperator& row : supported_operators()) {
    if (!row.domain.empty() && row.domain != "ai.onnx.ml") continue;
    std::cout << (row.domain.empty() ? "" : "ai.onnx.ml.") << row.type;
    for (const DType dtype : row.dtypes) std::cout << ' ' << to_string(dtype);
    std::cout << '\n';
  }
}

}  // namespace
}  // namespace lowtide

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--operators") {
    lowtide::print_operators();
    return 0;
  }
  lowtide::configure_process({.kernels = {.keeps_runs_off_heap = true}});  // allocations of runs are counted
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const auto has = [&](std::string_view option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  const bool is_lowered = has("--lowered");
  const bool is_forged = argc >= 3 && std::string_view(argv[1]) == "--forged";
  std::string folder;
  while (std::getline(std::cin, folder)) {
    try {
      std::string counts;
      if (is_forged) {
        counts = lowtide::run_forged(folder, {.part = std::max(std::atoi(argv[2]), 1), .is_range = has("--range")},
                                     is_lowered);
      } else {
        lowtide::run_case(folder, is_lowered);
      }
      std::cout << "ok" << counts << std::endl;
    } catch (const lowtide::Failure& failure) {
      std::cout << failure.what() << std::endl;
    } catch (const std::exception& bug) {
      std::cout << "bug " << bug.what() << std::endl;
    }
  }
}
