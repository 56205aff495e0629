/// The connection handles of hosts; links in both directions between two hosts share one.
struct ConnectionHandles {
    private struct Key: Hashable {
        let host: Int
        let connection: UInt32
    }

    private struct Entry {
        let handle: UInt16
        var users: Int
    }

    private var entries: [Key: Entry] = [:]

    subscript(host: Int, connection: UInt32) -> UInt16? { entries[Key(host: host, connection: connection)]?.handle }

    /// Adds a user of a physical link.
    ///
    /// - Returns: The link's handle, if the link is new.
    mutating func open(_ connection: UInt32, of host: Int) -> UInt16? {
        let key = Key(host: host, connection: connection)
        if entries[key] != nil {
            entries[key]?.users += 1
            return nil
        }
        let used = Set(entries.filter { $0.key.host == host }.map(\.value.handle))
        let handle = (UInt16(0x0040)...0x0EFF).first { !used.contains($0) } ?? 0x0EFF
        entries[key] = Entry(handle: handle, users: 1)
        return handle
    }

    /// Removes a user of a physical link.
    ///
    /// - Returns: The link's handle, if this was its last user.
    mutating func close(_ connection: UInt32, of host: Int) -> UInt16? {
        let key = Key(host: host, connection: connection)
        guard let entry = entries[key] else { return nil }
        if entry.users > 1 {
            entries[key]?.users -= 1
            return nil
        }
        entries[key] = nil
        return entry.handle
    }
}
