// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "lowtide/cli/commands/tflite/micro_file.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/import/import.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/offline_check/check_offline_plan.h"

namespace lowtide::cli_internal {
namespace {

StyledText text_of(const OfflineCheck& check, const std::string& path) {
  StyledText text;
  if (!check.has_offsets) {
    text.add("ok", Style::good).add("  " + shown_name(path) + " states no offsets, so the runtime chooses them");
    return text.end_line();
  }
  if (check.faults.empty()) {
    text.add("ok", Style::good).add("  the offsets in " + shown_name(path) + " are correct").end_line();
    text.add("    " + counted(check.placed, "tensor") + ", up to " + format_bytes(check.end));
    return text.end_line();
  }
  text.add("wrong", Style::bad).add("  the offsets in " + shown_name(path) + " are not correct").end_line();
  for (const OfflineFault& fault : check.faults) {
    text.add("    " + (fault.place.empty() ? "" : fault.place + ": ") + fault.message).end_line();
  }
  return text;
}

Json json_of(const OfflineCheck& check, const std::string& path) {
  Json json = json_head("verify");
  json["model"] = {{"path", json_text(path)}, {"format", "tflite"}};
  json["offsets"] = {{"stated", check.has_offsets}, {"tensors", check.placed}, {"end_bytes", check.end.count()}};
  json["verified"] = check.faults.empty();
  json["violations"] = Json::array();
  for (const OfflineFault& fault : check.faults) {
    json["violations"].push_back({{"place", json_text(fault.place)}, {"message", json_text(fault.message)}});
  }
  return json;
}

}  // namespace

ExitCode verify_offline_plan(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("MODEL");
  const Result<std::string> begin = read_beginning(path, 8);
  if (begin && !is_tflite(*begin)) {
    stop_usage("'lowtide verify' needs PLAN: a plan file; only a TFLite model may be without");
  }
  const MicroFile file = read_micro_file(path);
  const OfflineCheck check = take(check_offline_plan(file.model, file.bytes), path);
  if (arguments.has("--json")) {
    print_json(console, json_of(check, path));
  } else {
    console.result(text_of(check, path));
  }
  return check.faults.empty() ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
