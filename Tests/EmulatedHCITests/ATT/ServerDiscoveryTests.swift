import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Testing

@testable import EmulatedHCI

/// Discoveries of servers that answer wrongly.
///
/// Source: Core Specification, Vol 3, Part G, 4.4 to 4.7.
struct ServerDiscoveryTests {
    /// A server with one service, which answers to all but one request.
    private func honest(_ request: ATTPDU) -> ATTPDU {
        switch request {
        case .mtuRequest: .mtuResponse(100)
        case .readByGroupTypeRequest(let handles, "2800") where handles.lowerBound == 1:
            .readByGroupTypeResponse([.init(1...9, [0x0D, 0x18])])
        case .readByTypeRequest(let handles, "2803") where handles.lowerBound < 4:
            .readByTypeResponse([.init(2, [0x02, 3, 0, 0x37, 0x2A]), .init(6, [0x02, 7, 0, 0x38, 0x2A])])
        case .findInformationRequest(let handles) where handles.contains(4):
            .findInformationResponse([.init(4, "2902")])
        default: .refused(request.opcode, 1, .attributeNotFound)
        }
    }

    private static let service = TappedService(
        handles: 1...9, uuid: "180D", isPrimary: true, included: [],
        characteristics: [.at(2, 2, "2A37", [(4, "2902")]), .at(6, 2, "2A38")])

    private func discover(_ change: (ATTPDU) -> ATTPDU?) -> [TappedService]? {
        var server = ScriptedServer()
        let outcome = server.perform(.discover) { change($0) ?? honest($0) }
        guard case .discovered(let services, nil)? = outcome else { return nil }
        // The client goes on.
        #expect(server.perform(.read(handle: 3)) { _ in .readResponse([1]) } == .value([1]))
        return services
    }

    private func isOrdered(_ services: [TappedService]) -> Bool {
        let handles = services.flatMap { service in
            [service.handles.lowerBound] + service.included.map(\.handle)
                + service.characteristics.flatMap {
                    [$0.declarationHandle, $0.valueHandle] + $0.descriptors.map(\.handle)
                }
        }
        return zip(handles, handles.dropFirst()).allSatisfy { $0 < $1 }
            && services.allSatisfy { service in
                service.characteristics.allSatisfy { characteristic in
                    service.handles.contains(characteristic.valueHandle)
                        && characteristic.descriptors.allSatisfy { service.handles.contains($0.handle) }
                }
            }
    }

    @Test func aServiceIsDiscoveredWithItsHandles() {
        #expect(discover { _ in nil } == [Self.service])
    }

    @Test(arguments: [0x01, 0x05, 0x06, 0x0E, 0x80] as [ATTCode])
    func anErrorEndsItsStepAlone(_ code: ATTCode) {
        let fail = { (opcode: UInt8) in
            self.discover { $0.opcode == opcode ? .refused(opcode, 1, code) : nil }
        }
        #expect(fail(0x02) == [Self.service])
        #expect(fail(0x10) == [])
        #expect(fail(0x08)?.map(\.characteristics) == [[]])
        #expect(fail(0x04)?.first?.characteristics == [.at(2, 2, "2A37"), .at(6, 2, "2A38")])
    }

    @Test(
        arguments: [
            .readByGroupTypeResponse([]), .readByTypeResponse([]), .findInformationResponse([]), .writeResponse,
            .readResponse([]),
        ] as [ATTPDU])
    func anEmptyOrOtherResponseEndsItsStep(_ response: ATTPDU) {
        var server = ScriptedServer()
        let outcome = server.perform(.discover) { request in
            if case .mtuRequest = request { .mtuResponse(23) } else { response }
        }
        #expect(outcome == .discovered([], deviceName: nil))
    }

