"""Ways of saying it that students write and the search for a change has to read: parts of one program.

The program is test_repair_reads's.
"""

WAYS = {
    "an enum and a typedef of the kernel's own": {
        "before": "enum { W = 16, HALF = W / 2 }; typedef float Row[W]; __shared__ Row d[HALF * 2];",
        "inner": "d[ty][tx] = b[ty][tx]; __syncthreads(); for (int i = 0; i < HALF * 2; ++i) s += a[ty][i] * d[i][tx];",
    },
    "references in one declaration": {
        "inner": "for (int i = 0; i < T; ++i) { float &x = a[ty][i], &y = b[i][tx]; s += x * y; }",
    },
    "rows of an array by a pointer": {
        "inner": "for (int i = 0; i < T; ++i) s += *(*(a + ty) + i) * (*(b + i))[tx];",
    },
    "methods of one name": {
        "top": (
            "struct A { int w; __device__ int at(int y, int x) const { return y * w + x; } "
            "}; struct B { int w; "
            "__device__ int at(int y, int x) const { return x * w + y; } };"
        ),
        "before": "A q{w}; B z{w};",
        "load": "M[q.at(r, p * T + tx)]",
        "store": "P[z.at(c, r)] = s;",
    },
    "two functors": {
        "top": (
            "struct Mul { __device__ float operator()(float a, float b) const { return a * b; "
            "} }; "
            "struct Add { __device__ float operator()(float a, float b) const { return a + b; "
            "} };"
        ),
        "inner": "for (int i = 0; i < T; ++i) s = Add()(s, Mul{}(a[ty][i], b[i][tx]));",
    },
    "functor as template argument": {
        "top": (
            "struct Mul { __device__ float operator()(float a, float b) const { return a * b; "
            "} }; "
            "struct Add { __device__ float operator()(float a, float b) const { return a + b; "
            "} }; "
            "template <class F> __device__ float ap(F f, float x, float y) { return f(x, y); "
            "}"
        ),
        "inner": "for (int i = 0; i < T; ++i) s = ap(Add{}, s, ap(Mul{}, a[ty][i], b[i][tx]));",
    },
    "overloads": {
        "top": (
            "__device__ int at(int r, int c, int w) { return r * w + c; } "
            "__device__ int at(int r, int c) { return r * T + c; }"
        ),
        "load": "M[at(r, p * T + tx, w)]",
        "inner": "for (int i = 0; i < T; ++i) s += (&a[0][0])[at(ty, i)] * b[i][tx];",
    },
    "overloads by type": {
        "top": (
            "__device__ float get(const float* p, int i) { return p[i]; } "
            "__device__ float get(const float (&p)[T][T], int i) { return p[i / T][i % T]; "
            "}"
        ),
        "inner": "for (int i = 0; i < T; ++i) s += get(a, ty * T + i) * b[i][tx];",
        "load": "get(M, r * w + p * T + tx)",
    },
    "two constructors": {
        "top": (
            "struct V { int y, x; __device__ V(int q, int z) : y(q), x(z) {} "
            "__device__ V(int q) : y(q), x(q) {} };"
        ),
        "before": "V v(r, c); V u(3);",
        "store": "P[v.y * w + v.x] = s;",
    },
    "operator+": {
        "top": (
            "struct V { float x, y; }; "
            "__device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y}; }"
        ),
        "inner": (
            "V z{0, 0}; for (int i = 0; i < T; ++i) z = z + V{a[ty][i] * b[i][tx], 0}; s += z.x;"
        ),
    },
    "operator+= member": {
        "top": (
            "struct V { float x; __device__ V& operator+=(float f) { x += f; return *this; } };"
        ),
        "inner": "V z{0}; for (int i = 0; i < T; ++i) z += a[ty][i] * b[i][tx]; s += z.x;",
    },
    "operator* float4": {
        "top": (
            "__device__ inline float4 operator*(float f, float4 v) { return make_float4(f * v.x, f * v.y, f * v.z, f * v.w); "
            "}"
        ),
        "inner": (
            "for (int i = 0; i < T; "
            "++i) { float4 q = a[ty][i] * make_float4(b[i][tx], 0, 0, 0); s += q.x; }"
        ),
    },
    "kernel by another name": {
        "launch": "auto f = k; f<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);",
    },
    "extern C": {
        "top": 'extern "C" { __device__ int same(int x) { return x; } }',
        "before": "int q = same(r);",
        "store": "P[q * w + c] = s;",
    },
    "designated": {
        "top": "struct V { int y, x; };",
        "before": "V v = {.y = r, .x = c};",
        "store": "P[v.y * w + v.x] = s;",
    },
    "static method": {
        "top": (
            "struct I { static __device__ int of(int y, int x, int w) { return y * w + x; } };"
        ),
        "store": "P[I::of(r, c, w)] = s;",
    },
    "static method template": {
        "top": (
            "template <int W> struct I { static __device__ int of(int y, int x) { return y * W + x; "
            "} };"
        ),
        "inner": "for (int i = 0; i < T; ++i) s += (&a[0][0])[I<T>::of(ty, i)] * b[i][tx];",
    },
    "this->": {
        "top": ("struct V { int w; __device__ int of(int y, int x) { return y * this->w + x; } };"),
        "before": "V v{w};",
        "store": "P[v.of(r, c)] = s;",
    },
    "inheritance": {
        "top": (
            "struct B { int w; }; "
            "struct V : B { __device__ int of(int y, int x) { return y * w + x; } };"
        ),
        "before": "V v; v.w = w;",
        "store": "P[v.of(r, c)] = s;",
    },
    "nested struct": {
        "top": "struct O { struct I { int y, x; } at; int w; };",
        "before": "O o; o.at.y = r; o.at.x = c; o.w = w;",
        "store": "P[o.at.y * o.w + o.at.x] = s;",
    },
    "reference to threadIdx": {
        "before": "const auto& t3 = threadIdx;",
        "store": "P[(blockIdx.y * T + t3.y) * w + c] = s;",
    },
    "lambda called at once": {
        "before": "const int q = [&] { return r; }();",
        "store": "P[q * w + c] = s;",
    },
    "std::array": {
        "top": "#include <array>",
        "before": "std::array<int, 2> q = {r, c};",
        "store": "P[q[0] * w + q[1]] = s;",
    },
    "throw": {
        "launch": (
            'if (w <= 0) throw std::runtime_error("bad"); '
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"
        ),
    },
    "try": {
        "launch": (
            "try { k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w); } "
            'catch (const std::exception& e) { printf("%s", e.what()); }'
        ),
    },
    "device symbol": {
        "top": "__device__ int WIDTH;",
        "launch": (
            "cudaMemcpyToSymbol(WIDTH, &w, sizeof(int)); "
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"
        ),
        "store": "P[r * WIDTH + c] = s;",
    },
    "constant symbol": {
        "top": "__constant__ int WIDTH;",
        "launch": (
            "cudaMemcpyToSymbol(WIDTH, &w, sizeof(w)); "
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"
        ),
        "store": "P[r * WIDTH + c] = s;",
    },
    "a struct as a symbol": {
        "top": "struct Sizes { int w, unused; }; __constant__ Sizes SIZES;",
        "launch": (
            "Sizes h; h.w = w; h.unused = 0; cudaMemcpyToSymbol(SIZES, &h, sizeof h); "
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"
        ),
        "store": "P[r * SIZES.w + c] = s;",
    },
    "an array as a symbol": {
        "top": "__constant__ int SIZES[2];",
        "launch": (
            "int h[2] = {1, w}; cudaMemcpyToSymbol(SIZES, h, sizeof(h)); "
            "cudaMemcpyToSymbol(SIZES, h + 1, sizeof(int), 0, cudaMemcpyHostToDevice); "
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"
        ),
        "store": "P[r * SIZES[0] + c] = s;",
    },
    "a place in a symbol": {
        "top": "__constant__ int SIZES[2];",
        "launch": (
            "cudaMemcpyToSymbol(SIZES, &w, sizeof(int), sizeof(int)); "
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"
        ),
        "store": "P[r * SIZES[1] + c] = s;",
    },
    "macro with ##": {
        "top": "#define DECL(n) int n##_row = r, n##_col = c",
        "before": "DECL(out);",
        "store": "P[out_row * w + out_col] = s;",
    },
    "macro stringify": {
        "top": (
            "#define TRY(call) do { cudaError_t e = (call); "
            'if (e != cudaSuccess) { fprintf(stderr, "%s:%d %s: %s\\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); '
            "exit(EXIT_FAILURE); } } while (0)"
        ),
        "launch": (
            "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w); TRY(cudaGetLastError()); "
            "TRY(cudaDeviceSynchronize());"
        ),
    },
    "va args": {
        "top": "#define CALL(f, ...) f(__VA_ARGS__)",
        "before": "",
        "store": "P[CALL(min, r * w + c, r * w + c)] = s;",
    },
    "va launch": {
        "top": "#define LAUNCH(f, g, b, ...) f<<<g, b>>>(__VA_ARGS__)",
        "launch": "LAUNCH(k, dim3(w / T, w / T), dim3(T, T), M, N, P, w);",
    },
    "#if arithmetic": {
        "top": "#define TW 16\n#if (TW * TW) <= 1024 && TW % 2 == 0\n#define OK 1\n#endif",
        "inner": "for (int i = 0; i < TW * OK; ++i) s += a[ty][i] * b[i][tx];",
    },
    "#elif": {
        "top": (
            "#define MODE 2\n#if MODE == 1\n#define U 1\n#elif MODE == 2\n#define U 16\n#else\n"
            "#error x\n#endif"
        ),
        "inner": "for (int i = 0; i < U; ++i) s += a[ty][i] * b[i][tx];",
    },
    "typedef array": {
        "top": "typedef float Tile[T][T];",
        "before": "__shared__ Tile q;",
        "inner": (
            "q[ty][tx] = a[ty][tx]; __syncthreads(); for (int i = 0; i < T; "
            "++i) s += q[ty][i] * b[i][tx];"
        ),
    },
    "using array": {
        "top": "using Row = float[T];",
        "before": "__shared__ Row q[T];",
        "inner": (
            "q[ty][tx] = a[ty][tx]; __syncthreads(); for (int i = 0; i < T; "
            "++i) s += q[ty][i] * b[i][tx];"
        ),
    },
    "mul intrinsics": {
        "inner": "for (int i = 0; i < T; ++i) s = __fadd_rn(s, __fmul_rn(a[ty][i], b[i][tx]));",
    },
    "float4 as array": {
        "before": "float4 q = make_float4(0, 0, 0, 0);",
        "inner": (
            "float* z = reinterpret_cast<float*>(&q); for (int i = 0; i < T; "
            "++i) z[i % 4] += a[ty][i] * b[i][tx]; s += z[0] + z[1] + z[2] + z[3]; "
            "z[0] = z[1] = z[2] = z[3] = 0;"
        ),
    },
    "float4 as array C": {
        "before": "float4 q = {0, 0, 0, 0};",
        "inner": (
            "float* z = (float*)&q; for (int i = 0; i < T; "
            "++i) z[i % 4] += a[ty][i] * b[i][tx]; s += q.x + q.y + q.z + q.w; "
            "q = make_float4(0,0,0,0);"
        ),
    },
    "struct array fields": {
        "top": "struct Acc { float v[4]; };",
        "before": "Acc q = {};",
        "inner": (
            "for (int i = 0; i < T; ++i) q.v[i & 3] += a[ty][i] * b[i][tx]; "
            "s += q.v[0] + q.v[1] + q.v[2] + q.v[3]; q = Acc{};"
        ),
    },
    "array of structs": {
        "top": "struct Acc { float x, y; };",
        "before": "Acc q[2] = {};",
        "inner": (
            "for (int i = 0; i < T; ++i) q[i & 1].x += a[ty][i] * b[i][tx]; "
            "s += q[0].x + q[1].x; q[0].x = q[1].x = 0;"
        ),
    },
    "shared array of structs": {
        "top": "struct Pair { float m, n; };",
        "before": "__shared__ Pair t[T][T];",
        "inner": (
            "t[ty][tx].m = a[ty][tx]; t[ty][tx].n = b[ty][tx]; __syncthreads(); "
            "for (int i = 0; i < T; ++i) s += t[ty][i].m * t[i][tx].n;"
        ),
    },
    "struct pointer": {
        "top": "struct Acc { float x; };",
        "before": "Acc q; Acc* z = &q;",
        "inner": "z->x = 0; for (int i = 0; i < T; ++i) z->x += a[ty][i] * b[i][tx]; s += z->x;",
    },
    "struct by pointer": {
        "top": "struct Acc { float x; }; __device__ void add(Acc* q, float f) { q->x += f; }",
        "before": "Acc q;",
        "inner": "q.x = 0; for (int i = 0; i < T; ++i) add(&q, a[ty][i] * b[i][tx]); s += q.x;",
    },
    "struct by reference": {
        "top": "struct Acc { float x; }; __device__ void add(Acc& q, float f) { q.x += f; }",
        "before": "Acc q;",
        "inner": "q.x = 0; for (int i = 0; i < T; ++i) add(q, a[ty][i] * b[i][tx]); s += q.x;",
    },
    "clock": {
        "before": "long long t0 = clock64();",
    },
    "nested namespace": {
        "top": (
            "namespace lab::detail { __device__ int same(int x) { return x; } } "
            "using namespace lab::detail;"
        ),
        "before": "int q = same(r);",
        "store": "P[q * w + c] = s;",
    },
    "using decl": {
        "top": "#include <algorithm>\nusing std::min;",
        "launch": "k<<<dim3(min(w / T, 99), w / T), dim3(T, T)>>>(M, N, P, w);",
    },
    "local table": {
        "before": "const int order[] = {0, 1, 2, 3};",
        "inner": (
            "for (int q : order) for (int i = 0; i < 4; "
            "++i) s += a[ty][q * 4 + i] * b[q * 4 + i][tx];"
        ),
    },
    "cg index2": {
        "top": "namespace cg = cooperative_groups;",
        "before": (
            "auto g = cg::this_thread_block(); int q = g.thread_index().y; "
            "int z = g.group_index().y * g.group_dim().y + q;"
        ),
        "store": "P[z * w + c] = s;",
    },
    "device lambda arg": {
        "top": (
            "template <class F> __device__ void each(int n, F&& f) { for (int i = 0; "
            "i < n; ++i) f(i); }"
        ),
        "inner": "each(T, [&](int i) { s += a[ty][i] * b[i][tx]; });",
    },
    "class with arrays and methods": {
        "top": (
            "template <int S> class Acc { float v[S] = {}; "
            "public: __device__ void add(int i, float f) { v[i % S] += f; } "
            "__device__ float sum() const { float z = 0; for (int i = 0; i < S; "
            "++i) z += v[i]; return z; } };"
        ),
        "inner": (
            "Acc<4> q; for (int i = 0; i < T; ++i) q.add(i, a[ty][i] * b[i][tx]); s += q.sum();"
        ),
    },
    "struct in struct method": {
        "top": (
            "struct P2 { int y, x; }; struct G { int w; "
            "__device__ int of(P2 p) const { return p.y * w + p.x; } };"
        ),
        "before": "G g{w};",
        "store": "P[g.of({r, c})] = s;",
    },
    "operator[] two": {
        "top": (
            "struct A { const float* p; int w; "
            "__device__ const float* operator[](int y) const { return p + y * w; } }; "
            "struct B { float* p; int w; "
            "__device__ float* operator[](int y) const { return p + y * w; } };"
        ),
        "before": "A v{M, w}; B u{P, w};",
        "load": "v[r][p * T + tx]",
        "store": "u[r][c] = s;",
    },
    "template struct two": {
        "top": (
            "template <typename X> struct V { X* p; int w; "
            "__device__ X& at(int y, int x) const { return p[y * w + x]; } };"
        ),
        "before": "V<const float> v{M, w}; V<float> u{P, w};",
        "load": "v.at(r, p * T + tx)",
        "store": "u.at(r, c) = s;",
    },
    "rowmajor policy": {
        "top": (
            "struct Row { static __device__ int at(int y, int x, int h, int w) { return y * w + x; "
            "} }; "
            "struct Col { static __device__ int at(int y, int x, int h, int w) { return x * h + y; "
            "} }; "
            "template <class L> __device__ float get(const float* p, int y, int x, int w) { return p[L::at(y, x, w, w)]; "
            "}"
        ),
        "load": "get<Row>(M, r, p * T + tx, w)",
        "store": "P[Col::at(c, r, w, w)] = s;",
    },
    "constexpr array": {
        "top": "constexpr int SIZES[] = {16, 32};",
        "inner": "for (int i = 0; i < SIZES[0]; ++i) s += a[ty][i] * b[i][tx];",
    },
    "numeric_limits": {
        "before": "if (r > std::numeric_limits<int>::max() - 1) return;",
    },
    "INT_MAX": {
        "before": "if (r == INT_MAX) return;",
    },
}
