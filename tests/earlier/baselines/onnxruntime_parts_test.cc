// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/baselines/onnxruntime/arena.h"
#include "lowtide/earlier/baselines/onnxruntime/buffers.h"
#include "lowtide/earlier/baselines/onnxruntime/steps.h"
#include "lowtide/earlier/baselines/onnxruntime/trace.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

// The parts of the prediction for ONNX Runtime, compared with slow and plain code.
namespace lowtide::testing {
namespace {

using namespace baselines_internal;

// The arena as a list of segments, each with its chunks from the lowest address on. Every request looks at all chunks.
class PlainArena {
 public:
  explicit PlainArena(ArenaGrowth growth) : growth_(growth) {}

  int allocate(std::int64_t size) {
    const std::int64_t rounded = (size + 255) / 256 * 256;
    Place best = best_fit(rounded);
    if (!best.found) {
      extend(rounded);
      best = best_fit(rounded);
    }
    std::vector<Chunk>& chunks = segments_[best.segment].chunks;
    if (chunks[best.chunk].size >= 2 * rounded || chunks[best.chunk].size - rounded >= (128 << 20)) {
      const std::int64_t rest = chunks[best.chunk].size - rounded;
      chunks[best.chunk].size = rounded;
      chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(best.chunk) + 1, Chunk{rest, std::nullopt});
    }
    chunks[best.chunk].user = next_;
    return next_++;
  }

  void release(int user) {
    for (Segment& segment : segments_) {
      for (Chunk& chunk : segment.chunks) {
        if (chunk.user == user) chunk.user.reset();
      }
      for (std::size_t at = 0; at + 1 < segment.chunks.size();) {
        if (segment.chunks[at].user || segment.chunks[at + 1].user) {
          ++at;
          continue;
        }
        segment.chunks[at].size += segment.chunks[at + 1].size;
        segment.chunks.erase(segment.chunks.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
    }
  }

  std::int64_t requested() const {
    std::int64_t sum = 0;
    for (const Segment& segment : segments_) sum += segment.size;
    return sum;
  }

 private:
  struct Chunk {
    std::int64_t size;
    std::optional<int> user;
  };
  struct Segment {
    std::int64_t size;
    std::vector<Chunk> chunks;
  };
  struct Place {
    bool found = false;
    std::size_t segment = 0;
    std::size_t chunk = 0;
  };

  // Segments from the lowest address on: small ones from the first to the last, then others from the last to the first.
  std::vector<std::size_t> by_address() const {
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < segments_.size(); ++at) {
      if (segments_[at].size < (128 << 10)) order.push_back(at);
    }
    for (std::size_t at = segments_.size(); at-- > 0;) {
      if (segments_[at].size >= (128 << 10)) order.push_back(at);
    }
    return order;
  }

  Place best_fit(std::int64_t size) const {
    Place best;
    std::int64_t best_size = 0;
    for (std::size_t segment : by_address()) {
      for (std::size_t chunk = 0; chunk < segments_[segment].chunks.size(); ++chunk) {
        const Chunk& one = segments_[segment].chunks[chunk];
        if (one.user || one.size < size || (best.found && one.size >= best_size)) continue;
        best = {true, segment, chunk};
        best_size = one.size;
      }
    }
    return best;
  }

  void extend(std::int64_t size) {
    std::int64_t segment = size;
    if (growth_ == ArenaGrowth::next_power_of_two) {
      const bool was_enough = current_ >= size;
      while (current_ < size) current_ *= 2;
      segment = current_;
      if (was_enough) current_ = std::min<std::int64_t>(2 * current_, std::int64_t{1} << 30);
    }
    segments_.push_back({segment, {Chunk{segment, std::nullopt}}});
  }

  ArenaGrowth growth_;
  std::int64_t current_ = 1 << 20;
  std::vector<Segment> segments_;
  int next_ = 0;
};

TEST(OnnxRuntimeParts, TheArenaAgreesWithAScanOfAllChunks) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const ArenaGrowth growth = random.chance(50) ? ArenaGrowth::next_power_of_two : ArenaGrowth::same_as_requested;
    ChunkArena arena(growth);
    PlainArena plain(growth);
    std::vector<std::pair<ChunkId, int>> live;
    for (int at = 0; at < 200; ++at) {
      if (!live.empty() && random.chance(45)) {
        const auto which = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(live.size()) - 1));
        arena.release(live[which].first);
        plain.release(live[which].second);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        // Few different sizes, so that there are ties.
        const std::int64_t size = random.chance(5) ? 300 << 20 : (random.between(1, 6) << random.between(8, 22)) - 100;
        live.emplace_back(arena.allocate(Bytes(size)), plain.allocate(size));
      }
      ASSERT_EQ(arena.requested().count(), plain.requested()) << round << " " << at;
    }
  }
}

// The pattern as a list of blocks, sorted by offset, which is scanned from the start.
std::int64_t plain_pattern_size(const Trace& trace) {
  struct Placed {
    TracedBlockId block;
    std::int64_t begin;
    std::int64_t end;
  };
  std::list<Placed> placed;
  std::int64_t height = 0;
  for (const TraceEvent& event : trace.events) {
    if (!trace.blocks[event.block].is_planned) continue;
    if (event.action == TraceAction::give_back) {
      placed.remove_if([&](const Placed& one) { return one.block == event.block; });
      continue;
    }
    const std::int64_t size = (trace.blocks[event.block].size.count() + 255) / 256 * 256;
    auto before = placed.end();
    std::int64_t begin = placed.empty() ? 0 : placed.back().end;
    std::int64_t least_waste = INT64_MAX;
    std::int64_t reached = 0;
    for (auto at = placed.begin(); at != placed.end(); ++at) {
      const std::int64_t gap = at->begin - reached;
      if (gap >= size && gap - size < least_waste) {
        least_waste = gap - size;
        begin = reached;
        before = at;
      }
      reached = at->end;
    }
    if (height - reached >= size && height - reached - size < least_waste) {
      begin = reached;
      before = placed.end();
    }
    placed.insert(before, {event.block, begin, begin + size});
    height = std::max(height, begin + size);
  }
  return height;
}

