import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothSupport

/// The attributes of a captured device, by handle.
struct CapturedDatabase: Sendable {
    private typealias Client = CapturedClient

    /// The link under which a recorder stores the attributes, because handles are the same on all links.
    private static let link = 0
    /// The types of declarations, which are not descriptors.
    private static let declarations: Set<UInt16> = [0x2800, 0x2801, 0x2802, 0x2803]

    private var services: [CapturedClient.Service] = []
    /// The types of characteristics, by the handle of the value.
    private var characteristics: [UInt16: BluetoothUUID] = [:]
    private var descriptors: Set<UInt16> = []
    /// The characteristics, by the handle of their Client Characteristic Configuration.
    private var configurations: [UInt16: UInt16] = [:]
    /// The number of requests and notifications with other handles.
    private(set) var unknownCount = 0

    private func id(_ handle: UInt16) -> AttributeID { AttributeID(rawValue: UInt32(handle)) }

    private func name(_ handle: UInt16) -> RecordedDatabase.Name {
        RecordedDatabase.Name(link: Self.link, id: id(handle))
    }

    /// Adds the outcome of a request.
    mutating func add(_ outcome: CapturedClient.Outcome, on link: Int, to recorder: inout DeviceRecorder) {
        switch outcome {
        case .mtu(let mtu): recorder.mtuChanged(to: mtu)
        case .services(let found, let isPrimary): add(found, isPrimary: isPrimary, to: &recorder)
        case .included(let handle, let found): add(found, includedAt: handle, to: &recorder)
        case .characteristics(let found): add(found, to: &recorder)
        case .descriptors(let found): add(found, to: &recorder)
        case .read(let handle, let answer): read(handle, answer, &recorder)
        case .written(let handle, let value, let offset, let answer):
            written(handle, value, from: offset, answer, &recorder)
        case .command(let handle, let value, let time):
            guard isKnown(handle) else { return }
            recorder.answered(.writeCommand, name(handle), written: value, .success(Data()), sentAt: time)
        case .notified(let handle, let value, let time):
            if isKnown(handle) { recorder.notified(name(handle), value, at: time) }
        }
    }

    // MARK: Discovering

    private mutating func add(_ found: [CapturedClient.Service], isPrimary: Bool, to recorder: inout DeviceRecorder) {
        for service in found { learn(service) }
        let records = found.map { record(of: $0, isPrimary: isPrimary) }
        recorder.discover { $0.add(records, on: Self.link) }
    }

    /// Adds or replaces a service, because a later discovery knows its end better.
    private mutating func learn(_ service: CapturedClient.Service) {
        services.removeAll { $0.handles.lowerBound == service.handles.lowerBound }
        services.append(service)
    }

    /// Returns the service that contains a handle; an unknown end counts as the last handle.
    private func service(at handle: UInt16) -> CapturedClient.Service? {
        services.filter { $0.handles.contains(handle) }.max { $0.handles.lowerBound < $1.handles.lowerBound }
    }

    private func record(of service: CapturedClient.Service, isPrimary: Bool) -> ServiceRecord {
        let handle = service.handles.lowerBound
        return ServiceRecord(id: id(handle), uuid: service.uuid, isPrimary: isPrimary, handle: handle)
    }

    private mutating func add(
        _ found: CapturedClient.Service, includedAt handle: UInt16, to recorder: inout DeviceRecorder
    ) {
        guard let parent = service(at: handle) else { return }
        let isPrimary = services.contains { $0.handles.lowerBound == found.handles.lowerBound }
        if !isPrimary { services.append(found) }
        let record = record(of: found, isPrimary: isPrimary)
        recorder.discover { $0.add([record], includedIn: id(parent.handles.lowerBound), on: Self.link) }
    }

    private mutating func add(_ found: [CapturedClient.Characteristic], to recorder: inout DeviceRecorder) {
        for characteristic in found {
            guard let service = service(at: characteristic.declaration) else { continue }
            characteristics[characteristic.handle] = characteristic.uuid
            let record = CharacteristicRecord(
                id: id(characteristic.handle), uuid: characteristic.uuid, properties: characteristic.properties,
                handle: characteristic.handle)
            recorder.discover { $0.add([record], of: id(service.handles.lowerBound), on: Self.link) }
        }
    }

    private mutating func add(_ found: [ATTPDU.HandleAndUUID], to recorder: inout DeviceRecorder) {
        for entry in found {
            let isDeclaration = entry.uuid.bits16.map { Self.declarations.contains($0) } ?? false
            guard !isDeclaration, characteristics[entry.handle] == nil,
                let service = service(at: entry.handle),
                let parent = characteristics.keys.filter({ $0 < entry.handle }).max(), service.handles.contains(parent)
            else { continue }
            if entry.uuid.bits16 == 0x2902 {
                configurations[entry.handle] = parent
            } else {
                descriptors.insert(entry.handle)
            }
            let record = DescriptorRecord(id: id(entry.handle), uuid: entry.uuid, handle: entry.handle)
            recorder.discover { $0.add([record], of: id(parent), on: Self.link) }
        }
    }

    // MARK: Values

    private mutating func isKnown(_ handle: UInt16) -> Bool {
        if characteristics[handle] != nil || descriptors.contains(handle) { return true }
        unknownCount += 1
        return false
    }

    private mutating func read(_ handle: UInt16, _ answer: CapturedClient.Answer, _ recorder: inout DeviceRecorder) {
        // A configuration belongs to the link, not to the device.
        guard configurations[handle] == nil, isKnown(handle) else { return }
        if characteristics[handle]?.bits16 == 0x2A00, answer.error == nil {
            recorder.identify(name: String(decoding: answer.value, as: UTF8.self), address: nil)
        }
        recorder.answered(.read, name(handle), answer.result, sentAt: answer.sentAt, duration: answer.duration)
    }

    private mutating func written(
        _ handle: UInt16, _ value: Data, from offset: UInt16, _ answer: CapturedClient.Answer,
        _ recorder: inout DeviceRecorder
    ) {
        if let characteristic = configurations[handle] {
            let isOn = value.contains { $0 != 0 }
            return recorder.answered(
                isOn ? .subscribe : .unsubscribe, name(characteristic), answer.result, sentAt: answer.sentAt,
                duration: answer.duration)
        }
        guard isKnown(handle) else { return }
        recorder.answered(
            .write, name(handle), written: value, from: offset, answer.result, sentAt: answer.sentAt,
            duration: answer.duration)
    }
}

extension CapturedClient.Answer {
    var result: Result<Data, ATTError> { error.map { .failure(ATTError($0)) } ?? .success(value) }
}
