// Every opcode the parser knows: one row per spelling, in opcode_table.cpp.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Families of modifiers. A modifier outside the families of its row makes the instruction kUnknown.
enum ModifierFamily : uint32_t {
  kModRounding = 1 << 0,   // .rn .rz .rm .rp .rna .rni .rzi .rmi .rpi
  kModFtz = 1 << 1,        // .ftz
  kModSat = 1 << 2,        // .sat
  kModApprox = 1 << 3,     // .approx .full
  kModCarry = 1 << 4,      // .cc
  kModPart = 1 << 5,       // .lo .hi .wide
  kModCompare = 1 << 6,    // .eq .ne ... .nan
  kModBool = 1 << 7,       // .and .or .xor
  kModAtom = 1 << 8,       // .add .min .max .inc .dec .and .or .xor .exch .cas .noftz
  kModShuffle = 1 << 9,    // .up .down .bfly .idx
  kModVote = 1 << 10,      // .all .any .uni .ballot
  kModSync = 1 << 11,      // .sync .aligned
  kModSpace = 1 << 12,     // .param .global .shared .local .const, .shared::cta, .param::entry ...
  kModVector = 1 << 13,    // .v2 .v4 .v8
  kModMemory = 1 << 14,    // .volatile .relaxed .acquire .release .weak .gpu .cta .sys .ca .cg .nc
                           // .L1::..., .L2::...
  kModShift = 1 << 15,     // .l .r .clamp .wrap
  kModPrmt = 1 << 16,      // .f4e .b4e .rc8 .ecl .ecr .rc16
  kModTestp = 1 << 17,     // .finite .infinite .number .notanumber .normal .subnormal
  kModUni = 1 << 18,       // .uni
  kModTo = 1 << 19,        // .to
  kModNan = 1 << 20,       // .NaN
  kModAmount = 1 << 21,    // .shiftamt
  kModBarRed = 1 << 22,    // .and .or .popc
  kModTile = 1 << 23,      // .m16n8k16 ..., .row .col
  kModMatrix = 1 << 24,    // .m8n8 .x1 .x2 .x4 .trans
  kModRelu = 1 << 25,      // .relu
  kModXorsign = 1 << 26,   // .xorsign .abs
  kModLimit = 1 << 27,     // .clamp .wrap
  kModSum = 1 << 28,       // .add
  kModHint = 1 << 29,      // what a hint is about
  kModBulk = 1 << 30,      // of cp.async.bulk: .shared::cluster .global .bulk_group .2d .tile ...
  kModTexture = 1u << 31,  // .1d .2d .a2d .cube ..., .trap .clamp .zero, .width .height ...
};

// Classes of types an opcode takes. Another type is a parse error.
enum TypeClass : uint32_t {
  kTakesInt = 1 << 0,    // u16 u32 u64 s16 s32 s64
  kTakesByte = 1 << 1,   // b8 u8 s8
  kTakesBits = 1 << 2,   // b16 b32 b64
  kTakesFloat = 1 << 3,  // f32 f64
  kTakesHalf = 1 << 4,   // f16 f16x2 bf16 bf16x2 tf32
  kTakesPred = 1 << 5,   // pred
  kTakesPair = 1 << 6,   // u16x2 s16x2
  kTakesBytes = 1 << 7,  // e4m3x2 e5m2x2
  kTakesWord = kTakesInt | kTakesBits,
  kTakesNumber = kTakesInt | kTakesFloat | kTakesHalf,
  kTakesData = kTakesInt | kTakesByte | kTakesBits | kTakesFloat | kTakesHalf,
};

struct OpcodeRow {
  std::string_view name;  // as written, with the parts that select the row: "bar.warp.sync"
  Opcode op;
  std::string_view shape;  // legend in opcode_table.cpp
  uint8_t type_count;      // how many type modifiers follow
  uint32_t types;          // TypeClass bits
  uint32_t modifiers;      // ModifierFamily bits
};

std::span<const OpcodeRow> opcode_table();

// The row whose name is the longest prefix (in whole parts) of `mnemonic`, nullptr if there is
// none.
const OpcodeRow* find_opcode(std::string_view mnemonic);

}  // namespace warpsim::ptx
