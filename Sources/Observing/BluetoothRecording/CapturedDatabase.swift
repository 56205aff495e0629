import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The attributes of a captured device, by handle.
struct CapturedDatabase: Sendable {
    private typealias Client = CapturedClient

    /// The link under which a recorder stores the attributes, because handles are the same on all links.
    private static let link = 0
    /// The types of declarations, which are not descriptors.
    private static let declarations: Set<UInt16> = [0x2800, 0x2801, 0x2802, 0x2803]

    /// The services, whose last handles no record contains.
    private var services: [CapturedClient.Service] = []
    private var attributes = AttributeDirectory()
    /// The number of requests and notifications with other handles.
    private(set) var unknownCount = 0

    private func id(_ handle: UInt16) -> AttributeID { AttributeID(rawValue: UInt32(handle)) }

    private func record(at handle: UInt16) -> AttributeRecord? { attributes[id(handle)]?.record }

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
        add(.services(found.map { record(of: $0, isPrimary: isPrimary) }), of: nil, to: &recorder)
    }

    /// Adds attributes to the recording, too.
    private mutating func add(_ found: LinkResponse, of parent: UInt16?, to recorder: inout DeviceRecorder) {
        let parent = parent.map(id)
        attributes.apply(found, of: parent)
        recorder.discover { $0.apply(found, of: parent, on: Self.link) }
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
        add(.services([record]), of: parent.handles.lowerBound, to: &recorder)
    }

    private mutating func add(_ found: [TappedCharacteristic], to recorder: inout DeviceRecorder) {
        for characteristic in found {
            guard let service = service(at: characteristic.declarationHandle) else { continue }
            let record = CharacteristicRecord(
                id: id(characteristic.valueHandle), uuid: characteristic.uuid, properties: characteristic.properties,
                handle: characteristic.valueHandle)
            add(.characteristics([record]), of: service.handles.lowerBound, to: &recorder)
        }
    }

    private mutating func add(_ found: [ATTPDU.HandleAndUUID], to recorder: inout DeviceRecorder) {
        for entry in found {
            let isDeclaration = entry.uuid.bits16.map { Self.declarations.contains($0) } ?? false
            guard !isDeclaration, record(at: entry.handle)?.characteristic == nil,
                let service = service(at: entry.handle),
                let known = attributes[id(service.handles.lowerBound)]?.children,
                let characteristic = known.last(where: { $0 < id(entry.handle) })
            else { continue }
            let record = DescriptorRecord(id: id(entry.handle), uuid: entry.uuid, handle: entry.handle)
            add(.descriptors([record]), of: UInt16(characteristic.rawValue), to: &recorder)
        }
    }

    // MARK: Values

    /// The characteristic whose Client Characteristic Configuration has a handle; nil for other attributes.
    private func characteristic(configuredAt handle: UInt16) -> UInt16? {
        guard let entry = attributes[id(handle)], entry.record.descriptor?.uuid.bits16 == 0x2902 else { return nil }
        return entry.parent.map { UInt16($0.rawValue) }
    }

    private mutating func isKnown(_ handle: UInt16) -> Bool {
        if let record = record(at: handle), record.service == nil, characteristic(configuredAt: handle) == nil {
            return true
        }
        unknownCount += 1
        return false
    }

    private mutating func read(_ handle: UInt16, _ answer: CapturedClient.Answer, _ recorder: inout DeviceRecorder) {
        // A configuration belongs to the link, not to the device.
        if characteristic(configuredAt: handle) != nil { return }
        guard isKnown(handle) else { return }
        if record(at: handle)?.uuid.bits16 == 0x2A00, answer.error == nil {
            recorder.identify(name: String(decoding: answer.value, as: UTF8.self), address: nil)
        }
        recorder.answered(.read, name(handle), answer.result, sentAt: answer.sentAt, duration: answer.duration)
    }

    private mutating func written(
        _ handle: UInt16, _ value: Data, from offset: UInt16, _ answer: CapturedClient.Answer,
        _ recorder: inout DeviceRecorder
    ) {
        if let characteristic = characteristic(configuredAt: handle) {
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
