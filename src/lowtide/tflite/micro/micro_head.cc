// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/flatbuffer/resource_variable.h"
#include "lowtide/tflite/micro/kernels.h"
#include "lowtide/tflite/micro/micro.h"

namespace lowtide {
namespace {

// The runtime counts bytes of the arena in 32 bits.
constexpr std::int64_t kMostHeadBytes = std::numeric_limits<std::int32_t>::max();

// First and last step of something, both included, as the runtime counts them.
struct Steps {
  std::int64_t first = -1;
  std::int64_t last = -1;
};

// Goes through the operators in the order of a run, and into the subgraphs that they run. Each operator has a step, and
// so has the begin of each subgraph. An operator lasts until its subgraphs have ended.
class Walk {
 public:
  explicit Walk(const TfliteModel& model) : model_(model), first_(first_tensors(model)) {
    std::size_t tensors = 0;
    for (const TfliteSubgraph& subgraph : model.subgraphs) {
      operators_.emplace_back(subgraph.operators.size());
      tensors += subgraph.tensors.size();
    }
    tensors_.resize(tensors);
  }

  Result<void> run() {
    enter(0);
    while (!frames_.empty()) {
      if (step_ > limits::kMaxNodes) {
        return Error{ErrorCode::over_limit,
                     "its subgraphs run more than " + std::to_string(limits::kMaxNodes) + " operators (kMaxNodes)", ""};
      }
      Frame& frame = frames_.back();
      const TfliteSubgraph& subgraph = model_.subgraphs[frame.subgraph];
      if (frame.op == subgraph.operators.size()) {
        for (std::uint32_t output : subgraph.outputs) create_and_use(frame.subgraph, output);
        frames_.pop_back();
        continue;
      }
      const TfliteOperator& op = subgraph.operators[frame.op];
      if (!frame.is_inside) begin(frame, op);
      if (frame.call < op.calls.size()) {
        ++step_;
        enter(op.calls[frame.call++].subgraph);  // the frame is no longer valid
        continue;
      }
      end(frame, op);
    }
    return {};
  }

  [[nodiscard]] Steps tensor(std::uint32_t number) const { return tensors_[number]; }
  [[nodiscard]] Steps op(MicroPlace place) const { return operators_[place.subgraph][place.op]; }

 private:
  struct Frame {
    std::uint32_t subgraph;
    std::size_t op = 0;
    std::size_t call = 0;
    bool is_inside = false;  // whether the operator has begun
    std::int64_t begin = 0;  // its step
  };

  void enter(std::uint32_t subgraph) {
    for (std::uint32_t input : model_.subgraphs[subgraph].inputs) create_and_use(subgraph, input);
    frames_.push_back({subgraph});
  }

  void begin(Frame& frame, const TfliteOperator& op) {
    frame.begin = ++step_;
    frame.is_inside = true;
    frame.call = 0;
    for (const std::optional<std::uint32_t>& output : op.outputs) {
      if (output) create(frame.subgraph, *output);
    }
  }

  void end(Frame& frame, const TfliteOperator& op) {
    for (const auto* operands : {&op.inputs, &op.outputs}) {
      for (const std::optional<std::uint32_t>& tensor : *operands) {
        if (tensor) tensors_[first_[frame.subgraph] + *tensor].last = step_;
      }
    }
    Steps& steps = operators_[frame.subgraph][frame.op];
    if (steps.first < 0) steps.first = frame.begin;
    steps.last = step_;
    ++frame.op;
    frame.is_inside = false;
  }

  void create(std::uint32_t subgraph, std::uint32_t tensor) {
    Steps& steps = tensors_[first_[subgraph] + tensor];
    if (steps.first < 0) steps.first = step_;
  }

  void create_and_use(std::uint32_t subgraph, std::uint32_t tensor) {
    create(subgraph, tensor);
    tensors_[first_[subgraph] + tensor].last = step_;
  }

