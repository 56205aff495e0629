#if os(Linux)
import BluetoothEmulator

extension PeripheralDescription {
    /// A device that advertises the name "Box".
    static func box(
        continuesWhileConnected: Bool = false, services: [ServiceDescription] = [], channels: [ChannelDescription] = []
    ) -> PeripheralDescription {
        PeripheralDescription(
            name: "Box", address: "C0:DE:00:00:00:01",
            advertising: [
                AdvertisingDescription(
                    AdvertisingData(localName: "Box"), continuesWhileConnected: continuesWhileConnected)
            ],
            services: services, channels: channels)
    }
}
#endif
