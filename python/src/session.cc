// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.h"
#include "call.h"
#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/quote.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/process.h"
#include "lowtide/engine/range.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/session.h"
#include "lowtide/weights/file_faults.h"
#include "plan.h"

namespace lowtide::python {
namespace {

// The bytes of an input. The array keeps them in memory.
using Input = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// The memory for an output. The array keeps it.
using Output = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// A view of bytes that are in the arena.
using View = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;
using WritableView = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

// name, element type, extents, bytes, whether an extent is an upper bound, whether it is in the arena
using PortRow = std::tuple<std::string, std::string, std::vector<std::int64_t>, std::int64_t, bool, bool>;

std::span<const std::byte> bytes_of(const Input& input) {
  return {reinterpret_cast<const std::byte*>(input.data()), input.size()};
}

OpenOptions open_options(const Request& request, const PlanHandle* plan, const std::atomic<bool>* stop) {
  OpenOptions options{.import = import_options(request),
                      .lower = lower_options_of(request),
                      .plan = plan_options(request),
                      .synthetic_seed = request.synthetic};
  options.plan.stop = stop;
  std::optional<int> threads = request.threads;
  if (plan != nullptr) {
    options.given_plan = plan->plan;
    options.given_labels = plan->labels;
    if (!threads) threads = threads_of(plan->plan.provenance.machine_key);
  }
  options.cpu.threads = threads.value_or(1);
  options.system_threads = request.system_threads;
  return options;
}

// Python reads files of weights that other programs may change, so by default it wants no SIGBUS of them.
std::atomic<bool> wants_file_faults = true;

void prepare_process() {
  if (wants_file_faults) catch_file_faults();
}

// The options by name, each of which keeps what it is without a value.
void configure(const std::map<std::string, bool>& given) {
  static ProcessOptions options;  // calls have the GIL
  const auto set = [&](const char* name, bool& option) {
    const auto found = given.find(name);
    if (found != given.end()) option = found->second;
  };
  options.catches_file_faults = wants_file_faults;
  set("catch_file_faults", options.catches_file_faults);
  set("keep_runs_off_heap", options.kernels.keeps_runs_off_heap);
  set("load_onednn", options.kernels.loads_onednn);
  set("make_memory_files", options.kernels.makes_memory_files);
  set("trim_heap", options.trims_heap);
  wants_file_faults = options.catches_file_faults;
  options.catches_file_faults = false;  // prepare_process() does it for the first session
  configure_process(options);
}

// A model that is ready to run. Its sessions share what it has prepared, and the weights.
class ExecutableHandle {
 public:
  explicit ExecutableHandle(OpenedModel opened) : opened_(std::make_shared<const OpenedModel>(std::move(opened))) {}
  ExecutableHandle(const Request& request, const PlanHandle* plan)
      : ExecutableHandle(call_interruptibly([&](const std::atomic<bool>* stop) {
          prepare_process();
          OpenedModel opened = take(open_model(request.model, open_options(request, plan, stop)));
          if (request.budget && opened.shortfall > Bytes(0)) refuse_budget(request, opened);
          return opened;
        })) {}

  [[nodiscard]] const OpenedModel& opened() const { return *opened_; }
  [[nodiscard]] const Executable& executable() const { return *opened_->executable; }

 private:
  [[noreturn]] static void refuse_budget(const Request& request, const OpenedModel& opened) {
    throw Failure({ErrorCode::over_limit,
                   "the plan exceeds the budget of " + format_bytes(Bytes(*request.budget)) + " by " +
                       format_bytes(opened.shortfall) + "; lowtide.plan(model, target=\"cpu\", budget=...) says why",
                   shown_path(request.model)});
  }

  std::shared_ptr<const OpenedModel> opened_;
};

// A session with its arena and the arrays that are bound to it. The package calls it under a lock.
class SessionHandle {
 public:
  explicit SessionHandle(const ExecutableHandle& model)
      : SessionHandle(model, take(Arena::allocate(model.executable().required_bytes()))) {}
  SessionHandle(const ExecutableHandle& model, const Arena& arena)
      : model_(model), arena_(arena), session_(take(Session::open(model.opened().executable, arena))) {}

  // Another session of the model, in an arena of its own or in that of this session.
  [[nodiscard]] SessionHandle* clone(bool shares_arena) const {
    return shares_arena ? new SessionHandle(model_, arena_) : new SessionHandle(model_);
  }

  void bind_input(const std::string& name, const std::string& dtype, const std::vector<std::int64_t>& extents,
                  const Input& input) {
    const Use use(*this);
    const std::optional<DType> type = from_string<DType>(dtype);
    if (!type) throw Failure({ErrorCode::invalid, "no element type has the name " + lowtide::quoted(dtype, 60), ""});
    take(session_.bind_input(name, {*type, extents, bytes_of(input)}));
    inputs_.insert_or_assign(name, input);
  }

  void bind_state(const std::string& name, const Output& output) {
    const Use use(*this);
    take(session_.bind_state(name, {reinterpret_cast<std::byte*>(output.data()), output.size()}));
    states_.insert_or_assign(name, output);
  }

  // Lets go of the memory for all outputs that are not in the arena.
  void release_states() {
    const Use use(*this);
    for (const auto& [name, output] : states_) take(session_.bind_state(name, {}));
    states_.clear();
  }

  WritableView arena_input(const std::string& name) {
    const Use use(*this);
    const std::span<std::byte> bytes = take(session_.arena_input(name));
    return {bytes.data(), {bytes.size()}, nb::find(this)};
  }

