#include "warpsim/model/replay.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_set>

#include "warpsim/model/sector_cache.h"

namespace warpsim {

namespace {

constexpr double kNever = 1e300;

struct WarpState {
  size_t block = 0;             // among those resident
  size_t trace = 0, index = 0;  // whose requests it makes: block and warp in the profile
  size_t step = 0;              // in Schedule::order
  int32_t at = 0, end = 0;      // instruction, end of the basic block
  double ready = 0;             // cycle at which its next instruction has all it needs
  Wait reason = Wait::kArithmetic;
  std::vector<double> free_at;     // per slot
  std::vector<Wait> why;           // per slot: what it waits for
  std::vector<uint32_t> requests;  // per site: made so far
  std::deque<double> copies;       // groups of asynchronous copies: when each has arrived
  double open_copies = 0;          // the group that is not committed yet
};

// Which traced site a PTX instruction's global requests are recorded under, and its shared costs.
struct Places {
  std::vector<int32_t> global, shared;  // per PTX instruction: site, -1: none
  explicit Places(const LaunchProfile& profile)
      : global(profile.function->code.size(), -1), shared(global) {
    for (size_t i = 0; i < profile.sites.size(); ++i) {
      const SiteProfile& site = profile.sites[i];
      if (site.instruction < 0 || site.requests == 0) continue;
      (site.moved_bytes > 0 ? global : shared)[size_t(site.instruction)] = int32_t(i);
    }
  }
};

class Multiprocessor {
 public:
  explicit Multiprocessor(const ReplayInput& input)
      : in_(input),
        t_(*input.timing),
        places_(*input.profile),
        cache_(input.l1_bytes),
        schedulers_(size_t(input.timing->schedulers)) {
    for (size_t b = 0; b < in_.blocks.size(); ++b) {
      const size_t trace = in_.blocks[b];
      const size_t warps = in_.profile->blocks[trace].warps.size();
      arrived_.push_back(0);
      live_.push_back(uint32_t(warps));
      last_arrival_.push_back(0);
      for (size_t w = 0; w < warps; ++w) {
        WarpState state;
        state.block = b;
        state.trace = trace;
        state.index = w;
        state.free_at.assign(size_t(in_.code->slots), 0);
        state.why.assign(size_t(in_.code->slots), Wait::kArithmetic);
        state.requests.assign(in_.profile->sites.size(), 0);
        warps_.push_back(std::move(state));
      }
    }
    for (size_t w = 0; w < warps_.size(); ++w) {
      enter_block(warps_[w]);
      if (warps_[w].step < in_.schedule->order.size())
        schedulers_[w % schedulers_.size()].warps.push_back(w);
    }
  }

  ReplayResult run() {
    for (Scheduler& s : schedulers_) choose(s);
    for (;;) {
      Scheduler* next = nullptr;
      for (Scheduler& s : schedulers_) {
        if (s.candidate < warps_.size() && (next == nullptr || s.when < next->when)) next = &s;
      }
      if (next == nullptr) break;
      issue(*next);
      choose(*next);
    }
    return result_;
  }

 private:
  struct Scheduler {
    std::vector<size_t> warps;
    size_t candidate = SIZE_MAX, last = SIZE_MAX;
    double when = kNever;
    double free = 0, integer_free = 0, multiply_free = 0, slow_free = 0, tensor_free = 0;
  };

  const MachineInstruction& next_of(const WarpState& w) const {
    return in_.code->code[size_t(w.at)];
  }

  // FP32 arithmetic on fewer lanes than a warp has: a unit to wait for, which multiplies integers
  // too.
  bool narrow() const { return t_.fma_cycles > t_.issue_cycles; }

  double* unit_of(Scheduler& s, Work work) {
    switch (work) {
      case Work::kFma:
        return narrow() ? &s.multiply_free : nullptr;
      case Work::kInteger:
        return &s.integer_free;
      case Work::kMultiply:
        return &s.multiply_free;
      case Work::kSlow:
      case Work::kDouble:
        return &s.slow_free;
      case Work::kTensor:
        return &s.tensor_free;
      default:
        return nullptr;
    }
  }

