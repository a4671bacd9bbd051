// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/compare_nets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/op_effects.h"
#include "lowtide/earlier/netdef/op_view.h"
#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace netdef_internal {
namespace {

// What a name means: "output 0 of operator 7", "from outside 'x'", "released by operator 3", or in a nested net
// "0/3.1/2:0": output 0 of operator 2 in net 1 of operator 3 in net 0 of the operator of the whole net. A nested net
// sees the names around it.
struct Meanings {
  const Meanings* outer = nullptr;
  std::string place = {};  // of a nested net, "0/3.1/"
  int depth = 0;           // nets around this one
  const ProtoMessage* device = nullptr;
  std::unordered_map<std::string, std::string> own = {};
};

// By name, with meanings in place of names in nested nets.
using DescribedArguments = std::map<std::string, std::string>;

struct DescribedOp {
  std::size_t at = 0;
  OpEffects effects = OpEffects::any;
  std::string shown;  // for messages
  std::string kind;   // type, device, engine and number of outputs
  DescribedArguments arguments;
  std::vector<std::string> sources;  // of the inputs
  std::vector<std::string> outputs;  // names
  std::string in_place;              // "output 0 over input 0, ..."
  std::string waits;                 // the results that are control inputs
};

struct DescribedNet {
  std::vector<DescribedOp> ops;
  std::vector<std::pair<std::string, std::string>> outputs;  // name and meaning
  std::set<std::string> of_caller;                           // external inputs, and what is read before it is written
  std::unordered_map<std::string, std::string> last;         // what each name that an operator writes means in the end
};

std::string meaning_of(const Meanings& meanings, std::string_view name) {
  const std::string key(name);
  for (const Meanings* at = &meanings; at != nullptr; at = at->outer) {
    if (const auto found = at->own.find(key); found != at->own.end()) return found->second;
  }
  return "from outside " + quoted(name);
}

bool is_renaming(const OpView& op, std::string_view name) {
  return name.ends_with(".rename") && op.type().starts_with("RecurrentNetwork");
}

// Writes each name in a net as what it means. The recursion ends at limits::kMaxBodyNesting.
Result<std::string> describe_nested(const ProtoMessage& net, const Meanings& outer, std::string place);

// Each argument in the wire format without the nets in it, then these nets.
Result<DescribedArguments> describe_arguments(const OpView& op, std::size_t at, const Meanings& meanings) {
  DescribedArguments by_name;
  for (const ProtoMessage* argument : op.arguments()) {
    const std::string name(find_text(*argument, argument_field::kName).value_or(""));
    if (is_renaming(op, name)) continue;
    ProtoMessage rest = *argument;
    remove_field(rest, argument_field::kNet);
    remove_field(rest, argument_field::kNets);
    if (may_hold_net(name)) remove_field(rest, argument_field::kText);
    by_name[name] += write_proto_binary(rest);
  }
  LOWTIDE_TRY(std::vector<NestedNet> nets, nested_nets(op, at, meanings.depth));
  std::stable_sort(nets.begin(), nets.end(),
                   [](const NestedNet& a, const NestedNet& b) { return a.argument < b.argument; });
  // The whole net may have another order, so that the number of its operator is no part of a place.
  const std::string place = meanings.depth == 0 ? "" : meanings.place + std::to_string(at) + ".";
  for (std::size_t number = 0; number < nets.size(); ++number) {
    LOWTIDE_TRY(std::string described,
                describe_nested(nets[number].net, meanings, place + std::to_string(number) + "/"));
    by_name[nets[number].argument] += described;
  }
  return by_name;
}

std::string joined(const DescribedArguments& arguments) {
  std::string all;
  for (const auto& [name, content] : arguments) {
    all += quoted(name) + "=" + std::to_string(content.size()) + ":" + content;
  }
  return all;
}

// "argument 'kernel' of operator 3 differs", "arguments 'kernel' and 'pad' of operator 3 differ"
std::string argument_difference(const DescribedArguments& a, const DescribedArguments& b, const std::string& shown) {
  std::set<std::string> names;
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const auto& [name, content] : *one) {
      const auto found = other->find(name);
      if (found == other->end() || found->second != content) names.insert(quoted(name, 60));
    }
  }
  const bool is_one = names.size() == 1;
  return (is_one ? "argument " : "arguments ") + listed(names) + " of " + shown + (is_one ? " differs" : " differ");
}

