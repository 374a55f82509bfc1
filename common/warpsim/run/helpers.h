// Threads that help the caller for a few milliseconds.
//
// A scheduler may leave a new thread on its creator's processor, to wait there for milliseconds
// while others are idle: as long as a whole launch may take. So helpers begin on processors where
// the caller does not run; from then on they go wherever the scheduler wants them.

#pragma once

#include <pthread.h>
#include <sched.h>

#include <functional>
#include <memory>
#include <vector>

namespace warpsim {

// Where helper `index` of `count` (from 0) may begin: the processors of `allowed` but `callers` are
// dealt out among them. None: wherever the scheduler wants it.
cpu_set_t first_processors(const cpu_set_t& allowed, int callers, unsigned count, unsigned index);

class Helpers {
 public:
  // Calls work(0) to work(count - 1), each in a thread of its own, as far as there can be threads;
  // `work` throws nothing.
  Helpers(unsigned count, std::function<void(unsigned)> work);
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  void wait();

 private:
  struct Start;
  static void* begin(void* start);
  std::function<void(unsigned)> work_;
  std::vector<std::unique_ptr<Start>> starts_;
  std::vector<pthread_t> threads_;
};

}  // namespace warpsim
