import Foundation
import Logging
import Mosquitto

/// A watchdog that reports to systemd that the gateway works, as long as it does.
///
/// It works while the file of the queue can be read and the thread of the MQTT client completes rounds; an absent
/// broker or device is not a fault of the process.
struct Watchdog: Sendable {
    /// The longest pause of the client's thread: its longest wait between two attempts, and a slow name server.
    static let longestRound = Duration.seconds(90)

    let notifier: SystemdNotifier
    let store: MessageStore
    let client: MosquittoClient
    let logger: Logger

    /// Runs until its task is cancelled; returns at once without a watchdog.
    func run() async {
        guard let interval = notifier.watchdogInterval else { return }
        var (loops, since) = (client.loops, ContinuousClock.now)
        while !Task.isCancelled {
            if client.loops != loops { (loops, since) = (client.loops, .now) }
            do {
                _ = try await store.messages(after: .max, limit: 1)
                if ContinuousClock.now - since < Self.longestRound {
                    notifier.notify("WATCHDOG=1")
                } else {
                    logger.error("the thread of the MQTT client hangs; systemd is not notified")
                }
            } catch is CancellationError {
                return
            } catch {
                logger.error("the queue cannot be read; systemd is not notified", metadata: ["error": "\(error)"])
            }
            // A cancellation ends the loop.
            try? await Task.sleep(for: interval / 2)
        }
    }
}