  // The warp that can issue first; among equals the one that issued last, then the oldest.
  void choose(Scheduler& s) {
    s.candidate = SIZE_MAX;
    s.when = kNever;
    for (size_t w : s.warps) {
      const WarpState& state = warps_[w];
      if (state.ready >= kNever) continue;
      double when = std::max(state.ready, s.free);
      if (const double* unit = unit_of(s, next_of(state).work)) when = std::max(when, *unit);
      if (when < s.when || (when == s.when && w == s.last)) {
        s.when = when;
        s.candidate = w;
      }
    }
  }

  // Sets out for the next basic block that is not empty; the warp has finished if there is none.
  void enter_block(WarpState& w) {
    const std::vector<uint32_t>& order = in_.schedule->order;
    while (w.step < order.size()) {
      const CodeBlock& block = in_.schedule->blocks[order[w.step]];
      w.at = block.first;
      w.end = block.end;
      if (w.at < w.end) return;
      ++w.step;
    }
  }

  void note_idle(Scheduler& s, const WarpState& w, double when) {
    if (when <= s.free) return;
    const Wait why = w.ready >= when ? w.reason : Wait::kUnit;
    result_.waits[size_t(why)] += when - s.free;
  }

  void issue(Scheduler& s) {
    WarpState& w = warps_[s.candidate];
    const double now = s.when;
    const MachineInstruction& m = next_of(w);
    note_idle(s, w, now);
    s.last = s.candidate;
    const bool in_unit = m.work == Work::kFma && narrow();
    double slots = in_unit ? t_.issue_cycles : t_.issue_cycles * m.issue_cycles;
    if (m.work == Work::kSharedLoad && m.bytes == 16) slots += t_.wide_load_cycles;
    s.free = now + slots;
    result_.issue += slots;
    if (m.work == Work::kFma && !in_unit) result_.fma += slots;
    take_unit(s, m, now);
    const bool waits_at_barrier = execute(w, m, now);
    result_.cycles = std::max(result_.cycles, s.free);
    advance(w, m, now);
    if (waits_at_barrier) arrive(w, now);
  }

  void take_unit(Scheduler& s, const MachineInstruction& m, double now) {
    double* unit = unit_of(s, m.work);
    if (unit == nullptr) return;
    double cycles = m.work == Work::kDouble ? t_.double_cycles : t_.slow_cycles;
    double* sum = &result_.slow;
    if (m.work == Work::kInteger) {
      cycles = t_.integer_cycles;
      sum = &result_.integer;
    } else if (m.work == Work::kFma) {
      cycles = t_.fma_cycles * m.issue_cycles;
      sum = &result_.fma;
    } else if (m.work == Work::kMultiply) {
      cycles = t_.multiply_cycles;
      sum = narrow() ? &result_.fma : &result_.multiply;
    } else if (m.work == Work::kTensor) {
      cycles = m.tensor_bytes == 32 ? t_.tensor_cycles : t_.tensor_half_cycles;
      sum = &result_.tensor;
    }
    *unit = now + cycles;
    *sum += cycles;
  }

  // When the warp's next instruction has what it needs.
  void advance(WarpState& w, const MachineInstruction& m, double now) {
    w.ready = now + std::max(double(m.stall), t_.issue_cycles);
    w.reason = Wait::kArithmetic;
    if (++w.at >= w.end) {
      ++w.step;
      enter_block(w);
    }
    if (w.step >= in_.schedule->order.size()) {
      finish(w);
      return;
    }
    const MachineInstruction& next = next_of(w);
    auto wait_for = [&](double when, Wait why) {
      if (when > w.ready) {
        w.ready = when;
        w.reason = why;
      }
    };
    for (int16_t slot : next.waits) wait_for(w.free_at[size_t(slot)], w.why[size_t(slot)]);
    if (next.work == Work::kWaitCopies && w.copies.size() > next.pending_copies)
      wait_for(w.copies[w.copies.size() - 1 - next.pending_copies], Wait::kGlobalMemory);
  }

  void finish(WarpState& w) {
    w.ready = kNever;
    --live_[w.block];
    release_if_complete(w.block);
  }

