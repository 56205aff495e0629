#if os(Linux)
import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Foundation
import Testing

/// Captures, decoded by tshark and btmon.
@Suite(.enabled(if: DecodedCapture.has("tshark"), "tshark is not installed")) struct CaptureTests {
    /// A central with a described device, and the packets of each request and response.
    @Test func wiresharkShowsAddressesNamesAndAttributesByUUID() async throws {
        let (fixture, reader) = (Fixture(.default), DecodedCapture())
        let device = try fixture.emulator.add(ContractPeer.description)
        let capture = try fixture.emulator.capture(to: reader.file)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let peer = try #require(device.identifier())
        let found = try await fixture.attributes(link)
        let service = try found.service(ContractPeer.uuid("0001"))
        let (long, described) = (
            try found.characteristic(ContractPeer.uuid("0106")), try found.characteristic(ContractPeer.uuid("010C"))
        )
        _ = try await fixture.run(
            .request(link: link, operation: op(1), .discoverIncludedServices(of: service, nil)),
            .request(link: link, operation: op(2), .discoverDescriptors(of: described)),
            .request(link: link, operation: op(3), .read(long)),
            .request(link: link, operation: op(4), .write(long, Data(repeating: 1, count: 400))),
            .request(link: link, operation: op(5), .read(try found.characteristic("2A19"))),
            .request(link: link, operation: op(6), .setNotifying(try found.characteristic("2A19"), true)),
            .writeCommand(
                link: link, attribute: try found.characteristic(ContractPeer.uuid("0102")), value: Data([1])))
        let indicated = try found.characteristic(ContractPeer.uuid("0104"))
        _ = try await fixture.run(.request(link: link, operation: op(8), .setNotifying(indicated, true)))
        device.notify(CharacteristicPath(ContractPeer.uuid("0104")), value: Data([1]))
        device.notify("2A19", value: Data([99]))
        device.inject(DeviceFault(.read, .fail(.unlikelyError)))
        _ = try await fixture.run(.request(link: link, operation: op(7), .read(try found.characteristic("2A19"))))
        _ = try await fixture.run(.disconnect(peer: peer))
        capture.stop()
        try await reader.expectNothingMalformed()
        let list = try await reader.list("btatt")
        for line in [
            "Sent Exchange MTU Request, Client Rx MTU: 185",
            "Attribute List Length: 1, Device Name", "Read Request, Handle: 0x0003 (Generic Access: Device Name)",
            "Sent Read By Type Request, Include", "Sent Read Blob Request", "Sent Prepare Write Request",
            "Sent Execute Write Request, Immediately Write All", "Rcvd Execute Write Response",
            "(Battery: Battery Level: Client Characteristic Configuration)", "Sent Write Command",
            "Rcvd Handle Value Indication", "Sent Handle Value Confirmation",
            "Rcvd Handle Value Notification, Handle: 0x000d (Battery: Battery Level)",
            "Rcvd Error Response - Unlikely Error, Handle: 0x000d (Battery: Battery Level)",
            "Characteristic Presentation Format",
        ] {
            #expect(list.contains { $0.contains(line) }, "\(line)")
        }
        #expect(try await reader.tshark("btatt.opcode == 0x1b", fields: "btatt.battery_level") == ["99"])
        #expect(
            try await reader.tshark("bthci_evt.code == 5", fields: "bthci_evt.reason") == ["0x16"], "ended by the host")
        let names = try await reader.tshark(
            "btatt.opcode == 0x0a", fields: "bthci_acl.src.bd_addr", "bthci_acl.dst.bd_addr", "bthci_acl.dst.name")
        let host = fixture.emulator.host.address.description.lowercased()
        #expect(Set(names) == ["\(host)|f0:f1:f2:f3:f4:f5|Contract"])
        #expect(try await reader.list("frame.comment contains \"fault of Contract Peer\"").count == 1)
    }

    /// Each procedure takes its round trips, and no packet precedes an earlier one.
    @Test func packetsAreInTheOrderOfTheirTimes() async throws {
        let (fixture, reader) = (Fixture(.default), DecodedCapture())
        let device = try fixture.emulator.add(.heartRateMonitor)
        let capture = try fixture.emulator.capture(to: reader.file)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        _ = try await fixture.attributes(link)
        capture.stop()
        let times = try await reader.tshark(fields: "frame.time_relative").compactMap(Double.init)
        #expect(times.count > 20 && times == times.sorted())
        // A connection interval separates a request from its response.
        let groups = try await reader.tshark(
            "btatt.opcode == 0x10 || btatt.opcode == 0x11", fields: "frame.time_relative", "frame.comment")
        let own = groups.filter { $0.hasSuffix("|") }.compactMap { Double($0.dropLast()) }
        let milliseconds = zip(own.dropFirst(), own).map { (($0 - $1) * 1_000).rounded() }
        #expect(milliseconds == [50, 0], "a response, and with it the next request: \(groups)")
    }

    // MARK: Two hosts

    @Test func twoHostsAreTwoInterfacesAndChannelsAreReassembled() async throws {
        let reader = DecodedCapture()
        let emulator = Emulator(configuration: .default, time: .virtual)
        let capture = try emulator.capture(to: reader.file)
        let pair = try await ConnectedPair(emulator: emulator)
        pair.device.setPacketLossRate(0.3)
        let events = try await pair.peripheral.run(.publishChannel(operation: op(1), isEncryptionRequired: false))
        guard case .channelPublished(_, let psm)? = events.last else { throw Unexpected("\(events)") }
        for uuid: BluetoothUUID in ["C0D4", "C0D1"] { try await pair.subscribe(uuid) }
        let answer = try await pair.central.run(
            .request(link: pair.link, operation: op(2), .openChannel(psm: 0x99)),
            .request(link: pair.link, operation: op(3), .openChannel(psm: psm)))
        guard case .response(_, _, .channel(let channel, _))? = answer.last else { throw Unexpected("\(answer)") }
        _ = try await pair.central.run(.channel(channel, .send(Data(repeating: 1, count: 4_000))))
        try await pair.peripheral.run(
            .channel(channel, .consumed(4_000)), .updateValue(attribute: attribute(2), value: Data([7]), centrals: nil),
            .channel(channel, .close))
        capture.stop()
        try await reader.expectNothingMalformed()
        let interfaces = try await reader.tshark("btatt.opcode == 0x02", fields: "frame.interface_name")
        #expect(interfaces == ["default", "peripheral 1"], "both hosts see a packet")
        let roles = try await reader.tshark(
            "bthci_evt.le_meta_subevent == 1 || bthci_evt.le_meta_subevent == 0x0a", fields: "frame.interface_name",
            "bthci_evt.role")
        #expect(roles == ["default|0x00", "peripheral 1|0x01"])
        let signals = try await reader.tshark(
            "btl2cap.cid == 5 && frame.interface_name == \"default\"", fields: "btl2cap.cmd_code", "btl2cap.le_result")
        #expect(
            signals == [
                "0x14|", "0x15|0x0002", "0x14|", "0x15|0x0000", "0x16|", "0x06|", "0x07|",
            ])
        let data = try await reader.tshark(
            "btl2cap.cid >= 0x40 && frame.interface_name == \"default\"", fields: "btl2cap.length")
        let bytes = data.compactMap { Int($0) }.reduce(0, +)
        #expect((4_001...4_100).contains(bytes), "the lengths of the service data units precede them")
        #expect(try await !reader.list("frame.comment contains \"were lost, and sent again\"").isEmpty)
    }

    // MARK: Pairing

    @Test func aPairingIsShownWithItsFeaturesAndMarkedWhereItIsInvented() async throws {
        let fixture = try await SecureFixture(configuration: .default)
        let reader = DecodedCapture()
        let capture = try fixture.emulator.capture(to: reader.file)
        _ = try await fixture.beginRead()
        try await fixture.emulator.advance(by: .seconds(5))
        capture.stop()
        try await reader.expectNothingMalformed()
        let steps = try await reader.list("btsmp || bthci_evt.code == 8")
        let expected = [
            "Pairing Request", "Pairing Response", "Pairing Public Key", "Pairing Public Key", "Pairing Confirm",
            "Pairing Random", "Pairing Random", "Pairing DHKey Check", "Pairing DHKey Check", "Encryption Change",
            "Identity Information", "Identity Address Information", "Identity Information",
            "Identity Address Information",
        ]
        #expect(steps.count == expected.count, "\(steps)")
        for (step, name) in zip(steps, expected) { #expect(step.contains(name), "\(steps)") }
        let invented = try await reader.list("btsmp && frame.comment contains \"keys are not emulated\"")
        #expect(invented.count == expected.count - 3)
        #expect(
            try await reader.tshark("btsmp.opcode == 1", fields: "btsmp.io_capability", "btsmp.mitm_flag").count == 1)
        #expect(try await reader.list("btatt.error_code == 5").count == 1)
    }

    // MARK: What is not on the air

    @Test func aCaptureOfAnOpenLinkBeginsWithADiscoveryThatIsMarked() async throws {
        let (fixture, reader) = (Fixture(), DecodedCapture())
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        let capture = try fixture.emulator.capture(to: reader.file)
        _ = try await fixture.run(
            .request(link: link, operation: op(1), .read(try found.characteristic("2A19"))))
        capture.stop()
        try await reader.expectNothingMalformed()
        let marked = try await reader.list("btatt && frame.comment contains \"not on the air\"")
        #expect(marked.contains { $0.contains("Battery Level") } && marked.count > 20)
        let rest = try await reader.list("btatt && !(frame.comment)")
        #expect(
            rest == [
                "Sent Read Request, Handle: 0x000d (Battery: Battery Level)",
                "Rcvd Read Response, Handle: 0x000d (Battery: Battery Level)",
            ])
    }

    @Test func advertisingIsLimitedUnlessAllOfItIsWanted() async throws {
        var counts: [Int] = []
        for setting: CaptureSettings.Advertising in [.all, .limited(perSecond: 2), .none] {
            let (fixture, reader) = (Fixture(), DecodedCapture())
            try fixture.emulator.add(ContractPeer.description)
            var settings = CaptureSettings()
            settings.advertising = setting
            let capture = try fixture.emulator.capture(to: reader.file, settings: settings)
            try await fixture.powerOn()
            fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
            try await fixture.emulator.advance(by: .seconds(10))
            capture.stop()
            counts.append(try await reader.list("bthci_evt.le_meta_subevent == 2").count)
        }
        // Each packet has its scan response.
        #expect(counts[0] > 150)
        #expect((38...44).contains(counts[1]), "\(counts)")
        #expect(counts[2] == 0)
    }

    @Test func theFormatOfBtmonHoldsTheSamePackets() async throws {
        var lists: [[String]] = []
        for format in ["pcapng", "btsnoop"] {
            let (fixture, reader) = (Fixture(.default), DecodedCapture(format))
            let device = try fixture.emulator.add(ContractPeer.description)
            let capture = try fixture.emulator.capture(to: reader.file)
            try await fixture.powerOn()
            let link = try await fixture.connect(device)
            _ = try await fixture.attributes(link)
            capture.stop()
            try await reader.expectNothingMalformed()
            lists.append(try await reader.list("btatt"))
        }
        #expect(lists[0] == lists[1] && lists[0].count > 20)
    }

    /// btmon 5.66 crashes at the first request for characteristic declarations, so this capture contains none.
    @Test(.enabled(if: DecodedCapture.has("btmon"), "btmon is not installed"))
    func btmonReadsItsFormat() async throws {
        let (fixture, reader) = (Fixture(.default), DecodedCapture("btsnoop"))
        let device = try fixture.emulator.add(ContractPeer.description)
        let capture = try fixture.emulator.capture(to: reader.file)
        try await fixture.powerOn()
        _ = try await fixture.find(device)
        fixture.emulator.host.setPower(false)
        try await fixture.emulator.runUntilIdle(within: .seconds(1))
        capture.stop()
        let text = try await reader.btmon()
        for line in [
            "New Index: \(fixture.emulator.host.address)", "ADV_IND", "Name (complete): Contract",
            "corebluetooth: host default: poweredOff",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
        #expect(!text.contains("invalid"))
    }

    @Test func aCaptureChangesNothingInTheWorld() async throws {
        func run(_ reader: DecodedCapture?) async throws -> [String] {
            let fixture = Fixture(.unreliable, seed: 3)
            let capture = try reader.map { try fixture.emulator.capture(to: $0.file) }
            try fixture.emulator.add(ContractPeer.description)
            try await fixture.powerOn()
            fixture.submit(.startScan(ScanParameters()))
            try await fixture.emulator.advance(by: .seconds(20))
            capture?.stop()
            return fixture.emulator.trace.map(\.description)
        }
        #expect(try await run(DecodedCapture()) == run(nil))
    }

    @Test func aFileThatCannotBeMadeIsAnError() {
        let error = #expect(throws: CaptureError.self) { try Emulator().capture(to: "/nowhere/air.pcapng") }
        #expect(error?.file == "/nowhere/air.pcapng")
    }
}
#endif
