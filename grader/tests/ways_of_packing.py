"""Ways of putting four floats into a tile of bf16: what put4 of lab 10 may look like."""

PACKINGS = {
    "words by hand": (
        "__device__ uint32_t pack(float a, float b) {"
        " const uint32_t low = __bfloat16_as_ushort(__float2bfloat16_rn(a));"
        " const uint32_t high = __bfloat16_as_ushort(__float2bfloat16_rn(b)); return high << 16 | low; }",
        "*reinterpret_cast<uint2*>(to) = make_uint2(pack(four.x, four.y), pack(four.z, four.w));",
    ),
    "one after the other": (
        "",
        "to[0] = __float2bfloat16(four.x); to[1] = __float2bfloat16(four.y);"
        " to[2] = __float2bfloat16(four.z); to[3] = __float2bfloat16(four.w);",
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
    "rounded by hand": (
        "__device__ uint32_t half(float a) { uint32_t u = __float_as_uint(a);"
        " return (u + 0x7fff + ((u >> 16) & 1)) >> 16; }",
        "uint2 u; u.x = half(four.x) | half(four.y) << 16; u.y = half(four.z) | (half(four.w) << 16);"
        " *(uint2*)to = u;",
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
    "made as numbers are": (
        "",
        "to[0] = bf16(four.x); to[1] = four.y; to[2] = static_cast<bf16>(four.z); to[3] = (bf16)four.w;",
    ),
}
