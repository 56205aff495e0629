#define _GNU_SOURCE
#include "bluez_service.h"
#include "bus_client.h"

#include <dbus/dbus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SERVICE_ADDRESS "COREBLUETOOTH_BENCHMARK_SERVICE"

static const unsigned char value[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

pid_t bus_start_daemon(char *address, size_t size) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    char option[32];
    snprintf(option, sizeof option, "--print-address=%d", ends[1]);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork", "--nopidfile", option, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (child > 0 && length + 1 < size && (got = read(ends[0], address + length, size - 1 - length)) > 0) {
        length += (size_t)got;
        if (memchr(address, '\n', length)) break;
    }
    close(ends[0]);
    address[length] = 0;
    address[strcspn(address, "\n")] = 0;
    return length > 0 ? child : -1;
}

static void append_value(DBusMessageIter *iter) {
    DBusMessageIter array;
    const unsigned char *bytes = value;
    dbus_message_iter_open_container(iter, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, sizeof value);
    dbus_message_iter_close_container(iter, &array);
}

static void send_changed(DBusConnection *bus) {
    DBusMessage *signal = dbus_message_new_signal(BUS_PATH, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged");
    const char *interface = BUS_INTERFACE, *name = "Value";
    DBusMessageIter iter, changed, entry, variant, removed;
    dbus_message_iter_init_append(signal, &iter);
    dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &interface);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "{sv}", &changed);
    dbus_message_iter_open_container(&changed, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "ay", &variant);
    append_value(&variant);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&changed, &entry);
    dbus_message_iter_close_container(&iter, &changed);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "s", &removed);
    dbus_message_iter_close_container(&iter, &removed);
    dbus_connection_send(bus, signal, NULL);
    dbus_message_unref(signal);
}

static void emit(DBusConnection *bus, unsigned count, unsigned per_second, int advertises) {
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (unsigned sent = 0; sent < count; sent++) {
        if (advertises) bluez_advertise(bus, sent);
        else if (!bluez_notify(value, sizeof value)) send_changed(bus);
        if (per_second == 0) {
            if (sent % 64 == 63) dbus_connection_flush(bus);
            continue;
        }
        dbus_connection_flush(bus);
        next.tv_nsec += 1000000000L / per_second;
        if (next.tv_nsec >= 1000000000L) {
            next.tv_nsec -= 1000000000L;
            next.tv_sec += 1;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    dbus_connection_flush(bus);
}

static DBusHandlerResult serve(DBusConnection *bus, DBusMessage *message, void *context) {
    (void)context;
    if (dbus_message_is_method_call(message, BUS_INTERFACE, "Read")
        || dbus_message_is_method_call(message, BUS_INTERFACE, "ReadValue")) {
        DBusMessage *reply = dbus_message_new_method_return(message);
        DBusMessageIter iter;
        dbus_message_iter_init_append(reply, &iter);
        append_value(&iter);
        dbus_connection_send(bus, reply, NULL);
        dbus_message_unref(reply);
        return DBUS_HANDLER_RESULT_HANDLED;
    }
    int advertises = dbus_message_has_member(message, "EmitAdvertisements");
    if (advertises || dbus_message_is_method_call(message, BUS_INTERFACE, "Emit")) {
        dbus_uint32_t count = 0, per_second = 0;
        if (dbus_message_get_args(
                message, NULL, DBUS_TYPE_UINT32, &count, DBUS_TYPE_UINT32, &per_second, DBUS_TYPE_INVALID))
            emit(bus, count, per_second, advertises);
        return DBUS_HANDLER_RESULT_HANDLED;
    }
    return bluez_serve(bus, message) ? DBUS_HANDLER_RESULT_HANDLED : DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

// Runs before main in the service's process, which is this program again.
__attribute__((constructor)) static void run_service(void) {
    const char *address = getenv(SERVICE_ADDRESS);
    if (!address) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    DBusConnection *bus = dbus_connection_open_private(address, NULL);
    if (!bus || !dbus_bus_register(bus, NULL)) _exit(1);
    dbus_connection_add_filter(bus, serve, NULL, NULL);
    if (dbus_bus_request_name(bus, BUS_SERVICE, DBUS_NAME_FLAG_DO_NOT_QUEUE, NULL)
        != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER
        || dbus_bus_request_name(bus, "org.bluez", DBUS_NAME_FLAG_DO_NOT_QUEUE, NULL)
            != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)
        _exit(1);
    while (dbus_connection_read_write_dispatch(bus, -1)) {}
    _exit(0);
}

static int has_service(const char *address) {
    DBusConnection *bus = dbus_connection_open_private(address, NULL);
    int found = bus && dbus_bus_register(bus, NULL);
    if (found) {
        dbus_connection_set_exit_on_disconnect(bus, FALSE);
        found = 0;
        for (int tries = 0; tries < 500 && !found; tries++) {
            found = dbus_bus_name_has_owner(bus, BUS_SERVICE, NULL);
            if (!found) usleep(10000);
        }
    }
    if (bus) {
        dbus_connection_close(bus);
        dbus_connection_unref(bus);
    }
    return found;
}

pid_t bus_start_service(const char *address) {
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {"benchmark-service", NULL};
        char variable[512];
        snprintf(variable, sizeof variable, SERVICE_ADDRESS "=%s", address);
        char *environment[] = {variable, NULL};
        execve("/proc/self/exe", arguments, environment);
        _exit(127);
    }
    return child > 0 && has_service(address) ? child : -1;
}
