import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device with values, notifications, descriptors, manufacturer data and service data of no bytes at all, and with
    /// a service of no characteristics.
    ///
    /// Finds apps that take a value without bytes for no value, or the first byte without looking.
    public static let emptyValues = PeripheralDescription(
        name: "Empty Values",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(serviceData: ["FFF0": Data()], manufacturerData: Data()),
                scanResponse: AdvertisingData(localName: ""))
        ],
        services: [
            ServiceDescription("FFEF"),
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", [.read, .write, .notify], timer: .init(every: .seconds(1), values: [Data()]),
                        descriptors: [DescriptorDescription("2901", value: Data())])
                ]),
        ], handler: .emptyValues)
}
