package import BluetoothBackend
import BluetoothEmulator

/// A served world at one instant, as in the answer to `GET /v1/world`.
///
/// Times are seconds since the world began. The numbers of hosts, devices and links are never reused.
package struct LiveState: Codable, Hashable, Sendable {
    /// The number of the last event that the state includes.
    package var sequence: UInt64
    package var time: Double
    package var seed: UInt64
    /// The name of the world's file; nil for the built-in devices.
    package var file: String?
    package var clock: LiveClock
    package var capture: LiveCapture
    package var hosts: [LiveHost]
    package var devices: [LiveDevice]
    package var links: [LiveLink]
}

/// The pace of a world's time.
package struct LiveClock: Codable, Hashable, Sendable {
    /// Whether the time can be paused, accelerated and advanced by steps; false if other programs use the world.
    package var isOurs: Bool
    package var isPaused: Bool
    /// The number of seconds of the world in a real one.
    package var rate: Double
}

/// The capture of a world.
package struct LiveCapture: Codable, Hashable, Sendable {
    package var isRunning: Bool
    /// The number of packets of the running capture, or of the last one.
    package var packets: Int
}

package struct LiveHost: Codable, Hashable, Sendable {
    package var id: Int
    package var name: String
    /// The address on the air.
    package var address: String
    /// The state that managers see.
    package var state: AdapterState
    package var isPowered: Bool
    package var isPlugged: Bool
    package var authorization: AuthorizationStatus
    /// The port at which a Bluetooth stack outside of the emulator attaches; nil for a host of apps.
    package var port: String?
    /// Whether the stack is attached; false without a port.
    package var isAttached: Bool

    init(_ host: TappedHost) {
        (id, name, address, state) = (host.index, host.name, host.address.description, host.state)
        (isPowered, isPlugged, authorization) = (host.isPowered, host.isPlugged, host.authorization)
        (port, isAttached) = (host.port?.address.description, host.port?.isAttached == true)
    }
}

/// A device: a described one, or one that the apps of a host publish.
package struct LiveDevice: Codable, Hashable, Sendable {
    package var id: UInt32
    package var name: String
    /// The address on the air.
    package var address: String
    /// The kind of the address, in words.
    package var addressKind: String
    /// The address by which hosts with the device's keys know it.
    package var identityAddress: String
    /// The host whose apps publish it; nil for a described device.
    package var host: Int?
    package var proximity: String
    /// The signal strength that was set by hand, in dBm; nil to follow the proximity.
    package var rssi: Int?
    /// The mean signal strength, in dBm; nil if the device is not heard.
    package var signal: Int?
    /// Whether any of its advertising sets is switched on.
    package var isAdvertising: Bool
    package var advertising: [LiveAdvertising]
    /// The number of the device's links.
    package var links: Int

    init(_ device: TappedDevice, links: Int) {
        (id, name, host, rssi) = (device.number, device.name, device.host, device.rssi)
        (address, addressKind) = (device.address.description, device.address.kindWords)
        identityAddress = device.identityAddress.description
        (proximity, self.links) = (device.proximity.rawValue, links)
        signal = device.proximity == .outOfRange ? nil : device.rssi ?? device.proximity.rssi
        advertising = device.advertising.map(LiveAdvertising.init)
        isAdvertising = device.isOn && device.advertising.contains(where: \.isEnabled)
    }
}

/// An advertising set.
package struct LiveAdvertising: Codable, Hashable, Sendable {
    package var name: String?
    /// The time between packets, in seconds; 0 for one packet each time it is switched on.
    package var interval: Double
    package var isConnectable: Bool
    package var isEnabled: Bool
    package var services: [String]

    init(_ set: TappedDevice.AdvertisingSet) {
        let description = set.description
        name = description.data.localName ?? description.scanResponse?.localName
        interval = description.interval / .seconds(1)
        (isConnectable, isEnabled) = (description.isConnectable, set.isEnabled)
        services = description.data.services.map(\.text)
    }
}

/// An open link, with the messages of ATT and of L2CAP channels that it has carried since it was first seen.
package struct LiveLink: Codable, Hashable, Sendable {
    package var id: UInt32
    /// The number of the host that is the central.
    package var host: Int
    /// The number of the device that is the peripheral.
    package var device: UInt32
    /// The MTU of ATT, in bytes.
    package var mtu: Int
    /// The connection interval, in seconds.
    package var interval: Double
    /// The physical layer, in words.
    package var phy: String
    /// The security, in words.
    package var security: String
    /// Whether the link is encrypted.
    package var isEncrypted: Bool
    /// The method of the last pairing on the link, in words; nil before.
    package var pairing: String?
    /// The number of messages from the host to the device, and of those back.
    package var sent = 0
    package var received = 0
    /// The number of bytes of their values.
    package var sentBytes = 0
    package var receivedBytes = 0
    /// The number of packets that were lost and sent again.
    package var lost = 0

    init(_ connection: TappedConnection) {
        (id, host, device) = (connection.link, connection.central.host ?? 0, connection.device)
        (mtu, interval) = (connection.mtu, connection.parameters.interval / .seconds(1))
        (phy, security) = (connection.phy.words, connection.security.words)
        isEncrypted = connection.security.isEncrypted
    }

    mutating func countSent(_ bytes: Int) {
        sent += 1
        sentBytes += bytes
    }

    mutating func countReceived(_ bytes: Int) {
        received += 1
        receivedBytes += bytes
    }
}

extension SecurityLevel {
    var isEncrypted: Bool { self == .encrypted || self == .authenticated }
}
