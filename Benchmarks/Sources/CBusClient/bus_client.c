#include "bus_client.h"

#include <dbus/dbus.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULE "type='signal',sender='" BUS_SERVICE "',interface='" DBUS_INTERFACE_PROPERTIES "',path_namespace='/org/bluez'"

struct bus_client {
    DBusConnection *bus;
    int to_start, to_finish;
    long bytes;
    unsigned char value[512];
};

static int copy_bytes(bus_client *client, DBusMessageIter *iter) {
    DBusMessageIter array;
    const unsigned char *bytes = NULL;
    int count = 0;
    if (dbus_message_iter_get_arg_type(iter) != DBUS_TYPE_ARRAY
        || dbus_message_iter_get_element_type(iter) != DBUS_TYPE_BYTE)
        return 0;
    dbus_message_iter_recurse(iter, &array);
    dbus_message_iter_get_fixed_array(&array, &bytes, &count);
    if (count > (int)sizeof client->value) return 0;
    memcpy(client->value, bytes, (size_t)count);
    client->bytes += count;
    return 1;
}

static int decode_reply(bus_client *client, DBusMessage *reply) {
    DBusMessageIter iter;
    return reply && dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_METHOD_RETURN
        && dbus_message_iter_init(reply, &iter) && copy_bytes(client, &iter);
}

// An `sa{sv}as`, with the value of "Value".
static int decode_changed(bus_client *client, DBusMessage *signal) {
    DBusMessageIter iter, changed, entry, variant, removed;
    const char *interface = NULL, *name = NULL;
    if (!dbus_message_iter_init(signal, &iter) || dbus_message_iter_get_arg_type(&iter) != DBUS_TYPE_STRING) return 0;
    dbus_message_iter_get_basic(&iter, &interface);
    if (strcmp(interface, BUS_INTERFACE) != 0 || !dbus_message_iter_next(&iter)) return 0;
    dbus_message_iter_recurse(&iter, &changed);
    while (dbus_message_iter_get_arg_type(&changed) == DBUS_TYPE_DICT_ENTRY) {
        dbus_message_iter_recurse(&changed, &entry);
        dbus_message_iter_get_basic(&entry, &name);
        dbus_message_iter_next(&entry);
        dbus_message_iter_recurse(&entry, &variant);
        if (strcmp(name, "Value") == 0 && !copy_bytes(client, &variant)) return 0;
        dbus_message_iter_next(&changed);
    }
    if (!dbus_message_iter_next(&iter)) return 0;
    dbus_message_iter_recurse(&iter, &removed);
    while (dbus_message_iter_get_arg_type(&removed) == DBUS_TYPE_STRING) dbus_message_iter_next(&removed);
    return 1;
}

