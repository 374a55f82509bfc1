/* TP 1 : produit de matrices, un thread par element de P, grille a une dimension */
#include <stdio.h>
#include "check.h"

#define NB_THREADS 256

__global__ void produit(const float *a, const float *b, float *c, int n)
{
    int id = blockIdx.x * NB_THREADS + threadIdx.x;
    if (id >= n * n)
        return;

    int ligne = id / n;
    int colonne = id % n;
    const float *pa = a + ligne * n;   /* avance vers la droite */
    const float *pb = b + colonne;     /* descend */
    float acc = 0.f;
    int reste = n;
    while (reste > 0) {
        acc += *pa * *pb;
        pa += 1;
        pb += n;
        reste--;
    }
    c[id] = acc;
}

static int rate(cudaError_t e, const char *quoi)
{
    if (e == cudaSuccess)
        return 0;
    fprintf(stderr, "%s : %s\n", quoi, cudaGetErrorString(e));
    return 1;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *ga = NULL, *gb = NULL, *gc = NULL;
    size_t total = (size_t)width * width;
    size_t taille = total * sizeof(float);
    int nb_blocs = (int)((total + NB_THREADS - 1) / NB_THREADS);

    if (rate(cudaMalloc((void **)&ga, taille), "malloc a")) goto fin;
    if (rate(cudaMalloc((void **)&gb, taille), "malloc b")) goto fin;
    if (rate(cudaMalloc((void **)&gc, taille), "malloc c")) goto fin;

    if (rate(cudaMemcpy(ga, M, taille, cudaMemcpyHostToDevice), "copie a")) goto fin;
    if (rate(cudaMemcpy(gb, N, taille, cudaMemcpyHostToDevice), "copie b")) goto fin;

    produit<<<nb_blocs, NB_THREADS>>>(ga, gb, gc, width);
    if (rate(cudaGetLastError(), "lancement")) goto fin;

    rate(cudaMemcpy(P, gc, taille, cudaMemcpyDeviceToHost), "copie c");
fin:
    cudaFree(ga);
    cudaFree(gb);
    cudaFree(gc);
}
