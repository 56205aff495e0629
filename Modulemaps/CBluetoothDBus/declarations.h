// Our declarations of libdbus-1. After structures.h, they are what the library uses; after <dbus/dbus.h>, the compiler
// compares them, because C accepts a second declaration only if it is the same (Tests/DBusComparison).
#include <stddef.h>
#include <stdint.h>

typedef uint32_t dbus_uint32_t;
typedef dbus_uint32_t dbus_bool_t;
typedef struct DBusConnection DBusConnection;
typedef struct DBusMessage DBusMessage;
typedef struct DBusWatch DBusWatch;

typedef void (*DBusFreeFunction)(void *memory);
typedef dbus_bool_t (*DBusAddWatchFunction)(DBusWatch *watch, void *data);
typedef void (*DBusWatchToggledFunction)(DBusWatch *watch, void *data);
typedef void (*DBusRemoveWatchFunction)(DBusWatch *watch, void *data);
typedef void (*DBusDispatchStatusFunction)(DBusConnection *connection, DBusDispatchStatus new_status, void *data);
typedef void (*DBusWakeupMainFunction)(void *data);

/// The functions that are used, each with its result, its name and its parameters.
#define BLUETOOTH_DBUS_FUNCTIONS(each) \
  /* Connections */ \
  each(DBusConnection *, dbus_connection_open_private, (const char *address, DBusError *error)) \
  each(void, dbus_connection_close, (DBusConnection *connection)) \
  each(void, dbus_connection_unref, (DBusConnection *connection)) \
  each(dbus_bool_t, dbus_connection_get_socket, (DBusConnection *connection, int *fd)) \
  each(dbus_bool_t, dbus_connection_get_is_authenticated, (DBusConnection *connection)) \
  each(dbus_bool_t, dbus_connection_can_send_type, (DBusConnection *connection, int type)) \
  each(void, dbus_connection_set_exit_on_disconnect, (DBusConnection *connection, dbus_bool_t exit_on_disconnect)) \
  each(void, dbus_connection_set_max_message_size, (DBusConnection *connection, long size)) \
  each(DBusMessage *, dbus_connection_pop_message, (DBusConnection *connection)) \
  each(dbus_bool_t, dbus_connection_send, \
       (DBusConnection *connection, DBusMessage *message, dbus_uint32_t *client_serial)) \
  each(void, dbus_connection_set_dispatch_status_function, \
       (DBusConnection *connection, DBusDispatchStatusFunction function, void *data, DBusFreeFunction free_data)) \
  each(void, dbus_connection_set_wakeup_main_function, \
       (DBusConnection *connection, DBusWakeupMainFunction function, void *data, DBusFreeFunction free_data)) \
  each(dbus_bool_t, dbus_connection_set_watch_functions, \
       (DBusConnection *connection, DBusAddWatchFunction add, DBusRemoveWatchFunction remove, \
        DBusWatchToggledFunction toggled, void *data, DBusFreeFunction free_data)) \
  each(dbus_bool_t, dbus_bus_set_unique_name, (DBusConnection *connection, const char *unique_name)) \
  each(dbus_bool_t, dbus_watch_get_enabled, (DBusWatch *watch)) \
  each(unsigned int, dbus_watch_get_flags, (DBusWatch *watch)) \
  each(dbus_bool_t, dbus_watch_handle, (DBusWatch *watch, unsigned int flags)) \
  /* Messages */ \
  each(DBusMessage *, dbus_message_new_method_call, \
       (const char *bus_name, const char *path, const char *interface, const char *method)) \
  each(DBusMessage *, dbus_message_new_method_return, (DBusMessage *method_call)) \
  each(DBusMessage *, dbus_message_new_error, (DBusMessage *reply_to, const char *name, const char *message)) \
  each(DBusMessage *, dbus_message_new_signal, (const char *path, const char *interface, const char *name)) \
  each(void, dbus_message_unref, (DBusMessage *message)) \
  each(int, dbus_message_get_type, (DBusMessage *message)) \
  each(const char *, dbus_message_get_path, (DBusMessage *message)) \
  each(const char *, dbus_message_get_interface, (DBusMessage *message)) \
  each(const char *, dbus_message_get_member, (DBusMessage *message)) \
  each(const char *, dbus_message_get_error_name, (DBusMessage *message)) \
  each(const char *, dbus_message_get_sender, (DBusMessage *message)) \
  each(const char *, dbus_message_get_destination, (DBusMessage *message)) \
  each(const char *, dbus_message_get_signature, (DBusMessage *message)) \
  each(dbus_bool_t, dbus_message_get_no_reply, (DBusMessage *message)) \
  each(dbus_uint32_t, dbus_message_get_reply_serial, (DBusMessage *message)) \
  each(dbus_bool_t, dbus_message_set_destination, (DBusMessage *message, const char *destination)) \
  each(void, dbus_message_set_no_reply, (DBusMessage *message, dbus_bool_t no_reply)) \
  each(void, dbus_message_set_serial, (DBusMessage *message, dbus_uint32_t serial)) \
  /* Reading arguments */ \
  each(dbus_bool_t, dbus_message_iter_init, (DBusMessage *message, DBusMessageIter *iter)) \
  each(dbus_bool_t, dbus_message_iter_next, (DBusMessageIter *iter)) \
  each(void, dbus_message_iter_recurse, (DBusMessageIter *iter, DBusMessageIter *sub)) \
  each(int, dbus_message_iter_get_arg_type, (DBusMessageIter *iter)) \
  each(int, dbus_message_iter_get_element_type, (DBusMessageIter *iter)) \
  each(char *, dbus_message_iter_get_signature, (DBusMessageIter *iter)) \
  each(void, dbus_message_iter_get_basic, (DBusMessageIter *iter, void *value)) \
  each(void, dbus_message_iter_get_fixed_array, (DBusMessageIter *iter, void *value, int *n_elements)) \
  /* Appending arguments */ \
  each(void, dbus_message_iter_init_append, (DBusMessage *message, DBusMessageIter *iter)) \
  each(dbus_bool_t, dbus_message_iter_append_basic, (DBusMessageIter *iter, int type, const void *value)) \
  each(dbus_bool_t, dbus_message_iter_append_fixed_array, \
       (DBusMessageIter *iter, int element_type, const void *value, int n_elements)) \
  each(dbus_bool_t, dbus_message_iter_open_container, \
       (DBusMessageIter *iter, int type, const char *contained_signature, DBusMessageIter *sub)) \
  each(dbus_bool_t, dbus_message_iter_close_container, (DBusMessageIter *iter, DBusMessageIter *sub)) \
  each(void, dbus_message_iter_abandon_container, (DBusMessageIter *iter, DBusMessageIter *sub)) \
  /* The library */ \
  each(void, dbus_get_version, (int *major, int *minor, int *micro)) \
  each(dbus_bool_t, dbus_threads_init_default, (void)) \
  each(void, dbus_error_init, (DBusError *error)) \
  each(void, dbus_error_free, (DBusError *error)) \
  each(void, dbus_free, (void *memory))

