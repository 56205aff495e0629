import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothClasses

/// A printer of the events at a served device: a line or a JSON object for each.
@MainActor
struct ServerEventPrinter {
    let console: Console
    let name: String

    func published(_ services: [CBUUID]) {
        let list = services.map { AttributeText.label($0) }.joined(separator: ", ")
        console.show(
            ["event": "published", "name": name, "services": services.map(\.uuidString)],
            ["Published \"\(PrintableText.of(name))\": \(list.isEmpty ? "no services" : list)"])
    }

    func advertising(_ content: AdvertisedContent) {
        let data = content.serviceData.map { ($0.key.uuidString, HexText.of($0.value)) }.sorted { $0.0 < $1.0 }
        let manufacturerData = content.manufacturerData.map(HexText.of)
        let parts =
            content.services.map { AttributeText.label($0) }
            + data.map { "data of \(AttributeText.label($0)) \($1)" }
            + (manufacturerData.map { ["manufacturer data \($0)"] } ?? [])
        let list = parts.isEmpty ? "" : " with " + parts.joined(separator: ", ")
        console.show(
            [
                "event": "advertising", "name": content.name,
                "services": content.services.isEmpty ? nil : content.services.map(\.uuidString),
                "manufacturerData": manufacturerData, "serviceData": data.isEmpty ? nil : Dictionary(data) { $1 },
            ], ["Advertising" + (content.name.map { " as \"\(PrintableText.of($0))\"" } ?? "") + list])
    }

    /// Prints an event of a device of profiles.
    func show(_ event: PeripheralServer.Event) {
        switch event {
        case .published(let services): published(services.map(\.uuid))
        case .advertising(let services): advertising(AdvertisedContent(name: name, services: services))
        default: request(event)
        }
    }

    /// Prints that a central reads, writes, or changes a subscription, or that a value is sent.
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
        let who = central?.uuidString ?? "all subscribers"
        var line = "\(PrintableText.fitted(event, to: 11))  \(who)  \(AttributeText.label(id.uuid))"
        if offset != 0 { line += " at \(offset)" }
        if let value { line += ": " + console.palette.value(AttributeText.value(value, of: id.uuid)) }
        if let error { line += ", refused with ATT error 0x" + Decimals.hex(error.code.rawValue, width: 2) }
        console.show(
            [
                "event": event, "central": central?.uuidString, "service": id.service.uuid.uuidString,
                "characteristic": id.uuid.uuidString, "offset": offset == 0 ? nil : offset,
                "value": value.map(HexText.of), "error": error?.code.rawValue,
            ], [line])
    }

    func listening(_ psm: CBL2CAPPSM) {
        console.show(["event": "listening", "psm": psm], ["Listening for channels at number \(psm)"])
    }

    /// Prints that a central opened a channel, or, with the received bytes, that the channel is closed.
    func channel(_ event: String, _ channel: ByteChannel, bytes: Int? = nil) {
        let central = channel.peer.uuidString
        let amount = bytes.map { " after \($0) bytes" } ?? ""
        console.show(
            ["event": event, "central": central, "psm": channel.psm, "bytes": bytes],
            ["\(PrintableText.fitted(event, to: 11))  \(central)  number \(channel.psm)\(amount)"])
    }
}
