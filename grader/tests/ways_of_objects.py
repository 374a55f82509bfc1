"""Ways of saying it that have to do with structs and classes, and with what a name or a pointer means.

As ways_of_saying: parts of test_repair_reads's program.
"""

_ADDS = "for (int i = 0; i < T; ++i) s += {} * b[i][tx];"
_PRODUCT = "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"

OBJECTS = {
    "a member that is called as the parameter that it is given": {
        "top": "class View { const float* data; int size; public:"
        " __device__ View(const float* data, int size) : data(data), size(size) {}"
        " __device__ float at(int r, int c) const { return data[r * size + c]; } };",
        "load": "View(M, w).at(r, p * T + tx)",
    },
    "members in the order in which they stand": {
        "top": "struct View { int size; int half = size / 2; int both;"
        " __device__ View(int n) : both(half * 2), size{n} {} };",
        "before": "View v(w);",
        "store": "P[r * v.both + c] = s;",
    },
    "an array that a constructor fills": {
        "top": "struct View { int shape[2]; int more[2][2] = {{1, 2}, {3}};"
        " __device__ View(int a, int b) : shape{a, b} {} };",
        "before": "View v(r, w);",
        "store": "P[v.shape[0] * v.shape[1] + c + v.more[1][1] + v.more[0][1] - 2] = s;",
    },
    "a constructor that asks another one": {
        "top": "struct View { int r, w; __device__ View(int r, int w) : r(r), w(w) {}"
        " __device__ explicit View(int w) : View(0, w) { r += blockIdx.y * T + threadIdx.y; } };",
        "before": "View v{w};",
        "store": "P[v.r * v.w + c] = s;",
    },
    "a base that is given something": {
        "top": "struct Base { int w; __device__ Base(int n) : w(n) {} };"
        " template <int S> struct Scaled { int by = S; };"
        " struct View : public Base, Scaled<2> { int r; __device__ View(int r, int w) : Base(w), r(r) {} };",
        "before": "View v(r, w);",
        "store": "P[v.r * v.w * v.by / 2 + c] = s;",
    },
    "a base's constructors": {
        "top": "struct Base { int w; __device__ Base(int n) : w(n) {} };"
        " struct View : Base { using Base::Base; };",
        "before": "View v(w);",
        "store": "P[r * v.w + c] = s;",
    },
    "structs that begin with something in a struct": {
        "top": "struct Count { int at = 0; __device__ void next() { ++at; } };"
        " struct Both { Count one, two; };",
        "inner": "Both n; for (; n.one.at < T; n.one.next(), n.two.next())"
        " s += a[ty][n.one.at] * b[n.two.at][tx];",
    },
    "the rest of what a struct is given": {
        "top": "struct Place { int r = 0, c = 7, by = 1; };",
        "before": "Place q{r, c}; Place o{.by = 2};",
        "store": "P[q.r * w * q.by + q.c + o.by - 2 + o.r] = s;",
    },
    "an array of structs that begin with something": {
        "top": "struct Sum { float v = 0; };",
        "inner": "Sum z[2]; for (int i = 0; i < T; ++i) z[i % 2].v += a[ty][i] * b[i][tx];"
        " s += z[0].v + z[1].v;",
    },
    "members that are moved": {
        "top": "#include <utility>\nstruct Owner { float* p = nullptr; Owner(float* q) : p(q) {}"
        " Owner(Owner&& o) noexcept : p(std::exchange(o.p, nullptr)) {} Owner(const Owner&) = delete; };",
        "launch": "Owner one(P); Owner two(std::move(one)); if (one.p) return;"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, two.p, w);",
    },
    "a struct without a name": {
        "top": "static const struct { int rows, cols; } SHAPE = {T, T}; enum { ONE = 1 } kind = ONE;"
        " typedef enum { OFF, ON } Switch; typedef struct Pair_ { int u, v; } Pair, *PairOf;",
        "before": "struct { int r, c; } q = {r, c}; union { float f; int i; } u; u.i = 0; Switch z = ON;"
        " Pair pair = {r, c}; PairOf of = &pair;",
        "store": "if (z == ON) P[q.r * w + of->v] = s + u.f;",
    },
    "members of a union without a name": {
        "top": "struct Slot { enum Kind { FLOAT, INT } kind; union { float* f; int* i; }; };",
        "launch": "Slot slot{Slot::FLOAT, {}}; slot.f = P; switch (slot.kind) { case Slot::FLOAT:"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, slot.f, w); break; default: return; }",
    },
    "bit fields": {
        "top": "struct Place { unsigned r : 16, c : 16; };",
        "before": "Place q; q.r = r; q.c = c;",
        "store": "P[q.r * w + q.c] = s;",
    },
    "a pointer to an array with a name": {
        "top": "typedef float Rows[T][T];",
        "before": "extern __shared__ float mem[]; Rows &u = *(Rows *)mem; Rows *v = (Rows *)(mem + T * T);",
        "inner": "u[ty][tx] = a[ty][tx]; (*v)[ty][tx] = b[ty][tx]; __syncthreads();"
        " for (int i = 0; i < T; ++i) s += u[ty][i] * (*v)[i][tx];",
        "launch": "k<<<dim3(w / T, w / T), dim3(T, T), 2 * sizeof(Rows)>>>(M, N, P, w);",
    },
    "a constant of a namespace that is called as a parameter": {
        "top": "namespace cfg { constexpr int M = 16, N = M; namespace more { constexpr int P = N; } }",
        "inner": "for (int i = 0; i < cfg::N; ++i) " + "s += a[ty][i] * b[i][tx];",
        "launch": "k<<<dim3(w / cfg::M, w / cfg::more::P), dim3(cfg::M, cfg::N)>>>(M, N, P, w);",
    },
    "goto back": {
        "inner": "int i = 0; again: s += a[ty][i] * b[i][tx]; if (++i < T) goto again;",
    },
    "goto back and on": {
        "inner": "int i = 0; again: if (i == T) goto done; s += a[ty][i] * b[i][tx]; ++i; goto again; done:;",
    },
    "a pointer that differs among threads": {
        "before": "__shared__ float z[T][T];",
        "inner": "z[ty][tx] = a[ty][tx]; __syncthreads(); float (*q)[T] = tx < 5 ? a : z; const float* o;"
        " if (ty % 3) o = q[ty]; else o = a[ty]; for (int i = 0; i < T; ++i) s += o[i] * b[i][tx];"
        " __syncthreads();",
    },
    "zeros behind what is copied meanwhile": {
        "before": "__shared__ alignas(16) float z[T][T];",
        "inner": "__pipeline_memcpy_async(&z[ty][tx / 4 * 4], M + r * w + p * T + tx / 4 * 4, 16, tx < 8 ? 0 : 8);"
        " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
        " for (int i = 0; i < T; ++i) s += (i < 8 || i % 4 < 2 ? z[ty][i] : a[ty][i] + z[ty][i]) * b[i][tx];"
        " __syncthreads();",
    },
    "as many arguments as there are": {
        "top": "template <class... Args> void go(void (*f)(Args...), int n, Args... args) {"
        " static_assert(sizeof...(Args) == 4); if (sizeof...(args) == 4) f<<<dim3(n, n), dim3(T, T)>>>(args...); }",
        "launch": "go(k, w / T, M, N, P, w);",
    },
    "a fold": {
        "top": "template <class... A> __device__ int sum(A... a) { return (a + ... + 0); }"
        " template <class... A> __device__ int all(A... a) { int n = 0; ((n += a), ...); return n; }",
        "store": "P[sum(r * w, c, 1, -1) + all(2, -2)] = s;",
    },
    "one argument, and the rest": {
        "top": "__device__ int sum(int a) { return a; }"
        " template <class... A> __device__ int sum(int a, A... rest) { return a + sum(rest...); }",
        "store": "P[sum(r * w, c, 1, -1)] = s;",
    },
    "what is to be done in a list": {
        "top": "#include <functional>\n#include <vector>",
        "launch": "std::vector<std::function<void(int)>> todo; int side = T; todo.push_back([&](int n) {"
        " k<<<dim3(n, n), dim3(side, T)>>>(M, N, P, w); }); for (int i : {3, w / T}) todo.push_back([=](int) {"
        " side == i; }); for (auto& one : todo) one(w / T);",
    },
    "a lambda with values of its own": {
        "before": "auto at = [w, n = c + 1](int y) mutable { return y * w + n - 1; };",
        "store": "P[at(r)] = s;",
    },
    "pairs and tuples": {
        "top": "#include <tuple>\n#include <utility>\nstatic std::pair<dim3, dim3> shape(int w) {"
        " return std::make_pair(dim3(w / T, w / T), dim3(T, T)); }",
        "launch": "auto all = std::make_tuple(M, N, P, w); auto [grid, block] = shape(w); std::tuple<int, int> t{1, 2};"
        " if (shape(w).second.x != T || std::get<1>(t) != 2) return; int u, v; std::tie(u, v) = t; if (u + 1 != v) return;"
        " std::apply([&](auto... one) { k<<<grid, block>>>(one...); }, all);",
    },
    "objects that only pointers know": {
        "top": "#include <memory>\nstruct Shape { int side; Shape(int n) : side(n) {} };",
        "launch": "Shape* one = new Shape(w / T); auto two = std::make_unique<Shape>(T); int* n = new int[2];"
        " n[0] = one->side; n[1] = 0; std::unique_ptr<float[]> h(new float[4]); h[1] = 2; float* f = new float(3);"
        " if (h[1] != 2 || *f != 3) return; k<<<dim3(n[0], (*one).side), dim3(two->side, T)>>>(M, N, P, w);"
        " delete one; delete[] n; delete f;",
    },
    "a launch by a call": {
        "launch": "void* all[] = {&M, &N, &P, &w}; dim3 grid(w / T, w / T);"
        " cudaLaunchKernel((const void*)k, grid, dim3(T, T), all, 0, nullptr);",
    },
    "a launch by a shape": {
        "launch": "cudaLaunchConfig_t shape = {}; shape.gridDim = dim3(w / T, w / T); shape.blockDim = dim3(T, T);"
        " cudaLaunchKernelEx(&shape, k, M, N, P, w);",
    },
    "memory of bytes that is given out in parts": {
        "top": "struct Arena { char* base = nullptr; size_t used = 0; void open(size_t n) { cudaMalloc((void**)&base, n); }"
        " float* take(int n) { float* p = (float*)(base + used); used += n * sizeof(float); return p; } };"
        " static void copy(void* to, const void* from, size_t n) { cudaMemcpy(to, from, n, cudaMemcpyDeviceToDevice); }",
        "launch": "Arena all; all.open(3 * w * w * 4); float* m = all.take(w * w); float* n = all.take(w * w);"
        " float* p = all.take(w * w); copy(m, M, w * w * 4); copy(n, N, w * w * 4);"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(m, n, p, w); copy(P, p, w * w * 4); cudaFree(all.base);",
    },
    "a loop over pairs": {
        "top": "#include <vector>\nstruct Part { int x, y; };",
        "launch": "std::vector<Part> parts{{w / T, w / T}}; for (const auto& [x, y] : parts)"
        " k<<<dim3(x, y), dim3(T, T)>>>(M, N, P, w);",
    },
    "another name of a template": {
        "top": "enum class Side { HOST, DEVICE }; template <class V, Side S> struct Span { V* at; int n; };"
        " template <class V> using OfHost = Span<V, Side::HOST>; template <class V> using OfDevice = Span<V, Side::DEVICE>;"
        " template <class V> int side(OfHost<V> one) { return 0; } template <class V> int side(OfDevice<V> one) { return 1; }",
        "launch": "OfDevice<float> p{P, w}; if (side(p) && !side(OfHost<float>{P, w}))"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, p.at, p.n);",
    },
    "a struct of malloc": {
        "top": "#include <stdlib.h>\ntypedef struct Context* Handle; struct Context { float* out[2]; int w; };",
        "launch": "Handle h = (Handle)calloc(1, sizeof(struct Context)); h->out[1] = P; h->w = w / T;"
        " k<<<dim3(h->w, h->w), dim3(T, T)>>>(M, N, h->out[1], w); free(h);",
    },
    "a pointer to a pointer in a lambda": {
        "launch": "float* q = nullptr; auto get = [&](float** p) { cudaMalloc((void**)p, 4 * w * w); }; get(&q);"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, q, w);"
        " cudaMemcpy(P, q, 4 * w * w, cudaMemcpyDeviceToDevice);",
    },
    "a struct that is set to 0": {
        "top": "#include <string.h>\ntypedef struct { int at; float* to[2]; } State; static State state;",
        "before": "float z[4]; memset(z, 0, sizeof z); c += (int)z[3];",
        "launch": "State* q = &state; q->at = 5; memset(q, 0, sizeof(*q)); q->to[1] = P;"
        " k<<<dim3(w / T + q->at, w / T), dim3(T, T)>>>(M, N, q->to[1], w);",
    },
    "a loop over what begins and ends": {
        "top": "class Row { float* p_; int n_; public: __device__ Row(float* p, int n) : p_(p), n_(n) {}"
        " __device__ float* begin() { return p_; } __device__ float* end() { return p_ + n_; } };",
        "inner": "int i = 0; for (float v : Row(a[ty], T)) s += v * b[i++][tx];",
    },
    "a lambda that is called at once": {
        "before": "int e = c; [&] { e += 1; }(); const int d = [](int x) { return x - 1; }(e);",
        "store": "P[r * w + d] = s;",
    },
    "parentheses around what is made": {
        "launch": "k<<<(dim3(w / T, w / T)), (dim3(T, T))>>>((M), (N), (P), (w));",
    },
    "a union of structs": {
        "top": "union Both { struct { float one[T][T]; float two[T][T]; } t; float all[2 * T * T]; };",
        "before": "__shared__ Both z;",
        "inner": "z.t.one[ty][tx] = a[ty][tx]; z.all[T * T + ty * T + tx] = b[ty][tx]; __syncthreads();"
        " for (int i = 0; i < T; ++i) s += z.all[ty * T + i] * z.t.two[i][tx]; __syncthreads();",
    },
    "what the standard says of types": {
        "top": "#include <type_traits>\ntemplate <class V> struct View { using Own = std::remove_const_t<V>; V* p;"
        " __device__ Own at(int i, Own no = Own{}) const { return i < 0 ? no : p[i]; } };"
        " template <class V> __device__ typename std::decay<V>::type same(V x) { return x; }",
        "before": "View<const float> v{M};",
        "load": "v.at(same(r * w + p * T + tx))",
    },
    "braces for what a template is given": {
        "top": "struct Rows { int w; __device__ int operator()(int r, int c) const { return r * w + c; } };"
        " template <class L> struct From { const float* p; L at; __device__ float operator()(int r, int c) const"
        " { return p[at(r, c)]; } };",
        "before": "From<Rows> from{M, {w}};",
        "load": "from(r, p * T + tx)",
    },
    "an operator of a struct and one of the file": {
        "top": "struct Place { int x, y; __device__ Place(int a, int b) : x(a), y(b) {}"
        " __device__ Place operator*(int n) const { return {x * n, y * n}; } };"
        " __device__ Place operator*(int n, const Place& q) { return q * n; }"
        " __device__ int flat(const Place& q, int w) { return q.y * w + q.x; }",
        "store": "P[flat(1 * Place(c, r), w) + flat({0, 0}, w)] = s;",
    },
    "what *this gives": {
        "top": "struct Tile { float v[T][T]; __device__ float& operator()(int y, int x) { return v[y][x]; }"
        " __device__ void put(float x) { (*this)(threadIdx.y, threadIdx.x) = x; } };",
        "before": "__shared__ Tile z;",
        "inner": "z.put(a[ty][tx]); __syncthreads(); for (int i = 0; i < T; ++i) s += z(ty, i) * b[i][tx];"
        " __syncthreads();",
    },
    "a cast to a reference": {
        "inner": "float4 z = {}; reinterpret_cast<float4&>(z).x = 1; for (int i = 0; i < T; ++i)"
        " s += z.x * const_cast<const float&>(a[ty][i]) * b[i][tx];",
    },
    "a struct that counts": {
        "top": "struct Cursor { int at = 0; __device__ Cursor& operator++() { ++at; return *this; }"
        " __device__ Cursor operator++(int) { Cursor old = *this; ++at; return old; } };",
        "inner": "Cursor i, j; for (; i.at < T; ++i, j++) s += a[ty][i.at] * b[j.at][tx];",
    },
    "an array of unions that is gone over": {
        "top": "union Four { float4 v; float f[4]; };",
        "inner": "Four z[2]; for (auto& one : z) one.v = float4{}; for (int i = 0; i < T; ++i)"
        " z[i % 2].f[i % 4] += a[ty][i] * b[i][tx]; for (const auto& one : z) for (float f : one.f) s += f;",
    },
    "a pipeline of the standard": {
        "top": "#include <cuda/pipeline>\n#include <cuda/barrier>",
        "before": "auto pipe = cuda::make_pipeline(); __shared__ float z[T][T];"
        " __shared__ cuda::barrier<cuda::thread_scope_block> bar; if (tx + ty == 0) init(&bar, T * T); __syncthreads();",
        "inner": "pipe.producer_acquire(); cuda::memcpy_async(&z[ty][tx], M + r * w + p * T + tx,"
        " cuda::aligned_size_t<4>(4), pipe); pipe.producer_commit(); pipe.consumer_wait(); __syncthreads();"
        " for (int i = 0; i < T; ++i) s += z[ty][i] * b[i][tx]; bar.arrive_and_wait(); pipe.consumer_release();",
    },
    "a pointer to a struct with arrays as a member": {
        "top": "struct Tile { float v[T][T]; }; struct Reader { Tile* t; int y;"
        " __device__ Reader(Tile* q, int r) : t(q), y(r) {} __device__ float at(int i) const { return t->v[y][i]; } };",
        "before": "__shared__ Tile z; Reader q(&z, ty);",
        "inner": "z.v[ty][tx] = a[ty][tx]; __syncthreads(); for (int i = 0; i < T; ++i) s += q.at(i) * b[i][tx];"
        " __syncthreads();",
    },
    "characters and exceptions": {
        "top": "#include <stdexcept>\nclass Failure : public std::runtime_error { public: int code;"
        " Failure(int c, const char* what) : std::runtime_error(what), code(c) {} };",
        "launch": "try { std::cerr << 'x' << '\\n'; if (w < 0) throw Failure(1, \"w\"); "
        + _PRODUCT
        + " } catch (const Failure& e) { return; }",
    },
    "algorithms over memory of the host": {
        "top": "#include <algorithm>\n#include <vector>",
        "launch": "std::vector<float> h(w, 1.f); int n = 0; std::fill(h.begin(), h.end(), 2.f);"
        " std::for_each(std::begin(h), std::end(h), [&](float x) { n += int(x); }); float z[2]; std::fill_n(z, 2, 0.5f);"
        " k<<<dim3(n / 2 / T, w / T), dim3(T, T)>>>(M, N, P, w * z[1] * 2);",
    },
    "templates for just one number": {
        "top": "template <int L> struct Dot { static __device__ float of(const float* x, const float* y, int by) {"
        " return x[0] * y[0] + Dot<L - 1>::of(x + 1, y + by, by); } }; template <> struct Dot<0> {"
        " static __device__ float of(const float*, const float*, int) { return 0; } };"
        " template <int I> __device__ int plus() { return I + plus<I - 1>(); } template <> __device__ int plus<0>() { return 0; }",
        "inner": "s += Dot<T>::of(a[ty], &b[0][tx], T) + plus<2>() - 3;",
    },
    "a struct template that need not be given all": {
        "top": "template <int R, int C = R, class V = float> struct Tile { V v[R][C];"
        " __device__ V* operator[](int r) { return v[r]; } };",
        "before": "__shared__ Tile<T> z;",
        "inner": "z[ty][tx] = a[ty][tx]; __syncthreads(); for (int i = 0; i < T; ++i) s += z[ty][i] * b[i][tx];"
        " __syncthreads();",
    },
    "arrays of a template in a template": {
        "top": "template <class V, int S> struct Row { V v[S]; __device__ V& operator[](int i) { return v[i]; }"
        " __device__ V* begin() { return v; } __device__ V* end() { return v + S; } };",
        "inner": "Row<Row<float, 2>, 3> z; for (auto& row : z) for (auto& one : row) one = 0; for (int i = 0; i < T; ++i)"
        " z[i % 3][i % 2] += a[ty][i] * b[i][tx]; for (int i = 0; i < 6; ++i) s += z[i / 2][i % 2];",
    },
    "a struct that is like a pointer": {
        "top": "struct Walk { const float* p; int by; __device__ const float& operator*() const { return *p; }"
        " __device__ Walk operator++(int) { Walk old(*this); p += by; return old; } __device__ Walk operator-() const {"
        " return {p, -by}; } };",
        "inner": "Walk x{a[ty], 1}, y = -Walk{&b[0][tx], -T}; for (int i = 0; i < T; ++i) s += *x++ * *y++;",
    },
    "virtual methods": {
        "top": "#include <memory>\nclass Way { public: virtual ~Way() {} virtual int side(int w) const = 0; };"
        " class Tiles final : public Way { public: int side(int w) const override { return w / T; } };",
        "launch": "std::unique_ptr<Way> way = std::make_unique<Tiles>();"
        " k<<<dim3(way->side(w), way->side(w)), dim3(T, T)>>>(M, N, P, w);",
    },
    "what the device says": {
        "launch": "int n = 0, g = 0, t = 0; if (cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0) != cudaSuccess) return;"
        " cudaOccupancyMaxPotentialBlockSize(&g, &t, k, 0, 512); if (n != 32 || t > 512) return; "
        + _PRODUCT,
    },
    "conditions with a comma": {
        "inner": "int i = 0; do s += a[ty][i] * b[i][tx]; while (++i, i < T); while (i = 0, i > 0) {}"
        " for (; s += 0, i > 0;) {} while (int left = i) --i;",
    },
    "another name of a namespace in a function": {
        "top": "namespace gpu::more { template <class V = float> __device__ V same(V x) { return x; } }",
        "before": "namespace gm = gpu::more;",
        "load": "gm::same(M[r * w + p * T + tx])",
    },
    "what a template's parameter makes": {
        "top": "struct At { int w; __device__ int operator()(int r, int c) const { return r * w + c; } };"
        " struct Twice { __device__ int operator()(int x) const { return 2 * x; } };"
        " template <class O, class U> __device__ int at(int r, int c, int w) { U twice; return O{w}(r, c) + U{}(0) + twice(0); }",
        "store": "P[at<At, Twice>(r, c, w)] = s;",
    },
    "an element that is an object": {
        "top": "class Cell { float* at; public: __device__ Cell(float* p) : at(p) {}"
        " __device__ operator float() const { return *at; }"
        " __device__ Cell& operator=(float v) { *at = v; return *this; } };"
        " struct View { float* p; int w; __device__ Cell operator()(int r, int c) const { return Cell(p + r * w + c); } };",
        "before": "View in{(float*)M, w}, out{P, w}; float now;",
        "load": "now = in(r, p * T + tx)",
        "store": "out(r, c) = s; float z[1]; z[0] = out(r, c); out(r, c) = z[0];",
    },
    "a macro that means something else further on": {
        "top": "#define EACH(X) X(0) X(1)",
        "before": "\n#define A(q) int n##q = q;\nEACH(A)\n#undef A\n#define A(q) n##q += c;\nEACH(A)\n#undef A\n;",
        "store": "P[r * w + (n0 + n1 - 1) / 2] = s;",
    },
    "a type that depends on a number": {
        "top": "template <int W> struct Vector; template <> struct Vector<4> { using type = float4; };"
        " template <> struct Vector<1> { using type = float; };",
        "before": "__shared__ float z[T][T];",
        "inner": "z[ty][tx] = a[ty][tx]; __syncthreads(); for (int i = 0; i < T; i += 4) {"
        " const auto v = *reinterpret_cast<Vector<4>::type*>(&z[ty][i]); s += v.x * b[i][tx] + v.y * b[i + 1][tx]"
        " + v.z * b[i + 2][tx] + v.w * b[i + 3][tx]; } __syncthreads();",
    },
    "steps from one struct with arrays to another": {
        "top": "struct Stage { float a[T][T]; float b[T][T]; };",
        "before": "__shared__ Stage stages[2];",
        "inner": "Stage* z = stages + p % 2; z->a[ty][tx] = a[ty][tx]; z->b[ty][tx] = b[ty][tx]; __syncthreads();"
        " const Stage* q = &stages[0]; if (p % 2) ++q; for (int i = 0; i < T; ++i) s += q->a[ty][i] * q->b[i][tx];",
    },
    "pairs in a container": {
        "top": "#include <utility>\n#include <vector>",
        "launch": "std::vector<std::pair<int, int>> all; all.emplace_back(w / T, T); all.push_back({1, 2});"
        " auto& [n, side] = all[0]; k<<<dim3(n, n), dim3(side, side)>>>(M, N, P, w);",
    },
    "what is copied when a block ends": {
        "top": "struct Mirror { float* to; float* own; size_t n; Mirror(float* p, int w) : to(p), n(4 * w * w) {"
        " cudaMalloc(&own, n); } ~Mirror() { cudaMemcpy(to, own, n, cudaMemcpyDeviceToDevice); cudaFree(own); } };",
        "launch": "{ Mirror m(P, w); k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, m.own, w); }",
    },
    "a number that a struct template's parameter tells": {
        "top": "template <int S> struct Vec { float e[S]; __device__ float operator[](int i) const { return e[i]; } };"
        " template <int R> __device__ float dot(const Vec<R>& x, const Vec<R>& y) { float z = 0;"
        " for (int i = 0; i < R; ++i) z += x[i] * y[i]; return z; }",
        "inner": "for (int i = 0; i < T; i += 2) { Vec<2> x, y; x.e[0] = a[ty][i]; x.e[1] = a[ty][i + 1];"
        " y.e[0] = b[i][tx]; y.e[1] = b[i + 1][tx]; s += dot(x, y); }",
    },
    "braces for an array in a struct": {
        "top": "struct Index { int v[2]; }; __device__ Index at(int r, int c) { return {{r, c}}; }"
        " __device__ int flat(Index i, int w) { return i.v[0] * w + i.v[1]; }",
        "before": "Index q = at(r, c);",
        "store": "P[flat(Index{{q.v[0], 0}}, w) + flat({{0, q.v[1]}}, w)] = s;",
    },
    "what a method is not given": {
        "top": "struct Plus { __device__ int operator()(int x, int y) const { return x + y; } };"
        " template <class A> struct Flat { int w; static const int ONE = 1; __device__ static int of(int x, int y, A add = A()) {"
        " return add(x, y); } __device__ int at(int r, int c, int by = ONE) { return of(r * w * by, c); } };",
        "before": "Flat<Plus> q{w};",
        "store": "P[::Flat<Plus>::of(q.at(r, c), 0)] = s;",
    },
    "constructors of a base that is a template": {
        "top": "template <class V> struct Base { V* p; int w; __device__ Base(V* q, int n) : p(q), w(n) {} };"
        " struct View : Base<const float> { using Base<const float>::Base; __device__ float at(int r, int c) const {"
        " return p[r * w + c]; } };",
        "load": "View(M, w).at(r, p * T + tx)",
    },
    "memcpy in a kernel": {
        "store": "float z[2] = {s, 1}; float o; memcpy(&o, z, sizeof(float)); memcpy(P + r * w + c, &o, sizeof o);",
    },
    "a lambda that counts": {
        "inner": "auto next = [&, i = 0]() mutable { s += a[ty][i] * b[i][tx]; ++i; }; for (int n = 0; n < T; ++n) next();",
    },
    "rows in a container": {
        "top": "#include <vector>",
        "launch": "std::vector<std::vector<float>> rows(2, std::vector<float>(2)); rows[1][0] = w / T; std::vector<float> flat;"
        " for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end()); const float* p = flat.data();"
        " k<<<dim3(p[2], p[2] + p[0]), dim3(T, T)>>>(M, N, P, w);",
    },
    "a base without constructors that is given something": {
        "top": "struct Extent { int rows = 1, cols = 1; }; struct View : Extent { int at;"
        " __device__ View(int w, int at) : Extent{w, w}, at{at} {} };",
        "before": "View v(w, c);",
        "store": "P[r * v.cols + v.at] = s;",
    },
}
