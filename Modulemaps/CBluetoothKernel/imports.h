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
  const ElfW(Rela) *relocations = 0;
  const char *names = 0;
  size_t size = 0;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    // glibc adds the library's address to those of the file when it loads the library, musl does not.
    uintptr_t address = entry->d_un.d_ptr;
    if (address < map->l_addr) address += map->l_addr;
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = (const ElfW(Sym) *)address; break;
      case DT_STRTAB: names = (const char *)address; break;
      case DT_JMPREL: relocations = (const ElfW(Rela) *)address; break;
      case DT_PLTRELSZ: size = entry->d_un.d_val; break;
    }
  }
  if (!symbols || !names || !relocations) return 0;
  for (size_t index = 0; index < size / sizeof(ElfW(Rela)); index++) {
    const ElfW(Sym) *symbol = symbols + ELF64_R_SYM(relocations[index].r_info);
    if (!strcmp(names + symbol->st_name, function)) return (void **)(map->l_addr + relocations[index].r_offset);
  }
#endif
  return 0;
}
