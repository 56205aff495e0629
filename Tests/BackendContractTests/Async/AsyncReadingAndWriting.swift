import AsyncBluetooth
import CoreBluetooth
import Testing

extension AsyncScenario {
    private static let stored = CharacteristicID(contract: "C0DE0001/C0DE0101")
    private static let command = CharacteristicID(contract: "C0DE0001/C0DE0102")
    private static let long = CharacteristicID(contract: "C0DE0001/C0DE0106")
    private static let failing = CharacteristicID(contract: "C0DE0001/C0DE0107")

    static let readingAndWriting = [
        AsyncScenario("a read connects and discovers by itself") { c in
            let peripheral = try await c.find()
            #expect(try await c.play { try await peripheral.read(stored) } == Data("hello".utf8))
            #expect(peripheral.state == .connected)
        },
        AsyncScenario("equal characteristics are told apart by their number") { c in
            let peripheral = try await c.find()
            let values = try await c.play {
                [
                    try await peripheral.read(CharacteristicID(contract: "C0DE0001/C0DE010B")),
                    try await peripheral.read(CharacteristicID(contract: "C0DE0001/C0DE010B#2")),
                    try await peripheral.read(CharacteristicID(contract: "C0DE0003#2/C0DE0301")),
                ]
            }
            #expect(values == [Data([1]), Data([2]), Data([2])])
        },
        AsyncScenario("many reads at once get each its value") { c in
            let peripheral = try await c.find()
            let paths = ["C0DE0101", "C0DE010A", "C0DE010B", "C0DE010B#2", "C0DE010C", "C0DE0101"]
            let values = try await c.play {
                try await withThrowingTaskGroup(of: (Int, Data).self) { group in
                    for (index, path) in paths.enumerated() {
                        group.addTask {
                            (index, try await peripheral.read(CharacteristicID(contract: "C0DE0001/" + path)))
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
            let value = try await c.play {
                try await peripheral.write(Data([7, 8, 9]), to: stored)
                return try await peripheral.read(stored)
            }
            #expect(value == Data([7, 8, 9]))
        },
        AsyncScenario("a long value is read and written whole") { c in
            let peripheral = try await c.find()
            let first = try await c.play { try await peripheral.read(long) }
            #expect(first == Data((0..<300).map { UInt8($0 & 0xFF) }))
            let next = try await c.play {
                try await peripheral.write(Data(first.reversed()), to: long)
                return try await peripheral.read(long)
            }
            #expect(next == Data(first.reversed()))
        },
        AsyncScenario("writes without response arrive in order") { c in
            let peripheral = try await c.find()
            let sent = (0..<40).map { Data([UInt8($0)]) }
            try await c.play {
                for value in sent { try await peripheral.writeWithoutResponse(value, to: command) }
            }
            var received: [Data] = []
            // Nobody is told when the last one has arrived, and BlueZ lets a read overtake them.
            for _ in 0..<100 where received.count < sent.count {
                _ = try await c.play { try await peripheral.read(command) }
                received = try await c.perform(.commands).values
            }
            #expect(received == sent)
        },
        AsyncScenario("a value that is too long for a packet tells both lengths") { c in
            let peripheral = try await c.find()
            let maximum = try await c.play {
                // With the first answer the link's MTU is known everywhere.
                _ = try await peripheral.read(stored)
                return try await peripheral.maximumWriteLength(for: .withoutResponse)
            }
            let error = try await c.failure {
                try await peripheral.writeWithoutResponse(Data(count: maximum + 1), to: command)
            }
            guard case .valueTooLong(length: maximum + 1, maximum: maximum) = error.reason else { throw error }
        },
        AsyncScenario("an error of the device is passed on") { c in
            let peripheral = try await c.find()
            let error = try await c.failure { try await peripheral.read(failing) }
            guard case .refused(let cause as CBATTError) = error.reason else { throw error }
            #expect(cause.code.rawValue == 0x80)
        },
        AsyncScenario("a read that times out names its path, and a new link answers the next one") { c in
            let peripheral = try await c.find()
            _ = try await c.play { try await peripheral.read(stored) }
            try await c.perform(.hold(true))
            let error = try await c.failure {
                try await withTimeout(.seconds(2)) { try await peripheral.read(stored) }
            }
            guard case .timedOut(.seconds(2)) = error.reason else { throw error }
            #expect(error.operation == .read)
            #expect(error.path == stored.description)
            try await c.perform(.hold(false))
            let value = try await c.play {
                await peripheral.disconnect()
                return try await peripheral.read(stored)
            }
            #expect(value == Data("hello".utf8))
        },
    ]
}