  const TfliteModel& model_;
  std::vector<std::uint32_t> first_;
  std::vector<Steps> tensors_;
  std::vector<std::vector<Steps>> operators_;
  std::vector<Frame> frames_;
  std::int64_t step_ = 0;
};

Interval<std::int64_t> lifespan_of(Steps steps) { return {steps.first, steps.last + 1}; }

std::optional<Bytes> buffer_size(std::optional<std::int64_t> bytes) {
  if (!bytes || *bytes < 0 || *bytes > kMostHeadBytes) return std::nullopt;
  return round_up(Bytes(*bytes), kMicroAlignment);
}

Error too_large(const std::string& what, const std::string& place) {
  return {ErrorCode::over_limit, what + " has a size that TensorFlow Lite Micro cannot have", place};
}

// The kernel of a VAR_HANDLE gives its result a place of its own.
std::vector<bool> handles_of(const TfliteSubgraph& subgraph) {
  std::vector<bool> is_handle(subgraph.tensors.size(), false);
  for (const TfliteOperator& op : subgraph.operators) {
    if (!is_var_handle(op)) continue;
    for (const std::optional<std::uint32_t>& output : op.outputs) {
      if (output) is_handle[*output] = true;
    }
  }
  return is_handle;
}

}  // namespace

std::vector<std::uint32_t> first_tensors(const TfliteModel& model) {
  std::vector<std::uint32_t> first;
  std::uint32_t next = 0;
  for (const TfliteSubgraph& subgraph : model.subgraphs) {
    first.push_back(next);
    next += static_cast<std::uint32_t>(subgraph.tensors.size());
  }
  return first;
}

Result<MicroHead> micro_head(const TfliteModel& model, MicroKernels kernels, const MicroOffsets& given) {
  Walk walk(model);
  LOWTIDE_RETURN_IF_ERROR(walk.run());
  MicroHead head;
  std::uint32_t number = 0;
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    const TfliteSubgraph& subgraph = model.subgraphs[index];
    const std::vector<bool> is_handle = handles_of(subgraph);
    for (std::uint32_t at = 0; at < subgraph.tensors.size(); ++at, ++number) {
      const TfliteTensor& tensor = subgraph.tensors[at];
      const bool is_given = !given.empty() && given[number].has_value();
      if (is_constant(model, tensor) || is_handle[at] || (tensor.is_variable && !is_given)) continue;
      const auto elements = micro_internal::elements(tensor);
      const auto width = micro_internal::element_bytes(tensor.type);
      const auto size = elements && width ? buffer_size(checked_multiply(*elements, *width)) : std::optional<Bytes>();
      if (!size) return too_large("it", "subgraph " + std::to_string(index) + ": tensor " + std::to_string(at));
      if (*size == Bytes(0)) continue;
      head.buffers.push_back({number, {}, *size, lifespan_of(walk.tensor(number))});
    }
  }
  std::set<std::string> unknown;
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    const TfliteSubgraph& subgraph = model.subgraphs[index];
    for (std::uint32_t at = 0; at < subgraph.operators.size(); ++at) {
      const auto requests = micro_internal::scratch_requests(subgraph, subgraph.operators[at], kernels);
      if (!requests) unknown.insert(subgraph.operators[at].type);
      for (std::int64_t bytes : requests.value_or(std::vector<std::int64_t>())) {
        const std::optional<Bytes> size = buffer_size(bytes);
        const std::string place = "subgraph " + std::to_string(index) + ": operator " + std::to_string(at);
        if (!size) return too_large("its scratch", place);
        if (*size == Bytes(0)) continue;
        head.buffers.push_back({std::nullopt, {index, at}, *size, lifespan_of(walk.op({index, at}))});
      }
    }
  }
  head.unknown_operators.assign(unknown.begin(), unknown.end());
  return head;
}

Bytes live_bytes(const std::vector<MicroBuffer>& buffers) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // step, and the bytes that begin or end there
  for (const MicroBuffer& buffer : buffers) {
    changes.emplace_back(buffer.lifespan.begin, buffer.size.count());
    changes.emplace_back(buffer.lifespan.end, -buffer.size.count());
  }
  std::sort(changes.begin(), changes.end());  // at one step, ends come first
  Bytes most;
  Bytes live;
  for (const auto& [step, change] : changes) {
    live += Bytes(change);
    most = std::max(most, live);
  }
  return most;
}

}  // namespace lowtide
