// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Opens any bytes as an ONNX model and runs it. The kernels see sizes, attributes and constants that a hostile file
// chooses, and inputs of two kinds. The address sanitizer sees accesses outside of the arena, and a poisoned run those
// between tensors.

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/graph/multiply_accumulates.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/session.h"

namespace {

using lowtide::Bytes;

// A larger model would only take longer.
constexpr Bytes kMostArena{1 << 20};
constexpr std::int64_t kMostProducts = 1'000'000;
constexpr suseconds_t kMostMicroseconds = 500'000;  // of a run, which a loop may prolong

// import_model() takes a path, so the bytes go to an unlinked temporary file, which is overwritten each time.
std::string write_input(const std::uint8_t* bytes, std::size_t size) {
  static const int file = [] {
    char name[] = "/tmp/fuzz_run_model_XXXXXX";
    const int made = mkstemp(name);
    unlink(name);
    return made;
  }();
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return "/proc/self/fd/" + std::to_string(file);
}

std::atomic<lowtide::Session*> running = nullptr;

void stop_run(int /*signal*/) {
  lowtide::Session* session = running;
  if (session != nullptr) session->stop();
}

// Stops a run that takes too long between two of its steps.
class TimeLimit {
 public:
  explicit TimeLimit(lowtide::Session& session) {
    std::signal(SIGPROF, stop_run);
    running = &session;
    set(kMostMicroseconds);
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() {
    set(0);
    running = nullptr;
  }

 private:
  static void set(suseconds_t microseconds) {
    const itimerval timer{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

bool is_small(const lowtide::Executable& executable) {
  if (executable.required_bytes() > kMostArena) return false;
  std::int64_t products = 0;
  for (lowtide::NodeId id : lowtide::all_ids<lowtide::NodeId>(executable.graph().nodes().size())) {
    if (!executable.graph().node(id).bodies.empty()) continue;
    products += lowtide::multiply_accumulates(executable.graph(), id).value_or(0);
    if (products > kMostProducts) return false;
  }
  return true;
}

bool has_loops(const lowtide::Graph& graph) {
  for (const lowtide::Node& node : graph.nodes()) {
    if (!node.bodies.empty()) return true;
  }
  return false;
}

// Inputs whose bytes are all equal, each in memory of its own, so that a read behind one is found.
std::vector<std::vector<std::byte>> inputs_of(const lowtide::Executable& executable, std::byte content) {
  std::vector<std::vector<std::byte>> inputs;
  for (const lowtide::Port& port : executable.inputs()) {
    inputs.emplace_back(static_cast<std::size_t>(port.size.count()), content);
  }
  return inputs;
}

void run_once(const lowtide::OpenedModel& model, const lowtide::Arena& arena, std::byte content) {
  const lowtide::Executable& executable = *model.executable;
  lowtide::Result<lowtide::Session> session = lowtide::Session::open(model.executable, arena, {.touch = false});
  if (!session) return;
  const std::vector<std::vector<std::byte>> inputs = inputs_of(executable, content);
  std::vector<lowtide::TensorRef> tensors;
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const lowtide::Port& port = executable.inputs()[at];
    tensors.push_back({port.dtype, port.shape.extents(), inputs[at]});
    if (!session->bind_input(port.name, tensors.back())) return;
  }
  {
    const TimeLimit limit(*session);
    if (!session->run().ok() || !session->run().ok()) return;
  }
  if (has_loops(executable.graph())) return;  // a poisoned run cannot be stopped
  const lowtide::Result<lowtide::RunInspection> found = lowtide::run_poisoned(executable, tensors);
  if (!found || !found->fault) return;
  std::fprintf(stderr, "%s\n", found->fault->c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  lowtide::OpenOptions options;
  options.synthetic_seed = 1;
  options.plan.order_effort = 1000;
  options.plan.allocate_effort = 1000;
  const lowtide::Result<lowtide::OpenedModel> model = lowtide::open_model(write_input(bytes, size), options);
  if (!model || !is_small(*model->executable)) return 0;
  const lowtide::Result<lowtide::Arena> arena = lowtide::Arena::allocate(model->executable->required_bytes());
  if (!arena) return 0;
  for (const std::byte content : {std::byte{0}, std::byte{0x3F}}) run_once(*model, *arena, content);
  return 0;
}
