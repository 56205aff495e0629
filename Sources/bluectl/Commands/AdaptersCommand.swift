import ArgumentParser

/// `bluectl adapters`: what `--adapter` can name.
struct AdaptersCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "adapters",
        abstract: "List the adapters with address, power, roles and name.",
        discussion: """
            One line each: what --adapter takes, address, on or off, roles, name, separated by tabs. With --adapter \
            only that one. Exit status 1 if there is none.
            """)

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func run() async throws {
        Diagnostics.bootstrap(isVerbose: global.verbose, isJSON: global.json)
        Diagnostics.open()
        let all = try await AdapterList(limit: global.timeout.duration).adapters(global)
        let wanted = global.effectiveAdapter
        let adapters = all.filter { adapter in
            wanted.map { adapter.adapter == $0 || adapter.address?.lowercased() == $0.lowercased() } ?? true
        }
        guard !adapters.isEmpty else {
            let which = wanted.map { "there is no adapter \(PrintableText.of($0))" } ?? "there is no Bluetooth adapter"
            throw Failure(.failed, which + "; \"bluectl doctor\" tells more")
        }
        await show(adapters)
    }

    @MainActor
    private func show(_ adapters: [AdapterRecord]) {
        let console = Console(isJSON: global.json)
        if adapters.contains(where: { $0.backend == "emulator" }) {
            console.note("EMULATED: the adapters of this radio are not real")
        }
        for adapter in adapters {
            if console.isJSON { console.print(json: adapter) } else { console.print(adapter.line) }
        }
    }
}
