import CoreBluetooth

// Usage: swift run ThermometerGateway. Prints a line of JSON for each temperature of each thermometer in range, until
// Ctrl-C.
do {
    try await ThermometerGateway().run()
} catch {
    FileHandle.standardError.write(Data("Bluetooth cannot be used: \(error)\n".utf8))
    exit(1)
}
