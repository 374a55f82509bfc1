// CUDA arrays, textures and surfaces under `warpsim run`.

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;

namespace {

Run textures(const std::string& which) {
  return run(WARPSIM " run -- " + program("textures", "-arch=sm_90") + " " + which);
}

}  // namespace

TEST_CASE("textures: copies to arrays and back, fetches and surfaces give what they should") {
  SKIP_WITHOUT_NVCC();
  Run r = textures("right");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("No faults found") != std::string::npos);
}

TEST_CASE("textures: what lies outside and what is gone is named") {
  SKIP_WITHOUT_NVCC();
  Run outside = textures("outside");
  CAPTURE(outside.output, outside.errors);
  CHECK(outside.output == "all checks passed\n");
  CHECK(outside.errors.find("fetches element 4 of a texture of linear memory, cudaMalloc #1, which "
                            "has 4: the value is 0") != std::string::npos);
  Run destroyed = textures("destroyed");
  CAPTURE(destroyed.output, destroyed.errors);
  CHECK(destroyed.output == "all checks passed\n");
  CHECK(destroyed.errors.find("uses a texture or surface object that has been destroyed") !=
        std::string::npos);
}

TEST_CASE("textures: what is not modelled is refused by name") {
  SKIP_WITHOUT_NVCC();
  Run sparse = textures("sparse");
  CAPTURE(sparse.output, sparse.errors);
  CHECK(sparse.output == "all checks passed\n");
  CHECK(sparse.errors.find("cudaMalloc3DArray is not provided. Sparse and deferred arrays are not "
                           "modelled.") != std::string::npos);
  Run mipmapped = textures("mipmapped");
  CAPTURE(mipmapped.output, mipmapped.errors);
  CHECK(mipmapped.output == "all checks passed\n");
  CHECK(mipmapped.errors.find("cudaMallocMipmappedArray is not provided") != std::string::npos);
}
