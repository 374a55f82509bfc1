"""Ways of saying it with templates, lambdas, operators and what else calls something.

As ways_of_saying: parts of test_repair_reads's program.
"""

_PRODUCT = "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"

TEMPLATES = {
    "the address of a kernel that a template makes": {
        "store": "P[r * w + c] = (P[r * w + c] + s) / 2;",
        "top": "template <int S> __global__ void of(const float* M, const float* N, float* P, int w) {"
        " int r = blockIdx.y * S + threadIdx.y, c = blockIdx.x * S + threadIdx.x; float s = 0;"
        " for (int i = 0; i < w; ++i) s += M[r * w + i] * N[i * w + c]; P[r * w + c] = s; }"
        " template <int S> void start(const float* M, const float* N, float* P, int w) {"
        " void* args[] = {&M, &N, &P, &w}; auto run = &of<S>; cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, 4);"
        " cudaLaunchKernel((const void*)&of<S>, dim3(w / S, w / S), dim3(S, S), args, 0, 0);"
        " run<<<dim3(w / S, w / S), dim3(S, S)>>>(M, N, P, w); }",
        "launch": "start<T>(M, N, P, w); " + _PRODUCT,
    },
    "a map": {
        "top": "struct Entry { int blocks = 0; int threads; }; class Names { std::map<std::string, Entry> entries; public:"
        " Entry& operator[](const std::string& name) { return entries[name]; }"
        " int of(const std::string& name) const { auto it = entries.find(name); return it == entries.end() ? 0 : it->second.blocks; }"
        " int all() const { int n = 0; for (const auto& [name, entry] : entries) n += entry.threads; return n; } };",
        "launch": 'Names names; Entry& entry = names["grid"]; entry.blocks = w / T; entry.threads = 0; names["block"].threads = T;'
        ' static const std::unordered_map<int, int> by = {{1, T}, {2, 7}}; std::map<std::string, dim3> shapes{{"a", dim3(T, T)}};'
        ' shapes.emplace("b", dim3(1, 1)); std::map<int, float*> where; where[3] = P; where.insert({4, nullptr});'
        ' if (names.of("none") == 0 && names.all() == by.at(1) && by.count(3) == 0 && where.size() == 2)'
        ' k<<<dim3(names.of("grid"), names["grid"].blocks), shapes["a"]>>>(M, N, where[3], w);',
    },
    "friends and methods that change elements": {
        "top": "struct alignas(16) Vec { float x, y, z, w; __device__ Vec() {} __device__ explicit Vec(float s) : x(s), y(s), z(s), w(s) {}"
        " __device__ Vec& operator+=(const Vec& o) { x += o.x; y += o.y; z += o.z; w += o.w; return *this; }"
        " __device__ void halve() { x /= 2; y /= 2; z /= 2; w /= 2; }"
        " __forceinline__ __device__ friend Vec operator*(float s, const Vec& v) { Vec r; for (int i = 0; i < 4; ++i) r[i] = s * v[i]; return r; }"
        " __device__ float& operator[](int i) { return (&x)[i]; } __device__ float operator[](int i) const { return (&x)[i]; } };"
        " struct Rows { Vec rows[2]; __device__ Vec& operator[](int i) { return rows[i]; } friend class Nobody; };"
        " __device__ void operator-=(Vec& v, float s) { v[0] -= s; }",
        "inner": "Rows q; q[0] = Vec(0); q.rows[1] = Vec(0); Vec more[2]; more[1] = Vec(2);"
        " for (int i = 0; i < T; ++i) { Vec v(0.f); v[i % 4] = b[i][tx]; q[i & 1] += a[ty][i] * v; }"
        " more[1].halve(); for (auto& one : q.rows) { one -= 1; one += more[1]; }"
        " for (int i = 0; i < 8; ++i) s += q[i / 4][i % 4]; s -= 6;",
    },
    "a number where a struct is meant that is made of one": {
        "top": "struct Half { float v, rest; __device__ Half(float x) { v = x / 2; rest = x - v; } __device__ Half(int a, int b) : v(a), rest(b) {} };"
        " __device__ float both(const Half& h, Half g) { return h.v + h.rest + g.v; } __device__ Half half(float x) { return x; }"
        " struct Base { int w; __device__ Base(int n) : w(n) {} }; struct View : Base { using Up = Base; int r; __device__ View(int r, int w) : Up(w), r(r) {} };",
        "before": "View v(r, w); Half z = 0.f;",
        "inner": "for (int i = 0; i < T; ++i) { float x = a[ty][i]; s += both(x, 0.f) * b[i][tx]; }",
        "store": "P[v.r * v.w + c] = both(Half(s), half(0)) + z.v;",
    },
    "words behind a member's star": {
        "store": "P[r * w + c] = (P[r * w + c] + s) / 2;",
        "top": "struct Given { const float *__restrict__ m, *__restrict__ n; float* const p; int w; };"
        " __global__ void of(const Given q) { const auto [m, n, p, w] = q; int r = blockIdx.x, c = threadIdx.x; float s = 0;"
        " for (int i = 0; i < w; ++i) s += m[r * w + i] * n[i * w + c]; p[r * w + c] = s; }",
        "launch": "const Given q = {M, N, P, w}; of<<<w, w, 0, cudaStream_t{}>>>(q); " + _PRODUCT,
    },
    "a pointer into a table of functions": {
        "top": "struct State { int w; dim3 grid; const float *m, *n; float* p; }; typedef bool (*Step)(State*);"
        " struct Named { const char* name; Step run; };"
        " __global__ void k(const float* M, const float* N, float* P, int w);"
        " static bool shape(State* s) { s->grid = dim3(s->w / T, s->w / T); return s->w > 0; }"
        ' static bool run(State* s); static const Named steps[] = {{"shape", shape}, {"run", &run}, {NULL, NULL}};',
        "launch": "State s = {w, dim3(1), M, N, P}; for (const Named* at = steps; at->run != NULL; at++) if (!at->run(&s)) return;"
        " const Named* last = steps + 1; if (last - steps == 1 && last > steps && (*last).run && steps[0].run(&s)) last->run(&s); }"
        " static bool run(State* s) { k<<<s->grid, dim3(T, T)>>>(s->m, s->n, s->p, s->w); return true;",
    },
    "iterators of the file's own": {
        "top": "class Steps { int a_, b_, by_; public: class At { int at_, by_; public: __device__ At(int at, int by) : at_(at), by_(by) {}"
        " __device__ int operator*() const { return at_; } __device__ At& operator++() { at_ += by_; return *this; }"
        " __device__ bool operator!=(const At& o) const { return at_ < o.at_; } };"
        " __device__ Steps(int a, int b, int by = 1) : a_(a), b_(b), by_(by) {}"
        " __device__ At begin() const { return At(a_, by_); } __device__ At end() const { return {b_, by_}; } };",
        "inner": "for (int i : Steps(0, T, 2)) { if (i == 4) continue; s += a[ty][i] * b[i][tx]; } s += a[ty][4] * b[4][tx];"
        " int n = 0; for (auto i : Steps(tx, T)) n += i - i + 1; for (const int i : Steps{1, T, 2}) s += a[ty][i] * b[i][tx] + (n - (T - tx));",
    },
    "what may be nothing": {
        "top": "std::optional<int> side(int w) { if (w <= 0) return std::nullopt; return T; }",
        "launch": "auto t = side(w); const std::optional<int> none = side(-1); if (!t.has_value() || none) return;"
        " k<<<dim3(w / *t, w / t.value()), dim3(none.value_or(T), *t)>>>(M, N, P, w);",
    },
    "what the compiler may assume": {
        "store": "__builtin_assume(w > 0); float* q = static_cast<float*>(__builtin_assume_aligned(P, 16));"
        " if (__builtin_expect(w > 0, 1)) q[r * w + c] = s; else __builtin_unreachable();",
    },
    "a launcher of any kernel": {
        "store": "P[r * w + c] = (P[r * w + c] + s) / 2;",
        "top": "struct Launch { dim3 grid{1}, block{1}; size_t shared = 0; template <typename... Ps, typename... As>"
        " void operator()(void (*kernel)(Ps...), As&&... args) const { kernel<<<grid, block, shared>>>(std::forward<As>(args)...); } };"
        " template <typename V, std::enable_if_t<(sizeof(V) > 2), int> = 0> __device__ decltype(auto) zero(V v) { return v * 0; }"
        " template <typename V> __global__ void of(const V* M, const V* N, V* P, [[maybe_unused]] int w, [[maybe_unused]] int unused);"
        " template <typename V> __global__ void of(const V* M, const V* N, V* P, int w, int) { int r = blockIdx.x, c = threadIdx.x; V s = V(0);"
        " for (auto i = decltype(w){0}; i < w; ++i) s += M[r * w + i] * N[i * w + c] + zero(s); P[r * w + c] = s; }",
        "launch": "Launch launch; launch.grid = {unsigned(w), 1u}; launch.block = {unsigned(w)}; launch(of<float>, M, N, P, w, 0); "
        + _PRODUCT,
    },
    "a callback that changes what it is given": {
        "top": "template <int S> struct Sums { float v[S]; template <class F> __device__ void each(F&& f) { for (int i = 0; i < S; ++i) f(i, v[i]); } };"
        " template <int A, int B> struct Region { int r, c; __device__ Region(int r, int c) : r(r), c(c) {}"
        " template <class F> __device__ void each(F f) const { for (int e = 0; e < A * B; ++e) f(e / B, e % B); } };",
        "inner": "Sums<4> q; q.each([](int, float& v) { v = 0; });"
        " Region<4, T / 4>(0, 0).each([&](int y, int x) { q.each([&](int at, float& v) { if (at == y) v += a[ty][4 * y + x] * b[4 * y + x][tx]; }); });"
        " q.each([&](int, const float& v) { s += v; });",
    },
    "a loop by templates that call each other": {
        "top": "template <int A, int B> struct Unroll { template <class F> __device__ static void run(F& f) { f(A); Unroll<A + 1, B>::run(f); } };"
        " template <int B> struct Unroll<B, B> { template <class F> __device__ static void run(F&) {} };",
        "inner": "auto step = [&](int i) { s += a[ty][i] * b[i][tx]; }; Unroll<0, T>::run(step);",
    },
    "numbers in a row": {
        "top": "template <int S, std::size_t... I> __device__ float dot(const float (&x)[S], const float (*y)[S], int c, std::index_sequence<I...>) {"
        " return ((x[I] * y[int(I)][c]) + ...); }",
        "inner": "s += dot<T>(a[ty], b, tx, std::make_index_sequence<T>{});",
    },
    "a template that is given to another": {
        "top": "template <int W> struct Plain { static constexpr int pitch = W; __device__ static int of(int r, int c) { return r * W + c; } };"
        " template <int W> struct Padded { static constexpr int pitch = W + 1; __device__ static int of(int r, int c) { return r * pitch + c; } };"
        " template <int S, template <int> class Layout = Plain> class Tile { using layout = Layout<S>; float v[S * layout::pitch]; public:"
        " __device__ float& at(int r, int c) { return v[layout::of(r, c)]; } };",
        "inner": "__shared__ Tile<T> x; __shared__ Tile<T, Padded> y; x.at(ty, tx) = a[ty][tx]; y.at(ty, tx) = b[ty][tx]; __syncthreads();"
        " for (int i = 0; i < T; ++i) s += x.at(ty, i) * y.at(i, tx); __syncthreads();",
    },
    "a function that is given to a template": {
        "top": "__device__ float mul(float a, float b) { return a * b; } struct Add { __device__ float operator()(float a, float b) const { return a + b; } };"
        " template <float (*F)(float, float), class Op> __device__ float use(float z, float a, float b, Op op = Op{}) { return op(z, F(a, b)); }",
        "inner": "for (int i = 0; i < T; ++i) s = use<mul, Add>(s, a[ty][i], b[i][tx]);",
    },
    "a base's method by its name": {
        "top": "struct A { int pad = 0; __device__ int at(int r, int c, int w) const { return r * w + c + pad; } };"
        " struct B : A { int w; __device__ explicit B(int n) { w = n; } __device__ int at(int r, int c) const { return A::at(r, c, w); } };",
        "before": "B q(w);",
        "store": "P[q.at(r, c)] = s;",
    },
    "one of two that is changed": {
        "before": "float z = 0;",
        "inner": "for (int i = 0; i < T; ++i) (i & 1 ? s : z) += a[ty][i] * b[i][tx]; (tx < 99 ? s : z) += z; z = 0;",
    },
    "what is asked of a type": {
        "top": "template <class V> __device__ V mad(V x, V y, V z) { if constexpr (std::is_same_v<V, float>) return x * y + z; else return x; }"
        " template <class V> __device__ V add(const V* x, V y) { return std::is_floating_point<V>::value && !std::is_integral_v<V> ? *x + y : y; }",
        "inner": "for (int i = 0; i < T; ++i) s = add(&s, mad<float>(a[ty][i], b[i][tx], 0)) + mad(s, s, s) * 0;",
    },
    "a method of what is made in the same statement": {
        "top": "__global__ void k(const float* M, const float* N, float* P, int w); struct Runner { int w; dim3 grid() const { return dim3(w / T, w / T); }"
        " void run(const float* M, const float* N, float* P) const { k<<<grid(), dim3(T, T)>>>(M, N, P, w); } };"
        " template <typename... Ts> __host__ __device__ void ignore(Ts&&...) {}",
        "launch": "ignore(w, 1, M); Runner{w}.run(M, N, P);",
    },
    "structs that are taken for numbers in conditions": {
        "top": "class Cursor { int at_, end_; public: __device__ Cursor(int end, int at = 0) : at_(at), end_(end) { if (at_ > end_) at_ = end_; }"
        " __device__ explicit operator bool() const { return at_ < end_; } __device__ int next() { return at_++; } };"
        " struct I { int v; __device__ bool operator<(I o) const { return v < o.v; } __device__ I operator+(int d) const { return {v + d}; } __device__ operator int() const { return v; } };",
        "inner": "Cursor q(T); for (; q;) { int i = q.next(); s += a[ty][i] * b[i][tx]; } if (q) s = 0; s += q ? 1 : 0; Cursor z(1); while (z) z.next(); do z.next(); while (z);"
        " for (I i{0}; i < I{T}; i = i + 1) s += a[ty][i] * b[i][tx] * (i - i);",
    },
    "methods outside of their class": {
        "top": "class View { public: __device__ View(const float* p, int w); __device__ ~View(); __device__ float at(int r, int c = 0) const;"
        " __device__ static int of(int r, int c, int w); __device__ float operator()(int r, int c) const; private: const float* p_ = nullptr; int w_; int one_ = 1; };"
        " __device__ View::View(const float* p, int w) : p_(p), w_(w) {} __device__ View::~View() {}"
        " __device__ float View::at(int r, int c) const { return p_[of(r, c, w_) * one_]; }"
        " __device__ int View::of(int r, int c, int w) { return r * w + c; } __device__ float View::operator()(int r, int c) const { return at(r) + at(r, c) - at(r); }"
        " template <int S> struct Tile { float v[S][S]; __device__ void put(int r, int c, float x); __device__ float get(int r, int c) const; };"
        " template <int S> __device__ void Tile<S>::put(int r, int c, float x) { v[r][c] = x; }"
        " template <int S> __device__ float Tile<S>::get(int r, int c) const { return v[r][c]; }",
        "load": "View(M, w)(r, p * T + tx)",
        "inner": "__shared__ Tile<T> q; q.put(ty, tx, a[ty][tx]); __syncthreads(); for (int i = 0; i < T; ++i) s += q.get(ty, i) * b[i][tx]; __syncthreads();",
    },
    "operators one after the other, each carried out once": {
        "top": "struct Sum { float v = 0; __device__ Sum& operator<<(float x) { v += x; return *this; } __device__ Sum& add(float x) { v += x; return *this; } };"
        " struct Other { int n; __device__ Other& add(int x) { n += x; return *this; } };",
        "inner": "Sum z; for (int i = 0; i < T; i += 4) { z << a[ty][i] * b[i][tx] << a[ty][i + 1] * b[i + 1][tx]; z.add(a[ty][i + 2] * b[i + 2][tx]).add(a[ty][i + 3] * b[i + 3][tx]); }"
        " Other o{0}; o.add(1).add(2); s += z.v + o.n - 3;",
    },
    "switch in a loop that goes on": {
        "inner": "for (int i = 0; i < T; ++i) { switch (int way = i & 3; way) { case 0: s += a[ty][i] * b[i][tx]; continue; case 1: if (i > 0) { s += a[ty][i] * b[i][tx]; continue; }"
        " for (int q = 0; q < 2; ++q) { if (q) continue; } break; default: break; } s += a[ty][i] * b[i][tx]; }",
    },
    "votes of a warp and counts of bits": {
        "before": "if (__any_sync(0xffffffffu, r >= w) || !__all_sync(0xffffffffu, r < w)) return; int q = __popc(__ballot_sync(~0u, tx < 4)) - 8 + __clz(1) - 31 + __ffs(8) - 4;",
        "store": "P[r * w + c + q] = s * sqrtf(4.f) * __fdividef(1.f, 2.f) * fabsf(-1.f) * powf(1.f, 2.f);",
    },
    "one of several lambdas, by what it is given": {
        "top": "struct Rows { int n; }; struct Columns { int n; }; using Side = std::variant<Rows, Columns>; template <class... Fs> struct Either : Fs... { using Fs::operator()...; };"
        " template <class... Fs> Either(Fs...) -> Either<Fs...>; struct Two { Side down, right; };",
        "launch": "Two two = {Rows{w / T}, Columns{w / T}}; dim3 g(1, 1); for (const Side& one : {two.down, two.right})"
        " std::visit(Either{[&](Rows r) { g.y = r.n; }, [&](Columns c) { g.x = c.n; }}, one); k<<<g, dim3(T, T)>>>(M, N, P, w);",
    },
    "a struct that is taken for a grid": {
        "top": "struct Grid { int n; operator dim3() const { return dim3(n, n); } };",
        "launch": "Grid g{w / T}; k<<<g, Grid{T}>>>(M, N, P, w);",
    },
    "one of several launchers": {
        "top": "template <int S> __global__ void of(const float* M, const float* N, float* P, int w) {"
        " int r = blockIdx.y * S + threadIdx.y, c = blockIdx.x * S + threadIdx.x; float s = 0;"
        " for (int i = 0; i < w; ++i) s += M[r * w + i] * N[i * w + c]; P[r * w + c] = s; }"
        " template <int S> static void go(const float* M, const float* N, float* P, int w) { of<S><<<dim3(w / S, w / S), dim3(S, S)>>>(M, N, P, w); }"
        " using Kernel = void (*)(const float*, const float*, float*, int); struct Entry { int side; Kernel run; };",
        "launch": "void (*run)(const float*, const float*, float*, int) = w % 16 == 0 ? go<16> : go<8>; run(M, N, P, w);"
        " constexpr std::array<Entry, 2> all{{{8, of<8>}, {16, of<16>}}}; std::array<int, 2> one{{1, 2}};"
        " for (const auto& [side, run] : all) run<<<dim3(w / side, w / side), dim3(side, one[0] * side)>>>(M, N, P, w); "
        + _PRODUCT,
        "store": "P[r * w + c] = (P[r * w + c] + s) / 2;",
    },
    "methods outside of a struct in another one": {
        "top": "namespace m { struct View { const float* p; int w; __device__ inline float at(int r, int c) const; struct Twice { int v; __device__ int of() const; }; }; }"
        " __device__ inline float m::View::at(int r, int c) const { return p[r * w + c]; } __device__ int m::View::Twice::of() const { return 2 * v; }",
        "before": "m::View::Twice z{r}; r = z.of() / 2;",
        "load": "m::View{M, w}.at(r, p * T + tx)",
    },
    "methods that are templates": {
        "top": "struct Ops { template <int K> __device__ static float of(const float* x, const float (*y)[T], int c) { float z = 0; for (int i = 0; i < K; ++i) z += x[i] * y[i][c]; return z; }"
        " template <int K> __device__ float half(const float* x, const float (*y)[T], int c) const { return of<K>(x, y, c) / 2; } };"
        " template <class O> __device__ float use(O o, const float* x, const float (*y)[T], int c) { return o.template half<T>(x, y, c); }",
        "inner": "s += Ops::of<T>(a[ty], b, tx) / 2 + use(Ops{}, a[ty], b, tx);",
    },
    "what the host asks the clock": {
        "top": "#include <chrono>\n#include <cstring>",
        "launch": 'auto t0 = std::chrono::high_resolution_clock::now(); const char* mode = "tiled"; if (strcmp(mode, "tiled") == 0) '
        + _PRODUCT
        + " auto t1 = std::chrono::steady_clock::now(); double ms = std::chrono::duration<double, std::milli>(t1 - t0).count(); (void)ms;",
    },
    "vectors and numbers that begin with something": {
        "before": "const int2 at[2] = {{r, c}, {c, r}}; int q = std::min({at[0].x, w - 1, 100000}); typeof(q) z = at[0].y;",
        "inner": "int n = __syncthreads_count(tx < T); for (int i = 0; i < T; ++i) s += a[ty][i] * b[i][tx] * (n / (T * T));",
        "store": "P[q * w + z] = s;",
        "launch": "int* sizes = new int[2]{w / T, T}; k<<<dim3(sizes[0], sizes[0]), dim3(sizes[1], sizes[1])>>>(M, N, P, w); delete[] sizes;",
    },
}
