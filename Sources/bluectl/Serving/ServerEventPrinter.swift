import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothPackage

/// Prints what happens at a device that is served: a line or a JSON object each.
@MainActor
struct ServerEventPrinter {
    let console: Console
    let backend: String?
    /// The device's name.
    let name: String

    /// The services are published.
    func published(_ services: [CBUUID]) {
        var record = ServeRecord("published", backend: backend)
        record.name = name
        record.services = services.map(\.uuidString)
        let list = services.map { AttributeText.label($0) }.joined(separator: ", ")
        show(record, "Published \"\(PrintableText.of(name))\": \(list.isEmpty ? "no services" : list)")
    }

    /// The device advertises.
    func advertising(_ content: AdvertisedContent) {
        let data = content.serviceData.map { ($0.key.uuidString, HexText.of($0.value)) }.sorted { $0.0 < $1.0 }
        var record = ServeRecord("advertising", backend: backend)
        record.name = content.name
        if !content.services.isEmpty { record.services = content.services.map(\.uuidString) }
        record.manufacturerData = content.manufacturerData.map(HexText.of)
        if !data.isEmpty { record.serviceData = Dictionary(data) { $1 } }
        let parts =
            content.services.map { AttributeText.label($0) }
            + data.map { "data of \(AttributeText.label($0)) \($1)" }
            + (content.manufacturerData.map { ["manufacturer data \(HexText.of($0))"] } ?? [])
        let list = parts.isEmpty ? "" : " with " + parts.joined(separator: ", ")
        show(record, "Advertising" + (content.name.map { " as \"\(PrintableText.of($0))\"" } ?? "") + list)
    }

    /// An event of a device of profiles.
    func show(_ event: PeripheralServer.Event) {
        switch event {
        case .published(let services): published(services.map(\.uuid))
        case .advertising(let services): advertising(AdvertisedContent(name: name, services: services))
        default: request(event)
        }
    }

    /// A central reads, writes, or changes a subscription, or a value is sent.
    func request(_ event: PeripheralServer.Event) {
        switch event {
        case .read(let central, let id, let offset, .success(let value)):
            show("read", central.identifier, id, offset: offset, value: value)
        case .read(let central, let id, let offset, .failure(let error)):
            show("read", central.identifier, id, offset: offset, error: error)
        case .wrote(let write, let id, let error):
            show("write", write.central.identifier, id, offset: write.offset, value: write.value, error: error)
        case .subscribed(let central, let id): show("subscribe", central.identifier, id)
        case .unsubscribed(let central, let id): show("unsubscribe", central.identifier, id)
        case .notified(let id, let value, let receivers): show("notify", receivers?.first, id, value: value)
        case .failed(let error): console.warn(PrintableText.of("\(error)"))
        case .stateChanged, .published, .advertising: break
        }
    }

    private func show(
        _ event: String, _ central: UUID?, _ id: CharacteristicID, offset: Int = 0, value: Data? = nil,
        error: CBATTError? = nil
    ) {
        var record = ServeRecord(event, backend: backend)
        record.central = central?.uuidString
        record.request = ServeRecord.Request(
            service: id.service.uuid.uuidString, characteristic: id.uuid.uuidString, offset: offset == 0 ? nil : offset,
            value: value.map(HexText.of), error: error?.code.rawValue)
        let who = central?.uuidString ?? "all subscribers"
        var line = "\(PrintableText.fitted(event, to: 11))  \(who)  \(AttributeText.label(id.uuid))"
        if offset != 0 { line += " at \(offset)" }
        if let value { line += ": " + console.palette.value(AttributeText.value(value, of: id.uuid)) }
        if let error { line += ", refused with ATT error 0x" + Decimals.hex(error.code.rawValue, width: 2) }
        show(record, line)
    }

    /// Centrals may open a channel.
    func listening(_ psm: CBL2CAPPSM) {
        var record = ServeRecord("listening", backend: backend)
        record.psm = psm
        show(record, "Listening for channels at number \(psm)")
    }

    /// A central opened a channel, or, with the bytes that came, the channel is closed.
    func channel(_ event: String, _ channel: ByteChannel, bytes: Int? = nil) {
        var record = ServeRecord(event, backend: backend)
        record.central = channel.peer.uuidString
        record.psm = channel.psm
        record.bytes = bytes
        let amount = bytes.map { " after \($0) bytes" } ?? ""
        show(
            record, "\(PrintableText.fitted(event, to: 11))  \(channel.peer.uuidString)  number \(channel.psm)\(amount)"
        )
    }

    private func show(_ record: ServeRecord, _ line: String) {
        if console.isJSON { console.print(json: record) } else { console.print(line) }
    }
}

/// Something that happens at a device that is served, as JSON.
///
/// Fields without a value are left out.
struct ServeRecord: Encodable, Equatable {
    /// `published`, `listening`, `advertising`, `read`, `write`, `subscribe`, `unsubscribe`, `notify`, `channel open`,
    /// `channel end`.
    var event: String
    var name: String?
    var services: [String]?
    /// Further contents of the advertisement.
    var manufacturerData: String?
    var serviceData: [String: String]?
    /// The identifier of the central.
    var central: String?
    /// A request of a central; its fields are those of the record.
    var request: Request?
    /// The number of a channel.
    var psm: UInt16?
    /// The number of bytes received over a channel.
    var bytes: Int?
    /// "emulator" if the device is emulated; otherwise nil.
    var backend: String?

    init(_ event: String, backend: String?) {
        self.event = event
        self.backend = backend
    }

    /// A request of a central, or a notification.
    struct Request: Encodable, Equatable {
        let service: String
        let characteristic: String
        /// The first byte asked for, where that is not 0.
        let offset: Int?
        /// The bytes that were answered, written or sent, in hex.
        let value: String?
        /// The ATT error that the central got.
        let error: Int?
    }

    private enum CodingKeys: String, CodingKey {
        case event, name, services, manufacturerData, serviceData, central, psm, bytes, backend
    }

    func encode(to encoder: any Encoder) throws {
        try request?.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event, forKey: .event)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(services, forKey: .services)
        try container.encodeIfPresent(manufacturerData, forKey: .manufacturerData)
        try container.encodeIfPresent(serviceData, forKey: .serviceData)
        try container.encodeIfPresent(central, forKey: .central)
        try container.encodeIfPresent(psm, forKey: .psm)
        try container.encodeIfPresent(bytes, forKey: .bytes)
        try container.encodeIfPresent(backend, forKey: .backend)
    }
}
