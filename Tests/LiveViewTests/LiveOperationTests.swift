import BluetoothEmulator
import Foundation
import Testing

@testable import LiveView

/// The kinds of operations that packets belong to.
@Suite struct LiveOperationTests {
    @Test func aResponseHasTheOperationOfItsRequest() {
        let requests: [(ATTRequest, LiveOperation)] = [
            (.read(handle: 3), .read), (.write(handle: 3, Data([1])), .write), (.discoverServices, .discover),
            (.discoverDescriptors(in: 3...5), .discover),
        ]
        for (request, operation) in requests {
            #expect(LiveOperation(.request(request, sentAt: .zero), answering: nil) == operation)
            #expect(LiveOperation(.response(.error(ATTCode(rawValue: 0x80))), answering: request) == operation)
        }
        #expect(LiveOperation(.response(.written), answering: nil) == .discover)
    }

    @Test func whatIsNotAnsweredHasItsOwnOperation() {
        #expect(LiveOperation(.command(handle: 3, Data()), answering: nil) == .write)
        #expect(LiveOperation(.notification(handle: 3, Data()), answering: .read(handle: 3)) == .notify)
        #expect(LiveOperation(.indication(handle: 3, Data()), answering: nil) == .notify)
    }
}
