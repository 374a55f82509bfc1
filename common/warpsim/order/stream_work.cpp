#include "warpsim/order/stream_work.h"

#include <algorithm>
#include <tuple>

namespace warpsim {

namespace {

// Programs that never wait: the oldest work is forgotten then, and what it meets is not seen.
constexpr size_t kMostEntries = 4096;

struct Meeting {
  const Touched *earlier, *later;
  uint64_t address;
};

// Both are sorted. The lowest address at which they meet. `early`: of the later
// one, a launch, only what it did before it had waited for the earlier one. Where that one never
// let it begin, all of its threads had ended then, but what they wrote need not be seen yet.
std::optional<Meeting> meet(const StreamWork& before, const std::vector<Touched>& later,
                            bool early) {
  const std::vector<Touched>& earlier = before.touched;
  const bool writes_only = early && !before.lets_next_begin;
  std::optional<Meeting> lowest;
  size_t start = 0;
  for (const Touched& b : later) {
    if (lowest && b.first >= lowest->address) break;
    if (b.early != early) continue;
    while (start < earlier.size() && earlier[start].end <= b.first) ++start;
    for (size_t i = start; i < earlier.size() && earlier[i].first < b.end; ++i) {
      const Touched& a = earlier[i];
      if (a.early || a.end <= b.first || (!a.writes && (!b.writes || writes_only))) continue;
      const uint64_t address = std::max(a.first, b.first);
      if (!lowest || address < lowest->address) lowest = Meeting{&a, &b, address};
    }
  }
  return lowest;
}

Party party(const StreamWork& work, const Touched& touched, uint32_t stream) {
  Party p;
  p.access = touched.writes ? AccessKind::kStore : AccessKind::kLoad;
  p.file = touched.file;
  p.line = touched.line;
  p.operation = work.operation;
  p.stream = stream;
  p.call = work.call;
  return p;
}

}  // namespace

StreamWork work_of(const LaunchReport& report, bool is_early, uint64_t call) {
  StreamWork work{report.kernel, true, call, report.touched};
  work.launch = {true, is_early, report.waits_first};
  work.lets_next_begin = report.lets_next_begin;
  return work;
}

void tidy(std::vector<Touched>* touched) {
  std::sort(touched->begin(), touched->end(), [](const Touched& a, const Touched& b) {
    // Names last: there may be a million of these, of one file.
    return std::tie(a.early, a.writes, a.line, a.first, a.file) <
           std::tie(b.early, b.writes, b.line, b.first, b.file);
  });
  size_t kept = 0;
  for (size_t i = 0; i < touched->size(); ++i) {
    Touched& next = (*touched)[i];
    if (kept > 0) {
      Touched& last = (*touched)[kept - 1];
      if (last.early == next.early && last.writes == next.writes && last.line == next.line &&
          last.file == next.file && last.end >= next.first) {
        last.end = std::max(last.end, next.end);
        continue;
      }
    }
    if (kept != i) (*touched)[kept] = std::move(next);
    ++kept;
  }
  touched->resize(kept);
  std::sort(touched->begin(), touched->end(), [](const Touched& a, const Touched& b) {
    return std::tie(a.first, a.end, a.writes) < std::tie(b.first, b.end, b.writes);
  });
}

void StreamWorkLog::forget_ended() {
  std::erase_if(entries_, [&](const Entry& entry) {
    return has_ended(order_.host(), entry.point) || order_.is_settled(entry.point);
  });
  while (entries_.size() >= kMostEntries) entries_.pop_front();
}

std::vector<Unordered> StreamWorkLog::add(uint32_t stream, StreamWork work) {
  tidy(&work.touched);
  StreamClock before, early;
  const StreamPoint point = order_.add_work(stream, work.launch, &before, &early);
  std::vector<Unordered> found;
  const uint64_t first = work.touched.empty() ? 0 : work.touched.front().first;
  uint64_t end = 0;
  for (const Touched& one : work.touched) end = std::max(end, one.end);
  for (const Entry& entry : entries_) {
    if (entry.end <= first || end <= entry.first || has_ended(early, entry.point)) continue;
    const bool begun_early = has_ended(before, entry.point);
    const auto meeting = meet(entry.work, work.touched, begun_early);
    if (!meeting) continue;
    found.push_back({party(entry.work, *meeting->earlier, entry.point.stream),
                     party(work, *meeting->later, stream), work.is_kernel, begun_early,
                     meeting->address});
  }
  forget_ended();
  if (!work.touched.empty()) entries_.push_back({point, first, end, std::move(work)});
  return found;
}

Diagnostic unordered_finding(const Unordered& met) {
  Diagnostic d;
  static_cast<Party&>(d) = met.later;
  d.code = Code::kUnorderedStreams;
  d.cause = met.is_early ? Cause::kBegunEarly : Cause::kNoEvent;
  d.kernel = met.later_is_kernel ? met.later.operation : "";
  d.count = 1;
  d.space = MemorySpace::kGlobal;
  d.scope = Scope::kStreams;
  d.other = met.earlier;
  return d;
}

}  // namespace warpsim
