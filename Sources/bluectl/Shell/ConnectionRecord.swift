import AsyncBluetooth
import Foundation

/// What became of a connection, as JSON.
struct ConnectionRecord: Encodable, Equatable {
    /// `connected`, `disconnected`.
    let event: String
    let identifier: String
    let address: String?
    let name: String?
    /// Only where the radio is not a real one.
    let backend: String?

    init(_ event: String, _ peripheral: Peripheral, backend: String?) {
        self.event = event
        identifier = peripheral.identifier.uuidString
        address = peripheral.address
        name = peripheral.name
        self.backend = backend
    }
}

extension CentralRole {
    /// Prints what became of a connection.
    func show(_ record: ConnectionRecord) {
        guard !console.isJSON else { return console.print(json: record) }
        let place = record.address.map { " (\($0))" } ?? ""
        let name = record.name.map(PrintableText.of) ?? record.identifier
        console.print((record.event == "connected" ? "Connected to " : "Disconnected from ") + name + place)
    }
}
