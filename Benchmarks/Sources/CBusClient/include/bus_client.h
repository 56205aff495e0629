// What the D-Bus client in Swift is measured against: a private bus, a service on it in a process of its own, and a
// client written with libdbus.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// The service: `Read(a{sv}) -> ay` gives 20 bytes; `Emit(u count, u perSecond)` sends PropertiesChanged signals with a
// value of 20 bytes, as fast as it can where perSecond is 0, or packets on the socket of `AcquireNotify`. It is `org.bluez` too, with the characteristic of a device
// that is connected, and as many others as `Populate(u)` says; `EmitAdvertisements(u count, u perSecond)` is of those.
#define BUS_SERVICE "org.example.Benchmark"
#define BUS_PATH "/org/bluez/hci0/dev_C0_00_00_00_00_01/service0010/char0011"
#define BUS_INTERFACE "org.bluez.GattCharacteristic1"

// Starts a bus of its own that ends with this process. Writes its address. Returns its process, or -1.
pid_t bus_start_daemon(char *address, size_t size);

// Starts the service on a bus, in a process that ends with this one, and waits until it has its name.
// Returns its process, or -1.
pid_t bus_start_service(const char *address);

typedef struct bus_client bus_client;

// Connects. Returns NULL where the bus refuses.
bus_client *bus_client_open(const char *address);
void bus_client_close(bus_client *client);

// Calls `Read` so many times, with so many calls in flight, and decodes each reply. Returns the bytes received, or -1.
long bus_client_call(bus_client *client, int count, int in_flight);

// Sets how many devices the service shows beside the connected one. Returns whether it has answered.
int bus_client_populate(bus_client *client, unsigned devices);

// Has the service send so many advertisements, and does not wait for them.
void bus_client_advertise(bus_client *client, int count, int per_second);

// Has the service send so many values of the characteristic, and does not wait for them.
void bus_client_notify(bus_client *client, int count, int per_second);

// Gets the characteristic's socket for write commands, and writes so many packets of 20 bytes. Returns 0 where it fails.
int bus_client_write(bus_client *client, int count);

// Has the service send so many signals and decodes each. Returns the bytes received, or -1.
long bus_client_listen(bus_client *client, int count, int per_second);
