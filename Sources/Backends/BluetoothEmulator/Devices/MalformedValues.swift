import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device with ten standard characteristics whose values all break their format.
    ///
    /// Finds apps that index into a value without checking its length, that trust its flags, or that convert any number
    /// to an enumeration.
    public static let malformedValues = hostile(
        "Malformed Values",
        services: MalformedValuesHandler.catalogue.map { entry in
            ServiceDescription(
                entry.service,
                characteristics: entry.values.map { uuid, values in
                    CharacteristicDescription(
                        uuid, entry.notifies.contains(uuid) ? [.read, .notify] : .read, value: values[0])
                })
        }, handler: .malformedValues)
}

/// Returns the invalid values of a characteristic in turn to its readers, and notifies one each second.
public struct MalformedValuesHandler: EmulatedPeripheralHandler {
    /// The number of values shown so far, by characteristic.
    public struct State: Hashable, Sendable {
        var shown: [BluetoothUUID: Int] = [:]
        var subscribers = Subscribers<BluetoothUUID>()
    }

    typealias Entry = (service: BluetoothUUID, notifies: Set<BluetoothUUID>, values: [(BluetoothUUID, [Data])])

    /// Invalid values: empty, too short, too long, out of range, with reserved flags, or with flags for missing fields.
    ///
    /// Source of the valid formats: GATT Specification Supplement, 3.
    static let catalogue: [Entry] = [
        ("180F", ["2A19"], [("2A19", bytes([], [101], [255], [50, 0]))]),
        (
            "180D", ["2A37"],
            [
                // Flags for 16 bits with only 8; flags for energy and an RR interval that are truncated; reserved
                // flags.
                (
                    "2A37",
                    bytes([], [0x00], [0x01, 60], [0x08, 60, 1], [0x10, 60], [0x10, 60, 0, 4, 1], [0xE0, 60])
                ),
                ("2A38", bytes([], [7], [255], [1, 2])),
            ]
        ),
        (
            "1809", ["2A1C"],
            [
                // Not a number; infinity; a flag for a truncated date; an invalid date; a flag for a missing type.
                (
                    "2A1C",
                    bytes(
                        [], [0x00, 0x6E, 0x01], [0x00, 0xFF, 0xFF, 0x7F, 0], [0x00, 0xFE, 0xFF, 0x7F, 0],
                        [0x02, 0x6E, 1, 0, 0xFF, 0xE9], [0x02, 0x6E, 1, 0, 0xFF, 0xE9, 7, 13, 32, 25, 61, 61],
                        [0x04, 0x6E, 1, 0, 0xFF], [0xF8, 0x6E, 1, 0, 0xFF])
                ),
                ("2A1D", bytes([], [0], [10], [1, 2])), ("2A21", bytes([], [1], [1, 0, 0])),
            ]
        ),
        (
            "1816", ["2A5B"],
            [
                (
                    "2A5B",
                    bytes([], [0x03], [0x01, 1, 0, 0, 0], [0x02, 1, 0, 0], [0x03, 1, 0, 0, 0, 0, 0], [0xFC, 1])
                ),
                ("2A5D", bytes([], [17], [255])),
            ]
        ),
        ("1805", ["2A2B"], [("2A2B", bytes([], [0xE9, 7, 1], [0xE9, 7, 13, 32, 25, 61, 61, 8, 0, 0xF0]))]),
        (
            "180A", [],
            [("2A29", bytes([0xFF, 0xFE, 0x00, 0xC3])), ("2A50", bytes([], [3, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]))]
        ),
    ]

    private static func bytes(_ values: [UInt8]...) -> [Data] { values.map { Data($0) } }

    /// Returns all invalid values of a characteristic.
    static func values(of characteristic: BluetoothUUID) -> [Data] {
        catalogue.lazy.flatMap(\.values).first { $0.0 == characteristic }?.1 ?? []
    }

    /// Creates the handler.
    public init() {}

    /// Creates the state before the first value.
    public func makeState() -> State { State() }

    /// Returns the next invalid value.
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.kind == .read, request.descriptor == nil,
            let value = next(of: request.characteristic, &state)
        else { return .stored }
        return .value(value)
    }

    /// Notifies an invalid value each second.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        for change in state.subscribers.apply(event) {
            switch change {
            case .began(let uuid): device.startTimer(number(of: uuid), after: .seconds(1), every: .seconds(1))
            case .ended(let uuid): device.stopTimer(number(of: uuid))
            }
        }
        guard case .timer(let number) = event else { return }
        let uuid = BluetoothUUID(UInt16(truncatingIfNeeded: number))
        if let value = next(of: uuid, &state) { device.notify(CharacteristicPath(uuid), value: value) }
    }

    private func number(of uuid: BluetoothUUID) -> Int { Int(uuid.bits16 ?? 0) }

    private func next(of uuid: BluetoothUUID, _ state: inout State) -> Data? {
        let values = Self.values(of: uuid)
        guard !values.isEmpty else { return nil }
        defer { state.shown[uuid, default: 0] += 1 }
        return values[state.shown[uuid, default: 0] % values.count]
    }
}
