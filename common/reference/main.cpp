// tilewise-reference: times a CPU baseline, one line of JSON on standard output.
//
//   tilewise-reference --method ikj --n 512 [--repeats 3]

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "json/json.h"
#include "reference/reference.h"

namespace {

using namespace tilewise::reference;

const std::map<std::string, Multiply> kMethods = {
    {"ijk", multiply_ijk}, {"ikj", multiply_ikj}, {"ikj-openmp", multiply_ikj_openmp}};

std::vector<float> uniform(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> data(count);
  for (float& x : data) x = values(random);
  return data;
}

// Wall-clock seconds of each run, after one that nobody times where that costs little.
std::vector<double> measure(Multiply multiply, std::size_t n, int repeats) {
  const std::vector<float> m = uniform(n * n, 1), other = uniform(n * n, 2);
  std::vector<float> p(n * n);
  std::vector<double> seconds;
  if (n <= 512) multiply(m.data(), other.data(), p.data(), {n, n, n});
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    multiply(m.data(), other.data(), p.data(), {n, n, n});
    const auto end = std::chrono::steady_clock::now();
    seconds.push_back(std::chrono::duration<double>(end - start).count());
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times a matrix product on the CPU.", "tilewise-reference");
  std::string method = "ikj";
  std::size_t n = 512;
  int repeats = 3;
  app.add_option("--method", method, "ijk, ikj or ikj-openmp")
      ->check(CLI::IsMember(kMethods))
      ->capture_default_str();
  app.add_option("--n", n, "width of the square matrices")
      ->check(CLI::Range(std::size_t{1}, std::size_t{32768}))
      ->capture_default_str();
  app.add_option("--repeats", repeats, "timed runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  std::vector<double> seconds = measure(kMethods.at(method), n, repeats);
  std::sort(seconds.begin(), seconds.end());
  const tilewise::Json json = {{"schema", "tilewise.reference/1"},
                               {"method", method},
                               {"n", n},
                               {"threads", method == "ikj-openmp" ? openmp_threads() : 1},
                               {"repeats", repeats},
                               {"seconds",
                                {{"median", seconds[seconds.size() / 2]},
                                 {"low", seconds.front()},
                                 {"high", seconds.back()}}}};
  std::printf("%s\n", tilewise::json_text(json).c_str());
}
