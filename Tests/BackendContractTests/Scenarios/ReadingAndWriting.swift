import CoreBluetooth
import Testing

extension ContractScenario {
    static let reading: [ContractScenario] = [
        ContractScenario("S67: a read is answered once, with the value") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let store = try service.characteristic("C0DE0101")
            #expect(store.value == nil)
            peripheral.readValue(for: store)
            try await c.expect("didUpdateValue C0DE0101 68656C6C6F")
            try await c.perform(.setValue("C0DE0101", Data([1, 2])))
            peripheral.readValue(for: store)
            try await c.expect("didUpdateValue C0DE0101 0102")
        },
        ContractScenario("S67: reading twice at once is answered twice") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let store = try service.characteristic("C0DE0101")
            peripheral.readValue(for: store)
            peripheral.readValue(for: store)
            try await c.expect("didUpdateValue C0DE0101 68656C6C6F", "didUpdateValue C0DE0101 68656C6C6F")
            try await c.fence(peripheral, service.characteristic("C0DE010A"))
        },
        ContractScenario("S69: the peer refuses a read that is not permitted") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.readValue(for: try service.characteristic("C0DE0109"))
            try await c.expect("didUpdateValue C0DE0109 nil ! CBATTError 2")
        },
        ContractScenario("S163: an application error of the peer passes through") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.readValue(for: try service.characteristic("C0DE0107"))
            try await c.expect("didUpdateValue C0DE0107 nil ! CBATTError 128")
        },
        ContractScenario("S71: a long value is read whole") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let long = try service.characteristic("C0DE0106")
            peripheral.readValue(for: long)
            try await c.skip("didUpdateValue C0DE0106")
            #expect(long.value == Data((0..<300).map { UInt8($0 & 0xFF) }))
        },
        ContractScenario("S67: an empty value is a value") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            try await c.perform(.setValue("C0DE0101", Data()))
            peripheral.readValue(for: try service.characteristic("C0DE0101"))
            try await c.expect("didUpdateValue C0DE0101 ")
        },
    ]

    static let writing: [ContractScenario] = [
        ContractScenario("S74 S75: a write is answered, and leaves the local value alone") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let store = try service.characteristic("C0DE0101")
            peripheral.writeValue(Data([9, 8, 7]), for: store, type: .withResponse)
            try await c.expect("didWriteValue C0DE0101")
            #expect(store.value == nil)
            #expect(try await c.perform(.value("C0DE0101")).value == Data([9, 8, 7]))
        },
        ContractScenario("S74: writes are answered in the order of the calls") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let store = try service.characteristic("C0DE0101")
            for byte in UInt8(1)...3 { peripheral.writeValue(Data([byte]), for: store, type: .withResponse) }
            peripheral.writeValue(Data([0]), for: try service.characteristic("C0DE010A"), type: .withResponse)
            try await c.expect(
                "didWriteValue C0DE0101", "didWriteValue C0DE0101", "didWriteValue C0DE0101",
                "didWriteValue C0DE010A ! CBATTError 3")
            #expect(try await c.perform(.value("C0DE0101")).value == Data([3]))
        },
        ContractScenario("S74 S163: the peer's error code arrives unchanged") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let failing = try service.characteristic("C0DE0107")
            for code in [0x80, 0x85, 0x0D, 0x07] as [UInt8] {
                peripheral.writeValue(Data([code]), for: failing, type: .withResponse)
                try await c.expect("didWriteValue C0DE0107 ! CBATTError \(code)")
            }
        },
        ContractScenario("S77: the peer refuses a write that is not permitted") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.writeValue(Data([1]), for: try service.characteristic("C0DE010A"), type: .withResponse)
            try await c.expect("didWriteValue C0DE010A ! CBATTError 3")
        },
        ContractScenario("S80: a long value is written whole") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let value = Data((0..<500).map { UInt8(255 - $0 & 0xFF) })
            peripheral.writeValue(value, for: try service.characteristic("C0DE0106"), type: .withResponse)
            try await c.expect("didWriteValue C0DE0106")
            #expect(try await c.perform(.value("C0DE0106")).value == value)
        },
        ContractScenario("S81: more than 512 bytes fail") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            peripheral.writeValue(
                Data(count: 513), for: try service.characteristic("C0DE0106"), type: .withResponse)
            try await c.expect("didWriteValue C0DE0106 ! CBATTError 13")
        },
        ContractScenario("S76: write commands arrive in order, without a callback") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let command = try service.characteristic("C0DE0102")
            for byte in UInt8(1)...5 {
                try await c.wait("room") { [peripheral = Carried(peripheral)] in
                    peripheral.object.canSendWriteWithoutResponse
                }
                peripheral.writeValue(Data([byte]), for: command, type: .withoutResponse)
            }
            try await c.fence(peripheral, command)
            #expect(try await c.perform(.commands).values == (UInt8(1)...5).map { Data([$0]) })
        },
        ContractScenario("S78: a write command without the property is dropped") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let store = try service.characteristic("C0DE0101")
            peripheral.writeValue(Data([1]), for: store, type: .withoutResponse)
            peripheral.readValue(for: store)
            try await c.expect("didUpdateValue C0DE0101 68656C6C6F")
        },
        ContractScenario("S79: a command as long as the link allows arrives whole") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
            let command = try service.characteristic("C0DE0102")
            try await c.fence(peripheral, command)
            let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
            #expect((182...512).contains(length))
            let value = Data(repeating: 0xAB, count: length)
            peripheral.writeValue(value, for: command, type: .withoutResponse)
            peripheral.writeValue(value + [0xCD], for: command, type: .withoutResponse)
            try await c.fence(peripheral, command)
            #expect(try await c.perform(.commands).values == [value])
        },
        ContractScenario("S86: a client that sends one command for each ready sends all") { c in
            let (peripheral, service) = try await c.connect(discovering: "C0DE0001")
            let command = try service.characteristic("C0DE0102")
            for byte in UInt8(1)...30 {
                let count = c.trace.readyCount
                peripheral.writeValue(Data([byte]), for: command, type: .withoutResponse)
                try await c.wait("ready") { [trace = c.trace] in trace.readyCount > count }
            }
            try await c.fence(peripheral, command)
            #expect(try await c.perform(.commands).values == (UInt8(1)...30).map { Data([$0]) })
        },
        ContractScenario("S83 S85: there is room for write commands after connecting") { c in
            let peripheral = try await c.find()
            #expect(!peripheral.canSendWriteWithoutResponse)
            c.manager.connect(peripheral)
            try await c.expect("didConnect connected")
            #expect(peripheral.canSendWriteWithoutResponse)
        },
    ]
}
