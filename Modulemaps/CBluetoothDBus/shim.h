#pragma once
#include <dbus/dbus.h>
// Swift's module of glibc leaves it out.
#include <sys/eventfd.h>
