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
  if (!is_blocking) unblocked_.insert(stream);
}

StreamClock& StreamOrder::advance(uint32_t stream) {
  StreamClock& clock = streams_[stream];
  join(&clock, host_);
  if (stream == kLegacy) {
    for (const auto& [other, known] : streams_) {
      if (other != kLegacy && is_blocking(other)) join(&clock, known);
    }
  } else if (is_blocking(stream)) {
    join(&clock, streams_[kLegacy]);
  }
  return clock;
}

StreamPoint StreamOrder::add_work(uint32_t stream, StreamClock* before) {
  StreamClock& clock = advance(stream);
  *before = clock;
  return {stream, ++clock[stream]};
}

void StreamOrder::record_event(uint32_t event, uint32_t stream) {
  events_[event] = advance(stream);
}

void StreamOrder::wait_for_event(uint32_t stream, uint32_t event) {
  const auto recorded = events_.find(event);
  if (recorded != events_.end()) join(&advance(stream), recorded->second);
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

}  // namespace warpsim
