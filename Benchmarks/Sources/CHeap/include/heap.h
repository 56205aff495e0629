#pragma once
#include <stddef.h>

// How many bytes the heap has given out.
size_t heap_bytes_in_use(void);