std::string kind_of(const ProtoMessage* device, const OpView& op) {
  return "type " + quoted(op.type()) + ", device " + shown_device(device_of(device, op.message())) + ", engine " +
         quoted(find_text(op.message(), op_field::kEngine).value_or("")) + ", " + std::to_string(op.outputs().size()) +
         " outputs";
}

// "output 0 over input 0, ...". An operator with two outputs of one name has no meaning; the first one counts.
std::string in_place_of(const OpView& op) {
  std::unordered_map<std::string_view, std::size_t> outputs;
  for (std::size_t output = 0; output < op.outputs().size(); ++output) outputs.emplace(op.outputs()[output], output);
  std::string pairs;
  for (std::size_t input = 0; input < op.inputs().size(); ++input) {
    const auto found = outputs.find(op.inputs()[input]);
    if (found == outputs.end()) continue;
    pairs += (pairs.empty() ? "" : ", ") + std::string("output ") + std::to_string(found->second) + " over input " +
             std::to_string(input);
  }
  return pairs.empty() ? "nothing" : pairs;
}

// What is from outside is there before the net runs, so that nothing waits for it.
std::string waits_of(const OpView& op, const Meanings& meanings) {
  std::set<std::string> results;
  for (std::string_view name : texts_of(op.message(), op_field::kControlInput)) {
    std::string meaning = meaning_of(meanings, name);
    if (!meaning.starts_with("from outside ")) results.insert(std::move(meaning));
  }
  return results.empty() ? "nothing" : listed(results);
}

Result<std::string> describe_nested(const ProtoMessage& net, const Meanings& outer, std::string place) {
  Meanings meanings{.outer = &outer,
                    .place = std::move(place),
                    .depth = outer.depth + 1,
                    .device = find_message(net, net_field::kDevice)};
  std::string all;
  std::size_t at = 0;
  for (const ProtoMessage* message : messages_of(net, net_field::kOp)) {
    const OpView op(*message);
    LOWTIDE_TRY(const DescribedArguments arguments, describe_arguments(op, at, meanings));
    all += kind_of(meanings.device, op) + joined(arguments) + "|" + in_place_of(op) + "|" + waits_of(op, meanings);
    for (std::string_view name : op.inputs()) all += "|" + meaning_of(meanings, name);
    for (std::size_t output = 0; output < op.outputs().size(); ++output) {
      meanings.own[std::string(op.outputs()[output])] =
          meanings.place + std::to_string(at) + ":" + std::to_string(output);
    }
    ++at;
  }
  for (std::string_view name : texts_of(net, net_field::kExternalOutput)) all += ">" + meaning_of(meanings, name);
  return all;
}

// `number(op, at)` is the number of an operator in the meanings of its outputs.
template <typename Number>
Result<DescribedNet> describe(const ProtoMessage& net, const CompareNetsOptions& options, Number number) {
  DescribedNet described;
  for (std::string_view name : texts_of(net, net_field::kExternalInput)) described.of_caller.emplace(name);
  Meanings meanings{.device = find_message(net, net_field::kDevice)};
  std::size_t at = 0;
  for (const ProtoMessage* message : messages_of(net, net_field::kOp)) {
    const OpView op(*message);
    DescribedOp one{.at = at,
                    .effects = options.are_graphs ? effects_in_graph(op) : effects_of(op),
                    .shown = shown_op(op, at),
                    .kind = kind_of(meanings.device, op),
                    .in_place = in_place_of(op)};
    ++at;
    if (op.type() == "Free") {
      for (std::string_view name : op.outputs()) meanings.own[std::string(name)] = "released by " + one.shown;
      continue;
    }
    LOWTIDE_TRY(DescribedArguments arguments, describe_arguments(op, one.at, meanings));
    one.arguments = std::move(arguments);
    for (std::string_view name : op.inputs()) {
      one.sources.push_back(meaning_of(meanings, name));
      if (!meanings.own.contains(std::string(name))) described.of_caller.emplace(name);
    }
    one.waits = waits_of(op, meanings);
    one.outputs.assign(op.outputs().begin(), op.outputs().end());
    const std::string own = number(one, described.ops.size());
    for (std::size_t output = 0; output < one.outputs.size(); ++output) {
      meanings.own[one.outputs[output]] = "output " + std::to_string(output) + " of " + own;
    }
    described.ops.push_back(std::move(one));
  }
  for (std::string_view name : texts_of(net, net_field::kExternalOutput)) {
    described.outputs.emplace_back(name, meaning_of(meanings, name));
  }
  std::sort(described.outputs.begin(), described.outputs.end());
  described.last = std::move(meanings.own);
  return described;
}

