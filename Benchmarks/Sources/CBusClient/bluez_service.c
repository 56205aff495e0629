// The `org.bluez` that clients are measured on: one adapter, one device that is connected, and others that advertise.
#define _GNU_SOURCE
#include "bluez_service.h"

#include "bus_client.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADAPTER "/org/bluez/hci0"
#define DEVICE ADAPTER "/dev_C0_00_00_00_00_01"
#define SERVICE DEVICE "/service0010"

static unsigned devices;
// The daemon's end of the socket that AcquireNotify gave; -1 where there is none.
static int notifications = -1;

// MARK: Values

static void open_entry(DBusMessageIter *dictionary, DBusMessageIter *entry, const char *name) {
    dbus_message_iter_open_container(dictionary, DBUS_TYPE_DICT_ENTRY, NULL, entry);
    dbus_message_iter_append_basic(entry, DBUS_TYPE_STRING, &name);
}

static void append_basic(DBusMessageIter *dictionary, const char *name, int type, const void *value) {
    DBusMessageIter entry, variant;
    char signature[2] = {(char)type, 0};
    open_entry(dictionary, &entry, name);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, signature, &variant);
    dbus_message_iter_append_basic(&variant, type, value);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(dictionary, &entry);
}

static void append_text(DBusMessageIter *dictionary, const char *name, const char *text) {
    append_basic(dictionary, name, DBUS_TYPE_STRING, &text);
}

static void append_path(DBusMessageIter *dictionary, const char *name, const char *path) {
    append_basic(dictionary, name, DBUS_TYPE_OBJECT_PATH, &path);
}

static void append_flag(DBusMessageIter *dictionary, const char *name, dbus_bool_t flag) {
    append_basic(dictionary, name, DBUS_TYPE_BOOLEAN, &flag);
}

static void append_texts(DBusMessageIter *dictionary, const char *name, const char *const *texts, int count) {
    DBusMessageIter entry, variant, array;
    open_entry(dictionary, &entry, name);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "as", &variant);
    dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "s", &array);
    for (int index = 0; index < count; index++)
        dbus_message_iter_append_basic(&array, DBUS_TYPE_STRING, &texts[index]);
    dbus_message_iter_close_container(&variant, &array);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(dictionary, &entry);
}

// A company's data, another one each time.
static void append_manufacturer(DBusMessageIter *dictionary, unsigned number) {
    DBusMessageIter entry, variant, companies, company, bytes, array;
    unsigned char data[12] = {
        (unsigned char)number, (unsigned char)(number >> 8), (unsigned char)(number >> 16), 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const unsigned char *start = data;
    dbus_uint16_t identifier = 0xFFFF;
    open_entry(dictionary, &entry, "ManufacturerData");
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "a{qv}", &variant);
    dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "{qv}", &companies);
    dbus_message_iter_open_container(&companies, DBUS_TYPE_DICT_ENTRY, NULL, &company);
    dbus_message_iter_append_basic(&company, DBUS_TYPE_UINT16, &identifier);
    dbus_message_iter_open_container(&company, DBUS_TYPE_VARIANT, "ay", &bytes);
    dbus_message_iter_open_container(&bytes, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &start, sizeof data);
    dbus_message_iter_close_container(&bytes, &array);
    dbus_message_iter_close_container(&company, &bytes);
    dbus_message_iter_close_container(&companies, &company);
    dbus_message_iter_close_container(&variant, &companies);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(dictionary, &entry);
}

// MARK: Objects

static void device_path(char path[64], unsigned number) {
    snprintf(path, 64, ADAPTER "/dev_C1_00_%02X_%02X_%02X_01", number >> 16 & 255, number >> 8 & 255, number & 255);
}

static void append_device(DBusMessageIter *values, const char *path, int is_connected) {
    char address[18];
    const char *digits = strstr(path, "/dev_") + 5;
    const char *uuids[] = {"0000180d-0000-1000-8000-00805f9b34fb"};
    snprintf(address, sizeof address, "%.17s", digits);
    for (char *mark = address; *mark; mark++) if (*mark == '_') *mark = ':';
    append_text(values, "Address", address);
    append_text(values, "AddressType", "random");
    append_text(values, "Name", "Sensor");
    append_text(values, "Alias", "Sensor");
    append_path(values, "Adapter", ADAPTER);
    append_flag(values, "Connected", is_connected);
    append_flag(values, "ServicesResolved", is_connected);
    append_flag(values, "Paired", 0);
    append_flag(values, "Bonded", 0);
    append_flag(values, "Trusted", 0);
    append_flag(values, "Blocked", 0);
    append_flag(values, "LegacyPairing", 0);
    append_texts(values, "UUIDs", uuids, 1);
    if (!is_connected) append_manufacturer(values, 0);
}

typedef void (*append_values)(DBusMessageIter *values, const char *path);

static void append_adapter(DBusMessageIter *values, const char *path) {
    (void)path;
    const char *roles[] = {"central", "peripheral"};
    append_text(values, "Address", "00:11:22:33:44:55");
    append_text(values, "AddressType", "public");
    append_flag(values, "Powered", 1);
    append_flag(values, "Discovering", 0);
    append_texts(values, "Roles", roles, 2);
}

static void append_connected(DBusMessageIter *values, const char *path) { append_device(values, path, 1); }

