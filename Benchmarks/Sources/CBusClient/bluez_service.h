#pragma once

#include <dbus/dbus.h>

// Answers a call of one of BlueZ's methods; success without a value where nothing else is known.
int bluez_serve(DBusConnection *bus, DBusMessage *message);

// Sends what an advertisement changes, of one of the devices that `Populate(u)` has made.
void bluez_advertise(DBusConnection *bus, unsigned number);

// Sends a value on the socket that AcquireNotify gave. Returns 0 where there is none, or its reader is gone.
int bluez_notify(const unsigned char *value, size_t size);