TraceEvent event_of(TracedBlockId block, TraceAction action) { return {.action = action, .block = block}; }

TEST(OnnxRuntimeParts, ThePatternAgreesWithAScanOfAllBlocks) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    Trace trace;
    std::vector<TracedBlockId> live;
    for (int at = 0; at < 100; ++at) {
      if (!live.empty() && random.chance(45)) {
        const auto which = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(live.size()) - 1));
        trace.events.push_back(event_of(live[which], TraceAction::give_back));
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        live.push_back(
            trace.blocks.push_back({.size = Bytes(random.between(1, 8) * 200), .is_planned = random.chance(90)}));
        trace.events.push_back(event_of(live.back(), TraceAction::take));
      }
    }
    EXPECT_EQ(patterns_of(trace)[kMainFrame].count(), plain_pattern_size(trace)) << round;
  }
}

//        0     1     2     3     4     5     6 KiB
//        [       x       ] [   ] [     y     ]
//                          [   ]                    x and y are given back: free are 3 KiB below, and 2 KiB above
//        [       3       ] [   ] [ 1 ]              1 KiB goes to the end, so 3 KiB fit below
TEST(OnnxRuntimeParts, TheSmallestRangeMayBeTheEnd) {
  Trace trace;
  const auto take = [&](std::int64_t kib) {
    const TracedBlockId block = trace.blocks.push_back({.size = Bytes(kib * 1024), .is_planned = true});
    trace.events.push_back(event_of(block, TraceAction::take));
    return block;
  };
  const auto give_back = [&](TracedBlockId block) { trace.events.push_back(event_of(block, TraceAction::give_back)); };
  const TracedBlockId x = take(3);
  take(1);  // 3 to 4 KiB, stays
  const TracedBlockId y = take(2);
  give_back(y);
  give_back(x);
  take(1);  // 4 to 5 KiB: the end has 2 KiB, the range at 0 has 3 KiB
  take(3);  // 0 to 3 KiB
  EXPECT_EQ(patterns_of(trace)[kMainFrame], Bytes(6 * 1024));  // otherwise 9 KiB: 3 KiB would go above 6 KiB
}

// Replays a run: each memory holds the value that was written last. A step finds its inputs there.
void expect_intact(const Graph& graph) {
  const Result<RuntimeSteps> all = runtime_steps(graph, runtime_order(graph));
  ASSERT_TRUE(all.ok());
  const BufferChoice choice = choose_buffers(*all);
  IdVector<RuntimeValueId, RuntimeValueId> content;  // by holder: the value there
  IdVector<RuntimeValueId, RuntimeValueId> meaning;  // by value: itself, or the value that it renames
  for (RuntimeValueId id : all_ids<RuntimeValueId>(all->values.size())) {
    content.push_back(id);
    meaning.push_back(id);
  }
  for (std::size_t at = 0; at < all->steps.size(); ++at) {
    const RuntimeStep& step = all->steps[at];
    for (RuntimeValueId id : step.inputs) EXPECT_EQ(content[choice.holder[id]], meaning[id]) << at;
    for (std::size_t output = 0; output < step.outputs.size(); ++output) {
      const RuntimeValueId id = step.outputs[output];
      const RuntimeValueId holder = choice.holder[id];
      const bool is_renamed = output == 0 && step.rule == OutputRule::is_input && !all->values[id].is_output;
      if (is_renamed) {
        meaning[id] = meaning[*step.rule_input];
        continue;
      }
      EXPECT_FALSE(all->values[holder].is_given);
      if (all->values[id].is_output) {
        EXPECT_EQ(holder, id);
      }
      // A step may write over one of its inputs only if its rule says so.
      for (RuntimeValueId input : step.inputs) {
        const bool may_replace = output == 0 && step.rule == OutputRule::may_replace && input == *step.rule_input;
        if (!may_replace) {
          EXPECT_NE(choice.holder[input], holder) << at;
        }
      }
      content[holder] = id;
    }
    for (RuntimeValueId id : step.inputs) {
      const RuntimeValueId holder = choice.holder[id];
      if (choice.last_step[holder]) {
        EXPECT_GE(*choice.last_step[holder], at);
      }
    }
  }
  for (RuntimeValueId id : all_ids<RuntimeValueId>(all->values.size())) {
    if (all->values[id].is_output) {
      EXPECT_EQ(content[id], id);
    }
  }
}

TEST(OnnxRuntimeParts, NoValueIsOverwrittenBeforeItsLastUse) {
  Random random(3);
  int shared = 0;
  for (int round = 0; round < 500; ++round) {
    const Graph graph = random_graph(random, 20);
    SCOPED_TRACE(print_graph(graph));
    expect_intact(graph);
    const BufferChoice choice = choose_buffers(*runtime_steps(graph, runtime_order(graph)));
    for (RuntimeValueId id : all_ids<RuntimeValueId>(choice.holder.size())) shared += choice.holder[id] != id ? 1 : 0;
  }
  EXPECT_GT(shared, 500);  // otherwise the test shows nothing
}

}  // namespace
}  // namespace lowtide::testing
