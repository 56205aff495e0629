#pragma once
// The part of libdbus-1 that Sources/Backends/BluetoothDBus uses, without libdbus's header, as a table of functions that is
// filled when the library is loaded: neither a build nor the start of a program needs libdbus.
#include "structures.h"
#include "declarations.h"
#include <dlfcn.h>
#include <stdbool.h>

/// The functions of a loaded libdbus-1.
struct BluetoothDBusFunctions {
#define MEMBER(result, name, parameters) __typeof__(name) *_Nonnull name;
  BLUETOOTH_DBUS_FUNCTIONS(MEMBER)
#undef MEMBER
};

/// Fills the table from a library.
///
/// - Returns: The name of the first function that the library lacks, at which loading stops; NULL if all exist.
static inline const char *_Nullable bluetooth_dbus_load(
    struct BluetoothDBusFunctions *_Nonnull functions, void *_Nonnull library) {
  void *symbol;
#define LOAD(result, name, parameters) \
  if (!(symbol = dlsym(library, #name))) return #name; \
  functions->name = (__typeof__(name) *)symbol;
  BLUETOOTH_DBUS_FUNCTIONS(LOAD)
#undef LOAD
  return 0;
}

/// Reads the version of a library as major, minor and micro; false if it is not libdbus-1.
static inline bool bluetooth_dbus_version(void *_Nonnull library, int version[_Nonnull 3]) {
  __typeof__(dbus_get_version) *get = (__typeof__(dbus_get_version) *)dlsym(library, "dbus_get_version");
  if (get) get(&version[0], &version[1], &version[2]);
  return get;
}
