// TP 4 - Marguerite D. (habituellement : Java)
#include "check.h"

constexpr int COTE = 16;

class Matrice {
 public:
  __host__ __device__ Matrice(const float* valeurs, int lignes, int colonnes)
      : valeurs(valeurs), lignes(lignes), colonnes(colonnes) {}

  __device__ float lire(int i, int j) const {
    if (i >= lignes) return 0.0f;
    if (j >= colonnes) return 0.0f;
    return valeurs[adresse(i, j)];
  }
  __device__ size_t adresse(int i, int j) const {
    return static_cast<size_t>(i) * colonnes + j;
  }

  const float* valeurs;
  int lignes;
  int colonnes;
};

__host__ __device__ int morceaux(int longueur) {
  return longueur % COTE == 0 ? longueur / COTE : longueur / COTE + 1;
}

__global__ void produit(Matrice gauche, Matrice droite, float* resultat) {
  __shared__ float tuileG[COTE][COTE];
  __shared__ float tuileD[COTE][COTE];

  int ligneLocale = threadIdx.y;
  int colonneLocale = threadIdx.x;
  int ligne = ligneLocale + COTE * blockIdx.y;
  int colonne = colonneLocale + COTE * blockIdx.x;

  float somme = 0.0f;
  int nombre = morceaux(gauche.colonnes);
  for (int etape = 0; etape < nombre; etape++) {
    tuileG[ligneLocale][colonneLocale] = gauche.lire(ligne, etape * COTE + colonneLocale);
    tuileD[ligneLocale][colonneLocale] = droite.lire(etape * COTE + ligneLocale, colonne);
    __syncthreads();
    for (int e = 0; e < COTE; e++) {
      somme += tuileG[ligneLocale][e] * tuileD[e][colonneLocale];
    }
    __syncthreads();
  }

  if (ligne < gauche.lignes && colonne < droite.colonnes) {
    resultat[droite.adresse(ligne, colonne)] = somme;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Matrice m(M, j, k);
  Matrice n(N, k, l);
  dim3 blocs(morceaux(n.colonnes), morceaux(m.lignes));
  dim3 fils(COTE, COTE);
  produit<<<blocs, fils>>>(m, n, P);
  CHECK(cudaGetLastError());
}
