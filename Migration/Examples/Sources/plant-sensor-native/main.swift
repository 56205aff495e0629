import Foundation
import PlantSensorNative

// Usage: plant-sensor-native [COUNT [IDENTIFIER]]. Ends after COUNT values, or with Ctrl-C.

// Each line is written when it is printed, also to a pipe.
setvbuf(stdout, nil, _IOLBF, 0)
let arguments = CommandLine.arguments.dropFirst()
let monitor = PlantMonitor(
    limit: arguments.first.flatMap { Int($0) } ?? .max,
    known: arguments.dropFirst().first.flatMap { UUID(uuidString: $0) }
) { print($0) }
monitor.onEnd = { error in
    guard let error else { exit(0) }
    FileHandle.standardError.write(Data("\(error.localizedDescription)\n".utf8))
    exit(1)
}
withExtendedLifetime(monitor) { RunLoop.main.run() }
