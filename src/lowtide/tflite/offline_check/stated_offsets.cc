// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/offline_check/stated_offsets.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/tflite/flatbuffer/resource_variable.h"

namespace lowtide::offline_check_internal {
namespace {

constexpr std::string_view kName = "OfflineMemoryAllocation";
constexpr std::int64_t kAlignment = 16;
constexpr std::int64_t kEndOfArena = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kNotStated = -1;

std::int32_t number_at(std::string_view bytes, std::size_t at) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data() + at * sizeof number, sizeof number);
  return number;
}

// nullopt: the runtime cannot have such a tensor.
std::optional<std::int64_t> size_of(const TfliteTensor& tensor) {
  const std::optional<int> bits = bits_of(tensor.type);
  if (!bits) return std::nullopt;
  std::int64_t bytes = std::max(*bits, 8) / 8;  // it unpacks what is smaller
  for (std::int64_t extent : tensor.shape) {
    if (extent == 0) return 0;
  }
  for (std::int64_t extent : tensor.shape) {
    if (extent > kEndOfArena / bytes) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

bool is_handle(const TfliteSubgraph& subgraph, std::uint32_t tensor) {
  return std::ranges::any_of(subgraph.operators, [&](const TfliteOperator& op) {
    return is_var_handle(op) && !op.outputs.empty() && op.outputs[0] == tensor;
  });
}

class Reading {
 public:
  Reading(const TfliteModel& model, std::string_view list, OfflineCheck& check)
      : model_(model), list_(list), check_(check) {
    for (const TfliteSubgraph& subgraph : model.subgraphs) tensors_ += subgraph.tensors.size();
  }

  StatedPlaces read() {
    if (!has_all()) return {};
    StatedPlaces places;
    std::size_t number = 0;
    for (std::uint32_t index = 0; index < model_.subgraphs.size(); ++index) {
      const TfliteSubgraph& subgraph = model_.subgraphs[index];
      places.emplace_back(subgraph.tensors.size());
      for (std::uint32_t at = 0; at < subgraph.tensors.size(); ++at, ++number) {
        places[index][at] = place_of(index, at, offset(number));
      }
    }
    return check_.faults.empty() ? places : StatedPlaces();
  }

 private:
  [[nodiscard]] std::int32_t offset(std::size_t number) const { return number_at(list_, 3 + number); }

  void fault(std::string place, std::string message) {
    if (check_.faults.size() < 20) check_.faults.push_back({std::move(place), std::move(message)});
  }

  bool has_all() {
    const std::size_t numbers = list_.size() / sizeof(std::int32_t);
    const std::string needed = std::to_string(tensors_) + " tensors of the model";
    if (numbers < 3) {
      fault("", "the list is cut off: it has " + std::to_string(list_.size()) + " bytes");
    } else if (!std::cmp_equal(number_at(list_, 2), tensors_)) {
      fault("", "the list is for " + std::to_string(number_at(list_, 2)) + " tensors, not for the " + needed);
    } else if (numbers - 3 < tensors_) {
      fault("", "the list is cut off: it has offsets for " + std::to_string(numbers - 3) + " of the " + needed);
    }
    return check_.faults.empty();
  }

  std::optional<StatedPlace> place_of(std::uint32_t index, std::uint32_t at, std::int32_t offset) {
    const TfliteSubgraph& subgraph = model_.subgraphs[index];
    const TfliteTensor& tensor = subgraph.tensors[at];
    const std::string place =
        "subgraph " + std::to_string(index) + ": tensor " + std::to_string(at) + " " + quoted(tensor.name, 60);
    if (tensor.is_variable) check_variable(place, at, offset);
    if (offset == kNotStated || tensor.is_variable || is_constant(model_, tensor)) return std::nullopt;
    if (tensor.type == TfliteType::resource && is_handle(subgraph, at)) return std::nullopt;
    const std::optional<std::int64_t> size = size_of(tensor);
    if (size == 0) return std::nullopt;
    if (offset < 0) {
      fault(place, "its offset is " + std::to_string(offset));
    } else if (offset % kAlignment != 0) {
      fault(place, "its offset " + std::to_string(offset) + " is not a multiple of " + std::to_string(kAlignment));
    } else if (!size || *size > kEndOfArena - kAlignment - offset) {
      fault(place, "it ends behind the 2 GiB that an arena can have");
    } else {
      ++check_.placed;
      check_.end = std::max(check_.end, Bytes(offset + *size));
      return StatedPlace{offset, *size};
    }
    return std::nullopt;
  }

  // The runtime finds out whether a variable has an offset by its number in its own subgraph, without the tensors of
  // the subgraphs before it. If that entry has one, the variable gets no memory of its own.
  void check_variable(const std::string& place, std::uint32_t at, std::int32_t offset) {
    if (offset != kNotStated) fault(place, "it is a variable, whose content must last, and has an offset");
    if (this->offset(at) != kNotStated && offset == kNotStated) {
      fault(place, "it gets no memory, because entry " + std::to_string(at) +
                       " of the list has an offset, and the runtime takes that for its own");
    }
  }

  const TfliteModel& model_;
  const std::string_view list_;
  OfflineCheck& check_;
  std::size_t tensors_ = 0;
};

}  // namespace

StatedPlaces read_stated_places(const TfliteModel& model, std::string_view bytes, OfflineCheck& check) {
  const auto last = std::find_if(model.metadata.rbegin(), model.metadata.rend(),
                                 [](const TfliteMetadata& one) { return one.name == kName; });
  if (last == model.metadata.rend()) return {};
  check.has_offsets = true;
  const TfliteBytes& range = model.buffers[last->buffer];
  return Reading(model, bytes.substr(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.size)),
                 check)
      .read();
}

}  // namespace lowtide::offline_check_internal