static void append_advertiser(DBusMessageIter *values, const char *path) { append_device(values, path, 0); }

static void append_service(DBusMessageIter *values, const char *path) {
    (void)path;
    append_text(values, "UUID", "0000180d-0000-1000-8000-00805f9b34fb");
    append_path(values, "Device", DEVICE);
    append_flag(values, "Primary", 1);
}

static void append_characteristic(DBusMessageIter *values, const char *path) {
    (void)path;
    const char *flags[] = {"read", "write", "write-without-response", "notify"};
    dbus_uint16_t mtu = 517;
    append_text(values, "UUID", "00002a37-0000-1000-8000-00805f9b34fb");
    append_path(values, "Service", SERVICE);
    append_texts(values, "Flags", flags, 4);
    append_flag(values, "Notifying", 0);
    append_flag(values, "NotifyAcquired", 0);
    append_basic(values, "MTU", DBUS_TYPE_UINT16, &mtu);
}

static void append_object(DBusMessageIter *objects, const char *path, const char *interface, append_values append) {
    DBusMessageIter entry, interfaces, pair, values;
    dbus_message_iter_open_container(objects, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_OBJECT_PATH, &path);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_ARRAY, "{sa{sv}}", &interfaces);
    open_entry(&interfaces, &pair, interface);
    dbus_message_iter_open_container(&pair, DBUS_TYPE_ARRAY, "{sv}", &values);
    append(&values, path);
    dbus_message_iter_close_container(&pair, &values);
    dbus_message_iter_close_container(&interfaces, &pair);
    dbus_message_iter_close_container(&entry, &interfaces);
    dbus_message_iter_close_container(objects, &entry);
}

static void append_objects(DBusMessage *reply) {
    DBusMessageIter iter, objects;
    char path[64];
    dbus_message_iter_init_append(reply, &iter);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}", &objects);
    append_object(&objects, ADAPTER, "org.bluez.Adapter1", append_adapter);
    append_object(&objects, DEVICE, "org.bluez.Device1", append_connected);
    append_object(&objects, SERVICE, "org.bluez.GattService1", append_service);
    append_object(&objects, BUS_PATH, BUS_INTERFACE, append_characteristic);
    for (unsigned number = 0; number < devices; number++) {
        device_path(path, number);
        append_object(&objects, path, "org.bluez.Device1", append_advertiser);
    }
    dbus_message_iter_close_container(&iter, &objects);
}

// MARK: Calls

void bluez_advertise(DBusConnection *bus, unsigned number) {
    char path[64];
    const char *interface = "org.bluez.Device1";
    dbus_int16_t rssi = (dbus_int16_t)(-90 + (int)(number % 50));
    DBusMessageIter iter, changed, removed;
    device_path(path, devices ? number % devices : 0);
    DBusMessage *signal = dbus_message_new_signal(path, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged");
    dbus_message_iter_init_append(signal, &iter);
    dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &interface);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "{sv}", &changed);
    append_basic(&changed, "RSSI", DBUS_TYPE_INT16, &rssi);
    append_manufacturer(&changed, number);
    dbus_message_iter_close_container(&iter, &changed);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "s", &removed);
    dbus_message_iter_close_container(&iter, &removed);
    dbus_connection_send(bus, signal, NULL);
    dbus_message_unref(signal);
}

static void *swallow(void *context) {
    int socket = (int)(long)context;
    char packet[512];
    while (read(socket, packet, sizeof packet) > 0) {}
    close(socket);
    return NULL;
}

static void append_socket(DBusMessage *reply) {
    int ends[2];
    pthread_t thread;
    dbus_uint16_t mtu = 517;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    dbus_message_append_args(reply, DBUS_TYPE_UNIX_FD, &ends[1], DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID);
    close(ends[1]);
    if (pthread_create(&thread, NULL, swallow, (void *)(long)ends[0]) == 0) pthread_detach(thread);
}

int bluez_notify(const unsigned char *value, size_t size) {
    if (notifications < 0) return 0;
    // Waits for the reader, where bluetoothd would drop the value.
    if (send(notifications, value, size, MSG_NOSIGNAL) == (ssize_t)size) return 1;
    close(notifications);
    notifications = -1;
    return 0;
}

static void append_notifications(DBusMessage *reply) {
    int ends[2];
    dbus_uint16_t mtu = 517;
    if (notifications >= 0) close(notifications);
    notifications = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    dbus_message_append_args(reply, DBUS_TYPE_UNIX_FD, &ends[1], DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID);
    close(ends[1]);
    notifications = ends[0];
}

int bluez_serve(DBusConnection *bus, DBusMessage *message) {
    if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_CALL) return 0;
    if (dbus_message_has_member(message, "Populate"))
        dbus_message_get_args(message, NULL, DBUS_TYPE_UINT32, &devices, DBUS_TYPE_INVALID);
    if (dbus_message_get_no_reply(message)) return 1;
    DBusMessage *reply = dbus_message_new_method_return(message);
    if (dbus_message_has_member(message, "GetManagedObjects")) append_objects(reply);
    if (dbus_message_has_member(message, "AcquireWrite")) append_socket(reply);
    if (dbus_message_has_member(message, "AcquireNotify")) append_notifications(reply);
    dbus_connection_send(bus, reply, NULL);
    dbus_message_unref(reply);
    return 1;
}
