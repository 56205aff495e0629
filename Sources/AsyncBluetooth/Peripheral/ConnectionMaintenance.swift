/// The tasks that keep a connection up, and those of them that the app has stopped.
struct ConnectionMaintenance {
    private var tasks: [Int: Task<Void, Never>?] = [:]
    private var stopped: Set<Int> = []

    /// Whether no task is at work, not even one that ends now.
    var isEmpty: Bool { tasks.isEmpty }

    /// Whether the connection is kept up.
    var isActive: Bool { tasks.count > stopped.count }

    /// A task will begin.
    mutating func begin(_ number: Int) { tasks[number] = .some(nil) }

    /// A task has begun.
    ///
    /// - Returns: Whether the app has stopped it already, so that it is to be cancelled.
    mutating func attach(_ task: Task<Void, Never>, to number: Int) -> Bool {
        guard tasks[number] != nil else { return false }
        tasks[number] = task
        return stopped.contains(number)
    }

    /// The app has ended the link.
    ///
    /// - Returns: The tasks to cancel.
    mutating func stop() -> [Task<Void, Never>] {
        tasks.compactMap { number, task in stopped.insert(number).inserted ? task : nil }
    }

    func isStopped(_ number: Int) -> Bool { stopped.contains(number) }

    /// A task has ended.
    mutating func end(_ number: Int) {
        tasks[number] = nil
        stopped.remove(number)
    }
}
