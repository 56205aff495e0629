import Foundation

/// Something that happens on the radio, as `monitor` tells it.
struct MonitorRecord: Encodable, Equatable {
    /// When it was heard of, ISO 8601 in UTC.
    let time: String
    /// `state`, `discovered`, `connected`, `disconnected`.
    let event: String
    /// The state, for that event.
    var state: String?
    var identifier: String?
    var address: String?
    var name: String?
    var rssi: Int?
    var services: [String]?
    var manufacturerData: String?
    let backend: String

    /// A state of the radio.
    init(state: String, at date: Date, backend: String) {
        time = Self.text(date)
        event = "state"
        self.state = state
        self.backend = backend
    }

    /// An event of a device.
    init(_ event: String, _ device: DeviceRecord, at date: Date, backend: String) {
        let record = ScanRecord(device, backend: backend)
        time = Self.text(date)
        self.event = event
        identifier = record.identifier
        address = record.address
        name = record.name
        rssi = record.rssi
        services = record.services
        manufacturerData = record.manufacturerData
        self.backend = backend
    }

    /// Time, event, and what is known, separated by tabs: the state, or identifier, address, RSSI, name, services.
    var line: String {
        if let state { return [time, event, state].joined(separator: "\t") }
        let services = (services ?? []).map { AttributeText.label($0) }.joined(separator: ", ")
        let fields = [
            identifier, address, rssi.map(String.init), name.map(PrintableText.of), services.isEmpty ? nil : services,
        ]
        return ([time, event] + fields.map { $0 ?? "-" }).joined(separator: "\t")
    }

    private static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
