/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys, ciphertexts and secrets that never leave the GPU: a batch is queued on a stream, after the stream's earlier
 * work and before its later work.
 *
 *   cc device_arrays.c -I/usr/local/cuda/include $(pkg-config --cflags --libs polykem) \
 *     -L/usr/local/cuda/lib64 -lcudart -o device_arrays && ./device_arrays
 */
#include <cuda_runtime_api.h>
#include <polykem/polykem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kItems = 10000 };

static void must(polykem_status status, const char* what) {
  if (status == POLYKEM_OK) return;
  fprintf(stderr, "%s: %s\n", what, polykem_status_text(status));
  exit(1);
}

static void must_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

/* polykem reads device arrays up to the next multiple of 4 bytes; cudaMalloc's are longer than that. */
static uint8_t* device_buffer(size_t bytes) {
  void* memory = NULL;
  must_cuda(cudaMalloc(&memory, bytes), "device memory");
  return memory;
}

/* begin of the quote in docs/gpu.md */
static void queue(polykem_context* context, polykem_request request, cudaStream_t stream) {
  size_t bytes = 0;
  void* workspace = NULL;
  must(polykem_cuda_workspace(context, request.scheme, request.op, request.count, &bytes), "size of the workspace");
  must_cuda(cudaMallocAsync(&workspace, bytes, stream), "workspace");
  must(polykem_cuda_queue(context, &request, workspace, stream), "queue"); /* returns at once */
  must_cuda(cudaFreeAsync(workspace, stream), "workspace");                /* it has no secrets any more */
}

/* Key pairs, and an exchange with each; all pointers are to device memory, which nothing is copied to or from. */
static void exchange(polykem_context* context, const polykem_scheme* scheme, uint8_t* pk, uint8_t* sk, uint8_t* ct,
                     uint8_t* sent, uint8_t* received, cudaStream_t stream) {
  const polykem_request any = {.struct_size = sizeof any, .scheme = scheme, .count = kItems};
  polykem_request keygen = any, encaps = any, decaps = any;
  keygen.op = POLYKEM_KEYGEN, keygen.pk_out = pk, keygen.sk_out = sk;
  encaps.op = POLYKEM_ENCAPS, encaps.pk = pk, encaps.ct_out = ct, encaps.ss_out = sent;
  decaps.op = POLYKEM_DECAPS, decaps.sk = sk, decaps.ct = ct, decaps.ss_out = received;
  queue(context, keygen, stream); /* each begins when the one before has ended: they are on one stream */
  queue(context, encaps, stream);
  queue(context, decaps, stream);
}
/* end of the quote */

int main(void) {
  const polykem_scheme* scheme = NULL;
  polykem_scheme_info_t info = {.struct_size = sizeof info};
  must(polykem_scheme_find("ML-KEM-768", &scheme), "find the parameter set");
  must(polykem_scheme_info(scheme, &info), "read its sizes");
  const polykem_config config = {.struct_size = sizeof config, .backend = "cuda"};
  polykem_context* context = NULL;
  must(polykem_context_new(&config, &context), "make a context with the backend cuda");

  cudaStream_t stream = NULL;
  must_cuda(cudaStreamCreate(&stream), "stream");
  const size_t secret_bytes = kItems * info.shared_secret_bytes;
  uint8_t* pk = device_buffer(kItems * info.public_key_bytes);
  uint8_t* sk = device_buffer(kItems * info.secret_key_bytes);
  uint8_t* ct = device_buffer(kItems * info.ciphertext_bytes);
  uint8_t* sent = device_buffer(secret_bytes);
  uint8_t* received = device_buffer(secret_bytes);
  exchange(context, scheme, pk, sk, ct, sent, received, stream);
  must_cuda(cudaStreamSynchronize(stream), "the stream's work");

  uint8_t* ours = malloc(secret_bytes);
  uint8_t* theirs = malloc(secret_bytes);
  if (ours == NULL || theirs == NULL) must(POLYKEM_ERR_OUT_OF_MEMORY, "host memory");
  must_cuda(cudaMemcpy(ours, sent, secret_bytes, cudaMemcpyDeviceToHost), "copy");
  must_cuda(cudaMemcpy(theirs, received, secret_bytes, cudaMemcpyDeviceToHost), "copy");
  const int equal = memcmp(ours, theirs, secret_bytes) == 0;
  printf("%s: the secrets of %d items are %s\n", info.title, kItems, equal ? "equal" : "not equal");

  polykem_zeroize(ours, secret_bytes);
  polykem_zeroize(theirs, secret_bytes);
  must_cuda(cudaMemset(sk, 0, kItems * info.secret_key_bytes), "wipe");
  must_cuda(cudaMemset(sent, 0, secret_bytes), "wipe");
  must_cuda(cudaMemset(received, 0, secret_bytes), "wipe");
  uint8_t* const all[] = {pk, sk, ct, sent, received};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    must_cuda(cudaFree(all[i]), "free");
  must_cuda(cudaStreamDestroy(stream), "stream");
  free(ours);
  free(theirs);
  polykem_context_free(context);
  return equal ? 0 : 1;
}
