#include "harness/compare/candidate.h"

#include "harness/execute/inspect.h"

namespace tilewise {

namespace {

void poison_words(GpuBackend& backend, uint64_t address, uint64_t bytes) {
  backend.driver().check(backend.driver().set_words(address, kPoison, bytes / 4, nullptr),
                         "memset");
}

class PlanCandidate : public Candidate {
 public:
  PlanCandidate(const plan::Plan& plan, GpuBackend& backend, const SharedData& shared, Matrix m,
                Matrix n)
      : plan_(plan),
        backend_(backend),
        shared_(shared),
        executor_(plan, backend, std::move(m), std::move(n)) {
    executor_.keep_buffers();
    executor_.run();
    run_ = std::make_unique<TimedRun>(backend, executor_.actions(),
                                      executor_.execution().kernels.size(),
                                      [this](const DeviceInput& input) { supply(input); });
  }

  void prepare() override {
    conceal();
    run_->supply_first();
  }

  RunTime run() override { return (*run_)(); }

  Matrix output() override {
    Matrix p = poisoned(plan_, "P");
    auto* bytes = reinterpret_cast<std::byte*>(p.values.data());
    for (const OutputPart& part : executor_.output_parts()) {
      backend_.read(part.address, bytes + part.offset, part.bytes);
    }
    return p;
  }

  void conceal() override {
    for (const OutputPart& part : executor_.output_parts())
      poison_words(backend_, part.address, part.bytes);
  }

  const Execution* execution() const override {
    return &const_cast<Executor&>(executor_).execution();
  }

 private:
  void supply(const DeviceInput& input) {
    if (input.matrix == "P") {
      poison_words(backend_, input.address, input.bytes);
    } else {
      backend_.copy(input.address, (input.matrix == "M" ? shared_.m : shared_.n) + input.offset,
                    input.bytes);
    }
  }

  const plan::Plan& plan_;
  GpuBackend& backend_;
  const SharedData& shared_;
  Executor executor_;
  std::unique_ptr<TimedRun> run_;
};

class CublasCandidate : public Candidate {
 public:
  CublasCandidate(const Cublas& cublas, const plan::Plan& shapes, GpuBackend& backend,
                  const SharedData& shared)
      : cublas_(cublas),
        shapes_(shapes),
        backend_(backend),
        shared_(shared),
        start_(backend.driver()),
        end_(backend.driver()) {
    p_ = backend.allocate(bytes(), "cuBLAS's P");
    if (p_ == 0) throw HarnessError("Not enough device memory for cuBLAS's P.");
  }

  void prepare() override { conceal(); }

  RunTime run() override {
    start_.record();
    cublas_.multiply(shared_.m, shared_.n, p_, shapes_.j, shapes_.k, shapes_.l);
    end_.record();
    backend_.driver().check(backend_.driver().synchronize(), "wait for cuBLAS");
    return {end_.since(start_), {}};
  }

  Matrix output() override {
    Matrix p = poisoned(shapes_, "P");
    backend_.read(p_, p.values.data(), p.bytes());
    return p;
  }

  void conceal() override { poison_words(backend_, p_, bytes()); }

  const Execution* execution() const override { return nullptr; }

 private:
  uint64_t bytes() const { return uint64_t{4} * shapes_.j * shapes_.l; }

  const Cublas& cublas_;
  const plan::Plan& shapes_;
  GpuBackend& backend_;
  const SharedData& shared_;
  GpuEvent start_, end_;
  uint64_t p_ = 0;
};

}  // namespace

std::unique_ptr<Candidate> make_plan_candidate(const plan::Plan& plan, GpuBackend& backend,
                                               const SharedData& shared, Matrix m, Matrix n) {
  return std::make_unique<PlanCandidate>(plan, backend, shared, std::move(m), std::move(n));
}

std::unique_ptr<Candidate> make_cublas_candidate(const Cublas& cublas, const plan::Plan& shapes,
                                                 GpuBackend& backend, const SharedData& shared) {
  return std::make_unique<CublasCandidate>(cublas, shapes, backend, shared);
}

}  // namespace tilewise
