// A program like apps without Swift concurrency: a manager on the main queue, and a main thread that blocks in
// `RunLoop.main.run()` or in `dispatchMain()`. Ends with status 0 when the first callback arrived on the main queue. With the
// argument "contacts" it is an app with both roles instead.
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
var manager: CBCentralManager?
let app = ContactApp()
let style = CommandLine.arguments.dropFirst().first
if style == "contacts" { app.start() } else { manager = CBCentralManager(delegate: listener, queue: nil) }
switch style {
case "runloop", "contacts": RunLoop.main.run()
case "dispatch": dispatchMain()
case let other: print("runloop, dispatch or contacts, not \(other ?? "nothing")")
}
exit(2)
