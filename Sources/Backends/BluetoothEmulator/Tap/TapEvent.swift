package import BluetoothBackend

/// An event in an emulated world, as an ``EmulatorTap`` reports it.
///
/// Hosts are numbered as in ``Emulator/hosts``; the numbers of devices and links are never reused. A link is one
/// direction, from the host that is the central to the device that is the peripheral.
package struct TapEvent: Hashable, Sendable {
    /// The time since the world began.
    package let time: Duration
    package let kind: Kind

    package enum Kind: Hashable, Sendable {
        /// The end of the events that describe the world at the start of the tap; later events report what happens.
        case began
        /// A number of events were dropped here, because the receiver was too slow.
        case dropped(Int)

        /// A note on what no other event reports, such as a dropped command or an ignored control.
        case note(String)
        /// A device, a host or the air was controlled, or a handler answered: the source and the control as in the
        /// trace, the control as a predicate of the source, and the controlled device, if any.
        case control(source: String, String, words: String, device: UInt32?)

        // MARK: Hosts and devices

        case hostAdded(TappedHost)
        /// The host's power, permission, address or another property has changed.
        case hostChanged(TappedHost)
        case deviceAdded(TappedDevice)
        /// The device's name, address, signal or advertising has changed.
        case deviceChanged(TappedDevice)
        case deviceRemoved(device: UInt32)
        /// The services of a device, after it was added and after each change.
        case servicesChanged(device: UInt32, [TappedService])
        /// A step of a host met a fault of a device.
        case faultApplied(device: UInt32, DeviceFault.Step, DeviceFault.Effect)

        // MARK: The air

        case advertising(TappedAdvertisingPacket)
        /// Packets of a link were lost and are sent again; after too many in a row, the link falls silent.
        case packetsLost(link: UInt32, count: Int)

        // MARK: Links

        case connectionOpened(TappedConnection)
        case connectionFailed(host: Int, peer: PeerID, BackendError.Code)
        /// A side's end of a link ended; the other side may notice later, or may have noticed before.
        ///
        /// The reason is that of the side: `.local` if the side ended the link. Channels and requests of the link end
        /// without an event.
        case connectionClosed(link: UInt32, side: LinkSide, DisconnectReason)
        case mtuChanged(link: UInt32, mtu: Int)
        case parametersChanged(link: UInt32, ConnectionParameters)
        case att(link: UInt32, ATTMessage)

        // MARK: Security

        case securityChanged(link: UInt32, SecurityLevel)
        case pairingStarted(link: UInt32)
        case pairingMethodChosen(link: UInt32, TappedPairingFeatures)
        case pairingSucceeded(link: UInt32, isBonded: Bool)
        case pairingFailed(link: UInt32, BackendError.Code)
        case bondMade(host: Int, HostBond)
        case bondRemoved(host: Int, peer: PeerID, identityAddress: DeviceAddress)
        /// A described device lost its keys of the host with that address, or of all hosts; the device of a host's
        /// managers shares the host's bonds.
        case keysLost(device: UInt32, ofHost: DeviceAddress?)

        // MARK: L2CAP channels

        /// Either side may send `credits` bytes.
        case channelOpened(link: UInt32, ChannelID, psm: UInt16, credits: Int)
        case channelRefused(link: UInt32, psm: UInt16, ChannelRefusal)
        case channelData(ChannelID, from: LinkSide, Data)
        /// A side may send this number of additional bytes.
        case channelCredits(ChannelID, to: LinkSide, Int)
        case channelClosed(ChannelID, by: LinkSide)

        // MARK: Hosts outside of the emulator

        /// An app, or an operation of the emulated end, needs a pairing with one of them.
        case externalPairingRequested(link: UInt32)
        /// The answer of the emulated end's user to the question of a pairing with one of them; nil to end the pairing.
        case externalPairingAnswered(link: UInt32, PairingAnswer?)
        /// An L2CAP packet between two of them.
        case externalPacket(link: UInt32, from: LinkSide, channel: UInt16, [UInt8])
        /// A packet between one of them and its controller, with its type as in H4.
        case hciPacket(host: Int, isReceived: Bool, type: UInt8, [UInt8])
    }
}

/// The kinds of events that a tap reports.
package struct TapKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Hosts, their states and their bonds.
    package static let hosts = TapKinds(rawValue: 1 << 0)
    /// Devices, their services and their faults.
    package static let devices = TapKinds(rawValue: 1 << 1)
    /// Advertising packets, by far the most events of a large world.
    package static let advertising = TapKinds(rawValue: 1 << 2)
    /// Links, with their parameters and their lost packets.
    package static let links = TapKinds(rawValue: 1 << 3)
    /// The messages of the Attribute Protocol.
    package static let att = TapKinds(rawValue: 1 << 4)
    /// Encryption and pairing of links.
    package static let security = TapKinds(rawValue: 1 << 5)
    /// L2CAP channels and their bytes.
    package static let channels = TapKinds(rawValue: 1 << 6)

    /// Controls, and the other notes of the trace.
    package static let notes = TapKinds(rawValue: 1 << 7)

    /// The packets and the pairings of hosts outside of the emulator.
    package static let externalHosts = TapKinds(rawValue: 1 << 8)

    /// The packets between hosts outside of the emulator and their controllers.
    package static let hci = TapKinds(rawValue: 1 << 9)

    package static let all: TapKinds = [
        .hosts, .devices, .advertising, .links, .att, .security, .channels, .notes, .externalHosts, .hci,
    ]
}

extension TapEvent.Kind {
    /// The kind to which the event belongs; empty for an event that every tap receives.
    var kinds: TapKinds {
        switch self {
        case .began, .dropped: []
        case .note, .control: .notes
        case .hostAdded, .hostChanged, .bondMade, .bondRemoved: .hosts
        case .deviceAdded, .deviceChanged, .deviceRemoved, .servicesChanged, .faultApplied, .keysLost: .devices
        case .advertising: .advertising
        case .packetsLost, .connectionOpened, .connectionFailed, .connectionClosed, .mtuChanged, .parametersChanged:
            .links
        case .att: .att
        case .securityChanged, .pairingStarted, .pairingMethodChosen, .pairingSucceeded, .pairingFailed: .security
        case .channelOpened, .channelRefused, .channelData, .channelCredits, .channelClosed: .channels
        case .externalPairingRequested, .externalPairingAnswered, .externalPacket: .externalHosts
        case .hciPacket: .hci
        }
    }
}
