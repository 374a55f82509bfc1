// A limit on how long carrying out a plan may take, for kernels that never end.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tilewise {

class Watchdog {
 public:
  // After `seconds` calls `expired` on its own thread and ends the process with status 0: a kernel
  // that hangs on a GPU cannot be stopped in any other way. 0 seconds: never.
  Watchdog(double seconds, std::function<void()> expired);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // From here on `expired` is not called; waits for it if it has begun (then the process ends
  // here).
  void disarm();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool disarmed_ = false;
  std::thread thread_;
};

}  // namespace tilewise
