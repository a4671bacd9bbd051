// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/import/imported.h"

// What the program has for TFLite models. Two files define these functions: commands/tflite/part.cc, and
// without_tflite.cc for a build that leaves them out (lowtide_WITH_TFLITE=OFF).
namespace lowtide::cli_internal {

class Arguments;
class Console;
struct CModel;
struct CModelOptions;
struct CModelPorts;
struct OptionSpec;

// The format of these models. Empty in a build without them, which refuses such a file with a message that names the
// option.
[[nodiscard]] std::span<const ModelFormat> tflite_model_formats();

// The options --tflm and --kernels of `plan`. Empty in a build without TFLite.
[[nodiscard]] std::vector<OptionSpec> micro_plan_options();

// What `plan MODEL --tflm FILE` does. Requires: the option is given.
[[nodiscard]] ExitCode plan_micro(const Arguments& arguments, Console& console);

// What `verify MODEL` does without a plan file. Stops with exit code 2 in a build without TFLite.
[[nodiscard]] ExitCode verify_offline_plan(const Arguments& arguments, Console& console);

// A TFLite model as a program in C. nullopt: the file is of another format, or the build is without TFLite. Stops with
// exit code 3 if the model cannot be one.
[[nodiscard]] std::optional<CModel> c_model_of_tflite(const std::string& path, const CModelOptions& options);

// The inputs and outputs of the program of c_model_of_tflite(), in its order, without a plan. nullopt: as there. Stops
// with exit code 3 if the file is damaged.
[[nodiscard]] std::optional<CModelPorts> c_ports_of_tflite(const std::string& path);

// The arena of TensorFlow Lite Micro for a model, by the runtime's own rule.
struct MicroFigures {
  struct Arena {
    std::string build;  // "cortex-m"
    std::int64_t pointer_bytes = 0;
    Bytes tail;      // what lasts
    Bytes smallest;  // the smallest tensor_arena
  };
  struct Line {
    std::string kernels;                    // "tflm-reference"
    std::string stated_fault;               // why offsets of the file do not count; empty: they do, or it has none
    Bytes head;                             // as the runtime plans it
    Bytes live;                             // the most bytes that are live at one step, in the order of the file
    std::vector<std::string> unknown;       // operators whose scratch is not in these figures
    std::vector<Arena> arenas;              // those that are known, one per build of the runtime
    std::vector<std::string> tail_unknown;  // operators of which it is not known what their kernels keep
    bool is_above_limit = false;            // an arena has a size that the runtime cannot have
  };
  std::string refusal = {};  // why there are no lines; empty: there are
  bool states_offsets = false;
  std::vector<Line> lines = {};  // one per kind of kernels
};

// nullopt in a build without TFLite. Requires: the file is a TFLite model.
[[nodiscard]] std::optional<MicroFigures> micro_figures(const std::string& path);

}  // namespace lowtide::cli_internal