std::string by_position(const DescribedOp& /*op*/, std::size_t at) { return "operator " + std::to_string(at); }

class Differences {
 public:
  explicit Differences(NetComparison& to) : to_(to) {}
  void add(const std::string& sentence) {
    if (to_.differences.size() == kMaxNetDifferences) {
      ++to_.left_out_differences;
    } else {
      to_.differences.push_back(sentence);
    }
  }
  void compare(const DescribedOp& a, const DescribedOp& b) {
    if (a.kind != b.kind) return add(a.shown + " has " + a.kind + ", but in the second net " + b.kind);
    if (a.sources.size() != b.sources.size()) {
      return add(a.shown + " reads " + std::to_string(a.sources.size()) + " inputs, but in the second net " +
                 std::to_string(b.sources.size()));
    }
    for (std::size_t at = 0; at < a.sources.size(); ++at) {
      if (a.sources[at] == b.sources[at]) continue;
      add("input " + std::to_string(at) + " of " + a.shown + " is " + a.sources[at] + ", but in the second net " +
          b.sources[at]);
    }
    if (a.in_place != b.in_place) {
      add(a.shown + " writes " + a.in_place + ", but in the second net " + b.in_place);
    }
    if (a.waits != b.waits) add(a.shown + " waits for " + a.waits + ", but in the second net for " + b.waits);
    if (a.arguments != b.arguments) add(argument_difference(a.arguments, b.arguments, a.shown));
  }

 private:
  NetComparison& to_;
};

// The names of the caller that end with another content in the second net, with both contents, except for those that
// are external outputs of both nets.
std::vector<std::array<std::string, 3>> other_ends(const DescribedNet& a, const DescribedNet& b) {
  std::vector<std::array<std::string, 3>> others;
  std::set<std::string> names = a.of_caller;
  names.insert(b.of_caller.begin(), b.of_caller.end());
  const std::map<std::string, std::string> of_second(b.outputs.begin(), b.outputs.end());
  for (const auto& [name, meaning] : a.outputs) {
    if (of_second.contains(name)) names.erase(name);
  }
  const auto end_of = [](const DescribedNet& net, const std::string& name) {
    const auto found = net.last.find(name);
    return found == net.last.end() ? std::string("it began") : found->second;
  };
  for (const std::string& name : names) {
    std::string one = end_of(a, name);
    std::string other = end_of(b, name);
    if (one != other) others.push_back({name, std::move(one), std::move(other)});
  }
  return others;
}

void compare_in_order(const DescribedNet& a, const DescribedNet& b, NetComparison& to) {
  Differences differences(to);
  if (a.ops.size() != b.ops.size()) {
    differences.add("the first net has " + std::to_string(a.ops.size()) + " operators without Free, the second " +
                    std::to_string(b.ops.size()));
  }
  for (std::size_t at = 0; at < std::min(a.ops.size(), b.ops.size()); ++at) {
    differences.compare(a.ops[at], b.ops[at]);
    if (a.ops[at].outputs.size() != b.ops[at].outputs.size()) continue;
    for (std::size_t output = 0; output < a.ops[at].outputs.size(); ++output) {
      to.renamed += a.ops[at].outputs[output] == b.ops[at].outputs[output] ? 0 : 1;
    }
  }
  std::map<std::string, std::string> of_second(b.outputs.begin(), b.outputs.end());
  for (const auto& [name, meaning] : a.outputs) {
    const auto other = of_second.find(name);
    if (other == of_second.end()) differences.add("the second net has no external output " + quoted(name, 60));
    if (other == of_second.end()) continue;
    if (other->second != meaning) {
      differences.add("the external output " + quoted(name, 60) + " is " + meaning + ", but in the second net " +
                      other->second);
    }
    of_second.erase(other);
  }
  for (const auto& [name, meaning] : of_second)
    differences.add("the first net has no external output " + quoted(name, 60));
  for (const auto& [name, one, other] : other_ends(a, b)) {
    differences.add("the blob " + quoted(name, 60) + " of the caller ends as " + one + ", but in the second net as " +
                    other);
  }
}

