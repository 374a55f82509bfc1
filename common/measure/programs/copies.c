// Loaded before the CUDA runtime: writes, for each copy to the host, its size and a hash of its bytes to the file $COPIES, and the bytes
// themselves, as far as there is room, to $COPIES.bytes.
// The same program leaves the same lines on a GPU and under warpsim if what its kernels computed is the same, bit for bit.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int to_host = 2, by_address = 4;
static const long most_bytes = 32 << 20;  // a copy that has no room any more is left out

static void* next(const char* name) {
    void* found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "copies.c: no %s in the CUDA runtime\n", name);
        abort();
    }
    return found;
}

static int on_host(const void* address) {
    // cudaPointerAttributes: the type comes first, 2 being device memory.
    int attributes[16] = {0};
    int (*query)(void*, const void*) = (int (*)(void*, const void*))next("cudaPointerGetAttributes");
    int (*forget)(void) = (int (*)(void))next("cudaGetLastError");
    if (query(attributes, address)) {
        forget();
        return 1;
    }
    return attributes[0] != 2;
}

static void note(const void* data, size_t size) {
    const char* name = getenv("COPIES");
    FILE* file = name ? fopen(name, "a") : NULL;
    if (!file) return;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
    fprintf(file, "%zu %016llx\n", size, (unsigned long long)hash);
    fclose(file);
    char beside[4096];
    snprintf(beside, sizeof beside, "%s.bytes", name);
    file = fopen(beside, "ab");
    if (!file) return;
    fseek(file, 0, SEEK_END);
    if (ftell(file) + (long)size <= most_bytes) fwrite(data, 1, size, file);
    fclose(file);
}

int cudaMemcpy(void* to, const void* from, size_t size, int kind) {
    static int (*real)(void*, const void*, size_t, int);
    if (!real) real = (int (*)(void*, const void*, size_t, int))next("cudaMemcpy");
    int status = real(to, from, size, kind);
    if (!status && (kind == to_host || (kind == by_address && on_host(to) && !on_host(from)))) note(to, size);
    return status;
}

int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream) {
    static int (*real)(void*, const void*, size_t, int, void*);
    static int (*wait)(void*);
    static int (*capturing)(void*, int*);
    if (!real) {
        real = (int (*)(void*, const void*, size_t, int, void*))next("cudaMemcpyAsync");
        wait = (int (*)(void*))next("cudaStreamSynchronize");
        capturing = (int (*)(void*, int*))next("cudaStreamIsCapturing");
    }
    int status = real(to, from, size, kind, stream), captured = 0;
    if (status || kind != to_host || capturing(stream, &captured) || captured) return status;
    if (!wait(stream)) note(to, size);
    return status;
}

int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, int kind) {
    static int (*real)(void*, const void*, size_t, size_t, int);
    if (!real) real = (int (*)(void*, const void*, size_t, size_t, int))next("cudaMemcpyFromSymbol");
    int status = real(to, symbol, size, offset, kind);
    if (!status && (kind == to_host || kind == by_address)) note(to, size);
    return status;
}

int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind) {
    static int (*real)(void*, size_t, const void*, size_t, size_t, size_t, int);
    if (!real) real = (int (*)(void*, size_t, const void*, size_t, size_t, size_t, int))next("cudaMemcpy2D");
    int status = real(to, to_pitch, from, from_pitch, width, height, kind);
    for (size_t row = 0; !status && kind == to_host && row < height; ++row) note((char*)to + row * to_pitch, width);
    return status;
}
