import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

/// The paths of a device's attributes, by handle, and messages of the Attribute Protocol in words.
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
        let path: String
        let uuid: BluetoothUUID
    }

    private let byHandle: [UInt16: Attribute]

    init(_ services: [TappedService]) {
        var byHandle: [UInt16: Attribute] = [:]
        for service in services {
            byHandle[service.handles.lowerBound] = Attribute(path: service.uuid.text, uuid: service.uuid)
            for characteristic in service.characteristics {
                let path = "\(service.uuid.text)/\(characteristic.uuid.text)"
                byHandle[characteristic.valueHandle] = Attribute(path: path, uuid: characteristic.uuid)
                for descriptor in characteristic.descriptors {
                    byHandle[descriptor.handle] = Attribute(
                        path: "\(path)/\(descriptor.uuid.text)", uuid: descriptor.uuid)
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
            words("write without response", handle, .toDevice, value)
        case .notification(let handle, let value): words("notify", handle, .fromDevice, value)
        case .indication(let handle, let value): words("indicate", handle, .fromDevice, value)
        }
    }

    private func words(for request: ATTRequest) -> Words {
        switch request {
        case .read(let handle): words("read", handle, .toDevice, nil)
        case .write(let handle, let value, 0): words("write", handle, .toDevice, value)
        // A part of a value has no meaning by itself.
        case .write(_, let value, _): Words(text: name(of: request), direction: .toDevice, value: value)
        default: Words(text: name(of: request), direction: .toDevice)
        }
    }

    private func words(for response: ATTResponse, to request: ATTRequest?) -> Words {
        let name = request.map(name) ?? "response"
        var words = Words(text: name, direction: .fromDevice)
        switch response {
        case .services(let found): words.text += ": \(found.count)"
        case .includedServices(let found): words.text += ": \(found.count)"
        case .characteristics(let found): words.text += ": \(found.count)"
        case .descriptors(let found): words.text += ": \(found.count)"
        case .written: words.text += ": done"
        case .error(let code):
            let number = String(code.rawValue, radix: 16, uppercase: true)
            words.text += ": error 0x" + (number.count < 2 ? "0" : "") + number
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
            text: "\(verb) \(path(of: handle))", direction: direction, value: value,
            meaning: value.flatMap { meaning(of: $0, handle) })
    }

    private func name(of request: ATTRequest) -> String {
        switch request {
        case .discoverServices: "discover services"
        case .discoverIncludedServices(let handles): "discover services included by \(path(of: handles.lowerBound))"
        case .discoverCharacteristics(let handles): "discover characteristics of \(path(of: handles.lowerBound))"
        case .discoverDescriptors: "discover descriptors"
        case .read(let handle): "read \(path(of: handle))"
        case .write(let handle, _, 0): "write \(path(of: handle))"
        case .write(let handle, _, let offset): "write \(path(of: handle)) from byte \(offset)"
        }
    }

    private func path(of handle: UInt16) -> String { byHandle[handle]?.path ?? "handle \(handle)" }

    private func meaning(of value: Data, _ handle: UInt16) -> String? {
        byHandle[handle]?.uuid.bits16.flatMap { StandardValues.meaning(of: value, of: $0) }
    }
}
