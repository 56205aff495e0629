import CoreBluetooth

/// A service of a wrapped peripheral.
///
/// A parent owns the wrappers of its children, as CoreBluetooth's objects own their children.
final class WrappedService: CBMService, AttributeWrapper,
    // Invariant: that of the superclass; `children` is under a lock.
    @unchecked Sendable
{
    let wrapped: CBService
    /// The server's object, for a mock's service.
    let server: CBMServiceMock?
    private weak var owner: CBMWrappedPeripheral?
    private let children = Protected<[WrappedCharacteristic]>([])

    init(_ service: CBService, of owner: CBMWrappedPeripheral, server: CBMServiceMock?) {
        wrapped = service
        self.owner = owner
        self.server = server
        super.init(uuid: service.uuid, isPrimary: service.isPrimary, identifier: server?.identifier ?? UUID())
    }

    override var peripheral: (any CBMPeripheral)? { owner }

    override var includedServices: [CBMService]? {
        guard let owner else { return nil }
        return wrapped.includedServices?.map { owner.wrap($0, in: self) }
    }

    override var characteristics: [CBMCharacteristic]? { wrapped.characteristics?.map { wrap($0) } }

    func wrap(_ characteristic: CBCharacteristic) -> WrappedCharacteristic {
        if let known = children.withLock({ $0.wrapper(of: characteristic) }) { return known }
        let server = server?.mocks.counterpart(of: characteristic, among: wrapped.characteristics ?? [])
        let new = WrappedCharacteristic(characteristic, of: self, server: server)
        return children.withLock { $0.insert(new) }
    }
}

/// A characteristic of a wrapped peripheral.
final class WrappedCharacteristic: CBMCharacteristic, AttributeWrapper,
    // Invariant: that of the superclass; `children` and `changes` are under locks.
    @unchecked Sendable
{
    let wrapped: CBCharacteristic
    /// The server's object, for a mock's characteristic.
    let server: CBMCharacteristicMock?
    private let children = Protected<[WrappedDescriptor]>([])
    /// The values that a test has set, until the peripheral reports others.
    private let changes = Protected<(value: Data??, isNotifying: Bool?)>((nil, nil))

    init(_ characteristic: CBCharacteristic, of service: WrappedService, server: CBMCharacteristicMock?) {
        wrapped = characteristic
        self.server = server
        super.init(
            uuid: characteristic.uuid, properties: characteristic.properties,
            identifier: server?.identifier ?? UUID())
        attach(to: service)
    }

    /// The value that was last read, notified or indicated, or that a test has set since.
    override var value: Data? {
        get { changes.withLock { $0.value } ?? wrapped.value }
        set { changes.withLock { $0.value = .some(newValue) } }
    }

    override var isNotifying: Bool {
        get { changes.withLock { $0.isNotifying } ?? wrapped.isNotifying }
        set { changes.withLock { $0.isNotifying = newValue } }
    }

    /// Discards the value that a test has set, because the peripheral reported one.
    func valueUpdated() { changes.withLock { $0.value = nil } }

    /// Discards the notification state that a test has set, because the peripheral reported one.
    func notificationStateUpdated() { changes.withLock { $0.isNotifying = nil } }

    /// The descriptors; for a mock, those that the spec lists, in its order: a 2902 that it does not list is hidden.
    override var descriptors: [CBMDescriptor]? {
        let all = wrapped.descriptors?.map { wrap($0) }
        guard let server else { return all }
        return all.map { all in server.mocks.compactMap { mock in all.first { $0.server === mock } } }
    }

    func wrap(_ descriptor: CBDescriptor) -> WrappedDescriptor {
        if let known = children.withLock({ $0.wrapper(of: descriptor) }) { return known }
        let server = server?.mocks.counterpart(of: descriptor, among: wrapped.descriptors ?? [])
        let new = WrappedDescriptor(descriptor, of: self, server: server)
        return children.withLock { $0.insert(new) }
    }
}

/// A descriptor of a wrapped peripheral.
final class WrappedDescriptor: CBMDescriptor, AttributeWrapper,
    // Invariant: that of the superclass; `change` is under a lock.
    @unchecked Sendable
{
    let wrapped: CBDescriptor
    /// The server's object, for a mock's descriptor.
    let server: CBMDescriptorMock?
    /// The value that a test has set, until the peripheral reports another one.
    private let change = Protected<Any??>(nil)

    init(_ descriptor: CBDescriptor, of characteristic: WrappedCharacteristic, server: CBMDescriptorMock?) {
        wrapped = descriptor
        self.server = server
        super.init(descriptor: descriptor.uuid, identifier: server?.identifier ?? UUID())
        attach(to: characteristic)
    }

    /// The value that was last read, or that a test has set since.
    override var value: Any? {
        get { change.withLock { $0 } ?? wrapped.value }
        set { change.withLock { $0 = .some(newValue) } }
    }

    /// Discards the value that a test has set, because the peripheral reported one.
    func valueUpdated() { change.withLock { $0 = nil } }
}

/// A wrapper of an attribute of CoreBluetooth.
protocol AttributeWrapper {
    associatedtype Wrapped: CBAttribute
    var wrapped: Wrapped { get }
}

// An array has few elements: a search takes less time than a hash.
extension Array where Element: AttributeWrapper {
    /// Returns the wrapper of an attribute; nil before its creation.
    func wrapper(of attribute: Element.Wrapped) -> Element? { first { $0.wrapped === attribute } }

    /// Adds a wrapper, unless another thread has added one of the same attribute.
    ///
    /// - Returns: The wrapper in the array.
    mutating func insert(_ new: Element) -> Element {
        if let known = wrapper(of: new.wrapped) { return known }
        append(new)
        return new
    }
}

extension Array where Element: CBMAttribute {
    /// Returns the server's object of a client's attribute.
    ///
    /// Attributes of equal UUIDs are discovered together, in the order of the server.
    func counterpart(of attribute: CBAttribute, among siblings: [CBAttribute]) -> Element? {
        let equals = siblings.filter { $0.uuid == attribute.uuid }
        guard let position = equals.firstIndex(where: { $0 === attribute }) else { return nil }
        return filter { $0.uuid == attribute.uuid }.dropFirst(position).first
    }
}
