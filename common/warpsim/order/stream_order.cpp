#include "warpsim/order/stream_order.h"

#include <algorithm>

namespace warpsim {

namespace {

constexpr uint32_t kLegacy = 0;

void join(StreamClock* into, const StreamClock& other) {
  for (const auto& [stream, number] : other) {
    uint64_t& known = (*into)[stream];
    known = std::max(known, number);
  }
}

}  // namespace

void StreamOrder::make_stream(uint32_t stream, bool is_blocking) {
  has_streams_ = true;
  if (!is_blocking) unblocked_.insert(stream);
}

StreamClock& StreamOrder::advance(uint32_t stream) {
  learn(stream, host_);
  if (stream == kLegacy) {
    for (const auto& [other, known] : streams_) {
      if (other != kLegacy && is_blocking(other)) learn(stream, known);
    }
  } else if (is_blocking(stream)) {
    learn(stream, streams_[kLegacy]);
  }
  return streams_[stream];
}

void StreamOrder::learn(uint32_t stream, const StreamClock& clock) {
  join(&streams_[stream], clock);
  const auto early = early_.find(stream);
  if (early != early_.end()) join(&early->second, clock);
}

StreamPoint StreamOrder::add_work(uint32_t stream, const LaunchOrder& launch, StreamClock* before,
                                  StreamClock* early) {
  StreamClock& clock = advance(stream);
  *before = clock;
  const auto last = early_.find(stream);
  *early = launch.is_early && last != early_.end() ? last->second : clock;
  if (launch.is_launch)
    early_[stream] = launch.waits_first ? *before : *early;
  else
    early_.erase(stream);
  return {stream, ++clock[stream]};
}

bool StreamOrder::is_settled(const StreamPoint& point) const {
  if (has_streams_ || point.stream != kLegacy) return false;
  const auto early = early_.find(kLegacy);
  return early == early_.end() || has_ended(early->second, point);
}

void StreamOrder::record_event(uint32_t event, uint32_t stream) {
  events_[event] = advance(stream);
}

void StreamOrder::wait_for_event(uint32_t stream, uint32_t event) {
  const auto recorded = events_.find(event);
  if (recorded == events_.end()) return;
  advance(stream);
  learn(stream, recorded->second);
}

void StreamOrder::host_waits_for_device() {
  for (const auto& [stream, clock] : streams_) join(&host_, clock);
}

void StreamOrder::host_waits_for_stream(uint32_t stream) {
  join(&host_, advance(stream));
}

void StreamOrder::host_waits_for_event(uint32_t event) {
  const auto recorded = events_.find(event);
  if (recorded != events_.end()) join(&host_, recorded->second);
}

bool StreamOrder::host_knows(const StreamClock& clock) const {
  return std::all_of(clock.begin(), clock.end(), [&](const auto& known) {
    return has_ended(host_, {known.first, known.second});
  });
}

bool StreamOrder::host_has_waited_for_stream(uint32_t stream) const {
  const auto known = streams_.find(stream);
  return known == streams_.end() || host_knows(known->second);
}

bool StreamOrder::host_has_waited_for_event(uint32_t event) const {
  const auto recorded = events_.find(event);
  return recorded == events_.end() || host_knows(recorded->second);
}

}  // namespace warpsim