    /// A server with a service on each handle: a discovery of 65,535 would take too long.
    @Test func servicesWithoutEndEnd() {
        let services = discover { request in
            guard case .readByGroupTypeRequest(let handles, "2800") = request else {
                return request.opcode == 0x02 ? nil : .refused(request.opcode, 1, .attributeNotFound)
            }
            return .readByGroupTypeResponse([.init(handles.lowerBound...handles.lowerBound, [0x0D, 0x18])])
        }
        #expect(services?.count == ServerDiscovery.maximumServices)
    }

    @Test func attributesWithoutEndEnd() {
        let services = discover { request in
            switch request {
            case .readByGroupTypeRequest(_, "2800"): .readByGroupTypeResponse([.init(1...0xFFFF, [0x0D, 0x18])])
            case .readByTypeRequest(let handles, "2803"):
                .readByTypeResponse([
                    .init(handles.lowerBound, [2] + (handles.lowerBound + 1).bytes + [0x37, 0x2A])
                ])
            default: nil
            }
        }
        // The service is one attribute.
        #expect(services?.first?.characteristics.count == ServerDiscovery.maximumAttributes - 1)
    }

    @Test(
        arguments: [
            // The same again, backwards, overlapping, handle 0, UUIDs of other lengths.
            [.init(1...9, [0x0D, 0x18]), .init(1...9, [0x0D, 0x18])],
            [.init(1...9, [0x0D, 0x18]), .init(0...0, [0x0D, 0x18])],
            [.init(1...9, [0x0D, 0x18]), .init(5...20, [0x0F, 0x18])],
            [.init(1...9, [0x0D, 0x18]), .init(20...30, [0x0F])],
            [.init(1...9, [0x0D, 0x18]), .init(20...30, [UInt8](repeating: 1, count: 8))],
        ] as [[ATTPDU.Group]])
    func servicesOutOfOrderAreLeftOut(_ groups: [ATTPDU.Group]) {
        let services = discover { request in
            if case .readByGroupTypeRequest(_, "2800") = request { .readByGroupTypeResponse(groups) } else { nil }
        }
        #expect(services == [Self.service])
    }

    @Test func aSecondaryServiceInAPrimaryOneIsLeftOut() {
        let services = discover { request in
            guard case .readByGroupTypeRequest(let handles, "2801") = request, handles.lowerBound == 1 else {
                return nil
            }
            return .readByGroupTypeResponse([.init(4...5, [0x0F, 0x18]), .init(10...11, [0x0F, 0x18])])
        }
        #expect(services?.map(\.handles) == [1...9, 10...11])
    }

    @Test(
        arguments: [
            // Before and behind the service, backwards, without room for a value, with a value elsewhere, too short.
            .init(0, [2, 1, 0, 0x37, 0x2A]), .init(1, [2, 2, 0, 0x37, 0x2A]), .init(10, [2, 11, 0, 0x37, 0x2A]),
            .init(9, [2, 10, 0, 0x37, 0x2A]), .init(4, [2, 4, 0, 0x37, 0x2A]), .init(4, [2, 3, 0, 0x37, 0x2A]),
            .init(0xFFFF, [2, 0xFF, 0xFF, 0x37, 0x2A]), .init(4, [2, 5, 0]), .init(4, [2]), .init(4, []),
        ] as [ATTPDU.HandleAndValue])
    func aCharacteristicOutsideOfItsServiceIsLeftOut(_ entry: ATTPDU.HandleAndValue) {
        let services = discover { request in
            if case .readByTypeRequest(_, "2803") = request { .readByTypeResponse([entry]) } else { nil }
        }
        #expect(services?.map(\.characteristics) == [[]])
    }

    @Test(arguments: [0, 1, 2, 3, 6, 7, 10, 0xFFFF] as [UInt16])
    func aDescriptorOutsideOfItsCharacteristicIsLeftOut(_ handle: UInt16) {
        let services = discover { request in
            guard case .findInformationRequest(let handles) = request, handles.contains(4) else { return nil }
            return .findInformationResponse([.init(handle, "2901")])
        }
        #expect(services?.first?.characteristics == [.at(2, 2, "2A37"), .at(6, 2, "2A38")])
    }

