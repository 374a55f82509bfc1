// A simulator with one of the files in kernels/ loaded, and short ways to launch and to look for a
// diagnostic.

#pragma once

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/catch.h"
#include "warpsim/sim.h"

namespace warpsim::test {

inline std::string read_text(const std::string& name) {
  std::ifstream file(std::string(SIM_KERNELS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

class Fixture {
 public:
  explicit Fixture(const std::string& file, int threads = 1, const char* device = "h200")
      : sim(load_device(device)), source_(read_text(file + ".cu")) {
    sim.options().threads = threads;
    sim.options().engine = EngineChoice::kCompared;  // every test is one of both
    sim.options().print = [this](std::string_view text) { printed += text; };
    module = sim.load_module(read_text(file + ".ptx"), file);
  }

  // The source line that holds the comment @name.
  uint32_t line(const std::string& name) const {
    std::istringstream lines(source_);
    uint32_t number = 0;
    for (std::string text; std::getline(lines, text);) {
      ++number;
      if (text.find("@" + name) != std::string::npos) return number;
    }
    FAIL("no line is marked @" << name);
    return 0;
  }

  template <class T>
  uint64_t buffer(const std::string& name, const std::vector<T>& values) {
    const uint64_t address = sim.memory().allocate(values.size() * sizeof(T), name);
    REQUIRE(sim.memory().write(address, values.data(), values.size() * sizeof(T)));
    return address;
  }
  uint64_t empty(const std::string& name, uint64_t bytes) {
    return sim.memory().allocate(bytes, name);
  }

  template <class T>
  std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> values(count);
    REQUIRE(sim.memory().read(address, values.data(), count * sizeof(T)));
    return values;
  }

  template <class... Arguments>
  LaunchReport launch(const std::string& kernel, Dim3 grid, Dim3 block, Arguments... arguments) {
    next.module = module;
    next.kernel = kernel;
    next.grid = grid;
    next.block = block;
    next.params.clear();
    (add(arguments), ...);
    return sim.launch(next);
  }

  Simulator sim;
  int module = -1;
  Launch next;  // what launch() leaves as it is: shared memory
  std::string printed;

 private:
  template <class T>
  void add(T value) {
    const size_t at = (next.params.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    next.params.resize(at + sizeof(T));
    std::memcpy(next.params.data() + at, &value, sizeof(T));
  }
  std::string source_;
};

inline const Diagnostic* find(const LaunchReport& report, const std::string& code) {
  for (const Diagnostic& d : report.diagnostics) {
    if (to_string(d.code) == code) return &d;
  }
  return nullptr;
}

inline std::string describe(const LaunchReport& report) {
  std::string text = "status " + std::to_string(int(report.status)) + " " + report.message + "\n";
  for (const Diagnostic& d : report.diagnostics) {
    text += std::string(to_string(d.code)) + " line " + std::to_string(d.line) + " thread " +
            std::to_string(d.thread[0]) + "," + std::to_string(d.thread[1]) + " x" +
            std::to_string(d.count) + ": " + d.message + "\n";
  }
  return text;
}

inline bool is_clean(const LaunchReport& report) {
  if (report.status == LaunchStatus::kOk && report.diagnostics.empty()) return true;
  WARN(describe(report));
  return false;
}

inline std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(i % 97) * 0.25f - 3;
  return values;
}

}  // namespace warpsim::test
