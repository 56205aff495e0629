/// The names of well-known services and characteristics of vendors, which the Bluetooth SIG does not assign.
///
/// Source: https://github.com/NordicSemiconductor/bluetooth-numbers-database.
package enum VendorNames {
    private static let names: KeyValuePairs = [
        "6E400001-B5A3-F393-E0A9-E50E24DCCA9E": "Nordic UART Service",
        "6E400002-B5A3-F393-E0A9-E50E24DCCA9E": "UART RX Characteristic",
        "6E400003-B5A3-F393-E0A9-E50E24DCCA9E": "UART TX Characteristic",
        "00001523-1212-EFDE-1523-785FEABCD123": "Nordic LED Button Service",
        "00001524-1212-EFDE-1523-785FEABCD123": "Button State",
        "00001525-1212-EFDE-1523-785FEABCD123": "LED State",
    ]

    /// All names.
    package static var attributeNames: [String] { names.map(\.value) }

    /// The name of a service or a characteristic.
    ///
    /// - Parameter uuid: 36 characters, in upper case.
    package static func attribute(_ uuid: String) -> String? { names.first { $0.key == uuid }?.value }
}
