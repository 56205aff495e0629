// What the fuzzers call in C: libFuzzer's driver, and how libdbus turns bytes into messages.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer with libFuzzer's arguments: https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

typedef struct DBusMessage DBusMessage;

/// Null where the bytes are no message.
DBusMessage *dbus_message_demarshal(const char *bytes, int length, void *error);

/// False where there is no memory; the bytes are freed with `dbus_free`.
uint32_t dbus_message_marshal(DBusMessage *message, char **bytes, int *length);

void dbus_free(void *memory);