    @Test func anIncludeAndACharacteristicDoNotShareAHandle() throws {
        let services = try #require(
            discover { request in
                guard case .readByTypeRequest(let handles, "2802") = request, handles.lowerBound <= 2 else {
                    return nil
                }
                return .readByTypeResponse([.init(2, [20, 0, 30, 0, 0x0F, 0x18])])
            })
        #expect(services.first?.included.map(\.handle) == [2])
        #expect(services.first?.characteristics.map(\.declarationHandle) == [6])
    }

    @Test(arguments: 0..<200) func randomResponsesLeadToAnOrderedDatabase(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "hostile server")
        var server = ScriptedServer()
        func handle(_ generator: inout SeededGenerator) -> UInt16 { UInt16(generator.below(60)) }
        let outcome = server.perform(.discover) { request in
            switch request {
            case .readByGroupTypeRequest:
                let groups = (0..<generator.below(4)).map { _ in
                    let (one, other) = (handle(&generator), handle(&generator))
                    return ATTPDU.Group(min(one, other)...max(one, other), [0x0D, 0x18])
                }
                return .readByGroupTypeResponse(groups)
            case .readByTypeRequest(_, let type):
                let entries = (0..<generator.below(4)).map { _ in
                    let value = handle(&generator).bytes + (type == "2802" ? handle(&generator).bytes : [])
                    return ATTPDU.HandleAndValue(
                        handle(&generator), (type == "2803" ? [2] : []) + value + [0x37, 0x2A])
                }
                return .readByTypeResponse(entries)
            case .findInformationRequest:
                return .findInformationResponse(
                    (0..<generator.below(4)).map { _ in ATTPDU.HandleAndUUID(handle(&generator), "2901") })
            case .mtuRequest: return .mtuResponse(UInt16(generator.below(300)))
            default: return .refused(request.opcode, 1, .unlikelyError)
            }
        }
        guard case .discovered(let services, nil)? = outcome else {
            Issue.record("no services: \(String(describing: outcome))")
            return
        }
        #expect(isOrdered(services))
    }

    // MARK: Names and changes

    private static let generic: [TappedService] = Array(ServedAttributes.sample.prefix(2))

    @Test func theDeviceNameIsReadAndServiceChangedIsSubscribed() {
        var attributes = ServedAttributes(Self.generic)
        attributes.values = [3: Array("Firmware".utf8)]
        var server = ScriptedServer()
        let outcome = server.perform(.discover) { attributes.send($0).first }
        #expect(outcome == .discovered(Self.generic, deviceName: Array("Firmware".utf8)))
        #expect(attributes.requests == [.setNotifying(.at(8), true), .read(.at(3))])
    }

    @Test func aServerThatRefusesBothIsDiscovered() {
        var attributes = ServedAttributes(Self.generic)
        attributes.refusals = [3: 0x05, 8: 0x05]
        var server = ScriptedServer()
        #expect(server.perform(.discover) { attributes.send($0).first } == .discovered(Self.generic, deviceName: nil))
    }

    @Test func serviceChangedIsConfirmedAndReported() {
        var attributes = ServedAttributes(Self.generic)
        var server = ScriptedServer()
        server.perform(.discover) { attributes.send($0).first }
        for change in attributes.perform(attributes.server.servicesChanged(to: .of(ServedAttributes.sample))) {
            server.receive(change)
        }
        #expect(server.reports == [.servicesChanged])
        #expect(server.sent.last == .confirmation)
    }

    @Test func theMTUIsExchangedOnce() {
        var attributes = ServedAttributes(Self.generic)
        var server = ScriptedServer()
        for _ in 0..<2 { server.perform(.discover) { attributes.send($0).first } }
        #expect(server.sent.count { $0.opcode == 0x02 } == 1)
        #expect(server.client.mtu == 247)
    }
}
