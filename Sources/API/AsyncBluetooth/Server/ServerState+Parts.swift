import BluetoothSupport
import CoreBluetooth

extension ServerState {
    /// Published services, and those whose callback is still to come.
    struct Published {
        var services: [ServiceID: CBMutableService] = [:]
        var attributes: [ObjectIdentifier: Attribute] = [:]
        var objects: [CharacteristicID: CBMutableCharacteristic] = [:]
        var additions: [ObjectIdentifier: Waiter<Void>] = [:]
    }

    struct Advertising {
        /// The call whose advertisement runs or is being started.
        var current: Waiter<Void>?
        /// Calls of `startAdvertising` whose callbacks are still to come, in order.
        var calls: [Waiter<Void>] = []
    }

    /// L2CAP channels to publish; CoreBluetooth receives one at a time.
    struct Channels {
        var publications: [Publication] = []
        var isPublishing = false
    }

    /// Values that wait for subscribers.
    struct Updates {
        var queue: [Update] = []
        var pump = Pump()
        var refusedCount = 0
    }

    /// Handlers that run; a task is nil until it is created.
    struct Handlers {
        var tasks: [Int: Task<Void, Never>?] = [:]
        var refusedCount = 0
    }

    /// The subscribers of each characteristic, and the task that runs while it has subscribers.
    struct Subscriptions {
        /// A task, which is nil until it is created.
        struct Running {
            let number: Int
            var task: Task<Void, Never>?
        }

        var subscribers: [CharacteristicID: Set<UUID>] = [:]
        var tasks: [CharacteristicID: Running] = [:]
    }

    struct Restoration {
        /// Descriptions with handlers for the services that an earlier process published.
        var services: [ServedService]
        var onRestore: (@Sendable (RestoredServer) -> Void)?
        /// Restored services that ``PeripheralServer/run()`` may take for those of its offer.
        var published: [ServiceID] = []
        /// Centrals that are subscribed since the earlier process, until the adapter's state is known.
        var subscribers: [(central: UUID, characteristic: CharacteristicID)] = []
    }
}
