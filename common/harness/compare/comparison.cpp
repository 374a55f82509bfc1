#include "harness/compare/comparison.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "harness/compare/uniform.h"
#include "harness/compare/verify.h"
#include "harness/execute/statistics.h"

namespace tilewise {

namespace {

constexpr int kWarmUpRounds = 3;
constexpr uint64_t kVerifyOneIn = 8;
constexpr uint64_t kLargestL2 = 128 << 20;     // where the driver does not say
constexpr uint64_t kSeedMask = (1 << 24) - 1;  // uniform()'s range

// FP32 multiply-adds per clock of one multiprocessor, by compute capability.
double fp32_lanes(const warpsim::Device& device) {
  int cc = device.cc_major * 10 + device.cc_minor;
  return cc == 60 || cc == 70 || cc == 72 || cc == 75 || cc == 80 ? 64 : 128;
}

class Arena {
 public:
  Arena(GpuBackend& backend, const plan::Plan& shapes, const ComparisonSettings& settings)
      : backend_(backend),
        shapes_(shapes),
        settings_(settings),
        generate_(backend),
        random_(settings.seed) {
    shared_.m = need(uint64_t{4} * shapes.j * shapes.k, "M");
    shared_.n = need(uint64_t{4} * shapes.k * shapes.l, "N");
    // Twice the cache, so that nothing of an earlier run is left in it.
    uint64_t l2_bytes = backend.device().l2_bytes;
    sweep_bytes_ = 2 * (l2_bytes ? l2_bytes : kLargestL2);
    sweep_ = need(sweep_bytes_, "the sweep of the L2 cache");
    draw();
  }

  // Carries each plan out once, checked. False if the submission cannot be timed or a fault took
  // the context.
  bool admit(const std::vector<std::pair<std::string, const plan::Plan*>>& plans,
             Comparison* result);
  void admit_cublas(const Cublas& cublas, Comparison* result);
  void round(bool timed, uint32_t number, Comparison* result);
  void finish(Comparison* result);

 private:
  uint64_t need(uint64_t bytes, const char* what) {
    uint64_t address = backend_.allocate(bytes, what);
    if (address == 0) throw HarnessError(std::string("Not enough device memory for ") + what + ".");
    return address;
  }

  // Chooses new M and N.
  void draw() {
    seed_m_ = random_() & kSeedMask;
    seed_n_ = random_() & kSeedMask;
  }

  // For each candidate anew: device code of the one before may have reached them.
  void fill() {
    generate_(shared_.m, uint64_t{shapes_.j} * shapes_.k, seed_m_);
    generate_(shared_.n, uint64_t{shapes_.k} * shapes_.l, seed_n_);
  }

  void check(Candidate& candidate, Contender* contender, uint32_t number);
  void observe_clocks(Comparison* result);

