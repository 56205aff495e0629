// A program like apps without Swift concurrency: a manager on the main queue, and a main thread that blocks in
// `RunLoop.main.run()` or in `dispatchMain()`. Ends with status 0 when the first callback arrived on the main queue.
import CoreBluetooth

final class Listener: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        dispatchPrecondition(condition: .onQueue(.main))
        guard central.state == .poweredOn else { return }
        print("poweredOn")
        exit(0)
    }
}

let listener = Listener()
let manager = CBCentralManager(delegate: listener, queue: nil)
switch CommandLine.arguments.dropFirst().first {
case "runloop": RunLoop.main.run()
case "dispatch": dispatchMain()
case let other: print("runloop or dispatch, not \(other ?? "nothing")")
}
exit(2)
