// Exercicio 5 - registradores. Blocos de 32 x 8 threads, 8 linhas x 4 colunas? 128 x 64 por bloco.
#include "check.h"

#define LIN 64        // linhas de P por bloco
#define COL 128       // colunas de P por bloco
#define PASSO 16
#define RL 8          // linhas por thread, distantes de 8
#define RC 4          // colunas por thread, distantes de 32
#define NT 256

typedef size_t idx;

__global__ void __launch_bounds__(NT)
produto(const float *A, const float *B, float *C, int j, int k, int l)
{
    __shared__ float ta[LIN][PASSO];
    __shared__ float tb[PASSO][COL];

    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    int x = threadIdx.x, y = threadIdx.y;
    int l0 = blockIdx.y * LIN, c0 = blockIdx.x * COL;
    float soma[RL][RC] = {{0}};

    for (int base = 0; base < k; base += PASSO) {
        // A: 16 threads por linha, 16 linhas de cada vez
        int ca = tid & 15;
        for (int la = tid >> 4; la < LIN; la += 16) {
            bool dentro = l0 + la < j && base + ca < k;
            ta[la][ca] = dentro ? A[(idx)(l0 + la) * k + (base + ca)] : 0.0f;
        }
        // B: 128 threads por linha, 2 linhas de cada vez
        int cb = tid & 127;
        for (int lb = tid >> 7; lb < PASSO; lb += 2) {
            bool dentro = base + lb < k && c0 + cb < l;
            tb[lb][cb] = dentro ? B[(idx)(base + lb) * l + (c0 + cb)] : 0.0f;
        }
        __syncthreads();

        #pragma unroll
        for (int i = 0; i < PASSO; i++) {
            float b[RC];
            for (int c = 0; c < RC; c++)
                b[c] = tb[i][x + 32 * c];
            for (int r = 0; r < RL; r++) {
                float a = ta[y + 8 * r][i];
                for (int c = 0; c < RC; c++)
                    soma[r][c] += a * b[c];
            }
        }
        __syncthreads();
    }

    float *saida = C + (idx)(l0 + y) * l + c0 + x;
    for (int r = 0; r < RL; r++) {
        for (int c = 0; c < RC; c++)
            if (l0 + y + 8 * r < j && c0 + x + 32 * c < l)
                saida[32 * c] = soma[r][c];
        saida += (idx)8 * l;
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 grade((l + COL - 1) / COL, (j + LIN - 1) / LIN);
    dim3 bloco(32, NT / 32);
    produto<<<grade, bloco>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
