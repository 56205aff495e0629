#pragma once
// For tests alone, which compare what Sources/BluetoothDBus/Library declares with what is declared here.
#include <dbus/dbus.h>
#include <sys/eventfd.h>
