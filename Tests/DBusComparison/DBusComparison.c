// libdbus's header, then our declarations: the compiler compares them, and one that differs is an error.
#ifdef __linux__
#include <dbus/dbus.h>
#include "../../Modulemaps/CBluetoothDBus/declarations.h"
#include "DBusComparison.h"

const int dbus_comparison_version = DBUS_VERSION;
#endif
