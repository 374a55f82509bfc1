// What a kernel may read and write, as its code tells before anything runs.

#include <string>

#include "tests/catch.h"
#include "warpsim/machine/image.h"
#include "warpsim/memory.h"
#include "warpsim/ptx/parser.h"

namespace warpsim {
namespace {

// The facts of a kernel that loads from `in`, and does `body` with the address of the variable
// `done` in %d3 and the pointer `out` in %d2.
struct Known {
  explicit Known(const std::string& body) {
    image.module = ptx::parse(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 done;
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  mov.u64 %d3, done;
  ld.global.u32 %r1, [%d1];
)" + body + "  ret;\n}\n",
                              "k.ptx");
    place_variables(image, memory);
    facts = kernel_facts(image, image.module.find_function("k"));
    done = image.addresses[0];
  }
  DeviceMemory memory{1 << 20};
  Image image;
  KernelFacts facts;
  uint64_t done = 0;
};

using Addresses = std::vector<uint64_t>;
using Offsets = std::vector<uint32_t>;

TEST_CASE("Who writes a variable does not write what he reads") {
  const Known known("  st.global.u32 [%d3], %r1;\n");
  CHECK_FALSE(known.facts.writes_anything);
  CHECK(known.facts.written_variables == Addresses{known.done});
  CHECK(known.facts.written_params.empty());
  CHECK(known.facts.read_variables.empty());
  CHECK(known.facts.read_params == Offsets{0});
}

TEST_CASE("An atomic reads and writes its variable") {
  const Known known("  atom.global.add.u32 %r2, [done], 1;\n  st.global.u32 [%d2], %r2;\n");
  CHECK_FALSE(known.facts.writes_anything);
  CHECK_FALSE(known.facts.reads_anything);
  CHECK(known.facts.written_variables == Addresses{known.done});
  CHECK(known.facts.read_variables == Addresses{known.done});
  CHECK(known.facts.written_params == Offsets{8});
}

TEST_CASE("A pointer that comes from memory may point to anything") {
  const Known known("  ld.global.u64 %d4, [done];\n  st.global.u32 [%d4], %r1;\n");
  CHECK(known.facts.writes_anything);
  CHECK_FALSE(known.facts.reads_anything);
}

}  // namespace
}  // namespace warpsim
