import BluetoothProfiles
import CoreBluetoothPackage

/// Prints what happens at a simulated device: a line or a JSON object each, as for a device of a file.
@MainActor
struct SimulationListing {
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
        case .advertising:
            var record = ServeRecord("advertising", backend: backend)
            record.name = name
            show(record, "Advertising as \"\(name)\"")
        case .read(let central, let uuid, let value, let error): request("read", central, uuid, value, error)
        case .wrote(let central, let uuid, let value, let error): request("write", central, uuid, value, error)
        case .subscribed(let central, let uuid): request("subscribe", central, uuid, nil, nil)
        case .unsubscribed(let central, let uuid): request("unsubscribe", central, uuid, nil, nil)
        case .notified(let uuid, let value): request("notify", nil, uuid, value, nil)
        case .failed(let error): console.note("\(error)")
        case .stateChanged: break
        }
    }

    private func request(
        _ event: String, _ central: UUID?, _ uuid: CBUUID, _ value: Data?, _ error: CBATTError.Code?
    ) {
        var record = ServeRecord(event, backend: backend)
        record.central = central?.uuidString
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
