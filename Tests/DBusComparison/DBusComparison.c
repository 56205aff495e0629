// libdbus's header, then our declarations: the compiler compares them, and one that differs is an error.
#include "DBusComparison.h"
#if __has_include(<dbus/dbus.h>)
#include <dbus/dbus.h>
#include "../../Modulemaps/CBluetoothDBus/declarations.h"
const int dbus_comparison_version = DBUS_VERSION;
#else
const int dbus_comparison_version = 0;
#endif