  GpuBackend& backend_;
  const plan::Plan& shapes_;
  const ComparisonSettings& settings_;
  UniformOnGpu generate_;
  std::mt19937_64 random_;
  SharedData shared_;
  uint64_t sweep_ = 0, sweep_bytes_ = 0, seed_m_ = 0, seed_n_ = 0;
  std::vector<std::unique_ptr<Candidate>> candidates_;       // null: not timed
  std::vector<std::vector<std::vector<double>>> kernel_ms_;  // [candidate][kernel][round]
  Nvml nvml_;
};

bool Arena::admit(const std::vector<std::pair<std::string, const plan::Plan*>>& plans,
                  Comparison* result) {
  Matrix m = uniform_matrix(shapes_.j, shapes_.k, seed_m_),
         n = uniform_matrix(shapes_.k, shapes_.l, seed_n_);
  for (const auto& [name, plan] : plans) {
    settings_.turn(name);
    auto candidate = make_plan_candidate(*plan, backend_, shared_, m, n);
    const Execution& execution = *candidate->execution();
    Contender contender;
    contender.name = name;
    contender.status = execution.status;
    contender.message = execution.message;
    contender.faults = execution.faults;
    contender.kernels = execution.kernels;
    bool timed = execution.status == Status::kOk && execution.launches > 0;
    if (execution.launches == 0 && contender.message.empty())
      contender.message = "No kernel was launched.";
    candidates_.push_back(timed ? std::move(candidate) : nullptr);
    kernel_ms_.emplace_back(contender.kernels.size());
    result->contenders.push_back(std::move(contender));
    if (!backend_.readable()) return false;
  }
  return candidates_[0] != nullptr;
}

void Arena::admit_cublas(const Cublas& cublas, Comparison* result) {
  candidates_.push_back(make_cublas_candidate(cublas, shapes_, backend_, shared_));
  kernel_ms_.emplace_back();
  Contender contender;
  contender.name = "cublas";
  result->contenders.push_back(contender);
}

void Arena::round(bool timed, uint32_t number, Comparison* result) {
  draw();
  bool verified = timed && (number == 0 || random_() % kVerifyOneIn == 0);
  size_t count = candidates_.size();
  for (size_t turn = 0; turn < count; ++turn) {
    size_t i = number % 2 ? count - 1 - turn : turn;
    if (!candidates_[i]) continue;
    settings_.turn(result->contenders[i].name);
    fill();
    candidates_[i]->prepare();
    backend_.fill(sweep_, static_cast<uint8_t>(number), sweep_bytes_);
    RunTime time = candidates_[i]->run();
    if (!timed) {
      candidates_[i]->conceal();
      continue;
    }
    result->contenders[i].rounds_ms.push_back(time.total_ms);
    for (size_t k = 0; k < kernel_ms_[i].size(); ++k) kernel_ms_[i][k].push_back(time.kernel_ms[k]);
    if (verified) check(*candidates_[i], &result->contenders[i], number);
    candidates_[i]->conceal();
  }
  if (timed) observe_clocks(result);
}

void Arena::check(Candidate& candidate, Contender* contender, uint32_t number) {
  // Made anew, not read back: what lies on the GPU may have been changed.
  Matrix m = uniform_matrix(shapes_.j, shapes_.k, seed_m_),
         n = uniform_matrix(shapes_.k, shapes_.l, seed_n_);
  const Matrix& p = candidate.output();
  const uint64_t seed = random_();
  Verdict verdict = verify(m, n, p, seed);
  if (!verdict.right && settings_.factors == Factors::kBf16)
    verdict = verify(rounded_to_bf16(std::move(m)), rounded_to_bf16(std::move(n)), p, seed);
  ++contender->verified;
  contender->worst = std::max(contender->worst, verdict.worst);
  if (verdict.right) return;
  if (contender->wrong++ == 0)
    contender->first_wrong = "round " + std::to_string(number) + ": " + verdict.message;
}

void Arena::observe_clocks(Comparison* result) {
  std::optional<GpuState> state = nvml_.state();
  if (!state) return;
  auto widen = [](std::optional<ClockRange>* range, uint32_t mhz) {
    if (!*range) *range = ClockRange{mhz, mhz};
    (*range)->lowest = std::min((*range)->lowest, mhz);
    (*range)->highest = std::max((*range)->highest, mhz);
  };
  bool first = !result->sm_clock;
  widen(&result->sm_clock, state->sm_clock_mhz);
  widen(&result->memory_clock, state->memory_clock_mhz);
  result->lowest_watts =
      first ? state->power_watts : std::min(result->lowest_watts, state->power_watts);
  result->highest_watts = std::max(result->highest_watts, state->power_watts);
  result->throttle_reasons |= state->throttle_reasons;
}

void Arena::finish(Comparison* result) {
  const std::vector<double>& mine = result->contenders[0].rounds_ms;
  for (size_t i = 0; i < result->contenders.size(); ++i) {
    Contender& contender = result->contenders[i];
    if (contender.rounds_ms.empty()) continue;
    contender.time_ms = summarise(contender.rounds_ms);
    for (size_t k = 0; k < contender.kernels.size(); ++k) {
      if (!kernel_ms_[i][k].empty()) contender.kernels[k].time_ms = summarise(kernel_ms_[i][k]);
    }
    if (i == 0 || mine.size() != contender.rounds_ms.size()) continue;
    std::vector<double> ratios;
    for (size_t r = 0; r < mine.size(); ++r) ratios.push_back(mine[r] / contender.rounds_ms[r]);
    result->ratios[contender.name] = summarise(ratios);
  }
}

}  // namespace

double rate_over_float(Factors factors) {
  // Of bf16, tensor cores do 16 for one of all float lanes (A100's data sheet: 312 and 19.5
  // TFLOP/s; a little less on later chips). Float's accuracy takes six of them, or three of tf32,
  // of which they do 8.
  switch (factors) {
    case Factors::kBf16:
      return 16;
    case Factors::kSplit:
      return 8.0 / 3;
    case Factors::kFloat:
      break;
  }
  return 1;
}

Comparison compare(GpuBackend& backend,
                   const std::vector<std::pair<std::string, const plan::Plan*>>& plans,
                   const ComparisonSettings& settings) {
  const plan::Plan& shapes = *plans.at(0).second;
  for (const auto& [name, plan] : plans) {
    if (!plan->signature.is_product())
      throw HarnessError("the plan of " + name + " is no product, and only products are compared.");
    if (plan->j != shapes.j || plan->k != shapes.k || plan->l != shapes.l) {
      throw HarnessError("the plan of " + name + " has another shape than the submission's.");
    }
  }
  Comparison result;
  const warpsim::Device& device = backend.device();
  double peak = rate_over_float(settings.factors) * device.sm_count * fp32_lanes(device) * 2 *
                device.sm_clock_mhz * 1e6;
  if (peak > 0) result.floor_ms = 2.0 * shapes.j * shapes.k * shapes.l / peak * 1e3;
  Arena arena(backend, shapes, settings);
  if (!arena.admit(plans, &result)) return result;
  std::unique_ptr<Cublas> cublas;
  if (settings.with_cublas) {
    cublas = Cublas::load(&result.cublas);
    if (cublas) {
      result.cublas = cublas->version();
      arena.admit_cublas(*cublas, &result);
    }
  }
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kWarmUpRounds; ++i) arena.round(false, static_cast<uint32_t>(i), &result);
  while (result.rounds < settings.rounds) {
    double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result.rounds >= kFewestRounds && elapsed > settings.seconds) break;
    arena.round(true, result.rounds++, &result);
  }
  arena.finish(&result);
  return result;
}

}  // namespace tilewise
