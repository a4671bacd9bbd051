// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/pack.h"
#include "lowtide/cli/verbs.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::int64_t kMostThreads = 256;

PackRequest read_pack_request(const Arguments& arguments) {
  PackRequest request;
  request.path = arguments.place("FILE");
  request.effort = read_count(arguments, "--effort", 0);
  request.threads = static_cast<int>(read_count(arguments, "--threads", 1, kMostThreads).value_or(request.threads));
  request.csv_file = arguments.value("--output");
  request.page_file = arguments.value("--html");
  request.prints_json = arguments.has("--json");
  if (arguments.has("--slots") && request.page_file) {
    stop_usage("'--html' draws addresses, which slots do not have; leave away '--html' or '--slots'");
  }
  return request;
}

OutputFiles check_outputs(const PackRequest& request) {
  std::vector<std::string> destinations;
  if (request.csv_file) destinations.push_back(*request.csv_file);
  if (request.page_file) destinations.push_back(*request.page_file);
  return {std::move(destinations), {request.path}, request.prints_json};
}

}  // namespace

void stop_if_wrong(const std::vector<std::string>& wrong, const std::string& what) {
  if (wrong.empty()) return;
  std::string lines = what + "; nothing was written";
  for (const std::string& line : wrong) lines += "\n  " + line;
  throw Stop(ExitCode::internal,
             lines + "\nThis is a bug in lowtide. Please report it with the command line, and the file if you can.");
}

ExitCode run_pack(const Arguments& arguments, Console& console) {
  const std::optional<Bytes> capacity = read_size(arguments, "--capacity");
  PackRequest request = read_pack_request(arguments);
  const OutputFiles files = check_outputs(request);
  if (files.uses_stdout()) console.keep_stdout_free();

  const Stopwatch reading;
  PackingProblem problem = take(import_packing(request.path));
  problem.capacity = capacity;
  request.import_seconds = reading.seconds();
  const auto pack = arguments.has("--slots") ? pack_slots : pack_offsets;
  return pack(request, problem, files, console);
}

}  // namespace lowtide::cli_internal
