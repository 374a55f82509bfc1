// Which work of a program's streams has ended when other work begins: what streams, events and the
// host's waits say about it, and nothing that only the timing of one run would.
//
// Stream 0 is the legacy default stream: it and every blocking stream wait for each other's earlier
// work. Work of different streams is unordered otherwise, unless an event or the host orders it.
//
// A launch that may begin early (programmatic stream serialization) does not wait for the launch
// before it in its stream: all launches right before it that nobody has waited for may be running
// until it waits for them itself.

#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace warpsim {

// For each stream, the number of its last work that has ended.
using StreamClock = std::map<uint32_t, uint64_t>;

// One piece of work: the number-th of its stream.
struct StreamPoint {
  uint32_t stream = 0;
  uint64_t number = 0;
};

// What a launch is to those behind it in its stream.
struct LaunchOrder {
  bool is_launch = false;
  bool is_early = false;     // may begin early
  bool waits_first = false;  // the next one begins only when this one has waited
};

inline bool has_ended(const StreamClock& clock, const StreamPoint& point) {
  const auto known = clock.find(point.stream);
  return known != clock.end() && known->second >= point.number;
}

class StreamOrder {
 public:
  // A stream that was not made is a blocking one.
  void make_stream(uint32_t stream, bool is_blocking);

  // New work; *before: what has ended when it begins or, of a launch that may begin early, when it
  // has waited; *early: what has ended when it begins.
  StreamPoint add_work(uint32_t stream, const LaunchOrder& launch, StreamClock* before,
                       StreamClock* early);
  StreamPoint add_work(uint32_t stream, StreamClock* before) {
    StreamClock early;
    return add_work(stream, {}, before, &early);
  }

  void record_event(uint32_t event, uint32_t stream);
  // The stream's later work waits for what the event stands for, if it was recorded.
  void wait_for_event(uint32_t stream, uint32_t event);

  void host_waits_for_device();
  void host_waits_for_stream(uint32_t stream);
  void host_waits_for_event(uint32_t event);
  // Whether the host knows already that this has ended, without waiting.
  bool host_has_waited_for_stream(uint32_t stream) const;
  bool host_has_waited_for_event(uint32_t event) const;
  // What has ended for certain, as the host knows.
  const StreamClock& host() const { return host_; }
  // Whether no work to come can meet this: all is in one stream.
  bool is_settled(const StreamPoint& point) const;

 private:
  bool is_blocking(uint32_t stream) const { return !unblocked_.count(stream); }
  // The stream's clock when its next work begins.
  StreamClock& advance(uint32_t stream);
  void learn(uint32_t stream, const StreamClock& clock);
  bool host_knows(const StreamClock& clock) const;

  bool has_streams_ = false;
  std::set<uint32_t> unblocked_;
  std::map<uint32_t, StreamClock> streams_, events_;
  // What has ended when a launch that may begin early begins; of streams whose last work is a
  // launch.
  std::map<uint32_t, StreamClock> early_;
  StreamClock host_;
};

}  // namespace warpsim
