import BluetoothBackend
import Foundation

/// What both roles say to the radio about a channel, in the same words.
protocol ChannelCommand {
    static func sendOnChannel(channel: ChannelID, data: Data) -> Self
    static func channelConsumed(channel: ChannelID, bytes: Int) -> Self
    static func closeChannel(channel: ChannelID) -> Self
}

extension CentralCommand: ChannelCommand {}
extension PeripheralCommand: ChannelCommand {}

extension ChannelMachine.Command {
    /// As a command of a role.
    func onRadio<Command: ChannelCommand>(_ channel: ChannelID) -> Command {
        switch self {
        case .send(let data): .sendOnChannel(channel: channel, data: data)
        case .consumed(let bytes): .channelConsumed(channel: channel, bytes: bytes)
        case .close: .closeChannel(channel: channel)
        }
    }
}
