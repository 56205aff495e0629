// Scans with the adapters of several machines at once, and prints each device once for each machine.
//
//     swift run RemoteAdapters kitchen.local garage.local
//
// Each machine needs systemd, and an SSH server to which this one can log in without a password.
import AsyncBluetooth
import BlueZ
import CoreBluetooth
import Foundation

/// Scans with the adapter of one machine for some seconds.
func scan(_ host: String, for duration: Duration) async {
    let bus = BlueZConfiguration.busAddress(overSSHTo: host)
    let central = Central(backend: .bluez(BlueZConfiguration(busAddress: bus)))
    let search = Task {
        for try await found in central.scan() {
            print("\(host)\t\(found.peripheral.name ?? "?")\t\(found.rssi.map { "\($0) dBm" } ?? "?")")
        }
    }
    do {
        try await Task.sleep(for: duration)
        search.cancel()
        try await search.value
    } catch is CancellationError {
        return
    } catch {
        print("\(host)\t\(error)")
    }
}

let hosts = CommandLine.arguments.dropFirst()
guard !hosts.isEmpty else {
    FileHandle.standardError.write(Data("usage: RemoteAdapters HOST…\n".utf8))
    exit(2)
}
await withTaskGroup(of: Void.self) { group in
    for host in hosts { group.addTask { await scan(host, for: .seconds(8)) } }
}
