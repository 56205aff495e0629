public import Logging

extension Central {
    /// What can be set for a central and its peripherals.
    public struct Settings: Sendable {
        /// Where log lines go; nil for a logger of label `AsyncBluetooth`.
        public var logger: Logger?
        /// The most time that an operation may wait for the adapter and a link; nil for no limit.
        ///
        /// Beyond it the operation throws ``BluetoothError/Reason/timedOut(_:)``. It holds for each attempt of
        /// ``Peripheral/maintainConnection(_:)``, too.
        public var connectTimeout: Duration?
        /// The most time that one operation may take in all, with what it needs: the adapter, a link, discovery; nil for
        /// no limit.
        ///
        /// It holds for each call that reads, writes, discovers, connects, subscribes or retrieves, not for what a sequence
        /// waits for. Beyond it the operation throws ``BluetoothError/Reason/timedOut(_:)``, as with
        /// ``withTimeout(_:_:)``.
        public var operationTimeout: Duration?
        /// What scans, notifications, states and events of connections keep for a consumer that is late.
        public var buffering: BufferingPolicy

        /// Makes settings; what is left out has no limit, but that of ``BufferingPolicy/standard``.
        public init(
            logger: Logger? = nil, connectTimeout: Duration? = nil, operationTimeout: Duration? = nil,
            buffering: BufferingPolicy = .standard
        ) {
            self.logger = logger
            self.connectTimeout = connectTimeout
            self.operationTimeout = operationTimeout
            self.buffering = buffering
        }
    }
}
