#include "harness/compare/command.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <random>

#include "harness/execute/watchdog.h"
#include "plan/files.h"

namespace tilewise {

namespace {

// Whose turn it is; written by the timing thread, read by the watchdog's.
class Turn {
 public:
  void set(const std::string& name) {
    std::lock_guard lock(mutex_);
    name_ = name;
  }
  std::string get() const {
    std::lock_guard lock(mutex_);
    return name_;
  }

 private:
  mutable std::mutex mutex_;
  std::string name_ = "submission";
};

Comparison timed_out(const std::string& name) {
  Comparison comparison;
  Contender contender;
  contender.name = name;
  contender.status = Status::kTimeout;
  contender.message = name + " did not end within the time limit.";
  comparison.contenders.push_back(contender);
  return comparison;
}

}  // namespace

void compare(const CompareCommand& command) {
  std::vector<plan::Plan> plans = {plan::load(command.submission)};
  for (const auto& [name, path] : command.others) {
    if (name == "submission" || name == "cublas")
      throw InputError("--compare: a plan cannot be called " + name + ".");
    plans.push_back(plan::load(path));
  }
  std::vector<std::pair<std::string, const plan::Plan*>> named = {{"submission", &plans[0]}};
  for (size_t i = 0; i < command.others.size(); ++i)
    named.emplace_back(command.others[i].first, &plans[i + 1]);

  GpuBackend gpu(command.driver);
  Json description = gpu.describe();
  auto write = [&](const Comparison& comparison) {
    write_file(command.result, to_text(comparison, plans[0], command.device, description));
  };
  Turn turn;
  Watchdog watchdog(command.time_limit, [&] {
    try {
      write(timed_out(turn.get()));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tilewise-exec: %s\n", error.what());
      ::_exit(3);
    }
  });
  ComparisonSettings settings = command.settings;
  std::random_device entropy;
  settings.seed = uint64_t{entropy()} << 32 | entropy();
  settings.turn = [&turn](const std::string& name) { turn.set(name); };
  Comparison comparison = compare(gpu, named, settings);
  watchdog.disarm();
  write(comparison);
}

}  // namespace tilewise
