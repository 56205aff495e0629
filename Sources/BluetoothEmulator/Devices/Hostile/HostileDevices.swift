import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// The devices that behave badly, to run an app against each of them.
    public static let hostile: [PeripheralDescription] = [
        .oddMTU, .neverAnswers, .neverDiscovered, .notifiesTooEarly, .endlessServices, .malformedValues,
        .disconnectsAtOnce, .disconnectsInDiscovery, .disconnectsInRead, .equalUUIDs, .strangeName, .emptyValues,
        .changingServices,
    ]

    /// A device that advertises its name and behaves badly.
    static func hostile(
        _ name: String, services: [ServiceDescription], maximumMTU: Int = 517, handler: BuiltInHandler
    ) -> PeripheralDescription {
        PeripheralDescription(
            name: name, advertising: [AdvertisingDescription(AdvertisingData(localName: name))], services: services,
            maximumMTU: maximumMTU, handler: handler)
    }
}

extension ServiceDescription {
    /// A service of this pack: one characteristic that is read, written and notified.
    static let plain = ServiceDescription(
        "FFF0",
        characteristics: [
            CharacteristicDescription("FFF1", [.read, .write, .writeWithoutResponse, .notify], value: Data([1, 2, 3]))
        ])
}
