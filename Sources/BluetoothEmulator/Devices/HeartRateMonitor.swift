import BluetoothBackend

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PeripheralDescription {
    /// A heart rate monitor: Heart Rate, Battery and Device Information.
    ///
    /// Source: Heart Rate Service 1.0, Battery Service 1.1, Device Information Service 1.2 of the Bluetooth SIG.
    public static let heartRateMonitor = PeripheralDescription(
        name: "Heart Rate Monitor", address: "C0:DE:00:00:18:0D",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(services: ["180D", "180F", "180A"]),
                scanResponse: AdvertisingData(localName: "Heart Rate Monitor", txPowerLevel: 0))
        ],
        services: [
            ServiceDescription(
                "180D",
                characteristics: [
                    CharacteristicDescription(
                        "2A37", .notify, value: HeartRateHandler.measurement(rate: 60, energy: nil)),
                    CharacteristicDescription("2A38", .read, value: Data([1])),
                    CharacteristicDescription("2A39", .write, maximumLength: 1),
                ]),
            ServiceDescription(
                "180F", characteristics: [CharacteristicDescription("2A19", [.read, .notify], value: Data([87]))]),
            ServiceDescription(
                "180A",
                characteristics: [
                    CharacteristicDescription("2A29", .read, value: Data("Emulated Devices".utf8)),
                    CharacteristicDescription("2A24", .read, value: Data("HRM-1".utf8)),
                    CharacteristicDescription("2A26", .read, value: Data("1.0.0".utf8)),
                ]),
        ],
        handler: .heartRate)
}

/// A heart that beats once a second and a bit: notifies its rate each second while somebody subscribes, counts energy
/// and resets it on demand.
public struct HeartRateHandler: EmulatedPeripheralHandler {
    /// What the monitor counts.
    public struct State: Hashable, Sendable {
        var beats = 0
        /// In kilojoules.
        var energy: UInt16 = 0
        var subscribers = 0
    }

    static let measurementPath: CharacteristicPath = "2A37"
    static let pulse = 1

    /// A heart at rest.
    public init() {}

    /// Nothing counted yet.
    public func makeState() -> State { State() }

    /// Takes orders of the control point: 1 resets the energy expended, all else is refused with 0x80.
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == "2A39", let value = request.writtenValue else { return .stored }
        guard value == Data([1]) else { return .error(0x80) }
        state.energy = 0
        return .accepted
    }

    /// Beats while somebody listens.
    public func notice(_ occurrence: PeripheralOccurrence, state: inout State, device: inout DeviceActions) {
        switch occurrence {
        case .subscribed(_, _, characteristic: "2A37"):
            state.subscribers += 1
            if state.subscribers == 1 { device.startTimer(Self.pulse, after: .seconds(1), every: .seconds(1)) }
        case .unsubscribed(_, _, characteristic: "2A37"):
            state.subscribers = max(0, state.subscribers - 1)
            if state.subscribers == 0 { device.stopTimer(Self.pulse) }
        case .disconnected:
            // The device takes one central at a time, whose subscriptions go with it.
            state.subscribers = 0
            device.stopTimer(Self.pulse)
        case .timer(Self.pulse):
            state.beats += 1
            if state.beats.isMultiple(of: 10) { state.energy = state.energy == .max ? .max : state.energy + 1 }
            let energy = state.beats.isMultiple(of: 10) ? state.energy : nil
            device.notify(Self.measurementPath, value: Self.measurement(rate: Self.rate(state.beats), energy: energy))
        default: break
        }
    }

    /// Between 60 and 90, up and down in a minute.
    static func rate(_ beats: Int) -> UInt8 {
        let phase = beats % 60
        return UInt8(60 + (phase <= 30 ? phase : 60 - phase))
    }

    /// Flags (contact supported and detected), the rate, the energy in kilojoules where wanted, and one RR interval in
    /// 1/1024 s.
    static func measurement(rate: UInt8, energy: UInt16?) -> Data {
        let interval = UInt16(60 * 1024 / Int(rate))
        var value = Data([0x16 | (energy == nil ? 0 : 0x08), rate])
        if let energy { value += [UInt8(energy & 0xFF), UInt8(energy >> 8)] }
        return value + [UInt8(interval & 0xFF), UInt8(interval >> 8)]
    }
}
