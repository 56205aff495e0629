import CoreBluetooth
import Testing

extension ContractScenario {
    static let reading: [ContractScenario] = [
        .central("a read is answered once, with the value", proving: "S67") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let store = try service.characteristic(.stored)
            #expect(store.value == nil)
            peripheral.readValue(for: store)
            try await c.expect(.didUpdateValue(.stored, Data("hello".utf8)))
            try await c.perform(.setValue(.stored, [1, 2]))
            peripheral.readValue(for: store)
            try await c.expect(.didUpdateValue(.stored, [1, 2]))
        },
        .central("two concurrent reads are answered twice", proving: "S67") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let store = try service.characteristic(.stored)
            peripheral.readValue(for: store)
            peripheral.readValue(for: store)
            try await c.expect(
                .didUpdateValue(.stored, Data("hello".utf8)), .didUpdateValue(.stored, Data("hello".utf8)))
            try await c.roundTrip(peripheral, service.characteristic(.readOnly))
        },
        .central("the peer refuses a read that is not permitted", proving: "S69") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.readValue(for: try service.characteristic(.writeOnly))
            try await c.expect(.didUpdateValue(.writeOnly).failing(att: .readNotPermitted))
        },
        .central("an application error of the peer reaches the app", proving: "S163") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.readValue(for: try service.characteristic(.failing))
            try await c.expect(.didUpdateValue(.failing).failing(att: .number(0x80)))
        },
        .central("a long value is read whole", proving: "S71") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let long = try service.characteristic(.long)
            peripheral.readValue(for: long)
            try await c.skip(.didUpdateValue(.long))
            #expect(long.value == Data((0..<300).map { UInt8($0 & 0xFF) }))
        },
        .central("an empty value is a value", proving: "S67") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            try await c.perform(.setValue(.stored, Data()))
            peripheral.readValue(for: try service.characteristic(.stored))
            try await c.expect(.didUpdateValue(.stored, Data()))
        },
    ]

    static let writing: [ContractScenario] = [
        .central("a write is answered, and does not change the local value", proving: "S74", "S75") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let store = try service.characteristic(.stored)
            peripheral.writeValue(Data([9, 8, 7]), for: store, type: .withResponse)
            try await c.expect(.didWriteValue(.stored))
            #expect(store.value == nil)
            #expect(try await c.perform(.value(.stored)).value == Data([9, 8, 7]))
        },
        .central("writes are answered in the order of the calls", proving: "S74") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let store = try service.characteristic(.stored)
            for byte in UInt8(1)...3 { peripheral.writeValue(Data([byte]), for: store, type: .withResponse) }
            peripheral.writeValue(Data([0]), for: try service.characteristic(.readOnly), type: .withResponse)
            try await c.expect(
                .didWriteValue(.stored), .didWriteValue(.stored), .didWriteValue(.stored),
                .didWriteValue(.readOnly).failing(att: .writeNotPermitted))
            #expect(try await c.perform(.value(.stored)).value == Data([3]))
        },
        .central("the peer's error code arrives unchanged", proving: "S74", "S163") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let failing = try service.characteristic(.failing)
            for code in [0x80, 0x85, 0x0D, 0x07] as [UInt8] {
                peripheral.writeValue(Data([code]), for: failing, type: .withResponse)
                try await c.expect(.didWriteValue(.failing).failing(att: .number(code)))
            }
        },
        .central("the peer refuses a write that is not permitted", proving: "S77") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.writeValue(Data([1]), for: try service.characteristic(.readOnly), type: .withResponse)
            try await c.expect(.didWriteValue(.readOnly).failing(att: .writeNotPermitted))
        },
        .central("a long value is written whole", proving: "S80") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let value = Data((0..<500).map { UInt8(255 - $0 & 0xFF) })
            peripheral.writeValue(value, for: try service.characteristic(.long), type: .withResponse)
            try await c.expect(.didWriteValue(.long))
            #expect(try await c.perform(.value(.long)).value == value)
        },
        .central("a write of more than 512 bytes fails", proving: "S81") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            peripheral.writeValue(
                Data(count: 513), for: try service.characteristic(.long), type: .withResponse)
            try await c.expect(.didWriteValue(.long).failing(att: .invalidAttributeValueLength))
        },
        .central("write commands arrive in order, without a callback", proving: "S76") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let command = try service.characteristic(.commands)
            for byte in UInt8(1)...5 {
                try await c.wait("room") { [peripheral = Carried(peripheral)] in
                    peripheral.object.canSendWriteWithoutResponse
                }
                peripheral.writeValue(Data([byte]), for: command, type: .withoutResponse)
            }
            try await c.roundTrip(peripheral, command)
            #expect(try await c.perform(.commands).values == (UInt8(1)...5).map { Data([$0]) })
        },
        .central("a write command without the property is dropped", proving: "S78") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let store = try service.characteristic(.stored)
            peripheral.writeValue(Data([1]), for: store, type: .withoutResponse)
            peripheral.readValue(for: store)
            try await c.expect(.didUpdateValue(.stored, Data("hello".utf8)))
        },
        .central("a write command of the maximum length arrives whole", proving: "S79") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
            let command = try service.characteristic(.commands)
            try await c.roundTrip(peripheral, command)
            let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
            #expect((182...512).contains(length))
            let value = Data(repeating: 0xAB, count: length)
            peripheral.writeValue(value, for: command, type: .withoutResponse)
            peripheral.writeValue(value + [0xCD], for: command, type: .withoutResponse)
            try await c.roundTrip(peripheral, command)
            #expect(try await c.perform(.commands).values == [value])
        },
        .central("a client that sends one write command per ready callback loses none", proving: "S86") { c in
            let (peripheral, service) = try await c.connect(discovering: .main)
            let command = try service.characteristic(.commands)
            for byte in UInt8(1)...30 {
                let count = c.trace.readyCount
                peripheral.writeValue(Data([byte]), for: command, type: .withoutResponse)
                try await c.wait("ready") { [trace = c.trace] in trace.readyCount > count }
            }
            try await c.roundTrip(peripheral, command)
            #expect(try await c.perform(.commands).values == (UInt8(1)...30).map { Data([$0]) })
        },
        .central("there is room for write commands after connecting", proving: "S83", "S85") { c in
            let peripheral = try await c.find()
            #expect(!peripheral.canSendWriteWithoutResponse)
            try await c.connect(peripheral)
            #expect(peripheral.canSendWriteWithoutResponse)
        },
    ]
}
