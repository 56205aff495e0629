import BluetoothBackend
import BluetoothEmulator
import Foundation

/// The page "Settings", generated from the types, whose fields and values are read with `Mirror`.
struct SettingsPage {
    /// The manually written notes on a setting.
    struct Note {
        let unit: String
        let peers: String

        init(_ unit: String, _ peers: String = "") {
            self.unit = unit
            self.peers = peers
        }
    }

    static let presets: [(String, EmulatorConfiguration)] = [
        ("default", .default), ("instant", .instant), ("slow", .slow), ("unreliable", .unreliable),
    ]

    static let configuration: [String: Note] = [
        "stateDelay": Note("time", "E stateUpdateDelay"),
        "connectionDelay": Note("time", "E connectionDelay · R connect delay"),
        "disconnectionDelay": Note("time", "E disconnectionDelay · R cancel delay"),
        "scanDelay": Note("time", "E scanDiscoveryInterval · R scan delay"),
        "discoveryDelay": Note(
            "time, added to round trips", "E serviceDiscoveryDelay, characteristic…, descriptor… · R discover delays"),
        "readDelay": Note("time, added to a round trip", "E readDelay · R readCharacteristic delay"),
        "writeDelay": Note("time, added to round trips", "E writeDelay · R write, notify delays"),
        "notificationDelay": Note("time", "E notificationDelay · R update delay"),
        "connectionInterval": Note("time of one round trip", "N connectionInterval · E read, write delays"),
        "supervisionTimeout": Note("time", "N supervisionTimeout"),
        "maximumMTU": Note("bytes, 23...517", "N mtu · E defaultMTU, maximumMTU"),
        "transmitBuffer": Note("write commands", "E maxWriteWithoutResponseQueue"),
        "writeReadinessDelay": Note("time"), "announcesSentBursts": Note("yes or no"),
        "notifyBuffer": Note("values", "E maxNotificationQueue"),
        "maximumAdvertisingSets": Note("advertising managers of a host"),
        "channelBuffer": Note("bytes"), "packetLossRate": Note("chance, 0...1"),
        "pairingDelay": Note("time", "E pairingDelay"), "agreesToPairing": Note("yes or no"),
        "maximumBonds": Note("bonds of a host"), "prepareQueueLength": Note("prepared writes"),
        "phy": Note("a physical layer of LE"), "maximumDataLength": Note("bytes, 27...251"),
        "connectionEventLength": Note("time"),
        "packetsPerConnectionEvent": Note("packets, at most", "E simulateBackpressure, backpressureProcessingDelay"),
        "rssiDeviation": Note("dBm, both ways", "N simulateRSSIDeviation · E rssiVariation"),
        "advertisingLossRate": Note("chance, 0...1"), "advertisingCollides": Note("yes or no"),
        "connectionFailureRate": Note("chance, 0...1", "E simulateConnectionFailure, connectionFailureRate"),
        "operationErrorRate": Note("chance, 0...1", "E simulateReadWriteErrors, readWriteErrorRate"),
        "traceLimit": Note("lines"),
    ]

    static let device: [String: Note] = [
        "name": Note("at most 248 bytes", "N name"), "address": Note("48 bits", "N simulateMacChange"),
        "advertising": Note("sets", "N advertising"), "services": Note("services", "N services · R addService"),
        "proximity": Note("steps of dBm", "N proximity"), "rssi": Note("dBm, -127...20", "E rssiRange · R RSSI"),
        "maximumMTU": Note("bytes, 23...517", "N mtu · E maximumMTU"),
        "connectionInterval": Note("time, 0...4 s", "N connectionInterval"),
        "supervisionTimeout": Note("time, 0.1...32 s", "N supervisionTimeout"),
        "phy": Note("a physical layer of LE"), "maximumDataLength": Note("bytes, 27...251"),
        "connectionEventLength": Note("time, above 0"), "packetsPerConnectionEvent": Note("packets, 1 or more"),
        "handler": Note("a built-in device", "N CBMPeripheralSpecDelegate"), "parameters": Note("see each device"),
        "channels": Note("L2CAP channels", "E l2capSupported, l2capPSMRange"),
        "peripheralLatency": Note("connection events, 0...499"), "addressRotation": Note("time, 1 s or more"),
        "packetLossRate": Note("chance, 0...1"), "prepareQueueLength": Note("prepared writes"),
        "faults": Note("see DeviceFault", "E simulateReadWriteErrors"),
        "replay": Note("see RecordingReplay"),
        "pairing": Note("see below", "E requirePairing, simulatePairing"),
    ]

    static let advertising: [String: Note] = [
        "data": Note("at most 28 bytes, 31 if not connectable", "N data"), "scanResponse": Note("at most 31 bytes"),
        "interval": Note("time, 20 ms...10.24 s", "N interval"),
        "isConnectable": Note("yes or no", "N and E IsConnectable · R connectable"),
        "continuesWhileConnected": Note("yes or no", "N isAdvertisingWhenConnected"),
        "duration": Note("time", "N interval 0 and delay"), "isExtended": Note("yes or no"),
        "isEnabled": Note("yes or no", "N simulateAdvertisementChange"),
    ]

