import AsyncBluetooth
import Foundation

/// What became of a bond, as JSON.
struct BondRecord: Encodable, Equatable {
    /// `paired`, `unpaired`.
    let event: String
    let identifier: String
    let address: String?
    let name: String?
    /// Whether both sides keep the keys; left out after `unpaired`.
    let isBonded: Bool?
    /// Only where the radio is not a real one.
    let backend: String?
}

extension BondRecord {
    init(_ event: String, _ peripheral: Peripheral, isBonded: Bool?, backend: String?) {
        self.event = event
        identifier = peripheral.identifier.uuidString
        address = peripheral.address
        name = peripheral.name
        self.isBonded = isBonded
        self.backend = backend
    }

    /// `Paired with Heart (F0:F1:F2:F3:F4:F5); both keep the keys`.
    var line: String {
        let label = name.map(PrintableText.of) ?? identifier
        let place = address.map { " (\($0))" } ?? ""
        guard let isBonded else { return "The bond with \(label)\(place) is removed" }
        return "Paired with \(label)\(place)" + (isBonded ? "; both keep the keys" : "; the keys are not kept")
    }
}

extension CentralRole {
    /// Prints what became of a bond.
    func show(_ record: BondRecord) {
        if console.isJSON { console.print(json: record) } else { console.print(record.line) }
    }
}
