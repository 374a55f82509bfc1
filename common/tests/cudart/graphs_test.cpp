// CUDA graphs, made by hand and captured; memory pools.

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;

namespace {

Run graphs(const std::string& which) {
  return run(WARPSIM " run -- " + program("graphs") + " " + which);
}

}  // namespace

TEST_CASE("graphs: made by hand, captured, changed, launched; and what a capture forbids") {
  SKIP_WITHOUT_NVCC();
  Run r = graphs("");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("unordered-streams") == std::string::npos);
}

TEST_CASE("graphs: nodes that use the same memory need an edge between them") {
  SKIP_WITHOUT_NVCC();
  CHECK(graphs("edge").errors.find("No faults found") != std::string::npos);
  Run r = graphs("no-edge");
  CAPTURE(r.errors);
  CHECK(r.errors.find("unordered-streams") != std::string::npos);
}

TEST_CASE("graphs: nodes of every kind are asked for and changed") {
  SKIP_WITHOUT_NVCC();
  Run r = run(WARPSIM " run -- " + program("graph_nodes"));
  CAPTURE(r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("No faults found") != std::string::npos);
}

TEST_CASE("pools: memory in the order of a stream, with the books that a pool keeps") {
  SKIP_WITHOUT_NVCC();
  Run r = run(WARPSIM " run -- " + program("pools"));
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
}
