#ifndef DBUS_COMPARISON_H
#define DBUS_COMPARISON_H

/// The version of libdbus's header with which our declarations were compared: 0x010E0A is 1.14.10, and 0 means no header.
extern const int dbus_comparison_version;

#endif
