import AsyncBluetooth
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
            record.services = services.map(\.uuid.uuidString)
            let list = services.map { AttributeText.label($0.uuid) }.joined(separator: ", ")
            show(record, "Published \"\(name)\": \(list)")
        case .advertising(let services):
            var record = ServeRecord("advertising", backend: backend)
            record.name = name
            record.services = services.map(\.uuidString)
            let list = services.map { AttributeText.label($0) }.joined(separator: ", ")
            show(record, "Advertising as \"\(name)\" with \(list)")
        case .read(let central, let id, .success(let value)): request("read", central, id, value)
        case .read(let central, let id, .failure(let error)): request("read", central, id, nil, error)
        case .wrote(let write, let id, let error): request("write", write.central, id, write.value, error)
        case .subscribed(let central, let id): request("subscribe", central, id)
        case .unsubscribed(let central, let id): request("unsubscribe", central, id)
        case .notified(let id, let value): request("notify", nil, id, value)
        case .failed(let error): console.note("\(error)")
        case .stateChanged(let state): if state != .poweredOn { console.note("the adapter is \(state)") }
        }
    }

    private func request(
        _ event: String, _ central: RemoteCentral?, _ id: CharacteristicID, _ value: Data? = nil,
        _ error: CBATTError? = nil
    ) {
        var record = ServeRecord(event, backend: backend)
        record.central = central?.identifier.uuidString
        record.service = id.service.uuid.uuidString
        record.characteristic = id.uuid.uuidString
        record.value = value.map(HexText.of)
        record.error = error?.code.rawValue
        let who = central?.identifier.uuidString ?? "all subscribers"
        var line = "\(PrintableText.fitted(event, to: 11))  \(who)  \(AttributeText.label(id.uuid))"
        if let value { line += ": " + console.palette.value(AttributeText.value(value, of: id.uuid)) }
        if let error { line += ", refused with ATT error 0x" + Decimals.hex(error.code.rawValue, width: 2) }
        show(record, line)
    }

    private func show(_ record: ServeRecord, _ line: String) {
        if console.isJSON { console.print(json: record) } else { console.print(line) }
    }
}
