#include "cudart/callbacks.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "cudart/runtime.h"
#include "cudart/sleeps.h"

namespace warpsim::cudart {

namespace {

constexpr timespec kBetweenLooks{0, 2'000'000};
// So many looks in a row must find the thread asleep. Where the system does not tell, its processor
// time must stand still for longer: it may only have no processor.
constexpr int kAsleep = 3, kStill = 50;
// Of processor time since its latest call, and since the function was added.
constexpr double kMostSecondsOfSilence = 0.02, kMostSeconds = 0.1;
// Whatever the threads do. Seconds of the clock.
constexpr double kLongest = 1;

double seconds_of(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return -1;  // the thread has ended
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// 'R' for one that runs or could; 0 if the system does not tell.
char state_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  const size_t name_ends = line.rfind(')');
  return name_ends + 2 < line.size() ? line[name_ends + 2] : 0;
}

// By the system itself: the C library's functions may be those that count sleeps (sleeps.h).
void pause_between_looks() {
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kBetweenLooks, nullptr);
}

unsigned sleeps_of(pid_t thread, bool* now) {
  return &tilewise_sleeps_of == nullptr ? 0 : tilewise_sleeps_of(thread, now);
}

// What a thread of the driver's would call: an exception that leaves it ends the program.
void call_function(const std::function<void()>& function) noexcept {
  function();
}

}  // namespace

void Callbacks::add(uint32_t stream, std::function<void()> function) {
  StreamClock before;
  const StreamPoint point = runtime_.backend().order().add_work(stream, &before);
  const bool is_first = pending_.empty();
  pending_.push_back({stream, point, std::move(function)});
  note_caller(is_first);
  changed_.notify_all();
  if (!is_watched_ && !(is_watched_ = start_watching())) run_all();
}

template <class IsDue>
void Callbacks::run(IsDue is_due, bool is_known) {
  const std::thread::id self = std::this_thread::get_id();
  if (running_ == self) return;  // a function that calls the runtime
  for (;;) {
    const auto next = std::ranges::find_if(pending_, is_due);
    if (next == pending_.end()) return;
    if (running_) {
      changed_.wait(runtime_.mutex());
      continue;
    }
    const Pending one = std::move(*next);
    pending_.erase(next);
    Backend& backend = runtime_.backend();
    if (is_known && !has_ended(backend.order().host(), one.point))
      backend.host_waits(HostWait::kStream, one.stream, false);
    running_ = self;
    running_in_ = one.stream;
    runtime_.mutex().unlock();
    call_function(one.function);
    runtime_.mutex().lock();
    running_.reset();
    changed_.notify_all();
  }
}

void Callbacks::finish_running(std::optional<uint32_t> stream) {
  if (running_ == std::this_thread::get_id()) return;
  while (running_ && (!stream || *stream == running_in_)) changed_.wait(runtime_.mutex());
}

void Callbacks::run_before_work(uint32_t stream) {
  if (!are_pending()) return;
  finish_running(stream);
  StreamOrder order = runtime_.backend().order();
  StreamClock before;
  order.add_work(stream, &before);
  run([&](const Pending& one) { return has_ended(before, one.point); });
}

void Callbacks::run_awaited() {
  note_caller(false);
  run([&](const Pending& one) { return has_ended(runtime_.backend().order().host(), one.point); });
}

void Callbacks::run_all() {
  run([](const Pending&) { return true; });
}

void Callbacks::run_unawaited() {
  run([](const Pending&) { return true; }, false);
}

void Callbacks::note_caller(bool is_first) {
  if (running_ == std::this_thread::get_id()) return;
  const bool is_another = caller_.thread != gettid();
  caller_.thread = gettid();
  if (pthread_getcpuclockid(pthread_self(), &caller_.clock) != 0) return;
  caller_.computed = seconds_of(caller_.clock);
  bool now = false;
  if (is_first || is_another) {
    caller_.first = caller_.computed;
    caller_.sleeps = sleeps_of(caller_.thread, &now);
  }
  if (is_first) added_ = seconds_of(CLOCK_MONOTONIC);
}

bool Callbacks::caller_only_sleeps() {
  bool now = false;
  const unsigned sleeps = sleeps_of(caller_.thread, &now);
  if (!now) return false;
  const unsigned since = sleeps < caller_.sleeps ? sleeps : sleeps - caller_.sleeps;
  return sleeps_for_nothing(since, seconds_of(CLOCK_MONOTONIC) - added_);
}

bool Callbacks::caller_waits(int* asleep) {
  if (caller_only_sleeps()) {
    *asleep = 0;
    return false;
  }
  const double now = seconds_of(caller_.clock);
  if (now < 0 || now - caller_.computed > kMostSecondsOfSilence ||
      now - caller_.first > kMostSeconds || seconds_of(CLOCK_MONOTONIC) - added_ > kLongest)
    return true;
  const char state = state_of(caller_.thread);
  const bool is_asleep = state == 0 ? now == caller_.computed : state != 'R';
  *asleep = is_asleep ? *asleep + 1 : 0;
  return *asleep >= (state == 0 ? kStill : kAsleep);
}

// Without a thread of ours functions run at once. It takes none of the program's signals.
bool Callbacks::start_watching() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = true;
  try {
    std::thread([this] { watch(); }).detach();
  } catch (const std::system_error&) {
    is_started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

void Callbacks::watch() {
  int asleep = 0;
  std::unique_lock lock(runtime_.mutex());
  for (;;) {
    while (pending_.empty()) {
      asleep = 0;
      changed_.wait(lock);
    }
    lock.unlock();
    pause_between_looks();
    lock.lock();
    if (!pending_.empty() && !running_ && caller_waits(&asleep)) run_all();
  }
}

}  // namespace warpsim::cudart
