import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import Foundation
import Synchronization

/// The participants of a random program: a central with a peripheral, and a server, in one world.
struct Participants: Sendable {
    let fixture: Fixture
    let device: EmulatedDevice
    let central: Central
    let peripheral: Peripheral
    let server: PeripheralServer
    /// The device's address.
    let address: String
    /// A subscription that several operations read, one after the other and at once.
    let shared: SharedSubscription
    /// A channel that several operations use at once.
    let channel: SharedChannel

    init(_ fixture: Fixture, _ device: EmulatedDevice) async throws {
        self.fixture = fixture
        self.device = device
        central = fixture.makeCentral()
        peripheral = try await Fixture.first(central)
        address = peripheral.address ?? ""
        server = PeripheralServer(backend: .emulator(fixture.emulator), offer: Self.offer)
        shared = SharedSubscription()
        channel = SharedChannel()
        try await server.waitUntilPoweredOn()
        try await server.add(
            ServedService(CBUUID(string: "FFE0"), characteristics: [.init(CBUUID(string: "FFE1"), .notify)]))
    }

    private static let offer = ServedOffer(
        services: [
            ServedService(CBUUID(string: "FFA0"), characteristics: [.init(CBUUID(string: "FFA1"), .notify)]),
            ServedService(CBUUID(string: "FFB0"), characteristics: []),
        ], name: "Offer")

    /// Shows that interrupted operations hinder nothing, and withdraws what the program published permanently.
    func end() async throws -> Remains {
        for _ in 0..<8 {
            do {
                try await peripheral.connect()
                break
            } catch is BluetoothError {}
        }
        try await peripheral.write(Data([0x2A]), to: "FFF0/FFF1")
        let value = try await peripheral.read("FFF0/FFF1")
        guard value == Data([0x2A]) else { throw Unexpected("the value is \([UInt8](value))") }
        let values = try await peripheral.subscribe(to: "FFF0/FFF1")
        device.notify("FFF1", value: Data([0x2B]))
        for try await value in values {
            guard value == Data([0x2B]) else { continue }
            break
        }
        let psm = try await server.publishChannel()
        server.unpublishChannel(psm)
        try await server.startAdvertising(name: "Last")
        server.stopAdvertising()
        server.remove("FFE0")
        shared.drop()
        channel.drop()
        try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
        let open = TraceBalance(fixture.emulator.trace.map(\.description)).openChannels
        guard open.isEmpty else { throw Unexpected("channels stay open: \(open)") }
        return Remains(objects: [
            WeakObject("central", central), WeakObject("peripheral", peripheral), WeakObject("server", server),
        ])
    }
}

/// The objects that must be gone after a program.
struct Remains: Sendable {
    let objects: [WeakObject]
}

/// A reference that keeps nothing alive.
final class WeakObject: Sendable {
    private struct Reference: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    let name: String
    private let reference: Lock<Reference>

    init(_ name: String, _ object: any AnyObject & Sendable) {
        self.name = name
        reference = Lock(Reference(object: object))
    }

    var isGone: Bool { reference.withLock { $0.object == nil } }
}

/// A sequence that is read repeatedly, and created anew when it has ended.
final class SharedSubscription: Sendable {
    private let values = Lock<ValueSequence<Data>?>(nil)

    func read(_ peripheral: Peripheral) async throws {
        let sequence: ValueSequence<Data>
        if let known = values.withLock({ $0 }) {
            sequence = known
        } else {
            sequence = try await peripheral.subscribe(to: "FFF0/FFF2")
            values.withLock { $0 = sequence }
        }
        do {
            for try await _ in sequence { break }
        } catch let error as BluetoothError {
            drop()
            throw error
        }
    }

    func drop() {
        let old = values.withLock { $0.take() }
        withExtendedLifetime(old) {}
    }
}

/// A channel that is opened once, and again after it has ended or was released.
final class SharedChannel: Sendable {
    private let channel = Lock<ByteChannel?>(nil)

    func use(_ peripheral: Peripheral, _ body: (ByteChannel) async throws -> Void) async throws {
        do {
            try await body(try await open(peripheral))
        } catch let error as BluetoothError {
            drop()
            throw error
        }
    }

    private func open(_ peripheral: Peripheral) async throws -> ByteChannel {
        if let known = channel.withLock({ $0 }) { return known }
        let new = try await peripheral.openChannel(0x80)
        let old = channel.withLock { exchange(&$0, with: new) }
        withExtendedLifetime(old) {}
        return new
    }

    func drop() {
        let old = channel.withLock { $0.take() }
        withExtendedLifetime(old) {}
    }
}

extension PeripheralDescription {
    /// The gadget, with a descriptor that can be written, an included service and a channel.
    static let programGadget: PeripheralDescription = {
        var gadget = PeripheralDescription.gadget
        gadget.services[0].includes = ["FFF8"]
        gadget.services[0].characteristics[0].descriptors[0].permissions = [.readable, .writeable]
        gadget.services.insert(ServiceDescription("FFF8", isPrimary: false), at: 0)
        gadget.channels = [ChannelDescription(psm: 0x80, echo: true)]
        return gadget
    }()
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The outcome of each operation.
final class Outcomes: Sendable {
    private let errors = Lock<[Int: (any Error)?]>([:])

    func record(_ error: (any Error)?, of number: Int) { errors.withLock { $0[number] = .some(error) } }

    var count: Int { errors.withLock { $0.count } }

    /// Errors that no operation may throw.
    var surprises: [String] {
        errors.withLock { errors in
            errors.values.compactMap { $0 }.filter { !($0 is CancellationError || $0 is BluetoothError) }.map {
                "\($0)"
            }
        }
    }
}

/// A sequence of random numbers from a seed.
///
/// Source: Steele, Lea and Flood, SplitMix64.
struct SeededNumbers: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
