import CoreBluetooth

// swift run HeartRateClient [COUNT]: ends after COUNT values, or with Ctrl-C.
let client = HeartRateClient(limit: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? .max)
withExtendedLifetime(client) { RunLoop.main.run() }
