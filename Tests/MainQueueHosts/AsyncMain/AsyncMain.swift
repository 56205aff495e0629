import CoreBluetooth

/// A program with an asynchronous main function: the main actor's delegate is called on the main queue.
@main @MainActor final class AsyncMain: NSObject, @preconcurrency CBCentralManagerDelegate {
    private var continuation: CheckedContinuation<Void, Never>?
    private var manager: CBCentralManager?

    static func main() async {
        let program = AsyncMain()
        await withCheckedContinuation { continuation in
            program.continuation = continuation
            program.manager = CBCentralManager(delegate: program, queue: nil)
        }
        print("poweredOn")
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        continuation?.resume()
        continuation = nil
    }
}
