import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

/// The names of a device's attributes, by handle, and messages of the Attribute Protocol in words.
struct AttributeNames: Sendable {
    /// A message in words.
    struct Words: Equatable {
        var text: String
        var direction: LiveLogLine.Direction
        var value: Data?
        var meaning: String?
        var isProblem = false
    }

    private struct Attribute {
        let uuid: BluetoothUUID
        /// The name and the path, `Heart Rate Measurement (180D/2A37)`; whatever of that exists and is short.
        let label: String
        /// The label of the characteristic of a Client Characteristic Configuration.
        var subscribed: String?

        init(_ path: [BluetoothUUID]) {
            uuid = path[path.count - 1]
            let isShort = path.allSatisfy { $0.bits16 != nil }
            let text = path.map(\.text).joined(separator: "/")
            label =
                switch (uuid.attributeName, isShort) {
                case (let name?, true): "\(name) (\(text))"
                case (let name?, false): name
                case (nil, true): text
                case (nil, false): uuid.text
                }
        }
    }

    private let byHandle: [UInt16: Attribute]

    init(_ services: [TappedService]) {
        var byHandle: [UInt16: Attribute] = [:]
        for service in services {
            byHandle[service.handles.lowerBound] = Attribute([service.uuid])
            for characteristic in service.characteristics {
                let found = Attribute([service.uuid, characteristic.uuid])
                byHandle[characteristic.valueHandle] = found
                for descriptor in characteristic.descriptors {
                    var attribute = Attribute([service.uuid, characteristic.uuid, descriptor.uuid])
                    if descriptor.uuid == "2902" { attribute.subscribed = found.label }
                    byHandle[descriptor.handle] = attribute
                }
            }
        }
        self.byHandle = byHandle
    }

    /// - Parameter request: The request that a response answers, if it was observed.
    func words(for message: ATTMessage, answering request: ATTRequest?) -> Words {
        switch message {
        case .request(let request, _): words(for: request)
        case .response(let response): words(for: response, to: request)
        case .command(let handle, let value):
            words("Write without response", handle, .toDevice, value)
        case .notification(let handle, let value): words("Notification of", handle, .fromDevice, value)
        case .indication(let handle, let value): words("Indication of", handle, .fromDevice, value)
        }
    }

    private func words(for request: ATTRequest) -> Words {
        switch request {
        case .read(let handle): words("Read", handle, .toDevice, nil)
        case .write(let handle, let value, 0) where byHandle[handle]?.subscribed == nil:
            words("Write", handle, .toDevice, value)
        // A part of a value has no meaning by itself.
        case .write(_, let value, _): Words(text: name(of: request), direction: .toDevice, value: value)
        default: Words(text: name(of: request), direction: .toDevice)
        }
    }

    private func words(for response: ATTResponse, to request: ATTRequest?) -> Words {
        let name = request.map(name) ?? "Answer"
        var words = Words(text: name, direction: .fromDevice)
        switch response {
        case .services(let found): words.text += ": \(found.count) found"
        case .includedServices(let found): words.text += ": \(found.count) found"
        case .characteristics(let found): words.text += ": \(found.count) found"
        case .descriptors(let found): words.text += ": \(found.count) found"
        case .written: words.text += ": done"
        case .error(let code):
            words.text += " failed: \(code.words)"
            words.isProblem = true
        case .value(let value):
            words.value = value
            if case .read(let handle) = request { words.meaning = meaning(of: value, handle) }
        }
        return words
    }

    private func words(
        _ verb: String, _ handle: UInt16, _ direction: LiveLogLine.Direction, _ value: Data?
    ) -> Words {
        Words(
            text: "\(verb) \(label(of: handle))", direction: direction, value: value,
            meaning: value.flatMap { meaning(of: $0, handle) })
    }

    private func name(of request: ATTRequest) -> String {
        switch request {
        case .discoverServices: "Discover services"
        case .discoverIncludedServices(let handles): "Discover services included by \(label(of: handles.lowerBound))"
        case .discoverCharacteristics(let handles): "Discover characteristics of \(label(of: handles.lowerBound))"
        case .discoverDescriptors: "Discover descriptors"
        case .read(let handle): "Read \(label(of: handle))"
        case .write(let handle, let value, 0):
            byHandle[handle]?.subscribed.map { subscription(to: $0, value) } ?? "Write \(label(of: handle))"
        case .write(let handle, _, let offset): "Write \(label(of: handle)) from byte \(offset)"
        }
    }

    private func subscription(to characteristic: String, _ value: Data) -> String {
        switch value.first {
        case 1, 3: "Subscribe to notifications of \(characteristic)"
        case 2: "Subscribe to indications of \(characteristic)"
        default: "Unsubscribe from \(characteristic)"
        }
    }

    private func label(of handle: UInt16) -> String { byHandle[handle]?.label ?? "handle \(handle)" }

    private func meaning(of value: Data, _ handle: UInt16) -> String? {
        byHandle[handle]?.uuid.bits16.flatMap { StandardValues.meaning(of: value, of: $0) }
    }
}
