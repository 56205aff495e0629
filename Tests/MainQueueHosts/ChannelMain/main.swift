// A program that uses a channel's streams as apps do: scheduled in the main run loop, which runs (`runloop`), runs
// within a callback (`nested`) or never runs because the main thread is in `dispatchMain()` (`dispatch`), or without a
// run loop (`poll`). Ends with status 0 when all bytes were returned.
import BluetoothBackend
import CoreBluetooth

guard let style = CommandLine.arguments.dropFirst().first.flatMap(EchoClient.Style.init) else {
    print("runloop, nested, dispatch or poll")
    exit(2)
}
let client = EchoClient(style)
let manager = CBCentralManager(
    backend: .custom(EchoBackend()), delegate: client, queue: style == .poll ? DispatchQueue(label: "poll") : nil)
switch style {
case .runloop, .nested: RunLoop.main.run()
case .dispatch, .poll: dispatchMain()
}
