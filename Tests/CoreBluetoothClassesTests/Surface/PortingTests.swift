#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The claims of the page "Porting", most of them about Foundation on Linux.
///
/// A failure may mean that Foundation was fixed, and that a paragraph of the page can be removed.
@Suite struct PortingTests {
    @Test func aTimerThatIsNotScheduledIsDueAtOnce() {
        let hour: TimeInterval = 3_600
        #expect(Timer(timeInterval: hour, repeats: false) { _ in }.fireDate.timeIntervalSinceNow < hour / 2)
    }

    @Test func timersWithADateAndScheduledOnesWait() {
        let hour: TimeInterval = 3_600
        let dated = Timer(fire: Date(timeIntervalSinceNow: hour), interval: hour, repeats: false) { _ in }
        #expect(dated.fireDate.timeIntervalSinceNow > hour / 2)
        let scheduled = Timer.scheduledTimer(withTimeInterval: hour, repeats: false) { _ in }
        #expect(scheduled.fireDate.timeIntervalSinceNow > hour / 2)
        scheduled.invalidate()
    }

    @Test func theObjectBehindTheBytesOfDataIsGoneAtOnce() {
        weak var object: NSData?
        func bytes(of data: Data) -> UnsafeRawPointer {
            let temporary = data as NSData
            object = temporary
            return temporary.bytes
        }
        _ = bytes(of: Data(repeating: 1, count: 100))
        #expect(object == nil)
    }

    #if Emulator
    @Test func anEmulatedServiceComesAfterThoseThatItIncludes() throws {
        let (battery, thermometer) = (ServiceDescription("180F"), ServiceDescription("1809", includes: ["180F"]))
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(PeripheralDescription(name: "Thermometer", services: [battery, thermometer]))
        #expect(throws: DescriptionError.self) {
            try emulator.add(PeripheralDescription(name: "Other", services: [thermometer, battery]))
        }
    }
    #endif
}
#endif
