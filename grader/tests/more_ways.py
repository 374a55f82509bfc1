"""More ways of saying it that the search for a change has to read, by which part of the language they use.

As ways_of_saying: parts of test_repair_reads's program.
"""

_ADDS = "for (int i = 0; i < T; ++i) s += {} * b[i][tx];"
_PRODUCT = "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);"

MORE = {
    "a method that is not read, and not called": {
        "top": "struct V { int w; void say() { auto x = new Z<int, V>[2]{}; }"
        " __device__ int at(int y, int x) const { return y * w + x; } };",
        "before": "V v{w};",
        "store": "P[v.at(r, c)] = s;",
    },
    "a function that is not read, and not called": {
        "top": "template <class... A> void say(A&&... a) { (void)sizeof...(a); }",
    },
    "texts": {
        "top": "#include <string>\nstatic void ok(cudaError_t e, const std::string& what) {"
        ' if (e != cudaSuccess) { std::string s = what + ": "; s += cudaGetErrorString(e);'
        ' std::cerr << s << std::endl; fprintf(stderr, "%s", s.c_str()); } }',
        "launch": _PRODUCT + ' ok(cudaGetLastError(), "launch of " + std::to_string(w));',
    },
    "a stream of text": {
        "top": "#include <sstream>",
        "launch": 'std::ostringstream out; out << "w = " << w << std::setprecision(3);'
        " if (w < 0) throw std::runtime_error(out.str()); " + _PRODUCT,
    },
    "a container that grows": {
        "top": "#include <vector>",
        "launch": "std::vector<dim3> shapes; shapes.push_back(dim3(w / T, w / T));"
        " shapes.emplace_back(T, T); if (shapes.size() == 2 && !shapes.empty())"
        " k<<<shapes[0], shapes.back()>>>(M, N, P, w);",
    },
    "containers in containers": {
        "top": "#include <vector>",
        "launch": "std::vector<std::vector<int>> a; a.push_back({w / T, T});"
        " k<<<dim3(a[0][0], a.at(0)[0]), dim3(a[0][1], T)>>>(M, N, P, w);",
    },
    "a loop over a container of structs": {
        "top": "#include <vector>\nstruct Job { const float* a; const float* b; float* c; };",
        "launch": "std::vector<Job> jobs{{M, N, P}}; for (const auto& job : jobs)"
        " k<<<dim3(w / T, w / T), dim3(T, T)>>>(job.a, job.b, job.c, w);",
    },
    "a table of structs": {
        "top": "struct Job { int blocks, threads; };",
        "launch": "const Job jobs[] = {{0, 0}, {w / T, T}}; const Job& job = jobs[1];"
        " k<<<dim3(job.blocks, job.blocks), dim3(job.threads, job.threads)>>>(M, N, P, w);",
    },
    "a table of kernels": {
        "launch": "using Kernel = void (*)(const float*, const float*, float*, int);"
        " struct Choice { int side; Kernel run; }; Choice one{T, k};"
        " one.run<<<dim3(w / one.side, w / one.side), dim3(one.side, one.side)>>>(M, N, P, w);",
    },
    "a kernel by a typedef": {
        "top": "typedef int (*Unused)(int);",
        "launch": _PRODUCT,
    },
    "what a struct is taken for": {
        "top": "template <class T_> class Ref { T_* p_; public: __host__ __device__ Ref(T_* p) : p_(p) {}"
        " __host__ __device__ operator T_*() const { return p_; } };",
        "before": "Ref<const float> q(M);",
        "load": "q[r * w + p * T + tx]",
    },
    "a goto out of two loops": {
        "inner": "for (int i = 0; i < 2; ++i) for (int j = 0; ; ++j) {"
        " if (i * 8 + j == 16) goto done; if (j == 8) break; s += a[ty][i * 8 + j] * b[i * 8 + j][tx]; }"
        " done:;",
    },
    "a goto over what is not to be done": {
        "store": "if (r < w) goto store; s = 0; store: P[r * w + c] = s;",
    },
    "names in a struct": {
        "top": "template <int N_> struct Cfg { enum { W = N_, HALF = W / 2 }; enum : int { TWO = 2 }; };",
        "inner": "for (int i = 0; i < Cfg<T>::HALF * Cfg<T>::TWO; ++i) s += a[ty][i] * b[i][tx];",
    },
    "a struct template in a struct template": {
        "top": "template <int A, int B> struct Sh { enum { W = A, H = B }; };"
        " template <class S> struct Row { float v[S::W]; };",
        "inner": "Row<Sh<T, 2>> q; for (int i = 0; i < T; ++i) q.v[i] = a[ty][i];"
        + _ADDS.format("q.v[i]"),
    },
    "a type of another": {
        "top": "namespace lib { template <int S> struct Mul { struct Row { float v[S]; };"
        " using Value = float; }; struct At { int y, x; }; }",
        "before": "using L = lib::Mul<T>; typename L::Row q; lib::At at{r, c};",
        "inner": "for (int i = 0; i < T; ++i) q.v[i] = a[ty][i];" + _ADDS.format("q.v[i]"),
        "store": "P[at.y * w + at.x] = s;",
    },
    "references of a class": {
        "top": "struct Box { float v[T][T]; }; class Dot { const Box& l_; float& s_; public:"
        " __device__ Dot(const Box& l, float& s) : l_(l), s_(s) {}"
        " __device__ void add(int y, int i, float x) { s_ += l_.v[y][i] * x; } };",
        "before": "__shared__ Box q;",
        "inner": "q.v[ty][tx] = a[ty][tx]; __syncthreads(); Dot d(q, s);"
        " for (int i = 0; i < T; ++i) d.add(ty, i, b[i][tx]);",
    },
    "a union of a vector and its parts": {
        "top": "union Four { float4 all; float one[4]; };",
        "inner": "for (int i = 0; i < T; i += 4) { Four q; q.all = make_float4(a[ty][i], a[ty][i + 1],"
        " a[ty][i + 2], 0); q.one[3] = a[ty][i + 3];"
        " s += q.all.x * b[i][tx] + q.one[1] * b[i + 1][tx] + q.all.z * b[i + 2][tx]"
        " + q.all.w * b[i + 3][tx]; }",
    },
    "a pointer to a vector's parts": {
        "top": "__device__ void add(float4* to, float x, float4 y) { to->x += x * y.x; to->y += x * y.y;"
        " to->z += x * y.z; to->w += x * y.w; }",
        "inner": "float4 q[1] = {make_float4(0, 0, 0, 0)}; for (int i = 0; i < T; i += 4) { float4 y ="
        " make_float4(b[i][tx], b[i + 1][tx], b[i + 2][tx], b[i + 3][tx]);"
        " const float4* from = (const float4*)&a[ty][i]; q[0].x += from->x * y.x;"
        " add(&q[0], 0.0f, y); float4* z = q; z->y += from->y * y.y; z->z += from->z * y.z;"
        " z->w += from->w * y.w; } s += q->x + q->y + q->z + q->w;",
    },
    "an array of unions": {
        "top": "union Two { float2 all; float one[2]; };",
        "inner": "Two q[T / 2]; for (int i = 0; i < T; ++i) q[i / 2].one[i % 2] = a[ty][i];"
        " for (int i = 0; i < T / 2; ++i) s += q[i].all.x * b[2 * i][tx] + q[i].all.y * b[2 * i + 1][tx];",
    },
    "bits of a float in a union": {
        "top": "union Bits { float f; unsigned u; };",
        "inner": "for (int i = 0; i < T; ++i) { Bits q; q.f = a[ty][i]; q.u &= 0xffffffffu;"
        " s += q.f * b[i][tx]; }",
    },
    "bits of a float": {
        "inner": _ADDS.format("__uint_as_float(__float_as_uint(a[ty][i]) & -(unsigned)(i < T))"),
    },
    "structs with arrays that are copied": {
        "top": "struct Row { float v[T]; }; __device__ Row read(const float* p, bool all) {"
        " Row q; if (all) { for (int i = 0; i < T; ++i) q.v[i] = p[i]; return q; }"
        " Row z; z.v[0] = 0; return z; }",
        "inner": "Row q = read(a[ty], true), z; z = q; q.v[0] = 1;" + _ADDS.format("z.v[i]"),
    },
    "memory taken for a struct with an array": {
        "top": "struct Four { float v[4]; };",
        "inner": "for (int i = 0; i < T / 4; ++i) { Four q = ((const Four*)a[ty])[i];"
        " for (int u = 0; u < 4; ++u) s += q.v[u] * b[4 * i + u][tx]; }",
    },
    "shared structs with numbers beside arrays": {
        "top": "struct Box { float v[T]; float last; };",
        "before": "__shared__ Box q[T];",
        "inner": "q[ty].v[tx] = a[ty][tx]; if (tx == T - 1) q[ty].last = a[ty][tx]; __syncthreads();"
        " for (int i = 0; i < T - 1; ++i) s += q[ty].v[i] * b[i][tx]; s += q[ty].last * b[T - 1][tx];",
    },
    "bytes of shared memory": {
        "before": "__shared__ unsigned char raw[T * T * sizeof(float) * 2];"
        " float* q = (float*)(raw + T * T * sizeof(float));",
        "inner": "q[ty * T + tx] = a[ty][tx]; __syncthreads();" + _ADDS.format("q[ty * T + i]"),
    },
    "a row found by bytes": {
        "load": "((const float*)((const char*)M + r * w * sizeof(float)))[p * T + tx]",
    },
    "an instruction of PTX": {
        "inner": "for (int i = 0; i < T; ++i)"
        ' asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(s) : "f"(a[ty][i]), "f"(b[i][tx]));',
    },
    "several instructions of PTX": {
        "before": 'int y; asm("{ .reg .u32 t; mov.u32 t, %%tid.y;\\n\\t mad.lo.u32 %0, %%ctaid.y, 16, t; }"'
        ' : "=r"(y));',
        "store": "P[y * w + c] = s;",
    },
    "copies in PTX": {
        "before": "__shared__ __align__(16) float q[T][T];",
        "inner": "if (tx % 4 == 0) { unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&q[ty][tx]));"
        ' asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to),'
        ' "l"(M + r * w + p * T + tx)); asm volatile("cp.async.commit_group;");'
        ' asm volatile("cp.async.wait_group 0;" ::: "memory"); } __syncthreads();'
        + _ADDS.format("q[ty][i]"),
    },
    "an address that is asked for its alignment": {
        "inner": "for (int i = 0; i < T; i += 4) if (((size_t)&a[ty][i] & 15) == 0"
        " && reinterpret_cast<uintptr_t>(&a[ty][i + 1]) % 16 != 0)"
        " for (int u = 0; u < 4; ++u) s += a[ty][i + u] * b[i + u][tx];",
    },
    "a comma": {
        "inner": "int i = 0; const float *u, *v; for (u = a[ty], v = &b[0][tx]; i < T; ++i, ++u, v += T)"
        " s += *u * *v;",
    },
    "a comma in parentheses": {"store": "int q; P[(q = r * w, q + c)] = s;"},
    "std::min with its type": {"before": "r = std::min<int>(r, w);"},
    "tiles of a warp": {
        "top": "namespace cg = cooperative_groups;",
        "before": "auto g = cg::this_thread_block(); cg::thread_block_tile<16> q = cg::tiled_partition<16>(g);",
        "inner": "for (int i = 0; i < T; ++i) s += q.shfl(a[ty][tx], i) * b[i][tx];",
        "store": "if (q.size() == T && q.thread_rank() == tx && q.meta_group_rank() == ty) P[r * w + c] = s;",
    },
    "a sum over a tile": {
        "top": "namespace cg = cooperative_groups;",
        "before": "auto q = cg::tiled_partition<16>(cg::this_thread_block());",
        "inner": "for (int i = 0; i < T; ++i) { float z = 0; for (int j = 0; j < T; ++j) {"
        " float y = cg::reduce(q, i == tx ? b[j][i] : 0.f, cg::plus<float>());"
        " if (i == tx) z += a[ty][j] * y; } s += z; }",
    },
    "a kernel that a launcher is given": {
        "top": "void go(void (*f)(const float*, const float*, float*, int), int n, const float* M,"
        " const float* N, float* P, int w) { f<<<dim3(n, n), dim3(T, T)>>>(M, N, P, w); }",
        "launch": "go(k, w / T, M, N, P, w);",
    },
}
