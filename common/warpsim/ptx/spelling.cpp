#include "warpsim/ptx/spelling.h"

namespace warpsim::ptx {

std::span<const Word<Type>> type_words() {
  using enum Type;
  static constexpr Word<Type> kWords[] = {
      {"pred", kPred},     {"b8", kB8},         {"b16", kB16},     {"b32", kB32},
      {"b64", kB64},       {"b128", kB128},     {"u8", kU8},       {"u16", kU16},
      {"u32", kU32},       {"u64", kU64},       {"s8", kS8},       {"s16", kS16},
      {"s32", kS32},       {"s64", kS64},       {"u16x2", kU16x2}, {"s16x2", kS16x2},
      {"f16", kF16},       {"f16x2", kF16x2},   {"bf16", kBF16},   {"bf16x2", kBF16x2},
      {"e4m3x2", kE4M3x2}, {"e5m2x2", kE5M2x2}, {"tf32", kTF32},   {"f32", kF32},
      {"f64", kF64}};
  return kWords;
}

std::span<const Word<Space>> space_words() {
  using enum Space;
  static constexpr Word<Space> kWords[] = {{"param", kParam},       {"global", kGlobal},
                                           {"shared", kShared},     {"local", kLocal},
                                           {"const", kConst},       {"param::entry", kParam},
                                           {"param::func", kParam}, {"shared::cta", kShared}};
  return kWords;
}

std::span<const Word<CmpOp>> compare_words() {
  using enum CmpOp;
  static constexpr Word<CmpOp> kWords[] = {
      {"eq", kEq},   {"ne", kNe},   {"lt", kLt},   {"le", kLe},   {"gt", kGt},   {"ge", kGe},
      {"lo", kLo},   {"ls", kLs},   {"hi", kHi},   {"hs", kHs},   {"equ", kEqu}, {"neu", kNeu},
      {"ltu", kLtu}, {"leu", kLeu}, {"gtu", kGtu}, {"geu", kGeu}, {"num", kNum}, {"nan", kNan}};
  return kWords;
}

std::span<const Word<BoolOp>> bool_words() {
  using enum BoolOp;
  static constexpr Word<BoolOp> kWords[] = {{"and", kAnd}, {"or", kOr}, {"xor", kXor}};
  return kWords;
}

std::span<const Word<Rounding>> rounding_words() {
  using enum Rounding;
  static constexpr Word<Rounding> kWords[] = {{"rn", kRn},   {"rz", kRz},   {"rm", kRm},
                                              {"rp", kRp},   {"rna", kRna}, {"rni", kRni},
                                              {"rzi", kRzi}, {"rmi", kRmi}, {"rpi", kRpi}};
  return kWords;
}

std::span<const Word<MulPart>> part_words() {
  using enum MulPart;
  static constexpr Word<MulPart> kWords[] = {{"lo", kLo}, {"hi", kHi}, {"wide", kWide}};
  return kWords;
}

std::span<const Word<AtomOp>> atom_words() {
  using enum AtomOp;
  static constexpr Word<AtomOp> kWords[] = {
      {"add", kAdd}, {"min", kMin}, {"max", kMax}, {"inc", kInc},   {"dec", kDec},
      {"and", kAnd}, {"or", kOr},   {"xor", kXor}, {"exch", kExch}, {"cas", kCas}};
  return kWords;
}

std::span<const Word<ShflMode>> shuffle_words() {
  using enum ShflMode;
  static constexpr Word<ShflMode> kWords[] = {
      {"up", kUp}, {"down", kDown}, {"bfly", kBfly}, {"idx", kIdx}};
  return kWords;
}

std::span<const Word<VoteMode>> vote_words() {
  using enum VoteMode;
  static constexpr Word<VoteMode> kWords[] = {
      {"all", kAll}, {"any", kAny}, {"uni", kUni}, {"ballot", kBallot}};
  return kWords;
}

std::span<const Word<BarMode>> bar_red_words() {
  using enum BarMode;
  static constexpr Word<BarMode> kWords[] = {{"and", kRedAnd}, {"or", kRedOr}, {"popc", kRedPopc}};
  return kWords;
}

std::span<const Word<PrmtMode>> prmt_words() {
  using enum PrmtMode;
  static constexpr Word<PrmtMode> kWords[] = {{"f4e", kF4e}, {"b4e", kB4e}, {"rc8", kRc8},
                                              {"ecl", kEcl}, {"ecr", kEcr}, {"rc16", kRc16}};
  return kWords;
}

std::span<const Word<TestpOp>> testp_words() {
  using enum TestpOp;
  static constexpr Word<TestpOp> kWords[] = {{"finite", kFinite}, {"infinite", kInfinite},
                                             {"number", kNumber}, {"notanumber", kNotanumber},
                                             {"normal", kNormal}, {"subnormal", kSubnormal}};
  return kWords;
}

std::span<const Word<Geometry>> geometry_words() {
  using enum Geometry;
  static constexpr Word<Geometry> kWords[] = {{"1d", k1d},
                                              {"2d", k2d},
                                              {"3d", k3d},
                                              {"a1d", k1dLayered},
                                              {"a2d", k2dLayered},
                                              {"cube", kCube},
                                              {"acube", kCubeLayered}};
  return kWords;
}

std::span<const Word<SurfaceEdge>> edge_words() {
  using enum SurfaceEdge;
  static constexpr Word<SurfaceEdge> kWords[] = {
      {"trap", kTrap}, {"clamp", kClamp}, {"zero", kZero}};
  return kWords;
}

std::span<const Word<TexQuery>> query_words() {
  using enum TexQuery;
  static constexpr Word<TexQuery> kWords[] = {{"width", kWidth},
                                              {"height", kHeight},
                                              {"depth", kDepth},
                                              {"array_size", kLayers},
                                              {"num_mipmap_levels", kLevels},
                                              {"num_samples", kSamples}};
  return kWords;
}

std::span<const Word<Special>> special_words() {
  using enum Special;
  static constexpr Word<Special> kWords[] = {{"%tid.x", kTidX},
                                             {"%tid.y", kTidY},
                                             {"%tid.z", kTidZ},
                                             {"%ntid.x", kNtidX},
                                             {"%ntid.y", kNtidY},
                                             {"%ntid.z", kNtidZ},
                                             {"%ctaid.x", kCtaidX},
                                             {"%ctaid.y", kCtaidY},
                                             {"%ctaid.z", kCtaidZ},
                                             {"%nctaid.x", kNctaidX},
                                             {"%nctaid.y", kNctaidY},
                                             {"%nctaid.z", kNctaidZ},
                                             {"%laneid", kLaneid},
                                             {"%warpid", kWarpid},
                                             {"%nwarpid", kNwarpid},
                                             {"%smid", kSmid},
                                             {"%nsmid", kNsmid},
                                             {"%gridid", kGridid},
                                             {"%lanemask_eq", kLanemaskEq},
                                             {"%lanemask_le", kLanemaskLe},
                                             {"%lanemask_lt", kLanemaskLt},
                                             {"%lanemask_ge", kLanemaskGe},
                                             {"%lanemask_gt", kLanemaskGt},
                                             {"%clock", kClock},
                                             {"%clock_hi", kClockHi},
                                             {"%clock64", kClock64},
                                             {"%globaltimer", kGlobaltimer},
                                             {"%globaltimer_lo", kGlobaltimerLo},
                                             {"%globaltimer_hi", kGlobaltimerHi},
                                             {"%dynamic_smem_size", kDynamicSmemSize},
                                             {"%total_smem_size", kTotalSmemSize},
                                             {"%envreg1", kEnvreg1},
                                             {"%envreg2", kEnvreg2}};
  return kWords;
}

}  // namespace warpsim::ptx
