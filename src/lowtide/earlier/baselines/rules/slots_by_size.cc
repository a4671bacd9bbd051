// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/rules/slots_by_size.h"

#include <algorithm>

namespace lowtide::baselines_internal {

std::uint32_t SlotsBySize::add(std::int64_t size, std::int64_t free_from) {
  const auto slot = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.size = size, .free_from = free_from, .earliest = free_from, .priority = random_.next()});
  insert(slot);
  return slot;
}

void SlotsBySize::change(std::uint32_t slot, std::int64_t size, std::int64_t free_from) {
  erase(slot);
  nodes_[slot].size = size;
  nodes_[slot].free_from = nodes_[slot].earliest = free_from;
  insert(slot);
}

std::optional<std::uint32_t> SlotsBySize::nearest(std::int64_t size, std::int64_t time) {
  const std::optional<std::uint32_t> above = first_from({size, 0}, time);
  std::optional<std::uint32_t> below = last_before({size, 0}, time);
  if (!below) return above;
  below = first_from({nodes_[*below].size, 0}, time);  // of the slots of that size, the one with the lowest number
  if (!above) return below;
  const std::int64_t up = nodes_[*above].size - size;
  const std::int64_t down = size - nodes_[*below].size;
  if (up != down) return up < down ? above : below;
  return std::min(*above, *below);
}

void SlotsBySize::insert(std::uint32_t slot) {
  std::uint32_t before = kNone;
  std::uint32_t after = kNone;
  split(root_, key_of(slot), before, after);
  root_ = merge(merge(before, slot), after);
}

void SlotsBySize::erase(std::uint32_t slot) {
  std::uint32_t before = kNone;
  std::uint32_t rest = kNone;
  std::uint32_t after = kNone;
  std::uint32_t found = kNone;
  split(root_, key_of(slot), before, rest);
  split(rest, {nodes_[slot].size, slot + 1}, found, after);
  root_ = merge(before, after);
}

// Splits a tree into the nodes before `key` and the others. It follows one path down, and attaches each node of the
// path to one of the two results.
void SlotsBySize::split(std::uint32_t node, const Key& key, std::uint32_t& before, std::uint32_t& after) {
  std::uint32_t* before_link = &before;
  std::uint32_t* after_link = &after;
  while (node != kNone) {
    path_.push_back(node);
    if (key_of(node) < key) {
      *before_link = node;
      before_link = &nodes_[node].right;
      node = *before_link;
    } else {
      *after_link = node;
      after_link = &nodes_[node].left;
      node = *after_link;
    }
  }
  *before_link = *after_link = kNone;
  update_path();
}

// Requires: all of `before` comes before all of `after`.
std::uint32_t SlotsBySize::merge(std::uint32_t before, std::uint32_t after) {
  std::uint32_t root = kNone;
  std::uint32_t* link = &root;
  while (before != kNone && after != kNone) {
    if (nodes_[before].priority > nodes_[after].priority) {
      path_.push_back(before);
      *link = before;
      link = &nodes_[before].right;
      before = *link;
    } else {
      path_.push_back(after);
      *link = after;
      link = &nodes_[after].left;
      after = *link;
    }
  }
  *link = before != kNone ? before : after;
  update_path();
  return root;
}

void SlotsBySize::update_path() {
  visited_ += static_cast<std::int64_t>(path_.size());
  for (; !path_.empty(); path_.pop_back()) {
    Node& node = nodes_[path_.back()];
    node.earliest = node.free_from;
    for (std::uint32_t child : {node.left, node.right}) {
      if (child != kNone) node.earliest = std::min(node.earliest, nodes_[child].earliest);
    }
  }
}

std::optional<std::uint32_t> SlotsBySize::first_from(const Key& key, std::int64_t time) {
  path_.clear();  // nodes at or after the key, by descending key
  for (std::uint32_t node = root_; node != kNone; ++visited_) {
    const bool is_before = key_of(node) < key;
    if (!is_before) path_.push_back(node);
    node = is_before ? nodes_[node].right : nodes_[node].left;
  }
  std::optional<std::uint32_t> found;
  for (; !found && !path_.empty(); path_.pop_back()) {
    std::uint32_t node = path_.back();
    if (nodes_[node].free_from <= time) found = node;
    for (node = nodes_[node].right; !found && has_free(node, time); ++visited_) {
      if (has_free(nodes_[node].left, time)) {
        node = nodes_[node].left;
      } else if (nodes_[node].free_from <= time) {
        found = node;
      } else {
        node = nodes_[node].right;
      }
    }
  }
  path_.clear();
  return found;
}

std::optional<std::uint32_t> SlotsBySize::last_before(const Key& key, std::int64_t time) {
  path_.clear();  // nodes before the key, by ascending key
  for (std::uint32_t node = root_; node != kNone; ++visited_) {
    const bool is_before = key_of(node) < key;
    if (is_before) path_.push_back(node);
    node = is_before ? nodes_[node].right : nodes_[node].left;
  }
  std::optional<std::uint32_t> found;
  for (; !found && !path_.empty(); path_.pop_back()) {
    std::uint32_t node = path_.back();
    if (nodes_[node].free_from <= time) found = node;
    for (node = nodes_[node].left; !found && has_free(node, time); ++visited_) {
      if (has_free(nodes_[node].right, time)) {
        node = nodes_[node].right;
      } else if (nodes_[node].free_from <= time) {
        found = node;
      } else {
        node = nodes_[node].left;
      }
    }
  }
  path_.clear();
  return found;
}

}  // namespace lowtide::baselines_internal
