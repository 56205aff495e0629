import BluetoothBackend
import DequeModule

// A world that goes on without the apps that it had.
extension World {
    /// Ends all managers, and asks asynchronous handlers again.
    ///
    /// What was told and owed to the apps goes with them.
    mutating func endApps() {
        trace.note("restored from a snapshot, without its apps", at: now)
        timeline.cancelAlarms()
        for host in hosts.indices {
            for identifier in startedApps(on: host) { terminateApp(identifier, on: host) }
        }
        for manager in managers.refs { removeManager(manager) }
        outputs = []
        for link in links.refs { askAgain(on: link) }
    }

    /// The restore identifiers of a host's managers.
    ///
    /// A manager that heard of no state has nothing yet: what is kept for it stays for the next.
    private func startedApps(on host: Int) -> [String] {
        var identifiers: [String] = []
        for ref in hosts[host].managers {
            guard let manager = managers[ref], manager.toldState != nil, let identifier = manager.restoreIdentifier,
                !identifiers.contains(identifier)
            else { continue }
            identifiers.append(identifier)
        }
        return identifiers
    }

    /// Asks an asynchronous handler what it had not answered on a link.
    private mutating func askAgain(on ref: Ref<Link>) {
        guard let link = links[ref], let pending = link.server.pendingRequest,
            let handler = devices[link.device]?.handler.asynchronous
        else { return }
        let central = identity(of: ref)
        let question: (attribute: AttributeID, kind: PeripheralRequest.Kind)
        switch pending.operation.kind {
        case .request(.read(let attribute)): question = (attribute, .read)
        case .request(.write(let attribute, let value)): question = (attribute, .write(value))
        default: return
        }
        guard let request = devices[link.device]?.server.request(question.attribute, question.kind, from: central)
        else {
            return
        }
        outputs.append(.ask(ref, pending.number, handler, request))
    }
}
