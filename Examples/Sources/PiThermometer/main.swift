import AsyncBluetooth
import CoreBluetooth

// Usage: swift run PiThermometer [FILE]. Serves the temperature of the processor, until Ctrl-C.
let file = CommandLine.arguments.dropFirst().first ?? "/sys/class/thermal/thermal_zone0/temp"
do {
    try await serve(PiThermometer(file: file))
} catch {
    FileHandle.standardError.write(Data("The thermometer cannot be served: \(error)\n".utf8))
    exit(1)
}

/// Publishes the service, advertises it, and prints the requests of centrals.
func serve(_ thermometer: PiThermometer) async throws {
    let offer = ServedOffer(services: [thermometer.service], name: "Pi")
    try await PeripheralServer(offer: offer, onEvent: { report($0) }).run()
}

func report(_ event: PeripheralServer.Event) {
    switch event {
    case .advertising(let services): log("advertises \(services.map(\.uuidString).joined(separator: ", "))")
    case .read(let central, let characteristic, _, _): log("\(central.identifier) reads \(characteristic)")
    case .subscribed(let central, let characteristic): log("\(central.identifier) subscribes to \(characteristic)")
    case .unsubscribed(let central, _): log("\(central.identifier) has unsubscribed")
    default: break
    }
}

/// Prints a line at once, also to the journal of systemd, for which `print` would buffer it.
func log(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
