#include "plan/signature.h"

#include <functional>
#include <stdexcept>

#include "plan/check.h"
#include "plan/error.h"
#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;

namespace {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const PlanError& error) {
    return error.what();
  }
  return "";
}

// counts += how often each value of x stands in it.
plan::Plan histogram_plan() {
  plan::Plan plan;
  plan.case_id = "n8";
  plan.signature =
      plan::signature_of("device: const int* x, inout int* counts, int n, float scale");
  plan.sizes = "x=8,counts=2x3,n=8,scale=0.5";
  plan.device = "h200";
  plan.buffers = {{0, 0x2a6b20000000, 32, "x", plan::Role::kInput, 0, ""},
                  {1, 0x2a6b20010000, 24, "counts", plan::Role::kInOut, 0, ""}};
  return plan;
}

}  // namespace

TEST_CASE("A signature's symbol is the one that the compiler makes") {
  const std::pair<const char*, const char*> rows[] = {
      {"square-device", "_Z5solvePKfS0_Pfi"},
      {"rect-device", "_Z5solvePKfS0_Pfiii"},
      {"device: const float* x, float* sum, int n", "_Z5solvePKfPfi"},
      {"device: const int* a, int* b, const int* c, float s, int* d", "_Z5solvePKiPiS0_fS1_"},
      {"host: float* a, const float* b, int* c, const int* d, float* e, const int* f",
       "_Z5solvePfPKfPiPKiS_S4_"},
      {"device: const float* a, const int* b, inout float* c, int* d, const float* e, const int* f",
       "_Z5solvePKfPKiPfPiS0_S2_"}};
  for (const auto& [text, symbol] : rows) CHECK(plan::signature_of(text).symbol() == symbol);
  CHECK(plan::signature_of("device: const int* x, inout float* y, int n").declaration() ==
        "void solve(const int*, float*, int)");
}

TEST_CASE("A signature or a size that is none is refused with a sentence") {
  const std::pair<const char*, const char*> signatures[] = {
      {"card: float* x", "expected one of"},
      {"device: double* x", "and not \" double* x\""},
      {"device: float *x, float* x", "two parameters are called x"},
      {"device: const float* x", "no array is an output"},
      {"device: inout const float* x", "and not"},
      {"device: inout int n, float* x", "and not"},
      {"device: float* 1x", "and not"},
      {"device: float* a, int b, int c, int d, int e, int f, int g", "6 arrays and ints"},
      {"device: float* a, float b, float c, float d, float e, float f", "4 floats"}};
  for (const auto& [text, expected] : signatures) {
    INFO(text);
    CHECK(t::contains(refusal([&] { plan::signature_of(text); }), expected));
  }
  const plan::Signature one =
      plan::signature_of("device: const float* x, float* y, int n, float a");
  const std::pair<const char*, const char*> sizes[] = {
      {"x=8,y=8,n=8", "the size of a is missing"},
      {"x=8,y=8,n=8,a=1,b=2", "too many sizes"},
      {"x=8,x=8,y=8,n=8,a=1", "once for each parameter"},
      {"x=0,y=8,n=8,a=1", "the shape of x is not"},
      {"x=2x3x4,y=8,n=8,a=1", "the shape of x is not"},
      {"x=99999x99999,y=8,n=8,a=1", "the shape of x is not"},
      {"x=8,y=8,n=4294967296,a=1", "n is not a number that fits"},
      {"x=8,y=8,n=8,a=much", "a is not a number that fits"}};
  for (const auto& [text, expected] : sizes) {
    INFO(text);
    CHECK(t::contains(refusal([&] { arguments_of(one, text); }), expected));
  }
  const auto found = arguments_of(one, "x=3x4,y=8,n=-8,a=0.25");
  CHECK((found[0].rows == 3 && found[0].columns == 4 && found[1].columns == 8));
  CHECK((found[2].whole == -8 && found[3].number == 0.25f));
}

TEST_CASE("A plan of any kernel keeps its arrays, and is of its case alone") {
  const plan::Plan plan = histogram_plan();
  const plan::Plan again = plan::parse(plan::to_text(plan), "again");
  CHECK(plan::to_text(again) == plan::to_text(plan));
  uint32_t rows = 0, columns = 0;
  CHECK((again.shape("counts", &rows, &columns) && rows == 2 && columns == 3));
  CHECK(!again.shape("M", &rows, &columns));
  const plan::Case wanted = case_of(plan.signature, "n8:" + plan.sizes);
  CHECK_NOTHROW(check_case(again, wanted));
  plan::Case other = wanted;
  other.sizes = "x=9,counts=2x3,n=9,scale=0.5";
  CHECK_THROWS_AS(check_case(again, other), PlanError);
  plan::Plan wrong = plan;
  wrong.buffers[1].role = plan::Role::kOutput;
  CHECK(t::contains(refusal([&] { plan::parse(plan::to_text(wrong), "w"); }),
                    "expected one entry for x and counts each"));
  wrong = plan;
  wrong.buffers[0].bytes = 36;
  CHECK(t::contains(refusal([&] { plan::parse(plan::to_text(wrong), "w"); }),
                    "x has 36 bytes, its shape needs 32"));
  wrong = plan;
  wrong.host_writes = {1, 6, ""};
  CHECK(t::contains(refusal([&] { plan::parse(plan::to_text(wrong), "w"); }),
                    "expected an element of counts"));
}