#define PROTOTYPE(result, name, parameters) result name parameters;
BLUETOOTH_DBUS_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

#define ASSERT(condition) _Static_assert(condition, "not as libdbus's header has it")
ASSERT(offsetof(DBusError, name) == 0);
ASSERT(offsetof(DBusError, message) == sizeof(void *));
ASSERT(sizeof(DBusError) == 4 * sizeof(void *));
ASSERT(_Alignof(DBusError) == _Alignof(void *));
// DBusIterator of Swift is nine UInt64.
ASSERT(sizeof(DBusMessageIter) == 4 * sizeof(void *) + 40);
ASSERT(sizeof(DBusMessageIter) <= 9 * sizeof(uint64_t));
ASSERT(_Alignof(DBusMessageIter) <= _Alignof(uint64_t));
ASSERT(DBUS_WATCH_READABLE == 1);
ASSERT(DBUS_WATCH_WRITABLE == 2);
ASSERT(DBUS_WATCH_ERROR == 4);
ASSERT(DBUS_WATCH_HANGUP == 8);
ASSERT(DBUS_DISPATCH_DATA_REMAINS == 0);
ASSERT(DBUS_DISPATCH_COMPLETE == 1);
ASSERT(DBUS_DISPATCH_NEED_MEMORY == 2);
ASSERT(DBUS_MESSAGE_TYPE_METHOD_CALL == 1);
ASSERT(DBUS_MESSAGE_TYPE_METHOD_RETURN == 2);
ASSERT(DBUS_MESSAGE_TYPE_ERROR == 3);
ASSERT(DBUS_MESSAGE_TYPE_SIGNAL == 4);
#undef ASSERT
