import ArgumentParser

/// DEVICE on the command line.
struct DeviceArgument: ExpressibleByArgument, Equatable, Sendable {
    let query: DeviceQuery

    init?(argument: String) {
        guard let query = DeviceQuery(argument) else { return nil }
        self.query = query
    }

    static let help = ArgumentHelp("The device: its identifier, address or name.", valueName: "DEVICE")
}

/// Runs a check of arguments and gives its failure the form that the parser expects.
func usage<Value>(_ body: () throws(Failure) -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        throw ValidationError(error.description)
    }
}
