// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Runs ONNX models one after another in one arena, on inputs that are all zero:  example_run_model MODEL...

#include <algorithm>
#include <iostream>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"

using namespace lowtide;  // NOLINT(google-build-using-namespace): a short program

namespace {

int failed(const Error& error) {
  std::cerr << error.describe() << '\n';
  return 3;
}

int run(const OpenedModel& model, const Arena& arena) {
  const Executable& executable = *model.executable;
  Result<Session> session = Session::open(model.executable, arena);
  if (!session.ok()) return failed(session.error());

  std::vector<std::vector<std::byte>> inputs;  // the session reads them here, without a copy
  for (const Port& port : executable.inputs()) {
    inputs.emplace_back(static_cast<std::size_t>(port.size.count()));
    const Result<void> bound = session->bind_input(port.name, {port.dtype, port.shape.extents(), inputs.back()});
    if (!bound.ok()) return failed(bound.error());
  }
  const RunResult result = session->run();  // allocates nothing, and may be called again and again
  if (!result.ok()) return failed(describe(executable, result));

  for (std::size_t at = 0; at < executable.outputs().size(); ++at) {
    const OutputRef output = session->output(at);  // in the arena, until the next run in it
    std::cout << executable.outputs()[at].name << "  " << output.bytes.size() << " bytes\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<OpenedModel> models;
  Bytes most;
  for (int at = 1; at < argc; ++at) {
    Result<OpenedModel> model = open_model(argv[at]);  // imports, lowers, plans, verifies and prepares
    if (!model.ok()) return failed(model.error());
    most = std::max(most, model->executable->required_bytes());
    models.push_back(*std::move(model));
  }
  const Result<Arena> arena = Arena::allocate(most);
  if (!arena.ok()) return failed(arena.error());
  std::cout << "arena " << most.count() << " bytes\n";
  for (const OpenedModel& model : models) {
    if (const int code = run(model, *arena); code != 0) return code;
  }
  return 0;
}