  // True if the warp has to wait for its block.
  bool execute(WarpState& w, const MachineInstruction& m, double now) {
    double done = now, read = now + 4;
    Wait why = Wait::kArithmetic;
    switch (m.work) {
      case Work::kSharedLoad:
      case Work::kSharedStore:
      case Work::kShuffle:
        done = shared(m, now);
        why = Wait::kSharedMemory;
        read = done - t_.shared_latency + 4;
        break;
      case Work::kGlobalLoad:
      case Work::kGlobalStore:
      case Work::kAtomic:
      case Work::kLocal:
        done = global(w, m, now, &read);
        why = Wait::kGlobalMemory;
        break;
      case Work::kAsyncCopy: {
        const double arrival = global(w, m, now, &read);
        w.open_copies = std::max(w.open_copies, arrival);
        done = read;
        why = Wait::kGlobalMemory;
        break;
      }
      case Work::kCommitCopies:
        w.copies.push_back(std::max(w.open_copies, w.copies.empty() ? 0 : w.copies.back()));
        done = now + 4;
        break;
      case Work::kConstant:
      case Work::kUniform:
        done = now + t_.constant_latency;
        break;
      case Work::kSlow:
        done = now + t_.slow_cycles + 2 * t_.alu_latency;
        break;
      case Work::kDouble:
        done = now + t_.double_cycles + 2 * t_.alu_latency;
        break;
      case Work::kBarrier:
        return true;
      default:
        done = now + t_.alu_latency;
        if (m.shared_operand < 0) break;
        done = shared(m, now);
        why = Wait::kSharedMemory;
    }
    auto occupy = [&](int16_t slot, double until) {
      if (slot < 0 || m.work == Work::kWaitCopies || until < w.free_at[size_t(slot)]) return;
      w.free_at[size_t(slot)] = until;
      w.why[size_t(slot)] = why;
    };
    occupy(m.reports_to, done);
    occupy(m.frees, read);
    return false;
  }

  double take_load_store(double now, double cycles) {
    const double start = std::max(now, load_store_free_);
    load_store_free_ = start + cycles;
    return start;
  }

  double shared(const MachineInstruction& m, double now) {
    double wavefronts = 1;
    const int32_t load = m.shared_operand >= 0 ? m.shared_operand : m.ptx;
    const int32_t site = load >= 0 ? places_.shared[size_t(load)] : -1;
    if (site >= 0 && m.work != Work::kShuffle) {
      const SiteProfile& profile = in_.profile->sites[size_t(site)];
      wavefronts = profile.wavefronts[m.bytes >= 16 ? 2 : m.bytes >= 8 ? 1 : 0];
    }
    const double cycles = std::max(wavefronts * t_.load_store_cycles, t_.request_cycles);
    result_.shared += cycles;
    return take_load_store(now, cycles) + cycles - t_.load_store_cycles + t_.shared_latency;
  }

  // Returns when the last byte has arrived; *read: when the registers with address and data are
  // free.
  double global(WarpState& w, const MachineInstruction& m, double now, double* read) {
    const bool is_load = m.work == Work::kGlobalLoad || m.work == Work::kAsyncCopy;
    const int32_t site = m.ptx >= 0 ? places_.global[size_t(m.ptx)] : -1;
    if (site < 0) {  // predicated off, or of a function that was not followed
      *read = now + 4;
      return now + t_.l1_latency;
    }
    const RequestTrace& trace = in_.profile->blocks[w.trace].warps[w.index][size_t(site)];
    const uint32_t request = w.requests[size_t(site)]++;
    if (request >= trace.ends.size()) {
      *read = now + 4;
      return now + t_.l1_latency;
    }
    const uint32_t first = request == 0 ? 0 : trace.ends[request - 1], end = trace.ends[request];
    const double words = m.bytes > 4 ? m.bytes / 4 : 1;
    const double of_line = t_.line_cycles > 0 ? t_.line_cycles : t_.load_store_cycles;
    const double cycles =
        std::max({double(end - first) * of_line, words * t_.load_store_cycles, t_.request_cycles});
    const double start = take_load_store(now, cycles);
    result_.global += cycles;
    *read = start + cycles + 4;
    if (t_.l1_bytes == 0) return uncached(in_.profile->sites[size_t(site)], start);
    double done = start + cycles - t_.load_store_cycles + t_.l1_latency;
    for (uint32_t i = first; i < end; ++i)
      done = std::max(done, line(trace.lines[i], is_load, start + double(i - first)));
    return done;
  }

