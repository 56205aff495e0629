import BluetoothBackend
package import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

extension DeviceRecording {
    /// Converts the recorded device into a plain device of a world file: with its values, regular series as timers, and
    /// errors as permissions and faults.
    ///
    /// - Returns: The device, and the parts of the recording that a plain device cannot express, as sentences for the
    ///   user.
    package func plainDevice() -> (description: PeripheralDescription, losses: [String]) {
        var conversion = PlainDevice(self)
        return (conversion.make(), conversion.losses)
    }
}

/// The conversion of a recording into a device without times and causes.
private struct PlainDevice {
    /// The largest number of values of a timer.
    private static let maximumValues = 1_000
    /// The smallest number of notifications in a series.
    private static let fewestNotifications = 4
    /// The share of pauses in a regular series that must be near the median, and the allowed difference.
    private static let regularShare = 0.8
    private static let tolerance = 0.25

    private var device: PeripheralDescription
    private var requests: [RecordedAttribute: [RecordedRequest]] = [:]
    private var notifications: [RecordedAttribute: [(time: Duration, value: Data)]] = [:]
    private(set) var losses: [String] = []

    init(_ recording: DeviceRecording) {
        device = recording.device
        for event in recording.events {
            switch event.kind {
            case .request(let request): requests[request.attribute, default: []].append(request)
            case .notified(let attribute, let value, _):
                notifications[attribute, default: []].append((event.time, value))
            case .advertised, .linkOpened, .linkClosed: break
            }
        }
    }

    mutating func make() -> PeripheralDescription {
        var counts: [RecordedAttribute: Int] = [:]
        var unread = 0
        for (number, service) in device.services.enumerated() {
            for (index, characteristic) in service.characteristics.enumerated() {
                var attribute = RecordedAttribute(service: service.uuid, characteristic: characteristic.uuid)
                let occurrence = counts[attribute, default: 0]
                counts[attribute] = occurrence + 1
                attribute.index = occurrence
                var copy = characteristic
                complete(&copy, attribute)
                if characteristic.properties.contains(.read), readValue(of: attribute) == nil { unread += 1 }
                device.services[number].characteristics[index] = copy
            }
        }
        if unread > 0 { losses.append("\(unread) readable values were not read: they are empty") }
        return device
    }

    // MARK: Values

    private func readValue(of attribute: RecordedAttribute) -> Data? {
        requests[attribute]?.first { $0.operation == .read && $0.value != nil }?.value
    }

    private mutating func complete(_ characteristic: inout CharacteristicDescription, _ attribute: RecordedAttribute) {
        if let value = readValue(of: attribute) { characteristic.value = value }
        for index in characteristic.descriptors.indices {
            var name = attribute
            name.descriptor = characteristic.descriptors[index].uuid
            if let value = readValue(of: name) { characteristic.descriptors[index].value = value }
            if error(of: .read, name) != nil { characteristic.descriptors[index].permissions = [] }
        }
        addSeries(&characteristic, attribute)
        addErrors(&characteristic, attribute)
    }

    private mutating func addSeries(_ characteristic: inout CharacteristicDescription, _ attribute: RecordedAttribute) {
        guard let all = notifications[attribute] else { return }
        let pauses = zip(all, all.dropFirst()).map { max(.zero, $1.time - $0.time) }
        guard let interval = Self.regularPause(pauses) else {
            losses.append(
                "\(all.count) values of \(attribute) came at irregular times: only a .jsonl recording plays them")
            return
        }
        characteristic.timer = CharacteristicDescription.Timer(
            every: interval, values: all.prefix(Self.maximumValues).map(\.value))
        if all.count > Self.maximumValues {
            losses.append("\(attribute) has the first \(Self.maximumValues) of \(all.count) values")
        }
    }

    /// Returns the pause of a regular series; nil if the series is irregular.
    private static func regularPause(_ pauses: [Duration]) -> Duration? {
        guard pauses.count >= fewestNotifications - 1 else { return nil }
        let median = pauses.sorted()[pauses.count / 2].inSeconds
        let near = pauses.count { abs($0.inSeconds - median) <= tolerance * median }
        guard median >= 0.001, Double(near) >= regularShare * Double(pauses.count) else { return nil }
        return .milliseconds(Int64((median * 1000).rounded()))
    }

    // MARK: Errors

    /// Returns the error with which all requests of an operation ended; nil if one succeeded.
    private func error(of operation: RecordedRequest.Operation, _ attribute: RecordedAttribute) -> ATTCode? {
        let errors = (requests[attribute] ?? []).filter { $0.operation == operation }.map(\.error)
        guard let first = errors.first ?? nil, errors.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    private mutating func addErrors(_ characteristic: inout CharacteristicDescription, _ attribute: RecordedAttribute) {
        addError(of: .read, .readEncryptionRequired, &characteristic, attribute)
        addError(of: .write, .writeEncryptionRequired, &characteristic, attribute)
        guard let code = error(of: .subscribe, attribute) else { return }
        if code.asksForEncryption {
            characteristic.properties.insert(
                characteristic.properties.contains(.notify) ? .notifyEncryptionRequired : .indicateEncryptionRequired)
        } else {
            device.faults.append(DeviceFault(.subscribe, .fail(code), of: attribute.path, count: nil))
        }
    }

    private mutating func addError(
        of operation: RecordedRequest.Operation, _ permission: AttributePermissions,
        _ characteristic: inout CharacteristicDescription, _ attribute: RecordedAttribute
    ) {
        guard let code = error(of: operation, attribute),
            let step = DeviceFault.Step(rawValue: operation.rawValue)
        else { return }
        if code.asksForEncryption {
            characteristic.permissions = characteristic.effectivePermissions.union(permission)
        } else {
            device.faults.append(DeviceFault(step, .fail(code), of: attribute.path, count: nil))
        }
    }
}

extension ATTCode {
    fileprivate var asksForEncryption: Bool { self == .insufficientAuthentication || self == .insufficientEncryption }
}
