// Functions of the host that a stream calls when it comes to them: cudaLaunchHostFunc,
// cudaStreamAddCallback and the host nodes of graphs.
//
// On a GPU another thread calls them, at some time after the call that asks for them, and the
// program goes on meanwhile: what it reads then is in no order with the stream's work. So a
// function stays here until
//  - a call comes that has to come after it: a wait for it, or work of a stream behind it;
//  - the program's thread sleeps, or has computed for a while, since it may wait for what the
//    function says; to sleep once for a time is no such wait (sleeps.h);
//  - solve has returned.
// While it runs all that its stream has done before has ended, and from then on the host counts as
// knowing that. It may have asked for nothing, but nobody sees how it waits for a function.

#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "warpsim/order/stream_order.h"

namespace warpsim::cudart {

class Runtime;

// Whether a thread that sleeps for a time can have waited for nothing: it has slept so often since
// the function was added, which was so many seconds ago. Once, or a few times for a moment, is not
// because of what it has looked at.
constexpr bool sleeps_for_nothing(unsigned times, double seconds) {
  // So often within a while, or again after so many seconds, it may be a wait.
  constexpr unsigned kSleepsOfAWait = 8;
  constexpr double kSecondsOfSleep = 1;
  return times <= 1 || (times < kSleepsOfAWait && seconds < kSecondsOfSleep);
}

// All functions but the constructor are called with the runtime's lock, held once; those that run
// functions give it back meanwhile.
class Callbacks {
 public:
  explicit Callbacks(Runtime& runtime) : runtime_(runtime) {}

  void add(uint32_t stream, std::function<void()> function);
  bool are_pending() const { return !pending_.empty() || running_; }
  // Those that new work of the stream comes after.
  void run_before_work(uint32_t stream);
  // The one that runs, of this stream or of any. It may itself wait for other threads, so that
  // nobody may call this who need not wait for it.
  void finish_running(std::optional<uint32_t> stream);
  // Those that the host has waited for.
  void run_awaited();
  void run_all();
  // When solve has returned: nobody has waited for these.
  void run_unawaited();

 private:
  struct Pending {
    uint32_t stream = 0;
    StreamPoint point;
    std::function<void()> function;
  };
  // The thread that has made the latest call.
  struct Caller {
    pid_t thread = 0;
    clockid_t clock = 0;
    double computed = 0;  // seconds of its processor time when that call was made
    double first = 0;     // likewise, at its first call since a function is pending
    unsigned sleeps = 0;  // how often it had slept for a time then
  };

  template <class IsDue>
  void run(IsDue is_due, bool is_known = true);
  void note_caller(bool is_first);
  bool caller_only_sleeps();
  bool caller_waits(int* asleep);
  bool start_watching();
  void watch();

  Runtime& runtime_;
  std::list<Pending> pending_;
  std::optional<std::thread::id> running_;  // the thread that runs one
  uint32_t running_in_ = 0;                 // the stream of that one
  std::condition_variable_any changed_;
  Caller caller_;
  double added_ = 0;  // when the first pending function was
  bool is_watched_ = false;
};

}  // namespace warpsim::cudart
