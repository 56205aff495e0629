// KDE's BluezQt: finds the adapters, connects to a device, switches the adapter off. argv[1]: the address of the device.
#include <BluezQt/Adapter>
#include <BluezQt/Device>
#include <BluezQt/InitManagerJob>
#include <BluezQt/Manager>
#include <BluezQt/PendingCall>
#include <QCoreApplication>
#include <QTimer>
#include <cstdio>

using namespace BluezQt;

static void finish(const char *name, PendingCall *call)
{
    call->waitForFinished();
    printf("%s %d %s\n", name, call->error(), qPrintable(call->errorText()));
    fflush(stdout);
}

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    Manager manager;
    InitManagerJob *job = manager.init();
    job->exec();
    printf("init %d adapters %d\n", job->error(), int(manager.adapters().size()));
    if (!manager.isOperational() || !manager.usableAdapter())
        return 1;
    AdapterPtr adapter = manager.usableAdapter();
    finish("discover", adapter->startDiscovery());
    QObject::connect(adapter.data(), &Adapter::deviceAdded, [&](DevicePtr device) {
        if (device->address() != QLatin1String(arguments[1]))
            return;
        finish("connect", device->connectToDevice());
        finish("disconnect", device->disconnectFromDevice());
        finish("off", adapter->setPowered(false));
        application.quit();
    });
    QTimer::singleShot(15000, [&] { application.exit(1); });
    return application.exec();
}
