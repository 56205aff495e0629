import BluetoothEmulator
import Foundation
import Testing

/// A row of the table on the page "Throughput".
struct ThroughputRow: Sendable, CustomTestStringConvertible {
    let name: String
    let configuration: EmulatorConfiguration
    let isEncrypted: Bool

    init(
        _ name: String, _ configuration: EmulatorConfiguration = .default, isEncrypted: Bool = false,
        change: (inout EmulatorConfiguration) -> Void = { _ in }
    ) {
        self.name = name
        var changed = configuration
        changed.connectionFailureRate = 0
        changed.operationErrorRate = 0
        change(&changed)
        self.configuration = changed
        self.isEncrypted = isEncrypted
    }

    var testDescription: String { name }

    var throughput: LinkThroughput { LinkThroughput(configuration, isEncrypted: isEncrypted) }

    /// Returns the settings of a link whose packets fill the interval.
    private static func full(_ phy: PHY, _ interval: Duration, mtu: Int = 247) -> (inout EmulatorConfiguration) -> Void
    {
        {
            $0.phy = phy
            $0.connectionInterval = interval
            $0.maximumMTU = mtu
            $0.packetsPerConnectionEvent = 1_000
        }
    }

    static let all: [ThroughputRow] = [
        ThroughputRow("`.default`"),
        ThroughputRow("`.default`, 30 ms") { $0.connectionInterval = .milliseconds(30) },
        ThroughputRow("`.default`, 2M") { $0.phy = .le2M },
        ThroughputRow("`.default`, MTU 517") { $0.maximumMTU = 517 },
        ThroughputRow("`.default`, data length 27") { $0.maximumDataLength = 27 },
        ThroughputRow("`.default`, data length 27, MTU 23") {
            $0.maximumDataLength = 27
            $0.maximumMTU = 23
        },
        ThroughputRow("`.unreliable`, without its failures", .unreliable),
        ThroughputRow("`.slow`", .slow),
        ThroughputRow("1M, 50 ms", change: full(.le1M, .milliseconds(50))),
        ThroughputRow("1M, 7.5 ms", change: full(.le1M, .microseconds(7_500))),
        ThroughputRow("2M, 50 ms", change: full(.le2M, .milliseconds(50))),
        ThroughputRow("2M, 50 ms, MTU 517", change: full(.le2M, .milliseconds(50), mtu: 517)),
        ThroughputRow("2M, 50 ms, events of 10 ms") {
            full(.le2M, .milliseconds(50))(&$0)
            $0.connectionEventLength = .milliseconds(10)
        },
        ThroughputRow("2M, 50 ms, data length 27") {
            full(.le2M, .milliseconds(50), mtu: 23)(&$0)
            $0.maximumDataLength = 27
        },
        ThroughputRow("2M, 50 ms, data length 27, encrypted", isEncrypted: true) {
            full(.le2M, .milliseconds(50), mtu: 23)(&$0)
            $0.maximumDataLength = 27
        },
        ThroughputRow("2M, 15 ms", change: full(.le2M, .milliseconds(15))),
        ThroughputRow("coded S2, 50 ms", change: full(.leCodedS2, .milliseconds(50))),
        ThroughputRow("coded S8, 50 ms", change: full(.leCodedS8, .milliseconds(50))),
        ThroughputRow("coded S8, 400 ms", change: full(.leCodedS8, .milliseconds(400))),
    ]

    // MARK: The page

    private static let procedures: [LinkThroughput.Procedure] = [.notification, .channel, .write, .read]

    /// Returns the table: thousands of bytes per second, and the time of a million bytes as notifications.
    static func table() -> String {
        let head = [
            "link", "MTU", "notifications, writes without response", "L2CAP channel",
            "indications, writes with response", "reads", "1 MB of notifications",
        ]
        let rows = all.map { row -> [String] in
            let link = row.throughput
            return [row.name, "\(link.mtu)"] + procedures.map { text(link.bytesPerSecond(by: $0) / 1_000) }
                + ["\(text(link.duration(of: 1_000_000, by: .notification) / .seconds(1))) s"]
        }
        return ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }

    /// Formats a number with one digit after the point; with two below 1, and none from 1,000.
    private static func text(_ number: Double) -> String {
        String(format: number < 1 ? "%.2f" : number < 1_000 ? "%.1f" : "%.0f", number)
    }

    // MARK: The Core Specification's arithmetic

    /// Returns the bytes per second, in closed form and without the package's own arithmetic.
    func expectedRate(of procedure: LinkThroughput.Procedure) -> Double {
        let (settings, microseconds) = (configuration, configuration.connectionInterval / .microseconds(1))
        let mic = isEncrypted ? 4.0 : 0
        // The preamble, access address, header and CRC of an empty packet, and each byte of payload, in microseconds.
        let (empty, byte): (Double, Double) =
            switch settings.phy {
            case .le1M: (80, 8)
            case .le2M: (44, 4)
            case .leCodedS2: (462, 16)
            case .leCodedS8: (720, 64)
            }
        // Two packets of this length with their spaces fit into the interval.
        let longest = ((microseconds - 300) / 2 - empty) / byte - 4
        let dataLength = max(27, min(Double(settings.maximumDataLength), longest.rounded(.down)))
        let (mtu, value) = (Double(settings.maximumMTU), min(512.0, Double(settings.maximumMTU - 3)))
        let (payload, length) =
            switch procedure {
            case .channel: (dataLength - 6, dataLength)
            case .read: (min(512, mtu - 2), min(512, mtu - 2) + 5)
            default: (value, value + 7)
            }
        let packets = (length / dataLength).rounded(.up)
        let airTime = length * byte + packets * (empty + mic * byte)
        let exchange = airTime / packets + empty + 300
        let event = (settings.connectionEventLength ?? settings.connectionInterval) / .microseconds(1)
        let perEvent = max(1, min(Double(settings.packetsPerConnectionEvent), (event / exchange).rounded(.down)))
        switch procedure {
        case .read, .write, .indication: return payload / ((packets / perEvent).rounded(.up) * microseconds) * 1e6
        case .notification, .writeWithoutResponse, .channel: return perEvent / packets * payload / microseconds * 1e6
        }
    }
}
