import AsyncBluetooth
import CoreBluetoothPackage

/// A device in short, as JSON.
struct InfoRecord: Encodable, Equatable {
    let identifier: String
    let address: String?
    let name: String?
    var isPaired = false
    /// dBm.
    var rssi: Int?
    let mtu: Int
    /// How many bytes a write without response takes.
    let maximumWriteLength: Int
    var services: [String] = []
    /// The values of Device Information and Battery, by the names of their characteristics.
    var information: [String: String] = [:]
    /// Only where the radio is not a real one.
    let backend: String?

    /// One line for each.
    var lines: [String] {
        var lines = [("Name", name), ("Address", address), ("Identifier", identifier)].compactMap { title, value in
            value.map { (title, $0) }
        }
        lines.append(("Paired", isPaired ? "yes" : "no"))
        if let rssi { lines.append(("RSSI", "\(rssi) dBm")) }
        lines.append(("MTU", "\(mtu), writes of \(maximumWriteLength) without response"))
        lines.append(("Services", services.map { AttributeText.label($0) }.joined(separator: ", ")))
        lines += information.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let width = lines.map { PrintableText.columns($0.0) }.max() ?? 0
        return lines.map { PrintableText.fitted($0, to: width) + "  " + PrintableText.of($1) }
    }
}

extension InfoRecord {
    /// What is known without asking the device.
    init(_ peripheral: Peripheral, maximumWriteLength: Int, backend: String?) {
        identifier = peripheral.identifier.uuidString
        address = peripheral.address
        name = peripheral.name
        mtu = peripheral.mtuLength
        self.maximumWriteLength = maximumWriteLength
        self.backend = backend
    }
}