// How an operator that is a value of its own finds its counterpart.
enum class Counterpart : std::uint8_t {
  by_name,  // its results have the same names
  by_turn,  // as many of its equals come before it
};

// Operators that compute the same from the same have the same number, in whatever order they run. Nets with equal
// numbers have a one-to-one relation between the operators that are values of their own, under which all operators read
// the same.
class Numbering {
 public:
  explicit Numbering(Counterpart counterpart) : counterpart_(counterpart) {}

  std::string operator()(const DescribedOp& op, std::size_t /*at*/) {
    std::string key = op.kind + "\n" + joined(op.arguments) + "\n" + op.in_place + "\n" + op.waits;
    for (const std::string& source : op.sources) key += "\n" + source;
    if (op.effects != OpEffects::none) {
      for (const std::string& name : op.outputs) {
        if (counterpart_ == Counterpart::by_name) key += "\n" + std::to_string(name.size()) + ":" + name;
      }
      key += "\nturn " + std::to_string(turns_[key]++);
    }
    const std::size_t number = numbers_.emplace(std::move(key), numbers_.size()).first->second;
    counts_[number] += is_second_ ? -1 : 1;
    if (op.effects == OpEffects::any) (is_second_ ? second_ : first_).emplace_back(number, op.shown);
    return "value " + std::to_string(number);
  }
  void begin_second() {
    is_second_ = true;
    turns_.clear();
  }
  [[nodiscard]] bool has_equal_counts() const {
    return std::all_of(counts_.begin(), counts_.end(), [](const auto& count) { return count.second == 0; });
  }
  // Requires: has_equal_counts(). nullopt: operators that may have effects run in the same order.
  [[nodiscard]] std::optional<std::string> other_order() const {
    for (std::size_t at = 0; at < first_.size(); ++at) {
      if (first_[at].first == second_[at].first) continue;
      const auto later =
          std::find_if(first_.begin(), first_.end(), [&](const auto& one) { return one.first == second_[at].first; });
      return first_[at].second + " and " + later->second +
             " may have effects on each other, and run in the other order in the second net";
    }
    return std::nullopt;
  }

 private:
  Counterpart counterpart_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::unordered_map<std::string, std::size_t> turns_;      // operators with this key so far
  std::map<std::size_t, std::int64_t> counts_;              // in the first net, less those in the second
  std::vector<std::pair<std::size_t, std::string>> first_;  // operators that may have effects, with their numbers
  std::vector<std::pair<std::size_t, std::string>> second_;
  bool is_second_ = false;
};

// nullopt: the nets differ. "": they are the same. Otherwise operators run in another order that may not.
Result<std::optional<std::string>> compare_by_value(const ProtoMessage& first, const ProtoMessage& second,
                                                    const CompareNetsOptions& options, Counterpart counterpart) {
  Numbering numbering(counterpart);
  LOWTIDE_TRY(const DescribedNet a, describe(first, options, std::ref(numbering)));
  numbering.begin_second();
  LOWTIDE_TRY(const DescribedNet b, describe(second, options, std::ref(numbering)));
  const bool is_same = numbering.has_equal_counts() && a.outputs == b.outputs && other_ends(a, b).empty();
  if (!is_same) return std::optional<std::string>();
  if (!options.effects_keep_order) return std::optional<std::string>("");
  return std::optional<std::string>(numbering.other_order().value_or(""));
}

}  // namespace
}  // namespace netdef_internal

Result<NetComparison> compare_nets(const ProtoMessage& first, const ProtoMessage& second,
                                   const CompareNetsOptions& options) {
  namespace in = netdef_internal;
  LOWTIDE_TRY(const in::DescribedNet a, in::describe(first, options, in::by_position));
  LOWTIDE_TRY(const in::DescribedNet b, in::describe(second, options, in::by_position));
  NetComparison comparison;
  in::compare_in_order(a, b, comparison);
  comparison.is_same = comparison.has_same_order = comparison.differences.empty();
  if (comparison.is_same) return comparison;

  for (const in::Counterpart counterpart : {in::Counterpart::by_name, in::Counterpart::by_turn}) {
    LOWTIDE_TRY(const std::optional<std::string> order, in::compare_by_value(first, second, options, counterpart));
    if (!order) continue;
    if (order->empty()) return NetComparison{.is_same = true};
    return NetComparison{.differences = {*order}};
  }
  return comparison;
}

}  // namespace lowtide
