#include "harness/record/case_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <set>
#include <string>

#include "harness/record/case_child.h"

namespace tilewise::record {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// For how long the process has wanted a processor and had none: a busy machine is no fault of the
// submission's. 0 where the system does not tell.
double seconds_without_processor(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/schedstat");
  uint64_t had = 0, waited = 0;  // nanoseconds
  file >> had >> waited;
  return file ? static_cast<double>(waited) * 1e-9 : 0;
}

// A case's own processes may be what keeps it from the processor: this many limits are enough.
constexpr double kMostLimits = 6;

bool is_over(double seconds, double limit, pid_t process) {
  if (limit <= 0 || seconds <= limit) return false;
  return seconds > kMostLimits * limit || seconds - seconds_without_processor(process) > limit;
}

// A text that a submission may have written: perhaps without an end.
template <size_t size>
std::string text_of(const char (&chars)[size]) {
  return std::string(chars, strnlen(chars, size));
}

// How the wait for a case's process ended.
struct Wait {
  bool is_timeout = false, is_flood = false;
  int status = 0;  // as waitpid gives it
  std::string bytes;
  std::string printed;
};

// Reads what is there; false once there is nothing more to come.
bool drain(int pipe, Wait* wait) {
  char block[1 << 16];
  for (;;) {
    ssize_t count = read(pipe, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return true;  // nothing at the moment
    if (count == 0) return false;
    wait->bytes.append(block, static_cast<size_t>(count));
    if (wait->bytes.size() > kMostParcelBytes) {
      wait->is_flood = true;
      return false;
    }
  }
}

// Keeps the beginning of what is there and drops the rest; false once there is nothing more to
// come.
bool hear(int words, std::string* printed) {
  char block[1 << 16];
  for (int i = 0; i < 16; ++i) {  // a flood must not keep us from looking at the clock
    ssize_t count = read(words, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0;
    printed->append(block,
                    std::min(static_cast<size_t>(count), kMostPrintedBytes - printed->size()));
  }
  return true;
}

// Until the child has ended, its time is up or it has sent too much. Processes that it started may
// keep the pipe open: nobody waits for those.
Wait wait_for(pid_t child, int pipe, int words, double limit) {
  Wait wait;
  Clock::time_point start = Clock::now();
  bool is_open = true;
  for (;;) {
    pollfd watched[] = {{is_open ? pipe : -1, POLLIN, 0}, {words, POLLIN, 0}};
    poll(watched, 2, kPollMilliseconds);
    if (is_open) is_open = drain(pipe, &wait);
    if (words >= 0 && !hear(words, &wait.printed)) words = -1;
    pid_t ended = waitpid(child, &wait.status, WNOHANG);
    if (ended == child) break;
    wait.is_timeout = is_over(seconds_since(start), limit, child);
    if (wait.is_timeout || wait.is_flood || (ended < 0 && errno != EINTR)) {
      kill(child, SIGKILL);
      waitpid(child, &wait.status, 0);
      break;
    }
  }
  if (is_open && !wait.is_flood) drain(pipe, &wait);
  if (words >= 0) hear(words, &wait.printed);
  return wait;
}

// What the case's process left behind.
void end_descendants(pid_t child, bool is_alone) {
  kill(-child, SIGKILL);
  // In a process namespace of our own "all" is the recorder's descendants; it spares the caller.
  for (int i = 0; is_alone && i < 100 && kill(-1, SIGKILL) == 0; ++i) usleep(1000);
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Outcome outcome_of(const Shared& shared, Wait wait, double limit) {
  Outcome outcome;
  outcome.reason = shared.failure.reason;
  outcome.subject = text_of(shared.failure.subject);
  outcome.message = text_of(shared.failure.message);
  outcome.crash = shared.crash;
  const char* what = shared.in_solve ? "solve" : "the submission, while it was being loaded,";
  // Where the wait itself tells why, nothing is left of what stands in the shared memory.
  auto set = [&](const char* status, Reason reason) {
    outcome.status = status;
    outcome.reason = reason;
    outcome.subject.clear();
    outcome.crash = 0;
  };
  if (wait.is_timeout) {
    set("timeout", Reason::kTimeLimit);
    outcome.message =
        std::string(what) + " had not returned after " + short_number(limit) + " seconds.";
  } else if (wait.is_flood) {
    set("crashed", Reason::kTooMuch);
    outcome.message = std::string(what) +
                      " asked for more than can be recorded: too many launches,"
                      " or copies of too much data.";
  } else if (WIFSIGNALED(wait.status)) {
    outcome.status = "crashed";
    if (outcome.message.empty()) {
      outcome.reason = Reason::kSignal;
      outcome.subject = strsignal(WTERMSIG(wait.status));
      outcome.message = std::string(what) + " was ended by the signal " + outcome.subject + ".";
    }
  } else if (!shared.is_done) {
    set("exited", Reason::kExit);
    outcome.message = std::string(what) + " called exit(" +
                      std::to_string(WEXITSTATUS(wait.status)) + "): solve must return.";
  } else {
    outcome.status = text_of(shared.status);
  }
  const std::set<std::string> kOthers = {"crashed",       "exited", "timeout",
                                         "missing-solve", "error",  "failed"};
  if (kOthers.count(outcome.status)) return outcome;
  auto parcel = outcome.status == "ok" ? parse_parcel(wait.bytes) : std::nullopt;
  if (parcel) {
    outcome.parcel = std::move(*parcel);
  } else {
    set("crashed", Reason::kDamaged);
    outcome.message = std::string(what) + " damaged the recorder's memory: nothing was recorded.";
  }
  return outcome;
}

}  // namespace

Outcome run_case(const Submission& submission, const Case& one) {
  Clock::time_point start = Clock::now();
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2], words[2] = {-1, -1};
  if (memory == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0 ||
      (submission.is_silent && pipe2(words, O_CLOEXEC) != 0))
    return {"failed", Reason::kNone, "", "there is no memory left.", 0, {}, ""};
  auto* shared = new (memory) Shared{};
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) record_case(submission, one, shared, ends[1], words[1]);
  close(ends[1]);
  if (words[1] >= 0) close(words[1]);
  Outcome outcome;
  if (child < 0) {
    outcome = {"failed", Reason::kNone, "", "cannot start a process for the case.", 0, {}, ""};
  } else {
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (words[0] >= 0) fcntl(words[0], F_SETFL, O_NONBLOCK);
    Wait wait = wait_for(child, ends[0], words[0], submission.seconds);
    end_descendants(child, submission.is_alone);
    std::string printed = std::move(wait.printed);
    outcome = outcome_of(*shared, std::move(wait), submission.seconds);
    outcome.printed = std::move(printed);
  }
  close(ends[0]);
  if (words[0] >= 0) close(words[0]);
  munmap(memory, sizeof(Shared));
  outcome.seconds = seconds_since(start);
  return outcome;
}

}  // namespace tilewise::record
