#pragma once

#include <dbus/dbus.h>

// Answers a call of one of BlueZ's methods; success without a value where nothing else is known.
int bluez_serve(DBusConnection *bus, DBusMessage *message);

// Sends what an advertisement changes, of one of the devices that `Populate(u)` has made.
void bluez_advertise(DBusConnection *bus, unsigned number);
