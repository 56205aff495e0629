#pragma once
// Definitions that C allows only once in a program; declarations.h asserts their layout with either header.

typedef struct DBusError {
  const char *name;
  const char *message;
  unsigned int dummy1 : 1, dummy2 : 1, dummy3 : 1, dummy4 : 1, dummy5 : 1;
  void *padding1;
} DBusError;

typedef struct DBusMessageIter {
  void *dummy1, *dummy2;
  unsigned int dummy3;
  int dummy4, dummy5, dummy6, dummy7, dummy8, dummy9, dummy10, dummy11, pad1;
  void *pad2, *pad3;
} DBusMessageIter;

typedef enum {
  DBUS_WATCH_READABLE = 1 << 0,
  DBUS_WATCH_WRITABLE = 1 << 1,
  DBUS_WATCH_ERROR = 1 << 2,
  DBUS_WATCH_HANGUP = 1 << 3,
} DBusWatchFlags;

typedef enum {
  DBUS_DISPATCH_DATA_REMAINS,
  DBUS_DISPATCH_COMPLETE,
  DBUS_DISPATCH_NEED_MEMORY,
} DBusDispatchStatus;

#define DBUS_MESSAGE_TYPE_METHOD_CALL 1
#define DBUS_MESSAGE_TYPE_METHOD_RETURN 2
#define DBUS_MESSAGE_TYPE_ERROR 3
#define DBUS_MESSAGE_TYPE_SIGNAL 4
