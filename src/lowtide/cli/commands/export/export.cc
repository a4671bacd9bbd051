// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/c_source/c_writer/stack_bound.h"
#include "lowtide/c_source/c_writer/write_c_source.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/c_model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/cli/output/write_together.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/import/import.h"

namespace lowtide::cli_internal {
namespace {

// What the files of this command say in their first lines.
constexpr std::string_view kMark = "written by lowtide";
constexpr std::int64_t kMarkedBytes = 4096;
constexpr std::string_view kHeader = "model.h";
constexpr std::string_view kArrays = "weights.c";
constexpr std::string_view kBlob = "weights.bin";

// Whether the text is near the begin of the file.
bool begin_has(const std::string& path, std::string_view text) {
  const Result<std::string> begin = read_beginning(path, kMarkedBytes);
  return begin && begin->find(text) != std::string::npos;
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

// Whether this command wrote the file. A blob has no mark: the header beside it says that it belongs to it.
bool is_ours(const std::string& folder, std::string_view name) {
  const std::string header = folder + "/" + std::string(kHeader);
  if (name == kBlob) return begin_has(header, kMark) && begin_has(header, kBlobLine);
  return begin_has(folder + "/" + std::string(name), kMark);
}

// Stops if a file is in the way that this command did not write.
void protect_files(const std::string& folder, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    const std::string path = folder + "/" + std::string(name);
    if (!exists(path) || is_ours(folder, name)) continue;
    throw Stop(ExitCode::bad_input, shown_path(path) +
                                        " is there, and lowtide did not write it; name another folder, "
                                        "or replace it with --force");
  }
}

// The constants of an export before, in the other form: they do not belong to the new header.
std::optional<std::string> stale_weights(const std::string& folder, bool is_blob) {
  const std::string_view other = is_blob ? kArrays : kBlob;
  std::string path = folder + "/" + std::string(other);
  return exists(path) && is_ours(folder, other) ? std::optional(std::move(path)) : std::nullopt;
}

// The name of the file without its folder and its extension.
std::string stem_of_model(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::vector<FileInFolder> files_of(const CSource& source) {
  std::vector<FileInFolder> files = {{"model.c", source.model_c}, {"model.h", source.model_h}};
  if (source.weights_c.empty()) {
    files.push_back({"weights.bin", source.blob});
  } else {
    files.push_back({"weights.c", source.weights_c});
  }
  return files;
}

struct Export {
  const CModel& model;
  const CSource& source;
  const std::vector<FileInFolder>& files;
  const std::string& path;
  const std::string& folder;
  std::optional<Bytes> stack;
  std::optional<Bytes> budget;

  [[nodiscard]] bool fits() const { return !budget || model.program.arena <= *budget; }
};

StyledText text_of_export(const Export& done) {
  const CProgram& program = done.model.program;
  StyledText text;
  text.add(shown_name(done.path), Style::strong).add("  as C source in " + shown_name(done.folder)).end_line();
  text.add("    arena    ").add(format_bytes(program.arena), Style::good);
  text.add(program.arena == done.model.bound ? ", and no order and no offsets need less"
                                             : "; no plan needs less than " + format_bytes(done.model.bound));
  text.end_line();
  text.add("    weights  " + format_bytes(done.source.weights) + " in " + done.files.back().name).end_line();
  text.add("    stack    " +
           (done.stack ? "at most " + format_bytes(*done.stack) + ", compiled by gcc for Cortex-M with -O2 or -Os"
                       : "not known, because kernels of CMSIS-NN are called"));
  text.end_line().add("    kernels  " + listed(done.source.kernels)).end_line();
  return text;
}

Json json_of_export(const Export& done) {
  const CProgram& program = done.model.program;
  Json json = json_head("export");
  json["model"] = {{"path", json_text(done.path)}, {"format", done.model.format}};
  json["name"] = done.source.name;
  json["arena_bytes"] = program.arena.count();
  json["bound_bytes"] = done.model.bound.count();
  json["budget_bytes"] = done.budget ? Json(done.budget->count()) : Json();
  json["fits"] = done.fits();
  json["proven_optimal"] = program.arena == done.model.bound;
  json["weights_bytes"] = done.source.weights.count();
  json["stack_bytes"] = done.stack ? Json(done.stack->count()) : Json();
  json["calls"] = program.calls.size();
  json["kernels"] = done.source.kernels;
  json["files"] = Json::array();
  if (done.fits()) {
    for (const FileInFolder& file : done.files) json["files"].push_back(file.name);
  }
  return json;
}

std::optional<CmsisSet> cmsis_set_of(std::string_view kernels) {
  if (kernels == "cmsis-nn") return CmsisSet::scalar_or_dsp;
  if (kernels == "cmsis-nn-vector") return CmsisSet::vector;
  return std::nullopt;
}

CModel read_c_model(const Arguments& arguments, const std::string& path, const Interrupt& interrupt, Console& console) {
  CModelOptions options{.name = stem_of_model(path), .stop = interrupt.flag()};
  options.order_effort = read_count(arguments, "--order-effort", 0).value_or(options.order_effort);
  options.allocate_effort = read_count(arguments, "--effort", 0).value_or(options.allocate_effort);
  options.cmsis = cmsis_set_of(arguments.value("--kernels").value_or("lowtide"));
  const Progress progress(console, "planning");
  if (std::optional<CModel> model = c_model_of_tflite(path, options)) {
    for (const char* option : {"--dim", "--shape", "--override", "--synthetic"}) {
      if (arguments.has(option)) stop_usage("'" + std::string(option) + "' is for ONNX models; omit it");
    }
    return *std::move(model);
  }
  if (options.cmsis) stop_usage("'--kernels' is for TFLite models; omit it");
  return c_model_of_onnx(arguments, path, options);
}

}  // namespace

ExitCode run_export(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("MODEL");
  const std::optional<std::string> folder = arguments.value("--output");
  if (!folder) stop_usage("'lowtide export' needs -o DIR, the folder for the files");
  if (is_stdout(*folder)) stop_usage("the files cannot go to stdout; name a folder");
  const std::optional<std::string> name = arguments.value("--name");
  if (name && !is_c_prefix(*name)) {
    stop_usage(
        "'--name' must be a letter, followed by letters, digits and underscores, at most 100 in all, such as kws, "
        "not " +
        quoted(*name, 60));
  }
  CSourceOptions options{.name = name.value_or(""),
                         .reentrant = arguments.has("--reentrant"),
                         .weights_as_blob = arguments.value("--weights").value_or("source") == "blob",
                         .budget = read_positive_size(arguments, "--budget"),
                         .tool = tool_name()};
  const std::vector<std::string_view> names = {"model.c", kHeader, options.weights_as_blob ? kBlob : kArrays};
  if (!arguments.has("--force")) protect_files(*folder, names);
  const Interrupt interrupt;
  const CModel model = read_c_model(arguments, path, interrupt, console);
  console.notes(model.notes);
  const CSource source = take(write_c_source(model.program, options), path);
  const std::vector<FileInFolder> files = files_of(source);
  const Export done{model, source, files, path, *folder, stack_bound(model.program), options.budget};
  if (!done.fits()) {
    console.error("the arena of " + shown_path(path) + " has " + format_bytes(model.program.arena) + ", " +
                  format_bytes(model.program.arena - *options.budget) + " more than the budget");
    if (arguments.has("--json")) print_json(console, json_of_export(done));
    return ExitCode::no;
  }
  const std::optional<std::string> stale = stale_weights(*folder, options.weights_as_blob);
  make_folder(*folder);
  take(write_together(*folder, files));
  if (stale && std::remove(stale->c_str()) == 0)
    console.note("removed " + shown_path(*stale) + " of the export before");
  if (arguments.has("--json")) {
    print_json(console, json_of_export(done));
  } else {
    console.result(text_of_export(done));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
