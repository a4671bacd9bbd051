// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Runs models and counts what the runs cost: allocations, system calls and page faults. There should be none, in the
// first run and in all others.
//
//   run_trap [--runs N] [--seconds S] [--dim NAME=N] [--threads T] [--streams K] [--budget B]
//            [--other-thread] MODEL...
//   run_trap --self-test
//
// The inputs of a model are the files input_0.npy and so on beside it. Inputs and weights without a file are synthetic.
// Each model has at most N runs (200 unless given), and after 100 runs it ends when S seconds (60 unless given) are
// over. With --other-thread, a thread that did not open the session runs it. With --threads T, a run that finds the
// other threads asleep wakes them. They are there even if the machine has fewer processors. With --streams K, the plan
// is for waves of K steps. With --budget B, it is for B bytes and a link, so copies run on a second thread. The program
// prints one JSON object per model and line:
//
//   {"model": "a.onnx", "runs": 200, "first": {...}, "others": {...}, "most_calls": 0, "without_calls": 200,
//    "outside": 0}                             counts of run 1, and sums of all other runs; the most system calls of a
//                                              run, the number of runs that made none, and the bytes outside of the
//                                              arena
//   {"model": "a.onnx", "refused": "..."}                               it cannot be opened, or a run fails
//
// `first` and `others` have the keys allocations, system_calls, page_faults and first_call, the number of the first
// system call or -1. The exit code is 1 if any count of a run is not 0, and 2 if nothing can be counted here. With T
// threads, up to T system calls per run are allowed: one that wakes the other threads, and one of each of them, which
// was about to sleep. Copies over links count as a second thread.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/engine/process.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "tests/tools/model_case.h"
#include "tests/tools/run_costs.h"

namespace lowtide::testing {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  int runs = 200;
  int seconds = 60;
  int threads = 1;
  int streams = 1;
  std::int64_t budget = 0;  // with a link; 0: none
  bool is_other_thread = false;
  std::map<std::string, std::int64_t> dims;
  std::vector<std::string> models;
};

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) throw Refused(result.error().describe());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

void add(const RunCosts& costs, RunCosts& sum) {
  sum.allocations += costs.allocations;
  sum.system_calls += costs.system_calls;
  sum.page_faults += costs.page_faults;
  if (sum.first_call < 0) sum.first_call = costs.first_call;
}

Json json_of(const RunCosts& costs) {
  return {{"allocations", costs.allocations},
          {"system_calls", costs.system_calls},
          {"page_faults", costs.page_faults},
          {"first_call", costs.first_call}};
}

struct Counted {
  int runs = 0;
  RunCosts first;
  RunCosts others;
  std::int64_t most_calls = 0;  // of one run
  int without_calls = 0;        // runs
  RunResult failed;
};

// Whether the runs cost nothing, except that they woke the other threads.
bool is_free(const Counted& counted, int threads) {
  const auto is_quiet = [](const RunCosts& costs) { return costs.allocations == 0 && costs.page_faults == 0; };
  return is_quiet(counted.first) && is_quiet(counted.others) && counted.most_calls <= (threads > 1 ? threads : 0);
}

// The counters have run before, so that their own pages are present.
Counted count_runs(Session& session, const Options& options) {
  for (int i = 0; i < 3; ++i) {
    begin_counting();
    static_cast<void>(end_counting());
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
  Counted counted;
  while (counted.runs < options.runs && (counted.runs < 100 || Clock::now() < end)) {
    begin_counting();
    const RunResult result = session.run();
    const RunCosts costs = end_counting();
    add(costs, counted.runs == 0 ? counted.first : counted.others);
    counted.most_calls = std::max(counted.most_calls, costs.system_calls);
    if (costs.system_calls == 0) ++counted.without_calls;
    ++counted.runs;
    if (!result.ok()) {
      counted.failed = result;
      break;
    }
  }
  return counted;
}

Counted count_on_thread(Session& session, const Options& options) {
  if (!options.is_other_thread) return count_runs(session, options);
  // Starting and joining a thread calls the system, so this thread does neither while the other one counts.
  Counted counted;
  std::atomic<bool> is_started = false;
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    Session::prepare_thread();
    while (!is_started) continue;
    counted = count_runs(session, options);
    is_done = true;
  });
  is_started = true;
  while (!is_done) continue;
  other.join();
  return counted;
}

