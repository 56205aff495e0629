import BluetoothBackend
import BluetoothSupport

/// A call of an asynchronous handler, made outside the world.
struct HandlerCall: Sendable {
    enum Content: Sendable {
        case connection(ConnectionRequest)
        case procedure(PeripheralProcedure)
        case request(PeripheralRequest)
        /// A central of a host outside of the emulator opens a channel.
        case channel(ChannelRequest)
        case event(DeviceEvent)
    }

    /// The operation or event that waits for the answer.
    enum Origin: Sendable {
        /// The connect of a host.
        case connect(host: Int, epoch: UInt32)
        /// The outstanding operation of a link.
        case operation(Ref<Link>, UInt64)
        /// A write command, which has no answer on the air.
        case command(Ref<Link>, AttributeID, Data)
        case event
    }

    /// The calls that run one after the other: those of a device, or of one central of a host outside of the emulator, whose
    /// links are independent of each other.
    struct Sequence: Hashable, Sendable {
        let device: Ref<Device>
        let central: DeviceAddress?
    }

    let device: Ref<Device>
    let handler: any AsynchronousPeripheralHandler
    let content: Content
    let origin: Origin

    var sequence: Sequence {
        Sequence(device: device, central: handler is any ExternalPeripheralHandler ? central?.address : nil)
    }

    private var central: CentralIdentity? {
        switch content {
        case .connection(let request): request.central
        case .procedure(let procedure): procedure.central
        case .request(let request): request.central
        case .channel(let request): request.central
        case .event(.connected(let central)), .event(.disconnected(let central)): central
        case .event: nil
        }
    }

    /// Whether the call may be dropped if too many wait: a central can cause any number of such calls.
    var isDispensable: Bool {
        switch (content, origin) {
        case (.event(.connected), _), (.event(.disconnected), _): false
        case (.event, _), (_, .command): true
        default: false
        }
    }

    /// Calls the handler.
    ///
    /// - Returns: The handler's answer; nil if the call has none.
    func perform() async -> HandlerReply? {
        let answer: HandlerReply.Answer
        switch content {
        case .connection(let request): answer = .connection(await handler.respond(to: request))
        case .procedure(let procedure): answer = .procedure(await handler.respond(to: procedure))
        case .request(let request): answer = .request(await handler.respond(to: request))
        case .channel(let request):
            guard let handler = handler as? any ExternalPeripheralHandler else { return nil }
            answer = .channel(request, await handler.respond(to: request))
        case .event(let event):
            await handler.handle(event)
            return nil
        }
        return HandlerReply(device: device, origin: origin, answer: answer)
    }
}

/// The answer of an asynchronous handler.
struct HandlerReply: Sendable {
    enum Answer: Sendable {
        case connection(ConnectionResponse)
        case procedure(ProcedureResponse)
        case request(PeripheralResponse)
        case channel(ChannelRequest, ChannelResponse)
    }

    let device: Ref<Device>
    let origin: HandlerCall.Origin
    let answer: Answer
}
