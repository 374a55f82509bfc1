// Textures and surfaces, by objects whose handles lie in registers.

#include <algorithm>

#include "warpsim/exec/decoder.h"

namespace warpsim {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool Decoder::texture(const Code& code) {
  const Operand& object = code.src[0];
  // A name instead of a handle is a variable of a kind that the parser does not take; what follows
  // the coordinates beside a level or gradients is an offset or a value to compare with.
  const size_t plain = code.tex == ptx::TexMode::kLevel  ? 2
                       : code.tex == ptx::TexMode::kGrad ? 3
                       : code.op == Opcode::kSust        ? 2
                                                         : 1;
  if (object.reg < 0 || object.offset != 0 || code.src.size() > plain) return false;
  TextureInstruction t;
  t.geometry = code.geometry, t.mode = code.tex, t.edge = code.edge, t.query = code.query;
  t.has_elements = code.src_type != Type::kF32;
  t.is_surface = code.op == Opcode::kSuld || code.op == Opcode::kSust ||
                 (code.op == Opcode::kTexQuery && code.mnemonic.starts_with("suq"));
  int64_t offset = 0;
  bool wide = false;
  const uint32_t row = address_row(object, Space::kGlobal, &wide, &offset);
  t.object = {row, wide};
  for (size_t i = 0; i < std::min<size_t>(object.elements.size(), 4); ++i)
    t.at[i] = source(object.elements[i], false, Type::kS32);
  const bool is_store = code.op == Opcode::kSust;
  std::vector<Dest> to;
  const Operand* values = nullptr;
  if (code.op == Opcode::kTexQuery) {
    to.push_back(dest(code.dst[0], false));
    t.value[0] = to[0].row;
  } else {
    values = is_store ? &code.src[1] : &code.dst[0];
    t.elements = uint8_t(values->elements.size());
    t.element_bytes = uint8_t(ptx::size_bytes(code.type));
    for (size_t i = 0; i < t.elements; ++i) {
      if (is_store) {
        t.value[i] = source(values->elements[i], t.element_bytes == 8, code.type);
      } else {
        to.push_back(dest(values->elements[i], t.element_bytes == 8));
        t.value[i] = to[i].row;
      }
    }
  }
  if (code.dst.size() > 1) t.has_resident = true, t.resident = dest_predicate(code.dst[1]);
  // Of a texel's size only its object knows.
  const bool is_texture = code.op == Opcode::kTex || code.op == Opcode::kTexQuery;
  t.site = add_site(code, Space::kGlobal, is_texture ? 4 : t.element_bytes,
                    is_texture ? 1 : t.elements, is_store);
  emit(code.op == Opcode::kTex    ? &ops::fetch_texture
       : code.op == Opcode::kSuld ? &ops::load_surface
       : is_store                 ? &ops::store_surface
                                  : &ops::query_texture)
      .set(Op::Texture{uint32_t(image_.textures.size())});
  image_.textures.push_back(t);
  for (const Dest& d : to) finish_dest(d, 0, false);
  return true;
}

}  // namespace warpsim
