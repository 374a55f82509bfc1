#include "harness/execute/watchdog.h"

#include <unistd.h>

#include <chrono>

namespace tilewise {

Watchdog::Watchdog(double seconds, std::function<void()> expired) {
  if (seconds <= 0) return;
  thread_ = std::thread([this, seconds, expired = std::move(expired)] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                          [this] { return disarmed_; }))
      return;
    expired();  // holds the lock: disarm() waits
    ::_exit(0);
  });
}

Watchdog::~Watchdog() {
  disarm();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::disarm() {
  std::lock_guard lock(mutex_);
  disarmed_ = true;
  changed_.notify_all();
}

}  // namespace tilewise
