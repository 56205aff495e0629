import BluetoothProfiles
import CoreBluetoothPackage

/// Prints what happens at a simulated device: a line or a JSON object each, as for a device of a file.
@MainActor
struct SimulationEventPrinter {
    let console: Console
    let backend: String?
    let name: String

    func show(_ event: SimulatedDevice.Event) {
        switch event {
        case .published(let services):
            var record = ServeRecord("published", backend: backend)
            record.name = name
            record.services = services.map(\.uuidString)
            show(record, "Published \"\(name)\": \(services.map { AttributeText.label($0) }.joined(separator: ", "))")
        case .advertising(let services):
            var record = ServeRecord("advertising", backend: backend)
            record.name = name
            record.services = services.map(\.uuidString)
            let list = services.map { AttributeText.label($0) }.joined(separator: ", ")
            show(record, "Advertising as \"\(name)\" with \(list)")
        case .read(let central, let service, let uuid, let value, let error):
            request("read", central, service, uuid, value, error)
        case .wrote(let central, let service, let uuid, let value, let error):
            request("write", central, service, uuid, value, error)
        case .subscribed(let central, let service, let uuid): request("subscribe", central, service, uuid, nil, nil)
        case .unsubscribed(let central, let service, let uuid): request("unsubscribe", central, service, uuid, nil, nil)
        case .notified(let service, let uuid, let value): request("notify", nil, service, uuid, value, nil)
        case .failed(let error): console.note("\(error)")
        case .stateChanged: break
        }
    }

    private func request(
        _ event: String, _ central: UUID?, _ service: CBUUID, _ uuid: CBUUID, _ value: Data?,
        _ error: CBATTError.Code?
    ) {
        var record = ServeRecord(event, backend: backend)
        record.central = central?.uuidString
        record.service = service.uuidString
        record.characteristic = uuid.uuidString
        record.value = value.map(HexText.of)
        record.error = error?.rawValue
        let who = central?.uuidString ?? "all subscribers"
        var line = "\(PrintableText.fitted(event, to: 11))  \(who)  \(AttributeText.label(uuid))"
        if let value { line += ": " + console.palette.value(AttributeText.value(value, of: uuid)) }
        if let error { line += ", refused with ATT error 0x" + Decimals.hex(error.rawValue, width: 2) }
        show(record, line)
    }

    private func show(_ record: ServeRecord, _ line: String) {
        if console.isJSON { console.print(json: record) } else { console.print(line) }
    }
}
