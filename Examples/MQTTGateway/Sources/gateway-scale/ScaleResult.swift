import Foundation
import GatewayCore
import GatewaySimulation

/// The comparison of sent and received values.
struct ScaleResult {
    private(set) var sent = 0
    private(set) var received = 0
    /// The number of values that a device sent and no message delivered, although later or all values of its process
    /// arrived.
    private(set) var lost = 0
    /// The number of last values before a kill, which the process had not yet written.
    private(set) var inProcess = 0
    /// The largest such number of one device.
    private(set) var mostInProcess = 0
    /// The number of second deliveries of a message, which QoS 1 permits.
    private(set) var duplicates = 0
    /// The number of second messages of one value, and of values that no device has sent.
    private(set) var wrong = 0
    /// The number of values that a device sends in an interval of the queue.
    private let intervalValues: Int
    private let processes: Int
    private let kills: Int
    private let cpu: Double
    private let peak: Int

    /// - Parameter interval: The time between two values of a device.
    init(
        _ gateways: [GatewayProcess], _ observer: Observer, folder: String, seconds: Int, interval: Duration
    ) throws {
        intervalValues = Int(Outbox.interval / interval)
        processes = gateways.reduce(0) { $0 + Int($1.number) }
        kills = gateways.reduce(0) { $0 + $1.killed.count }
        cpu = gateways.reduce(0) { $0 + $1.usage.cpuSeconds } / Double(gateways.count * seconds) * 100
        peak = gateways.map(\.usage.peakKilobytes).max() ?? 0
        wrong = observer.faults
        let all = observer.series
        for gateway in gateways where gateway.number > 0 {
            for process in 1...gateway.number {
                let file = SimulateCommand.ledger(folder, gateway.name, process)
                for (device, count) in try SentLedger.counts(in: file).enumerated() {
                    let series = Observer.Series(gateway: gateway.name, process: process, device: "device-\(device)")
                    add(all[series] ?? Observer.Received(), sent: count, wasKilled: gateway.killed.contains(process))
                }
            }
        }
    }

    private mutating func add(_ series: Observer.Received, sent count: Int, wasKilled: Bool) {
        let numbers = series.identifiers.keys
        let last = Int(numbers.max() ?? 0)
        sent += count
        received += numbers.count
        duplicates += series.duplicates
        wrong += series.repeated + max(0, last - count)
        // Numbers begin with 1: a number that is missing before the last one was lost.
        lost += last - numbers.count
        let tail = max(0, count - last)
        if wasKilled {
            inProcess += tail
            mostInProcess = max(mostInProcess, tail)
        } else {
            lost += tail
        }
    }

    /// Whether nothing was lost that a queue contained, or should have contained.
    ///
    /// The values of an interval may wait for their transaction at the kill: one of a device or more, and one more on a
    /// busy machine.
    var isComplete: Bool { lost == 0 && wrong == 0 && mostInProcess <= 2 + intervalValues && received > 0 }

    var text: String {
        """
        processes                        \(processes), of which \(kills) were killed
        values sent by devices           \(sent)
        values received                  \(received)
        lost                             \(lost)
        not yet written at a kill        \(inProcess), at most \(mostInProcess) of a device
        second deliveries (QoS 1)        \(duplicates)
        wrong or unreadable              \(wrong)
        CPU of a gateway and its devices \(String(format: "%.1f", cpu)) % of a core on average
        peak memory of a gateway         \(peak / 1_024) MiB
        """
    }
}
