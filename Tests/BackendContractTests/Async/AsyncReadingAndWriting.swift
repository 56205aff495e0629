import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    private static let stored = CharacteristicID(.main, .stored)
    private static let command = CharacteristicID(.main, .commands)
    private static let long = CharacteristicID(.main, .long)
    private static let failing = CharacteristicID(.main, .failing)

    static let readingAndWriting = [
        AsyncScenario("a read connects and discovers by itself") { c in
            let peripheral = try await c.find()
            #expect(try await c.run { try await peripheral.read(stored) } == Data("hello".utf8))
            #expect(peripheral.state == .connected)
        },
        AsyncScenario("characteristics of equal UUID are distinguished by their number") { c in
            let peripheral = try await c.find()
            let values = try await c.run {
                [
                    try await peripheral.read(CharacteristicID(.main, .duplicate)),
                    try await peripheral.read(CharacteristicID(.main, .duplicate, instance: 2)),
                    try await peripheral.read(CharacteristicID(CBUUID(.twinValue), in: ServiceID(.twin, instance: 2))),
                ]
            }
            #expect(values == [Data([1]), Data([2]), Data([2])])
        },
        AsyncScenario("each of many concurrent reads returns its own value") { c in
            let peripheral = try await c.find()
            let paths = [
                stored, CharacteristicID(.main, .readOnly), CharacteristicID(.main, .duplicate),
                CharacteristicID(.main, .duplicate, instance: 2), CharacteristicID(.main, .described), stored,
            ]
            let values = try await c.run {
                try await withThrowingTaskGroup(of: (Int, Data).self) { group in
                    for (index, path) in paths.enumerated() {
                        group.addTask {
                            (index, try await peripheral.read(path))
                        }
                    }
                    return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
            }
            let hello = Data("hello".utf8)
            #expect(values == [0: hello, 1: Data([10]), 2: Data([1]), 3: Data([2]), 4: Data([12]), 5: hello])
        },
        AsyncScenario("a written value is read back") { c in
            let peripheral = try await c.find()
            let value = try await c.run {
                try await peripheral.write(Data([7, 8, 9]), to: stored)
                return try await peripheral.read(stored)
            }
            #expect(value == Data([7, 8, 9]))
        },
        AsyncScenario("a long value is read and written whole") { c in
            let peripheral = try await c.find()
            let first = try await c.run { try await peripheral.read(long) }
            #expect(first == Data((0..<300).map { UInt8($0 & 0xFF) }))
            let next = try await c.run {
                try await peripheral.write(Data(first.reversed()), to: long)
                return try await peripheral.read(long)
            }
            #expect(next == Data(first.reversed()))
        },
        AsyncScenario("writes without response arrive in order") { c in
            let peripheral = try await c.find()
            let sent = (0..<40).map { Data([UInt8($0)]) }
            try await c.run {
                for value in sent { try await peripheral.writeWithoutResponse(value, to: command) }
            }
            // No callback reports the last arrival, but a read follows the write commands before it.
            _ = try await c.run { try await peripheral.read(command) }
            #expect(try await c.perform(.commands).values == sent)
        },
        AsyncScenario("a value too long for a packet is an error with both lengths") { c in
            let peripheral = try await c.find()
            let maximum = try await c.run {
                // With the first answer the link's MTU is known everywhere.
                _ = try await peripheral.read(stored)
                return try await peripheral.maximumWriteLength(for: .withoutResponse)
            }
            let error = try await c.failure {
                try await peripheral.writeWithoutResponse(Data(count: maximum + 1), to: command)
            }
            guard case .valueTooLong(length: maximum + 1, maximum: maximum) = error.reason else { throw error }
        },
        AsyncScenario("the device's error reaches the app") { c in
            let peripheral = try await c.find()
            let error = try await c.failure { try await peripheral.read(failing) }
            guard case .refused(let cause as CBATTError) = error.reason else { throw error }
            #expect(cause.code.rawValue == 0x80)
        },
        AsyncScenario("a read that times out names its path, and a new link answers the next read") { c in
            let peripheral = try await c.find()
            _ = try await c.run { try await peripheral.read(stored) }
            try await c.perform(.hold(true))
            let error = try await c.failure {
                try await withTimeout(.seconds(2)) { try await peripheral.read(stored) }
            }
            guard case .timedOut(.seconds(2)) = error.reason else { throw error }
            #expect(error.operation == .read)
            #expect(error.path == stored.description)
            try await c.perform(.hold(false))
            let value = try await c.run {
                await peripheral.disconnect()
                return try await peripheral.read(stored)
            }
            #expect(value == Data("hello".utf8))
        },
    ]
}
