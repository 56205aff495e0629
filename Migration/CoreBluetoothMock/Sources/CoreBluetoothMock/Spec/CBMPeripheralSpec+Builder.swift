import CoreBluetooth

extension CBMPeripheralSpec {
    /// A builder of a peripheral's description.
    ///
    /// Thread rule: use it from one thread at a time.
    public class Builder {
        private var state: SpecState

        init(identifier: UUID, proximity: CBMProximity) {
            state = SpecState(identifier: identifier, proximity: proximity)
        }

        /// Adds an advertising set.
        ///
        /// - Parameters:
        ///   - advertisementData: The contents of a packet, by `CBMAdvertisementData…` keys.
        ///   - interval: The time between two packets, in seconds.
        ///   - delay: The time to the first packet, in seconds.
        ///   - advertisingWhenConnected: Whether it continues while a central is connected.
        public func advertising(
            advertisementData: [String: Any], withInterval interval: TimeInterval = 0.100, delay: TimeInterval = 0.0,
            alsoWhenConnected advertisingWhenConnected: Bool = false
        ) -> Builder {
            let set = CBMAdvertisementConfig(
                data: advertisementData, interval: interval, delay: delay,
                isAdvertisingWhenConnected: advertisingWhenConnected)
            state.advertisement = (state.advertisement ?? []) + [set]
            return self
        }

        /// Lets centrals connect, in response to a connectable packet.
        ///
        /// - Parameters:
        ///   - name: The GAP Device Name.
        ///   - services: The services, in the order of discovery.
        ///   - delegate: The behavior; with nil, no connection is ever established.
        ///   - connectionInterval: The time between two connection events, in seconds: 0...4.
        ///   - supervisionTimeout: The time without a packet after which a link is lost, in seconds: 0.1...32; numbers
        ///     outside become the nearest of these.
        ///   - mtu: The largest ATT MTU in bytes; less than 23 becomes 23, more than 517 becomes 517.
        public func connectable(
            name: String, services: [CBMServiceMock], delegate: (any CBMPeripheralSpecDelegate)?,
            connectionInterval: TimeInterval = 0.045, supervisionTimeout: TimeInterval = 4.0, mtu: Int = 23
        ) -> Builder {
            state.name = name
            state.connection = SpecState.Connection(
                services: services, delegate: delegate, interval: connectionInterval,
                supervisionTimeout: supervisionTimeout, mtu: max(23, min(517, mtu)))
            return self
        }

        /// Describes a peripheral that is known, and connected to another app of the host from the start.
        ///
        /// The parameters are those of `connectable`. The peripheral need not advertise: it can be retrieved and
        /// connected.
        public func connected(
            name: String, services: [CBMServiceMock], delegate: (any CBMPeripheralSpecDelegate)?,
            connectionInterval: TimeInterval = 0.045, supervisionTimeout: TimeInterval = 4.0, mtu: Int = 23
        ) -> Builder {
            _ = connectable(
                name: name, services: services, delegate: delegate, connectionInterval: connectionInterval,
                supervisionTimeout: supervisionTimeout, mtu: mtu)
            state.isKnown = true
            state.isUsedByOtherApp = true
            state.wasConnected = true
            return self
        }

        /// Lets apps retrieve the peripheral without a scan, as one that the host has seen before.
        public func allowForRetrieval() -> Builder {
            state.isKnown = true
            return self
        }

        /// Returns the spec.
        public func build() -> CBMPeripheralSpec { CBMPeripheralSpec(state) }
    }
}
