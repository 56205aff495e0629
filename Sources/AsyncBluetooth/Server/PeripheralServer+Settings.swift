public import Logging

extension PeripheralServer {
    /// What can be set for a server.
    public struct Settings: Sendable {
        /// Where log lines go; nil for a logger of label `AsyncBluetooth`.
        public var logger: Logger?
        /// The most time that ``PeripheralServer/add(_:)``, ``PeripheralServer/startAdvertising(name:services:)``,
        /// ``PeripheralServer/notify(_:of:to:)`` and ``PeripheralServer/publishChannel(isEncryptionRequired:)`` may take,
        /// the wait for the adapter included; nil for no limit.
        ///
        /// Beyond it they throw ``BluetoothError/Reason/timedOut(_:)``.
        public var operationTimeout: Duration?
        /// The most time that a handler may take; nil for no limit.
        ///
        /// Beyond it the handler's task is cancelled, and the device gets `.unlikelyError`. The default is what ATT allows:
        /// after 30 s the other side gives the request up (Core Specification, Vol 3, Part F, 3.3.3).
        public var handlerTimeout: Duration?
        /// How many handlers may run at once, at least 1.
        ///
        /// Further requests are refused with `.insufficientResources`, and further writes without response are dropped;
        /// the first one is logged at level `warning`.
        public var handlerLimit: Int
        /// How many events ``PeripheralServer/states`` and ``PeripheralServer/subscriptions`` keep for a consumer.
        public var buffering: BufferingPolicy
        /// How many open channels ``PeripheralServer/channels`` keeps for a consumer; further ones are closed.
        public var channelLimit: Int

        /// Makes settings; what is left out has the value that is described with it.
        public init(
            logger: Logger? = nil, operationTimeout: Duration? = nil, handlerTimeout: Duration? = .seconds(30),
            handlerLimit: Int = 128, buffering: BufferingPolicy = .standard, channelLimit: Int = 32
        ) {
            self.logger = logger
            self.operationTimeout = operationTimeout
            self.handlerTimeout = handlerTimeout
            self.handlerLimit = handlerLimit
            self.buffering = buffering
            self.channelLimit = channelLimit
        }
    }
}
