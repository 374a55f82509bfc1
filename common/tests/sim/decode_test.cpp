// The decoded form of a kernel, as Program::dump shows it to people.

#include "warpsim/exec/decode.h"

#include <string>

#include "tests/catch.h"
#include "warpsim/memory.h"
#include "warpsim/ptx/parser.h"

namespace warpsim {
namespace {

constexpr const char* kText = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %q<2>;
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %tid.x;
  setp.gt.s32 %q1, %r1, 3;
  @%q1 bra $end;
  ld.global.u32 %r2, [%d1+16];
  lop3.b32 %r3, %r1, %r2, %r1, 150;
  st.global.u32 [%d1], %r3;
$end:
  ret;
}
)";

std::string dump_of(const Checks& checks) {
  DeviceMemory memory(1 << 20);
  Image image;
  image.module = ptx::parse(kText, "k.ptx");
  place_variables(image, memory);
  decode_reachable(image, 0, checks);
  return image.programs[0].dump(image.module.functions[0]);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("A dump names each instruction, the families of its operations and their fields") {
  const std::string text = dump_of({});
  INFO(text);
  CHECK(has(text, "ld.param.u64  (PTX line "));
  CHECK(has(text, "enter: block=0 instructions=4"));
  CHECK(has(text, "param: offset=0 bytes=8"));
  CHECK(has(text, "compare: yes="));
  CHECK(has(text, "branch: number=0 target="));
  CHECK(has(text, "address: bytes=4 granule_shift=2"));
  CHECK(has(text, "access: offset=16 site=0 address="));
  CHECK(has(text, "(64)"));
  CHECK(has(text, "lookup: table=150"));
  CHECK(has(text, "place: function=0"));
}

}  // namespace
}  // namespace warpsim
