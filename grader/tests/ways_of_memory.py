"""Ways of saying it that have to do with where parts lie: unions, pairs in words, owners of memory.

As ways_of_saying: parts of test_repair_reads's program.
"""

_SUM = "s += {} * b[i][tx];"
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
    "a local matrix seen as one row": {
        "inner": "float x[2][2][4]; for (int i = 0; i < 16; ++i) ((float*)x)[i] = 0;"
        " for (int i = 0; i < T; ++i) x[i / 8][i / 4 % 2][i % 4] += a[ty][i] * b[i][tx];"
        " const float* flat = reinterpret_cast<float*>(x); for (int i = 0; i < 16; ++i) s += flat[i];",
    },
    "a tile seen as one row": {
        "inner": "const float* flat = (const float*)a; for (int i = 0; i < T; ++i) "
        + _SUM.format("flat[ty * T + i]"),
    },
    "the parts of a vector from the first one on": {
        "inner": "float4 x = make_float4(0, 0, 0, 0); float* q = &x.x; for (int i = 0; i < T; ++i) q[i % 4] += a[ty][i] * b[i][tx];"
        " s += x.x + x.y + (&x.x)[2] + *(q + 3);",
    },
    "structs of vectors in a tile": {
        "top": "struct Eight { float4 low, high; __device__ float sum() const { return low.x + high.w; } };",
        "inner": "__shared__ Eight e[T][T]; e[ty][tx].low = make_float4(a[ty][tx], 0, 0, 0); e[ty][tx].high.w = 0;"
        " __syncthreads(); for (int i = 0; i < T; ++i) " + _SUM.format("e[ty][i].sum()"),
    },
    "a struct of structs from memory": {
        "top": "struct Two { float x, y; }; struct Four { Two low; Two high; };",
        "load": "reinterpret_cast<const Four*>(M + r * w + p * T + tx / 4 * 4)->low.x * (tx % 4 == 0)"
        " + ((const Four*)(M + r * w + p * T + tx / 4 * 4))[0].low.y * (tx % 4 == 1)"
        " + (*(const Four*)(M + r * w + p * T + tx / 4 * 4)).high.x * (tx % 4 == 2)"
        " + reinterpret_cast<const Two*>(M + r * w + p * T + tx / 2 * 2)->y * (tx % 4 == 3)",
    },
    "a struct of vectors that is copied as one": {
        "top": "struct Eight { float4 low; float2 mid, high; };",
        "before": "Eight e = *(const Eight*)(M + r / 8 * 8); ((float*)&e)[7] = c; Eight f = e;"
        " float* q = reinterpret_cast<float*>(&f); q[0] = r; q[4] = w;",
        "store": "P[(int)f.low.x * (int)f.mid.x + (int)f.high.y] = s;",
    },
    "bits of a float through a pointer": {
        "store": "unsigned u = *(unsigned*)&s; u ^= 0x80000000u; float z = *reinterpret_cast<float*>(&u);"
        " P[r * w + c] = -z;",
    },
    "bits of a float by memcpy": {
        "store": "unsigned u; memcpy(&u, &s, sizeof u); u ^= 1u << 31; float z; memcpy(&z, &u, sizeof(z));"
        " P[r * w + c] = -std::bit_cast<float>(__builtin_bit_cast(int, z));",
    },
    "a pointer whose type is deduced": {
        "inner": "auto* q = reinterpret_cast<const float4*>(a[ty]); for (int i = 0; i < T; i += 4) { auto v = q[i / 4];"
        " s += v.x * b[i][tx] + v.y * b[i + 1][tx] + v.z * b[i + 2][tx] + v.w * b[i + 3][tx]; }",
    },
    "sizes of all kinds": {
        "top": "struct Two { float x; int y; };",
        "before": "Two two; float4 v[2]; int n; const Two* q = &two; constexpr int E = sizeof(float4) / sizeof(float);",
        "store": "P[r * w + c + sizeof(two) / sizeof(*q) - 1 + sizeof(v) / 32 - 1 + sizeof n - E + sizeof(int2) - 8"
        " + sizeof(uint4) - sizeof(char) * 16 + sizeof(unsigned short) - 2] = s;",
    },
    "integers among the fields of elements": {
        "top": "struct Place { int r, c; float v; __device__ void down(int by) { r += by; } __device__ int of(int w) const { return r / 2 * 2 * w + r % 2 * w + c; } };",
        "before": "Place q[2] = {}; q[1].down(r / 3 * 3); q[1].down(r % 3); q[1].c += c;",
        "store": "P[q[1].of(w)] = s;",
    },
    "unions in an array, one of which is chosen": {
        "top": "union Four { float4 v; float f[4]; struct { float x, y, z, w; }; }; typedef struct __attribute__((packed)) { unsigned n : 4; } bits_t;"
        " struct Pair { Four four; int count; };",
        "inner": "Four q[2]; const Four zero = {make_float4(0, 0, 0, 0)}; q[0].v = q[1].v = zero.v; Four one = tx < 3 ? q[0] : zero; one.x = 1;"
        " Four two = w > 0 ? zero : q[0]; two.f[0] = 2; for (int i = 0; i < T; i += 2) { q[0].f[i % 4] += a[ty][i] * b[i][tx];"
        " q[1].w += a[ty][i + 1] * b[i + 1][tx]; } s += q[0].x + q[0].z + q[1].f[3] + q[1].x + zero.x;",
    },
    "an array of structs with arrays, one of which is taken for its array": {
        "top": "struct Part { float r[4]; int n; __device__ operator float*() { return r; } };",
        "inner": "Part q[2][2]; for (int i = 0; i < 4; ++i) q[1][0].r[i] = 0; float* to = q[1][0];"
        " for (int i = 0; i < T; ++i) to[i % 4] += a[ty][i] * b[i][tx]; for (int i = 0; i < 4; ++i) s += q[1][0].r[i];",
    },
    "pointers in memory of malloc": {
        "launch": "float** rows = (float**)malloc(2 * sizeof(float*)); rows[0] = P; rows[1] = P + w; float* first = rows[1] - w;"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, first, w); free(rows);",
    },
    "vectors of any width": {
        "top": "template <typename V, int S> struct alignas(sizeof(V) * S) Vec { V v[S]; __device__ V operator[](int i) const { return v[i]; }"
        " __device__ static Vec load(const V* p) { return *reinterpret_cast<const Vec*>(p); } __device__ void store(V* p) const { *reinterpret_cast<Vec*>(p) = *this; }"
        " __device__ static Vec fill(V x) { Vec r; for (int i = 0; i < S; ++i) r.v[i] = x; return r; }"
        " __device__ Vec& add(V a, const Vec& b) { for (int i = 0; i < S; ++i) v[i] += a * b.v[i]; return *this; } };"
        " using V4 = Vec<float, 4>; __device__ V4 guarded(const float* p, bool in) { if (!in) return V4::fill(0); return V4::load(p); }",
        "inner": "V4 q[2] = {V4::fill(0), V4::fill(1)}; for (int i = 0; i < T; ++i) q[i & 1].add(a[ty][i], guarded(&b[i][tx / 4 * 4], tx < 99));"
        " __shared__ V4 out[T][T / 4]; q[1].add(1, q[0]); if (tx % 4 == 0) out[ty][tx / 4] = q[1]; __syncthreads(); s += out[ty][tx / 4][tx % 4] - 1;",
    },
    "what a std::array is asked for": {
        "launch": "std::array<unsigned, 3> g{unsigned(w / T), unsigned(w / T), 1u}; g.front() = g.at(1); const auto& q = g;"
        " k<<<dim3(q[0], q.at(1), g.back()), dim3(T, T * (g.size() / 3))>>>(M, N, P, w);",
    },
    "dynamic memory taken for a struct of a template": {
        "store": "P[r * w + c] = (P[r * w + c] + s) / 2;",
        "top": "template <int S> struct Sm { float x[S][S], y[S][S]; }; template <int S> __global__ void of(const float* M, const float* N, float* P, int w) {"
        " extern __shared__ float4 raw[]; auto& q = *reinterpret_cast<Sm<S>*>(raw); int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * S + ty, c = blockIdx.x * S + tx;"
        " float s = 0; for (int z = 0; z < w; z += S) { q.x[ty][tx] = M[r * w + z + tx]; q.y[ty][tx] = N[(z + ty) * w + c]; __syncthreads();"
        " for (int i = 0; i < S; ++i) s += q.x[ty][i] * q.y[i][tx]; __syncthreads(); } P[r * w + c] = s; }",
        "launch": "of<T><<<dim3(w / T, w / T), dim3(T, T), sizeof(Sm<T>)>>>(M, N, P, w); "
        + _PRODUCT,
    },
    "braces for an element": {
        "top": "struct E { float x, y; };",
        "inner": "__shared__ E e[T][T / 2]; __shared__ float2 f[T][T / 2]; if (tx < T / 2) { e[ty][tx] = {a[ty][2 * tx], a[ty][2 * tx + 1]}; f[ty][tx] = {0, 1}; } __syncthreads();"
        " const E* q = &e[ty][0]; for (int i = 0; i < T / 2; ++i, ++q) s += q->x * b[2 * i][tx] + q->y * b[2 * i + 1][tx] * f[ty][i].y; __syncthreads();",
    },
    "a pointer to structs with arrays of a row, and a lambda that returns a reference to one": {
        "top": "struct Frag { float r[4]; }; __device__ float all(const Frag* q, int apart, int n) { auto of = [&](int i) -> const float (&)[4] { return q[i * apart].r; };"
        " float z = 0; for (int i = 0; i < n; ++i) z += of(i)[0] + of(i)[3]; return z; }",
        "inner": "Frag q[2][3]; for (int i = 0; i < 6; ++i) for (float& x : q[i / 3][i % 3].r) x = 0; for (int i = 0; i < T; ++i) q[i & 1][1].r[i / 2 % 2 * 3] += a[ty][i] * b[i][tx];"
        " s += all(&q[0][1], 3, 2);",
    },
    "a literal of a struct, and references in one": {
        "top": "typedef struct { int r, c; } At; __device__ int of(At q, int w) { return q.r * w + q.c; } template <class V, int S> __device__ int length(V (&)[S]) { return S; }"
        " struct Ctx { float (&x)[T][T]; float& s; int r, c; __device__ void add(const float (*const y)[T]) { for (int i = 0; i < T; ++i) s += x[r][i] * y[i][c]; } };",
        "inner": "Ctx q{a, s, ty, tx}; q.add(b);",
        "store": "P[of((At){r, c}, w) + length(a) - T] = s;",
    },
    "a struct of pointers in memory of the device": {
        "store": "P[r * w + c] = (P[r * w + c] + s) / 2;",
        "top": "struct Args { const float *m, *n; float* p; int w; }; __global__ void of(const Args* q) { int r = blockIdx.x, c = threadIdx.x; float s = 0;"
        " for (int i = 0; i < q->w; ++i) s += q->m[r * q->w + i] * q->n[i * q->w + c]; q->p[r * q->w + c] = s; }",
        "launch": "Args *q, h = {M, N, P, w}, *d, *e = (Args*)malloc(sizeof(Args)); cudaMallocManaged(&q, sizeof(Args)); q->m = M; q->n = N; q->p = P; q->w = 0;"
        " of<<<w, w>>>(q); cudaFree(q); *e = h; cudaMalloc((void**)&d, sizeof(h)); cudaMemcpy(d, e, sizeof(Args), cudaMemcpyHostToDevice); of<<<w, w>>>(d); cudaFree(d); free(e); "
        + _PRODUCT,
    },
}
