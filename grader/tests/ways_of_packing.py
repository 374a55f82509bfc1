"""Ways of putting four floats into a tile of bf16: what put4 of lab 10 may look like."""

PACKINGS = {
    "words by hand": (
        "__device__ uint32_t pack(float a, float b) {"
        " const uint32_t low = __bfloat16_as_ushort(__float2bfloat16_rn(a));"
        " const uint32_t high = __bfloat16_as_ushort(__float2bfloat16_rn(b)); return high << 16 | low; }",
        "*reinterpret_cast<uint2*>(to) = make_uint2(pack(four.x, four.y), pack(four.z, four.w));",
    ),
    "a struct of two pairs": (
        "struct Half4 { __nv_bfloat162 lo, hi; };",
        "Half4 h; h.lo = __floats2bfloat162_rn(four.x, four.y); h.hi = __floats2bfloat162_rn(four.z, four.w);"
        " *reinterpret_cast<uint2*>(to) = *reinterpret_cast<uint2*>(&h);",
    ),
    "a struct of two pairs, copied": (
        "struct alignas(8) Half4 { __nv_bfloat162 lo, hi; };"
        " __device__ Half4 half(float4 v) {"
        " return {__floats2bfloat162_rn(v.x, v.y), __floats2bfloat162_rn(v.z, v.w)}; }",
        "*reinterpret_cast<Half4*>(to) = half(four);",
    ),
    "two words": (
        "",
        "__nv_bfloat162 lo = __floats2bfloat162_rn(four.x, four.y), hi = __floats2bfloat162_rn(four.z, four.w);"
        " uint2 both; both.x = *(uint32_t*)&lo; both.y = *(uint32_t*)&hi; *(uint2*)to = both;",
    ),
    "two words at once": (
        "",
        "const __nv_bfloat162 lo = __floats2bfloat162_rn(four.x, four.y), hi = __floats2bfloat162_rn(four.z, four.w);"
        " *reinterpret_cast<uint2*>(to) = make_uint2(*reinterpret_cast<const unsigned*>(&lo),"
        " reinterpret_cast<const uint32_t&>(hi));",
    ),
    "one after the other": (
        "",
        "to[0] = __float2bfloat16(four.x); to[1] = __float2bfloat16(four.y);"
        " to[2] = __float2bfloat16(four.z); to[3] = __float2bfloat16(four.w);",
    ),
    "two pairs": (
        "",
        "auto* pairs = reinterpret_cast<__nv_bfloat162*>(to);"
        " pairs[0] = __floats2bfloat162_rn(four.x, four.y); *(pairs + 1) = __floats2bfloat162_rn(four.z, four.w);",
    ),
    "a union of pairs": (
        "union Pack { __nv_bfloat162 h[2]; uint2 u; };",
        "Pack q; q.h[0] = __floats2bfloat162_rn(four.x, four.y); q.h[1] = __floats2bfloat162_rn(four.z, four.w);"
        " *reinterpret_cast<uint2*>(to) = q.u;",
    ),
    "a union of elements": (
        "",
        "union { bf16 h[4]; uint2 u; } q; q.h[0] = __float2bfloat16(four.x); q.h[1] = __float2bfloat16(four.y);"
        " q.h[2] = __float2bfloat16(four.z); q.h[3] = __float2bfloat16(four.w); *(uint2*)to = q.u;",
    ),
    "a union of one pair": (
        "union Pack { __nv_bfloat162 h; uint32_t u; };"
        " __device__ uint32_t pack(float a, float b) { Pack q; q.h = __floats2bfloat162_rn(a, b); return q.u; }",
        "((uint32_t*)to)[0] = pack(four.x, four.y); ((uint32_t*)to)[1] = pack(four.z, four.w);",
    ),
    "words that are copied": (
        "__device__ unsigned pack(float a, float b) { __nv_bfloat162 h = __floats2bfloat162_rn(a, b);"
        " unsigned u; memcpy(&u, &h, sizeof u); return u; }",
        "uint2 u = {pack(four.x, four.y), pack(four.z, four.w)}; memcpy(to, &u, sizeof(u));",
    ),
    "pairs that are copied": (
        "",
        "__nv_bfloat162 pairs[2] = {__floats2bfloat162_rn(four.x, four.y), __floats2bfloat162_rn(four.z, four.w)};"
        " memcpy(to, pairs, sizeof(pairs));",
    ),
    "rounded by hand": (
        "__device__ uint32_t half(float a) { uint32_t u = __float_as_uint(a);"
        " return (u + 0x7fff + ((u >> 16) & 1)) >> 16; }",
        "uint2 u; u.x = half(four.x) | half(four.y) << 16; u.y = half(four.z) | (half(four.w) << 16);"
        " *(uint2*)to = u;",
    ),
    "rounded by hand, bytes chosen": (
        "__device__ uint32_t even(float a) { uint32_t u = __float_as_uint(a); return u + 0x7fff + (u >> 16 & 1); }",
        "*reinterpret_cast<uint2*>(to) = make_uint2(__byte_perm(even(four.x), even(four.y), 0x7632),"
        " __byte_perm(even(four.z), even(four.w), 0x7632));",
    ),
    "a pair of its parts": (
        "",
        "__nv_bfloat162 lo{__float2bfloat16(four.x), __float2bfloat16(four.y)}, hi;"
        " hi.x = __float2bfloat16(four.z); hi.y = __float2bfloat16(four.w);"
        " *reinterpret_cast<__nv_bfloat162*>(to) = lo; *reinterpret_cast<__nv_bfloat162*>(to + 2) = hi;",
    ),
    "an array of four": (
        "",
        "alignas(8) bf16 q[4] = {__float2bfloat16(four.x), __float2bfloat16(four.y), __float2bfloat16(four.z),"
        " __float2bfloat16(four.w)}; *(uint2*)to = *(const uint2*)q;",
    ),
    "an array of four in a loop": (
        "",
        "alignas(8) bf16 q[4]; const float* v = &four.x; for (int i = 0; i < 4; ++i) q[i] = __float2bfloat16_rn(v[i]);"
        " *reinterpret_cast<int2*>(to) = *reinterpret_cast<int2*>(&q[0]);",
    ),
    "one instruction": (
        "__device__ uint32_t pack(float a, float b) { uint32_t u;"
        ' asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(b), "f"(a)); return u; }',
        "*reinterpret_cast<uint2*>(to) = uint2{pack(four.x, four.y), pack(four.z, four.w)};",
    ),
    "bits cast": (
        "",
        "auto lo = __floats2bfloat162_rn(four.x, four.y), hi = __floats2bfloat162_rn(four.z, four.w);"
        " *reinterpret_cast<uint2*>(to) = make_uint2(__builtin_bit_cast(uint32_t, lo), std::bit_cast<uint32_t>(hi));",
    ),
    "four short numbers": (
        "__device__ unsigned short half(float a) { return __bfloat16_as_ushort(__float2bfloat16(a)); }",
        "*(ushort4*)to = make_ushort4(half(four.x), half(four.y), half(four.z), half(four.w));",
    ),
    "a struct of four": (
        "struct __align__(8) bf16x4 { bf16 x, y, z, w; };",
        "*reinterpret_cast<bf16x4*>(to) = bf16x4{__float2bfloat16(four.x), __float2bfloat16(four.y),"
        " __float2bfloat16(four.z), __float2bfloat16(four.w)};",
    ),
    "as floats": (
        "",
        "__nv_bfloat162 pairs[2]; pairs[0] = __float22bfloat162_rn(make_float2(four.x, four.y));"
        " pairs[1] = __float22bfloat162_rn({four.z, four.w});"
        " *reinterpret_cast<float2*>(to) = *reinterpret_cast<float2*>(pairs);",
    ),
    "made as numbers are": (
        "",
        "to[0] = bf16(four.x); to[1] = four.y; to[2] = static_cast<bf16>(four.z); to[3] = (bf16)four.w;",
    ),
}
