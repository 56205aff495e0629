#include "heap.h"

#include <malloc.h>

// What is counted is the main arena, so there must be no other.
__attribute__((constructor)) static void use_one_arena(void) { mallopt(M_ARENA_MAX, 1); }

size_t heap_bytes_in_use(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }
