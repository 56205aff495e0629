#pragma once
// The imports of a loaded shared library, as its ELF file lists them.
#include <link.h>
#include <stdint.h>
#include <string.h>

// From <dlfcn.h> under _GNU_SOURCE.
int dlinfo(void *library, int request, void *result);

/// Returns the address at which a loaded library stores its pointer to an imported function; NULL if it imports no function of
/// that name, or if the processor's relocations have another format.
static inline void **bluetooth_import(void *library, const char *function) {
#if defined(__x86_64__) || defined(__aarch64__)
  struct link_map *map = 0;
  if (dlinfo(library, 2 /* RTLD_DI_LINKMAP */, &map) || !map) return 0;
  const ElfW(Sym) *symbols = 0;
  const char *names = 0;
  // The relocations of calls, and the others, to which a linker may add those of calls.
  const ElfW(Rela) *relocations[2] = {0, 0};
  size_t sizes[2] = {0, 0};
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    // glibc adds the library's address to those of the file when it loads the library, musl does not.
    uintptr_t address = entry->d_un.d_ptr;
    if (address < map->l_addr) address += map->l_addr;
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = (const ElfW(Sym) *)address; break;
      case DT_STRTAB: names = (const char *)address; break;
      case DT_JMPREL: relocations[0] = (const ElfW(Rela) *)address; break;
      case DT_PLTRELSZ: sizes[0] = entry->d_un.d_val; break;
      case DT_RELA: relocations[1] = (const ElfW(Rela) *)address; break;
      case DT_RELASZ: sizes[1] = entry->d_un.d_val; break;
    }
  }
  if (!symbols || !names) return 0;
  for (int table = 0; table < 2; table++) {
    for (size_t index = 0; index < sizes[table] / sizeof(ElfW(Rela)); index++) {
      const ElfW(Rela) *relocation = relocations[table] + index;
      size_t symbol = ELF64_R_SYM(relocation->r_info);
      // Relocations without a symbol are no imports.
      if (symbol && !strcmp(names + symbols[symbol].st_name, function)) return (void **)(map->l_addr + relocation->r_offset);
    }
  }
#endif
  return 0;
}
