#if Emulator
import BluetoothProfiles
import CoreBluetoothPackage

/// Prints what happens at a device that is served: a line or a JSON object each.
@MainActor
struct ServerEventPrinter {
    private let console: Console
    private let backend: String?

    init(_ console: Console, backend: String?) {
        self.console = console
        self.backend = backend
    }

    /// The services are there.
    func published(_ device: ServedDevice) {
        var record = ServeRecord("published", backend: backend)
        record.name = device.name
        record.services = device.services.map(\.uuid.uuidString)
        let list = device.services.map { AttributeText.label($0.uuid) }.joined(separator: ", ")
        show(record, "Published \"\(PrintableText.of(device.name))\": \(list.isEmpty ? "no services" : list)")
    }

    /// A central reads or writes.
    func request(_ event: String, _ request: CBATTRequest, value: Data? = nil, error: CBATTError.Code? = nil) {
        var record = record(event, request.central, request.characteristic)
        record.offset = request.offset == 0 ? nil : request.offset
        record.value = value.map(HexText.of)
        record.error = error?.rawValue
        var line = line(event, request.central, request.characteristic)
        if request.offset != 0 { line += " at \(request.offset)" }
        if let value {
            line += ": " + console.palette.value(AttributeText.value(value, of: request.characteristic.uuid))
        }
        if let error { line += ", refused with ATT error 0x" + Decimals.hex(error.rawValue, width: 2) }
        show(record, line)
    }

    /// A central subscribes, or does no longer.
    func subscription(_ central: CBCentral, _ characteristic: CBCharacteristic, isSubscribed: Bool) {
        let event = isSubscribed ? "subscribe" : "unsubscribe"
        show(record(event, central, characteristic), line(event, central, characteristic))
    }

    /// A value goes to a subscriber, or to all.
    func notification(_ characteristic: CBMutableCharacteristic, _ value: Data, to central: CBCentral?) {
        var record = record("notify", central, characteristic)
        record.value = HexText.of(value)
        let text = console.palette.value(AttributeText.value(value, of: characteristic.uuid))
        show(record, line("notify", central, characteristic) + ": " + text)
    }

    /// Centrals may open a channel.
    func listening(_ psm: CBL2CAPPSM) {
        var record = ServeRecord("listening", backend: backend)
        record.psm = psm
        show(record, "Listening for channels at number \(psm)")
    }

    /// A central opened a channel, or the channel is no more.
    func channel(_ event: String, _ channel: CBL2CAPChannel, bytes: Int?) {
        var record = ServeRecord(event, backend: backend)
        record.central = channel.peer?.identifier.uuidString
        record.psm = channel.psm
        record.bytes = bytes
        let who = channel.peer?.identifier.uuidString ?? "somebody"
        let amount = bytes.map { " after \($0) bytes" } ?? ""
        show(record, "\(PrintableText.fitted(event, to: 11))  \(who)  number \(channel.psm)\(amount)")
    }

    private func record(_ event: String, _ central: CBCentral?, _ characteristic: CBCharacteristic) -> ServeRecord {
        var record = ServeRecord(event, backend: backend)
        record.central = central?.identifier.uuidString
        record.service = characteristic.service?.uuid.uuidString
        record.characteristic = characteristic.uuid.uuidString
        return record
    }

    private func line(_ event: String, _ central: CBCentral?, _ characteristic: CBCharacteristic) -> String {
        let who = central?.identifier.uuidString ?? "all subscribers"
        return "\(PrintableText.fitted(event, to: 11))  \(who)  \(AttributeText.label(characteristic.uuid))"
    }

    private func show(_ record: ServeRecord, _ line: String) {
        if console.isJSON { console.print(json: record) } else { console.print(line) }
    }
}
#endif
