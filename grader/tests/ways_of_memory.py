"""Ways of saying it that have to do with where parts lie: unions, pairs in words, owners of memory.

As ways_of_saying: parts of test_repair_reads's program.
"""

_ADDS = "for (int i = 0; i < T; ++i) s += {} * b[i][tx];"
_PRODUCT = "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"

MEMORY = {
    "an array of unions that have a constructor": {
        "top": "union Quad { float4 all; float part[4];"
        " __device__ Quad() : all(make_float4(0, 0, 0, 0)) {} };",
        "inner": "Quad sums[2]; for (int i = 0; i < T; ++i) sums[i % 2].part[i % 4] += a[ty][i] * b[i][tx];"
        " for (int i = 0; i < 4; ++i) s += sums[0].part[i] + sums[1].part[i];",
    },
    "an array of structs whose arrays begin with something": {
        "top": "struct Sums { float part[2] = {0, 0}; float all = 0; };",
        "inner": "Sums sums[2][2]; for (int i = 0; i < T; ++i) sums[i & 1][1].part[i / 8] += a[ty][i] * b[i][tx];"
        " for (int i = 0; i < 4; ++i) sums[0][0].all += sums[i & 1][1].part[i / 2]; s += sums[0][0].all;",
    },
    "what owns memory and is given how it is freed": {
        "top": "struct Freer { void operator()(__nv_bfloat16* p) const { cudaFree(p); }"
        " void operator()(float* p) const { cudaFree(p); } };",
        "launch": "auto make = [](int n) { float* p; cudaMalloc(&p, n); return p; };"
        " std::unique_ptr<float, Freer> x(make(4 * w), Freer{}), y{make(4)};"
        " __nv_bfloat16* half; cudaMalloc(&half, 8); std::unique_ptr<__nv_bfloat16, Freer> z(half); "
        + _PRODUCT,
    },
}