  // No caches: every request moves what the counting rule says.
  double uncached(const SiteProfile& site, double start) {
    const double bytes = double(site.moved_bytes) / double(site.requests);
    result_.memory_bytes += bytes;
    memory_free_ = std::max(memory_free_, start) + bytes / in_.memory_bytes_per_cycle;
    return std::max(start, memory_free_) + t_.memory_latency;
  }

  double line(uint64_t entry, bool is_load, double now) {
    const uint64_t tag = entry >> 4;
    const auto sectors = unsigned(entry & 15);
    if (!is_load) {  // written through
      fetch(tag, std::popcount(sectors), now);
      return now;
    }
    result_.l1_sectors += std::popcount(sectors);
    SectorCache::Line* const cached = cache_.touch(tag);
    unsigned missing = sectors;
    double done = now;
    for (unsigned s = 0; cached != nullptr && s < 4; ++s) {
      if ((sectors >> s & 1) == 0 || cached->ready[s] < 0) continue;
      missing &= ~(1u << s);
      done = std::max(done, cached->ready[s]);
    }
    result_.l1_hits += std::popcount(sectors) - std::popcount(missing);
    if (missing == 0) return done;
    const double arrival = fetch(tag, std::popcount(missing), now);
    for (unsigned s = 0; cached != nullptr && s < 4; ++s) {
      if (missing >> s & 1) cached->ready[s] = arrival;
    }
    return std::max(done, arrival);
  }

  // A number from 0 to 1 that depends on the line alone.
  static double draw(uint64_t tag, uint64_t factor) {
    return double((tag * factor) >> 40) / double(1 << 24);
  }

  // Sectors from L2, or from memory behind it: which lines are in L2, and which of the others this
  // multiprocessor brings there, is drawn by their address.
  double fetch(uint64_t tag, int sectors, double now) {
    const double bytes = 32.0 * sectors;
    result_.l2_bytes += bytes;
    l2_free_ = std::max(l2_free_, now) + bytes / in_.l2_bytes_per_cycle;
    double arrival = std::max(now, l2_free_) + t_.l2_latency;
    if (draw(tag, 0x9E3779B97F4A7C15) < in_.memory_share) {
      result_.memory_bytes += bytes;
      memory_free_ = std::max(memory_free_, now) + bytes / in_.memory_bytes_per_cycle;
      arrival = std::max(arrival, memory_free_ + t_.memory_latency);
    } else if (fetched_.insert(tag).second) {
      const double at = draw(tag, 0xD6E8FEB86659FD93);
      if (at < in_.cold_share)
        arrival = std::max(arrival, now + t_.memory_latency);
      else if (at < in_.cold_share + in_.other_half_share)
        arrival += t_.l2_other_half;
    }
    return arrival;
  }

  // The warp has arrived at its block's barrier; advance() has already moved it past.
  void arrive(WarpState& w, double now) {
    if (w.ready >= kNever) return;  // that was its last instruction
    barrier_free_ = std::max(barrier_free_, now) + t_.barrier_cycles;
    last_arrival_[w.block] = std::max(last_arrival_[w.block], barrier_free_);
    ++arrived_[w.block];
    held_.push_back({&w, w.ready});
    w.ready = kNever;
    release_if_complete(w.block);
  }

  void release_if_complete(size_t block) {
    if (arrived_[block] == 0 || arrived_[block] < live_[block]) return;
    arrived_[block] = 0;
    const double open = last_arrival_[block] + t_.barrier_latency;
    std::erase_if(held_, [&](const Held& held) {
      if (held.warp->block != block) return false;
      held.warp->ready = std::max(held.ready, open);
      if (open >= held.ready) held.warp->reason = Wait::kBarrier;
      return true;
    });
    for (Scheduler& s : schedulers_) choose(s);
  }

  struct Held {
    WarpState* warp;
    double ready;
  };

  const ReplayInput& in_;
  const Timing& t_;
  const Places places_;
  SectorCache cache_;
  std::unordered_set<uint64_t> fetched_;  // lines, from L2 or through it
  std::vector<Scheduler> schedulers_;
  std::vector<WarpState> warps_;
  std::vector<uint32_t> arrived_, live_;  // per block
  std::vector<double> last_arrival_;
  std::vector<Held> held_;
  double load_store_free_ = 0, l2_free_ = 0, memory_free_ = 0, barrier_free_ = 0;
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const ReplayInput& input) {
  return Multiprocessor(input).run();
}

}  // namespace warpsim
