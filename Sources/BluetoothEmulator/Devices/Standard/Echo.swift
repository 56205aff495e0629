import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device that stores, returns and notifies what is written to it.
    public static let echo = PeripheralDescription(
        name: "Echo", address: "C0:DE:00:00:EC:40",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(localName: "Echo"),
                scanResponse: AdvertisingData(services: ["0000EC40-7A3D-4C5B-9E1F-2B6A8D4C0F01"]))
        ],
        services: [
            ServiceDescription(
                "0000EC40-7A3D-4C5B-9E1F-2B6A8D4C0F01",
                characteristics: [
                    CharacteristicDescription(
                        "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01", [.read, .write, .writeWithoutResponse, .notify],
                        echo: true)
                ])
        ])
}
