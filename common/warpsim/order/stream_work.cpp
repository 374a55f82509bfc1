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

// Both are sorted. The lowest address at which they meet.
std::optional<Meeting> meet(const std::vector<Touched>& earlier,
                            const std::vector<Touched>& later) {
  std::optional<Meeting> lowest;
  size_t start = 0;
  for (const Touched& b : later) {
    if (lowest && b.first >= lowest->address) break;
    while (start < earlier.size() && earlier[start].end <= b.first) ++start;
    for (size_t i = start; i < earlier.size() && earlier[i].first < b.end; ++i) {
      const Touched& a = earlier[i];
      if (a.end <= b.first || (!a.writes && !b.writes)) continue;
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

void tidy(std::vector<Touched>* touched) {
  std::sort(touched->begin(), touched->end(), [](const Touched& a, const Touched& b) {
    return std::tie(a.writes, a.line, a.file, a.first) <
           std::tie(b.writes, b.line, b.file, b.first);
  });
  size_t kept = 0;
  for (size_t i = 0; i < touched->size(); ++i) {
    Touched& next = (*touched)[i];
    if (kept > 0) {
      Touched& last = (*touched)[kept - 1];
      if (last.writes == next.writes && last.line == next.line && last.file == next.file &&
          last.end >= next.first) {
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
  std::erase_if(entries_,
                [&](const Entry& entry) { return has_ended(order_.host(), entry.point); });
  while (entries_.size() >= kMostEntries) entries_.pop_front();
}

std::vector<Unordered> StreamWorkLog::add(uint32_t stream, StreamWork work) {
  tidy(&work.touched);
  StreamClock before;
  const StreamPoint point = order_.add_work(stream, &before);
  forget_ended();
  std::vector<Unordered> found;
  for (const Entry& entry : entries_) {
    if (has_ended(before, entry.point)) continue;
    const auto meeting = meet(entry.work.touched, work.touched);
    if (!meeting) continue;
    found.push_back({party(entry.work, *meeting->earlier, entry.point.stream),
                     party(work, *meeting->later, stream), work.is_kernel, meeting->address});
  }
  if (!work.touched.empty()) entries_.push_back({point, std::move(work)});
  return found;
}

Diagnostic unordered_finding(const Unordered& met) {
  Diagnostic d;
  static_cast<Party&>(d) = met.later;
  d.code = Code::kUnorderedStreams;
  d.cause = Cause::kNoEvent;
  d.kernel = met.later_is_kernel ? met.later.operation : "";
  d.count = 1;
  d.space = MemorySpace::kGlobal;
  d.scope = Scope::kStreams;
  d.other = met.earlier;
  return d;
}

}  // namespace warpsim