static DBusHandlerResult receive(DBusConnection *bus, DBusMessage *message, void *context) {
    (void)bus;
    bus_client *client = context;
    if (!dbus_message_is_signal(message, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged"))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    if (decode_changed(client, message)) client->to_finish--;
    return DBUS_HANDLER_RESULT_HANDLED;
}

bus_client *bus_client_open(const char *address) {
    DBusConnection *bus = dbus_connection_open_private(address, NULL);
    if (!bus) return NULL;
    dbus_connection_set_exit_on_disconnect(bus, FALSE);
    bus_client *client = calloc(1, sizeof *client);
    if (!client || !dbus_bus_register(bus, NULL)) {
        dbus_connection_close(bus);
        dbus_connection_unref(bus);
        free(client);
        return NULL;
    }
    client->bus = bus;
    dbus_connection_add_filter(bus, receive, client, NULL);
    return client;
}

void bus_client_close(bus_client *client) {
    dbus_connection_close(client->bus);
    dbus_connection_unref(client->bus);
    free(client);
}

static DBusMessage *new_read(void) {
    DBusMessage *call = dbus_message_new_method_call(BUS_SERVICE, BUS_PATH, BUS_INTERFACE, "Read");
    DBusMessageIter iter, options;
    dbus_message_iter_init_append(call, &iter);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_close_container(&iter, &options);
    return call;
}

static void finished(DBusPendingCall *pending, void *context);

static void start_read(bus_client *client) {
    DBusPendingCall *pending = NULL;
    DBusMessage *call = new_read();
    client->to_start--;
    if (dbus_connection_send_with_reply(client->bus, call, &pending, 25000) && pending) {
        dbus_pending_call_set_notify(pending, finished, client, NULL);
        dbus_pending_call_unref(pending);
    }
    dbus_message_unref(call);
}

static void finished(DBusPendingCall *pending, void *context) {
    bus_client *client = context;
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    if (decode_reply(client, reply)) client->to_finish--;
    if (reply) dbus_message_unref(reply);
    if (client->to_start > 0) start_read(client);
}

static int run(bus_client *client) {
    while (client->to_finish > 0)
        if (!dbus_connection_read_write_dispatch(client->bus, -1)) return 0;
    return 1;
}

long bus_client_call(bus_client *client, int count, int in_flight) {
    client->bytes = 0;
    client->to_start = client->to_finish = count;
    if (in_flight > 1) {
        for (int started = 0; started < in_flight && client->to_start > 0; started++) start_read(client);
        return run(client) ? client->bytes : -1;
    }
    for (int done = 0; done < count; done++) {
        DBusMessage *call = new_read();
        DBusMessage *reply = dbus_connection_send_with_reply_and_block(client->bus, call, 25000, NULL);
        int decoded = decode_reply(client, reply);
        dbus_message_unref(call);
        if (reply) dbus_message_unref(reply);
        if (!decoded) return -1;
    }
    return client->bytes;
}

static void emit(bus_client *client, const char *member, int count, int per_second) {
    DBusMessage *call = dbus_message_new_method_call(BUS_SERVICE, BUS_PATH, BUS_INTERFACE, member);
    dbus_uint32_t total = (dbus_uint32_t)count, rate = (dbus_uint32_t)per_second;
    dbus_message_append_args(call, DBUS_TYPE_UINT32, &total, DBUS_TYPE_UINT32, &rate, DBUS_TYPE_INVALID);
    dbus_message_set_no_reply(call, TRUE);
    dbus_connection_send(client->bus, call, NULL);
    dbus_connection_flush(client->bus);
    dbus_message_unref(call);
}

void bus_client_notify(bus_client *client, int count, int per_second) { emit(client, "Emit", count, per_second); }

void bus_client_advertise(bus_client *client, int count, int per_second) {
    emit(client, "EmitAdvertisements", count, per_second);
}

int bus_client_populate(bus_client *client, unsigned devices) {
    DBusMessage *call = dbus_message_new_method_call(BUS_SERVICE, BUS_PATH, BUS_INTERFACE, "Populate");
    dbus_uint32_t count = devices;
    dbus_message_append_args(call, DBUS_TYPE_UINT32, &count, DBUS_TYPE_INVALID);
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(client->bus, call, 25000, NULL);
    dbus_message_unref(call);
    if (reply) dbus_message_unref(reply);
    return reply != NULL;
}

int bus_client_write(bus_client *client, int count) {
    static const unsigned char value[20] = {1, 2, 3};
    DBusMessage *call = dbus_message_new_method_call(BUS_SERVICE, BUS_PATH, BUS_INTERFACE, "AcquireWrite");
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(client->bus, call, 25000, NULL);
    dbus_message_unref(call);
    int socket = -1, written = 0;
    dbus_uint16_t mtu = 0;
    if (!reply) return 0;
    dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &socket, DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID);
    dbus_message_unref(reply);
    while (socket >= 0 && written < count && write(socket, value, sizeof value) == sizeof value) written++;
    if (socket >= 0) close(socket);
    return written == count;
}

long bus_client_listen(bus_client *client, int count, int per_second) {
    client->bytes = 0;
    client->to_finish = count;
    dbus_bus_add_match(client->bus, RULE, NULL);
    bus_client_notify(client, count, per_second);
    int isDone = run(client);
    dbus_bus_remove_match(client->bus, RULE, NULL);
    return isDone ? client->bytes : -1;
}
