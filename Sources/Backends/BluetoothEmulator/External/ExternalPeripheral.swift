package import BluetoothBackend
import BluetoothSupport

/// The peripheral role of a host outside of the emulator, as far as the channels that centrals open at its devices.
///
/// Any thread may call any method.
package struct ExternalPeripheral: Sendable {
    /// The commands and events of the channels.
    package let role: any PeripheralBackend
    let manager: Ref<Manager>

    fileprivate init(_ emulator: Emulator, host: Int) {
        let manager = emulator.perform { core in core.world.addManager(.peripheral, host: host, isExternal: true) }
        self.manager = manager
        role = EmulatedRole(emulator, manager, input: WorldInput.peripheral, sink: RoleSink.peripheral)
    }
}

extension EmulatedHost {
    /// Makes the peripheral role of a host outside of the emulator.
    package func makeExternalPeripheral() -> ExternalPeripheral { ExternalPeripheral(emulator, host: index) }
}

/// The handler of a device that is a host outside of the emulator.
package protocol ExternalPeripheralHandler: AsynchronousPeripheralHandler {
    /// Answers a central that opens a channel.
    func respond(to request: ChannelRequest) async -> ChannelResponse
}

/// A central's request for an L2CAP channel to a host outside of the emulator.
package struct ChannelRequest: Hashable, Sendable {
    package let central: CentralIdentity
    package let psm: UInt16
    /// The identifier of the channel if it is opened.
    package let channel: ChannelID
}

/// The answer of a host outside of the emulator to a request for a channel.
package enum ChannelResponse: Sendable {
    /// The role receives `channelOpened`, or `closed` if the central has left.
    case accepted(by: ExternalPeripheral)
    case refused(ChannelRefusal)
}