  // Without the GIL.
  void run() {
    const Use use(*this);
    const nb::gil_scoped_release release;
    take(session_.check_files());
    const RunResult result = session_.run();
    has_run_ = result.ok();
    if (!result.ok()) throw Failure(describe(executable(), result));
    take(session_.check_files());
  }

  // The extents and the bytes of an output of the last run.
  std::pair<std::vector<std::int64_t>, View> output(std::size_t position) {
    const Use use(*this);
    if (!has_run_ || position >= executable().outputs().size()) {
      throw Failure({ErrorCode::invalid, "there is no such output, because no run has succeeded yet", ""});
    }
    const OutputRef output = session_.output(position);
    return {{output.extents.begin(), output.extents.end()},
            View(output.bytes.data(), {output.bytes.size()}, nb::find(this))};
  }

  void stop() noexcept { session_.stop(); }

  [[nodiscard]] const ExecutableHandle& model() const { return model_; }
  [[nodiscard]] const Executable& executable() const { return model_.executable(); }
  [[nodiscard]] const std::vector<std::string>& notes() const { return model_.opened().notes; }
  [[nodiscard]] const std::vector<std::string>& default_inputs() const { return model_.opened().default_inputs; }

 private:
  // Refuses a second thread.
  class Use {
   public:
    explicit Use(SessionHandle& session) : session_(session) {
      if (session.is_used_.exchange(true)) {
        throw Failure({ErrorCode::invalid, "another thread uses this session; give each thread a session", ""});
      }
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { session_.is_used_ = false; }

   private:
    SessionHandle& session_;
  };

  ExecutableHandle model_;
  Arena arena_;
  Session session_;
  std::map<std::string, Input> inputs_;  // destroyed with the GIL, as this object is
  std::map<std::string, Output> states_;
  std::atomic<bool> is_used_ = false;
  bool has_run_ = false;
};

// One session per request, for other sizes of one model, or per plan of a prepared file that one request chooses. They
// have one arena and share the weights. `plans` is empty, or has one plan per request.
nb::typed<nb::list, SessionHandle> open_sessions(const std::vector<Request>& requests,
                                                 const std::vector<const PlanHandle*>& plans) {
  OpenedRange range = call_interruptibly([&](const std::atomic<bool>* stop) {
    std::vector<OpenOptions> all;
    for (std::size_t at = 0; at < requests.size(); ++at)
      all.push_back(open_options(requests[at], plans.empty() ? nullptr : plans[at], stop));
    prepare_process();
    return take(open_members(requests.front().model, all));
  });
  const Arena arena = take(Arena::allocate(range.required_bytes()));
  nb::list sessions;
  for (OpenedModel& member : range.members)
    sessions.append(
        nb::cast(new SessionHandle(ExecutableHandle(std::move(member)), arena), nb::rv_policy::take_ownership));
  return sessions;
}

std::vector<PortRow> rows_of(const std::vector<Port>& ports) {
  std::vector<PortRow> rows;
  for (const Port& port : ports) {
    rows.emplace_back(port.name, std::string(to_string(port.dtype)), port.shape.extents(), port.size.count(),
                      port.shape.has_upper_bounds(), port.is_in_arena);
  }
  return rows;
}

PlanHandle plan_of(const Executable& executable) {
  return {executable.plan(), labels_of(executable.graph()), true, nullptr};
}

// Bytes by use.
nb::typed<nb::dict, nb::str, std::int64_t> memory_of(const Executable& executable) {
  const ExecutableMemory& memory = executable.memory();
  nb::dict bytes;
  bytes["arena"] = executable.required_bytes().count();
  bytes["session"] = memory.session.count();
  bytes["weights_mapped"] = memory.mapped.count();
  bytes["weights_copied"] = memory.copied.count();
  return bytes;
}

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<ExecutableHandle>(module, "ExecutableHandle")
      .def(nb::init<const Request&, const PlanHandle*>(), nb::arg(), nb::arg().none())
      .def("plan", [](const ExecutableHandle& self) { return plan_of(self.executable()); })
      .def("memory", [](const ExecutableHandle& self) { return memory_of(self.executable()); });
  nb::class_<SessionHandle>(module, "SessionHandle")
      .def(nb::init<const ExecutableHandle&>())
      .def("clone", &SessionHandle::clone, nb::rv_policy::take_ownership)
      .def("model", [](const SessionHandle& self) { return self.model(); })
      .def("bind_input", &SessionHandle::bind_input)
      .def("bind_state", &SessionHandle::bind_state)
      .def("release_states", &SessionHandle::release_states)
      .def("arena_input", &SessionHandle::arena_input)
      .def("run", &SessionHandle::run)
      .def("output", &SessionHandle::output)
      .def("stop", &SessionHandle::stop)
      .def("plan", [](const SessionHandle& self) { return plan_of(self.executable()); })
      .def("memory", [](const SessionHandle& self) { return memory_of(self.executable()); })
      .def_prop_ro("notes", &SessionHandle::notes)
      .def_prop_ro("default_inputs", &SessionHandle::default_inputs)
      .def_prop_ro("inputs", [](const SessionHandle& self) { return rows_of(self.executable().inputs()); })
      .def_prop_ro("states", [](const SessionHandle& self) { return rows_of(self.executable().states()); })
      .def_prop_ro("outputs", [](const SessionHandle& self) { return rows_of(self.executable().outputs()); });
  module.def("open_sessions", open_sessions);
  module.def("is_prepared_file", is_prepared_file);
  module.def("configure_process", configure);
}

}  // namespace lowtide::python
