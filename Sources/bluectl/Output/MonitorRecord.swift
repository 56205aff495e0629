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
    var company: String?
    var serviceData: [String: String]?
    var txPower: Int?
    var isConnectable: Bool?
    var values: [AdvertisedValueRecord]?
    /// What else is advertised; for people only.
    private var details = ""
    let backend: String

    /// A state of the radio.
    init(state: String, at date: Date, backend: String) {
        time = TimeText.of(date)
        event = "state"
        self.state = state
        self.backend = backend
    }

    /// An event of a device.
    init(_ event: String, _ device: DeviceRecord, at date: Date, backend: String) {
        let record = ScanRecord(device, backend: backend)
        time = TimeText.of(date)
        self.event = event
        identifier = record.identifier
        address = record.address
        name = record.name
        rssi = record.rssi
        services = record.services
        manufacturerData = record.manufacturerData
        company = record.company
        serviceData = record.serviceData
        txPower = record.txPower
        isConnectable = record.isConnectable
        values = record.values
        details = AdvertisementText.details(of: device)
        self.backend = backend
    }

    private enum CodingKeys: String, CodingKey {
        case time, event, state, identifier, address, name, rssi, services, manufacturerData, company, serviceData
        case txPower, isConnectable, values, backend
    }

    /// Time, event, and what is known, separated by tabs: the state, or identifier, address, RSSI, name, services, and
    /// what else is advertised, where there is something.
    var line: String {
        if let state { return [time, event, state].joined(separator: "\t") }
        let services = (services ?? []).map { AttributeText.label($0) }.joined(separator: ", ")
        let fields = [
            identifier, address, rssi.map(String.init), name.map(PrintableText.of), services.isEmpty ? nil : services,
        ]
        return ([time, event] + fields.map { $0 ?? "-" } + (details.isEmpty ? [] : [details])).joined(separator: "\t")
    }
}
