#include "heap.h"

#include <malloc.h>

size_t heap_bytes_in_use(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }
