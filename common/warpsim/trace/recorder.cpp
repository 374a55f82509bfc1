#include "warpsim/trace/recorder.h"

#include <algorithm>
#include <cstring>

#include "warpsim/machine/lift.h"
#include "warpsim/provenance/follower.h"

namespace warpsim::trace {

namespace {

constexpr size_t kMostDepth = 8;  // of loops

}  // namespace

const Op* begin(Warp& w, const Op* op) {
  if (w.worker->recorder != nullptr) w.worker->recorder->begin(w, op);
  return op + 1;
}

const Op* finish(Warp& w, const Op* op) {
  if (w.worker->recorder != nullptr) w.worker->recorder->finish(w, op);
  return op + 1;
}

Recorder::Recorder(Recording* recording, Worker& worker, provenance::Follower* follower,
                   provenance::History* history)
    : recording_(*recording),
      launch_(recording->begin_launch(worker.launch->number - 1)),
      worker_(worker),
      context_(*worker.launch),
      image_(*worker.image),
      follower_(follower),
      history_(history) {
  launch_.warps = context_.warps_per_block;
  describe_instructions();
  describe_loops();
  describe_arrays();
  describe_parameters();
  size_t depth = 0;
  for (const Instruction& code : launch_.instructions) depth = std::max(depth, code.loops.size());
  launch_.events.turns.resize(std::min(depth, kMostDepth));
  const Settings& settings = recording_.settings();
  launch_.is_whole = settings.first_line == 0;
}

void Recorder::begin_block(uint64_t block) {
  const std::vector<uint64_t>& wanted = recording_.settings().blocks;
  is_recorded_ = wanted.empty() || std::find(wanted.begin(), wanted.end(), block) != wanted.end();
  if (!is_recorded_) return;
  launch_.blocks.push_back(block);
  warps_.assign(context_.warps_per_block, {});
  for (WarpTrace& warp : warps_) warp.turns.assign(launch_.loops.size(), 0);
  rounds_ = {};
  latest_event_ = kNone;
}

void Recorder::end_block() {
  if (!is_recorded_) return;
  for (const Warp& w : worker_.warps) close_access(w, warps_[w.index]);
}

int32_t Recorder::event_of(const Warp& w) const {
  return is_recorded_ && !warps_.empty() ? warps_[w.index].event : kNone;
}

// The loops that `code` lies in: one is entered at its first instruction, and begins another turn
// where it comes there from within.
void Recorder::count_turns(WarpTrace& at, uint32_t code) {
  for (uint32_t number : launch_.instructions[code].loops) {
    const Loop& loop = launch_.loops[number];
    if (loop.first != code) continue;
    const bool again = at.previous >= int32_t(loop.first) && at.previous <= int32_t(loop.last);
    at.turns[number] = again ? at.turns[number] + 1 : 0;
  }
  at.previous = int32_t(code);
}

void Recorder::begin(const Warp& w, const Op* op) {
  if (!is_recorded_) return;
  WarpTrace& at = warps_[w.index];
  close_access(w, at);
  const auto function = size_t(w.program - image_.programs.data());
  const uint32_t code = base_[function] + op->instruction;
  const Fact& fact = facts_[code];
  count_turns(at, code);
  const uint32_t clock = at.clock++;
  at.event = kNone;
  at.code = code;
  if (!fact.is_wanted || !recording_.take_event()) return;
  Events& events = launch_.events;
  at.event = latest_event_ = int32_t(events.count());
  uint32_t mask = w.mask;
  if (op->a != 0) mask &= op->d != 0 ? ~predicate(w, op->a) : predicate(w, op->a);
  events.block.push_back(uint32_t(w.block->linear));
  events.warp.push_back(uint16_t(w.index));
  events.code.push_back(code);
  events.active.push_back(w.mask);
  events.mask.push_back(mask);
  events.interval.push_back(uint32_t(w.block->barriers_passed));
  events.clock.push_back(clock);
  events.value.push_back(kNone);
  const std::vector<uint32_t>& loops = launch_.instructions[code].loops;
  for (size_t depth = 0; depth < events.turns.size(); ++depth)
    events.turns[depth].push_back(depth < loops.size() ? at.turns[loops[depth]] : kNone);
  look_at_memory(w, op, at, fact);
}

void Recorder::finish(const Warp& w, const Op* op) {
  if (!is_recorded_) return;
  WarpTrace& at = warps_[w.index];
  close_access(w, at);
  if (at.event == kNone) return;
  const Fact& fact = facts_[at.code];
  const uint32_t mask = launch_.events.mask[size_t(at.event)];
  if (!fact.has_values || mask == 0) return;
  launch_.events.value[size_t(at.event)] = int32_t(launch_.values.size());
  const std::array<uint32_t, 4> rows = {op->d, op->a, op->b, op->c};
  for_each_lane(mask, [&](int lane) {
    for (size_t element = 0; element < fact.elements; ++element) {
      uint64_t value = 0;
      if (rows[element] != 0) {
        value = fact.wide[element] ? row<uint64_t>(w, rows[element])[lane]
                                   : row<uint32_t>(w, rows[element])[lane];
      }
      if (fact.value_bytes < 4) value &= (uint64_t{1} << 8 * fact.value_bytes) - 1;
      launch_.values.push_back(uint32_t(value));
      if (fact.value_bytes == 8) launch_.values.push_back(uint32_t(value >> 32));
    }
  });
  if (follower_ == nullptr) return;
  add_products(w, fact, at.event);
  add_sums(w, fact, at.event);
}

void Recorder::arrive(const Warp& w, const Op* op, uint32_t number, bool waits) {
  if (!is_recorded_) return;
  const WarpTrace& at = warps_[w.index];
  Round& round = rounds_[number];
  if (waits) round.warps.push_back(w.index);
  const auto function = size_t(w.program - image_.programs.data());
  if (at.event == kNone || at.code != base_[function] + op->instruction) return;
  Barriers& barriers = launch_.barriers;
  round.rows.push_back(uint32_t(barriers.event.size()));
  barriers.event.push_back(uint32_t(at.event));
  barriers.number.push_back(uint8_t(number));
  barriers.waits.push_back(waits);
  barriers.round.push_back(round.number);
  barriers.released.push_back(kNone);
}

void Recorder::complete(uint32_t number) {
  if (!is_recorded_) return;
  Round& round = rounds_[number];
  for (uint32_t row : round.rows) launch_.barriers.released[row] = latest_event_;
  uint32_t latest = 0;
  for (uint32_t warp : round.warps) latest = std::max(latest, warps_[warp].clock);
  for (uint32_t warp : round.warps) warps_[warp].clock = latest;
  round = {.number = round.number + 1, .rows = {}, .warps = {}};
}

int32_t Recorder::copy(const Warp& w, const CopyOfLane& copy) {
  if (!is_recorded_) return kNone;
  WarpTrace& at = warps_[w.index];
  if (at.event == kNone || at.side_count != 2) return kNone;
  if (copy.read == 0) at.sides[0].mask &= ~(1u << copy.lane);
  Copies& copies = launch_.copies;
  const PlaceInArray from = place(at.sides[0].site, copy.source);
  const PlaceInArray to = place(at.sides[1].site, copy.target);
  const auto row = int32_t(copies.event.size());
  copies.event.push_back(uint32_t(at.event));
  copies.lane.push_back(uint8_t(copy.lane));
  copies.bytes.push_back(uint8_t(copy.bytes));
  copies.read.push_back(uint8_t(copy.read));
  copies.from.push_back(from.array);
  copies.from_offset.push_back(from.offset);
  copies.to.push_back(to.array);
  copies.to_offset.push_back(to.offset);
  copies.value.push_back(uint32_t(launch_.values.size()));
  copies.committed.push_back(kNone);
  copies.arrived.push_back(kNone);
  for (uint32_t byte = 0; byte < copy.bytes; byte += 4) {
    uint32_t word = 0;
    std::memcpy(&word, copy.data + byte, 4);
    launch_.values.push_back(word);
  }
  at.open.push_back(row);
  return row;
}

void Recorder::commit(const Warp& w) {
  if (!is_recorded_) return;
  WarpTrace& at = warps_[w.index];
  std::vector<int32_t> kept;
  for (int32_t row : at.open) {
    if (w.mask >> launch_.copies.lane[size_t(row)] & 1)
      launch_.copies.committed[size_t(row)] = at.event;
    else
      kept.push_back(row);
  }
  at.open = std::move(kept);
}

void Recorder::arrived(const Warp& w, int32_t row) {
  if (is_recorded_ && row != kNone) launch_.copies.arrived[size_t(row)] = warps_[w.index].event;
}

void Recorder::end() {
  launch_.is_whole = launch_.is_whole && launch_.blocks.size() == context_.block_count;
  for (Array& array : launch_.arrays) {
    if (!array.is_kept) continue;
    const AllocationRecord* record = MemoryView(*context_.memory).find(array.address);
    if (record == nullptr) continue;
    array.final.assign((array.bytes + 3) / 4, 0);
    std::memcpy(array.final.data(), record->data, array.bytes);
  }
  name_types();
}

}  // namespace warpsim::trace