    static let characteristic: [String: Note] = [
        "uuid": Note("16, 32 or 128 bits", "N type"), "properties": Note("a set", "N properties"),
        "permissions": Note("a set", "E permissions"), "value": Note("at most 512 bytes", "R values"),
        "maximumLength": Note("bytes, 0...512"), "timer": Note("time, and values"), "echo": Note("yes or no"),
        "clientConfiguration": Note("yes or no", "N CBMCCCDescriptorMock"),
        "descriptors": Note("descriptors", "N descriptors"),
    ]

    static let pairing: [String: Note] = [
        "capability": Note("what it can show and ask"), "passkey": Note("0...999999"),
        "hasOutOfBandData": Note("yes or no"), "requiresAuthentication": Note("yes or no", "E requirePairing"),
        "isBondable": Note("yes or no"), "maximumBonds": Note("bonds, at least 1"),
        "answer": Note("accept, reject or ignore", "E pairingSucceeds"), "requestsSecurity": Note("yes or no"),
    ]

    static let host: [String: Note] = [
        "name": Note("text"), "address": Note("48 bits"), "isPowered": Note("yes or no", "N simulateInitialState"),
        "authorization": Note("a permission", "N simulateAuthorization"), "addressRotation": Note("time, 1 s or more"),
        "maximumMTU": Note("bytes, 23...517", "E defaultMTU"), "hci": Note("a port"),
        "centrals": Note("see PreservedCentralDescription", "N simulateStateRestoration"),
        "peripherals": Note("see PreservedPeripheralDescription"),
    ]

    /// All parts: a title, the values whose fields are listed, and the notes.
    static var parts: [(title: String, columns: [(String, Any)], notes: [String: Note])] {
        [
            ("EmulatorConfiguration", presets.map { ($0, $1) }, configuration),
            ("PeripheralDescription", [("default", PeripheralDescription(name: "-"))], device),
            ("AdvertisingDescription", [("default", AdvertisingDescription(AdvertisingData()))], advertising),
            (
                "CharacteristicDescription", [("default", CharacteristicDescription(BluetoothUUID(0x2A19), .read))],
                characteristic
            ), ("PairingDescription", [("default", PairingDescription())], pairing),
            ("HostDescription", [("default", HostDescription(name: "-"))], host),
        ]
    }

    /// The names of all fields of a value, in the order of declaration.
    static func fields(of value: Any) -> [(name: String, value: Any)] {
        Mirror(reflecting: value).children.compactMap { child in child.label.map { ($0, child.value) } }
    }

    static func text() -> String {
        let tables = parts.map { part -> String in
            let names = part.columns.first.map { fields(of: $0.1) } ?? []
            let columns = part.columns.map { Dictionary(fields(of: $0.1).map { ($0.name, $0.value) }) { $1 } }
            let head = ["setting", "unit"] + part.columns.map(\.0) + ["name in other libraries"]
            let rows = names.map { name, _ -> [String] in
                let note = part.notes[name]
                return ["`\(name)`", note?.unit ?? ""] + columns.map { text(of: $0[name] ?? "") } + [note?.peers ?? ""]
            }
            let lines = [head, head.map { _ in "---" }] + rows
            return "### \(part.title)\n\n"
                + lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
        }
        return introduction + "\n" + tables.joined(separator: "\n\n") + "\n"
    }

    /// Returns a value as text for readers.
    static func text(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text(of: $0.value) } ?? "–" }
        switch value {
        case let duration as Duration: return text(of: duration)
        case let flag as Bool: return flag ? "yes" : "no"
        case let number as Double: return "\(number)"
        case let number as Int: return "\(number)"
        default: break
        }
        if mirror.displayStyle == .enum { return "\(value)" }
        return "–"
    }

    private static func text(of duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds == 0 { return "0" }
        if milliseconds < 1000 { return "\(Int(milliseconds)) ms" }
        let seconds = milliseconds / 1000
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }

    private static let introduction = """
        # Settings

        Every setting of the emulated world, with its unit, its value in each preset, and its name in other libraries.

        ## Overview

        ``EmulatorConfiguration`` configures a world, and a description configures one device or host. A setting of a device
        overrides the setting of the world. A dash means that the setting has no value; its documentation describes the effect.

        N is Nordic Semiconductor's CoreBluetoothMock, E is CoreBluetoothEmulator, R is RZBluetooth. In these libraries, the
        delays of reads, writes and notifications include the round trip. Here, ``EmulatorConfiguration/connectionInterval``
        is the time of a round trip, and the delays below are added to it.

        Some features can be switched off in E and are always active here: duplicates and solicited services are honored,
        connection events are delivered to apps that register for them, and credits control the flow.

        A test generates this page.

        """
}