// Prints the line of a model. Returns whether no run cost anything.
bool count_model(const std::string& path, const Options& options) {
  OpenOptions opening;
  opening.plan = {.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  opening.plan.streams = static_cast<std::uint32_t>(options.streams);
  opening.plan.run = ExecutionModel::waves;
  opening.plan.arena_slack_percent = 1000;
  opening.cpu.threads = options.threads;
  opening.system_threads = std::max(options.threads, options.budget > 0 ? 2 : 1);
  if (options.budget > 0) {
    opening.plan.budget = Bytes(options.budget);
    opening.plan.recompute_effort = 100'000'000;
    opening.link = TransferLink{.bytes_per_second = 12'000'000'000};
  }
  opening.synthetic_seed = 1;
  opening.import.dims = options.dims;
  const OpenedModel model = take(open_model(path, opening));
  const Executable& executable = *model.executable;
  const Arena arena = take(Arena::allocate(executable.required_bytes()));
  Session session = take(Session::open(model.executable, arena));
  const CaseInputs inputs = case_inputs(path, executable);
  for (std::size_t at = 0; at < inputs.tensors.size(); ++at) {
    take(session.bind_input(executable.inputs()[at].name, inputs.tensors[at]));
  }
  const Counted counted = count_on_thread(session, options);
  if (!counted.failed.ok()) throw Refused(describe(executable, counted.failed).describe());
  const Json line{{"model", path},
                  {"runs", counted.runs},
                  {"first", json_of(counted.first)},
                  {"others", json_of(counted.others)},
                  {"most_calls", counted.most_calls},
                  {"without_calls", counted.without_calls},
                  {"outside", executable.memory().outside.count()}};
  std::cout << line.dump() << std::endl;
  return is_free(counted, options.budget > 0 ? std::max(options.threads, 2) : options.threads);
}

// Does each of the things that are counted, and checks that the counters see it.
bool counters_work() {
  begin_counting();
  void* volatile memory = std::malloc(16);
  std::free(memory);
  const RunCosts allocation = end_counting();
  begin_counting();
  std::this_thread::yield();
  const RunCosts call = end_counting();
  std::vector<std::byte> other;
  begin_counting();
  other.resize(std::size_t{64} << 20U);
  const RunCosts faults = end_counting();
  return allocation.allocations == 1 && call.system_calls == 1 && call.first_call > 0 && faults.page_faults > 10 &&
         faults.allocations == 1 && faults.system_calls > 0;
}

Options read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--runs" && at + 1 < words.size()) {
      options.runs = std::stoi(words[++at]);
    } else if (words[at] == "--seconds" && at + 1 < words.size()) {
      options.seconds = std::stoi(words[++at]);
    } else if (words[at] == "--dim" && at + 1 < words.size()) {
      const std::string& binding = words[++at];
      const std::size_t equals = binding.rfind('=');
      options.dims[binding.substr(0, equals)] = std::stoll(binding.substr(equals + 1));
    } else if (words[at] == "--threads" && at + 1 < words.size()) {
      options.threads = std::stoi(words[++at]);
    } else if (words[at] == "--streams" && at + 1 < words.size()) {
      options.streams = std::stoi(words[++at]);
    } else if (words[at] == "--budget" && at + 1 < words.size()) {
      options.budget = std::stoll(words[++at]);
    } else if (words[at] == "--other-thread") {
      options.is_other_thread = true;
    } else {
      options.models.push_back(words[at]);
    }
  }
  return options;
}

int count_all(const std::vector<std::string>& words) {
  configure_process({.kernels = {.keeps_runs_off_heap = true}});
  initialize();
  if (!trap_system_calls()) {
    std::cerr << "run_trap: the system does not allow a seccomp filter\n";
    return 2;
  }
  if (!counters_work()) {
    std::cerr << "run_trap: the counters do not see what they should count\n";
    return 2;
  }
  if (words == std::vector<std::string>{"--self-test"}) return 0;
  const Options options = read_options(words);
  bool is_clean = true;
  for (const std::string& model : options.models) {
    try {
      is_clean = count_model(model, options) && is_clean;
    } catch (const Refused& refused) {
      std::cout << Json{{"model", model}, {"refused", refused.what()}}.dump(-1, ' ', false,
                                                                            Json::error_handler_t::replace)
                << std::endl;
    }
  }
  return is_clean ? 0 : 1;
}

}  // namespace
}  // namespace lowtide::testing

int main(int count, char** words) { return lowtide::testing::count_all({words + 1, words + count}); }
