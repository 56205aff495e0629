#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Data {
    /// The value with one bit flipped; an empty one becomes one byte.
    func corrupted(by random: UInt64) -> Data {
        guard !isEmpty else { return Data([UInt8(truncatingIfNeeded: random)]) }
        var bytes = [UInt8](self)
        let bit = Int(random % UInt64(bytes.count * 8))
        bytes[bit / 8] ^= 1 << (bit % 8)
        return Data(bytes)
    }
}

extension CentralCommand {
    func corrupted(by random: UInt64) -> CentralCommand {
        switch self {
        case .write(let link, let operation, let attribute, let value):
            .write(link: link, operation: operation, attribute: attribute, value: value.corrupted(by: random))
        case .writeCommand(let link, let attribute, let value):
            .writeCommand(link: link, attribute: attribute, value: value.corrupted(by: random))
        case .sendOnChannel(let channel, let data): .sendOnChannel(channel: channel, data: data.corrupted(by: random))
        default: self
        }
    }

    /// The same command as an operation of another number.
    func repeated(as operation: OperationID) -> CentralCommand {
        switch self {
        case .readRSSI(let link, _): .readRSSI(link: link, operation: operation)
        case .discoverServices(let link, _, let uuids):
            .discoverServices(link: link, operation: operation, uuids: uuids)
        case .discoverIncludedServices(let link, _, let service, let uuids):
            .discoverIncludedServices(link: link, operation: operation, service: service, uuids: uuids)
        case .discoverCharacteristics(let link, _, let service, let uuids):
            .discoverCharacteristics(link: link, operation: operation, service: service, uuids: uuids)
        case .discoverDescriptors(let link, _, let characteristic):
            .discoverDescriptors(link: link, operation: operation, characteristic: characteristic)
        case .read(let link, _, let attribute): .read(link: link, operation: operation, attribute: attribute)
        case .write(let link, _, let attribute, let value):
            .write(link: link, operation: operation, attribute: attribute, value: value)
        case .setNotifying(let link, _, let attribute, let isEnabled):
            .setNotifying(link: link, operation: operation, attribute: attribute, enabled: isEnabled)
        default: self
        }
    }
}

extension CentralEvent {
    func corrupted(by random: UInt64) -> CentralEvent {
        switch self {
        case .valueRead(let link, let operation, let value):
            .valueRead(link: link, operation: operation, value: value.corrupted(by: random))
        case .valueNotified(let link, let attribute, let value):
            .valueNotified(link: link, attribute: attribute, value: value.corrupted(by: random))
        case .channelReceived(let channel, let data):
            .channelReceived(channel: channel, data: data.corrupted(by: random))
        default: self
        }
    }
}

extension PeripheralCommand {
    func corrupted(by random: UInt64) -> PeripheralCommand {
        switch self {
        case .respond(let request, let attCode, let value):
            .respond(request: request, attCode: attCode, value: value?.corrupted(by: random))
        case .updateValue(let attribute, let value, let centrals):
            .updateValue(attribute: attribute, value: value.corrupted(by: random), centrals: centrals)
        case .sendOnChannel(let channel, let data): .sendOnChannel(channel: channel, data: data.corrupted(by: random))
        default: self
        }
    }
}

extension PeripheralEvent {
    func corrupted(by random: UInt64) -> PeripheralEvent {
        switch self {
        case .writeRequested(let request, let central, let mtu, let wantsResponse, var parts):
            if !parts.isEmpty { parts[0].value = parts[0].value.corrupted(by: random) }
            return .writeRequested(
                request: request, central: central, mtu: mtu, wantsResponse: wantsResponse, parts: parts)
        case .channelReceived(let channel, let data):
            return .channelReceived(channel: channel, data: data.corrupted(by: random))
        default: return self
        }
    }
}
