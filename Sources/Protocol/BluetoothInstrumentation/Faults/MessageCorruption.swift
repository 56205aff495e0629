import BluetoothBackend
import BluetoothSupport

extension ChannelCommand {
    fileprivate func corrupted(by random: UInt64) -> ChannelCommand {
        if case .send(let data) = self { .send(data.flippingBit(by: random)) } else { self }
    }
}

extension ChannelEvent {
    fileprivate func corrupted(by random: UInt64) -> ChannelEvent {
        if case .received(let data) = self { .received(data.flippingBit(by: random)) } else { self }
    }
}

extension CentralCommand {
    func corrupted(by random: UInt64) -> CentralCommand {
        switch self {
        case .request(let link, let operation, .write(let attribute, let value, let offset)):
            .request(
                link: link, operation: operation, .write(attribute, value.flippingBit(by: random), offset: offset))
        case .writeCommand(let link, let attribute, let value):
            .writeCommand(link: link, attribute: attribute, value: value.flippingBit(by: random))
        case .channel(let channel, let command): .channel(channel, command.corrupted(by: random))
        default: self
        }
    }

    /// Returns the same command as an operation of another number.
    func repeated(as operation: OperationID) -> CentralCommand {
        switch self {
        case .request(let link, _, let request): .request(link: link, operation: operation, request)
        default: self
        }
    }
}

extension CentralEvent {
    func corrupted(by random: UInt64) -> CentralEvent {
        switch self {
        case .response(let link, let operation, .value(let value)):
            .response(link: link, operation: operation, .value(value.flippingBit(by: random)))
        case .valueNotified(let link, let attribute, let value):
            .valueNotified(link: link, attribute: attribute, value: value.flippingBit(by: random))
        case .channel(let channel, let event): .channel(channel, event.corrupted(by: random))
        default: self
        }
    }
}

extension PeripheralCommand {
    func corrupted(by random: UInt64) -> PeripheralCommand {
        switch self {
        case .respond(let request, let attCode, let value):
            .respond(request: request, attCode: attCode, value: value?.flippingBit(by: random))
        case .updateValue(let attribute, let value, let centrals):
            .updateValue(attribute: attribute, value: value.flippingBit(by: random), centrals: centrals)
        case .channel(let channel, let command): .channel(channel, command.corrupted(by: random))
        default: self
        }
    }
}

extension PeripheralEvent {
    func corrupted(by random: UInt64) -> PeripheralEvent {
        switch self {
        case .writeRequested(let request, let central, let mtu, let wantsResponse, var parts):
            if !parts.isEmpty { parts[0].value = parts[0].value.flippingBit(by: random) }
            return .writeRequested(
                request: request, central: central, mtu: mtu, wantsResponse: wantsResponse, parts: parts)
        case .channel(let channel, let event): return .channel(channel, event.corrupted(by: random))
        default: return self
        }
    }
}
