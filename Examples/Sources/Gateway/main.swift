import CoreBluetooth

// swift run Gateway [SERVICE CHARACTERISTIC]: ends with Ctrl-C.
let arguments = Array(CommandLine.arguments.dropFirst())
let source = arguments.count == 2 ? Source(service: arguments[0], characteristic: arguments[1]) : nil
guard arguments.isEmpty || source != nil else {
    FileHandle.standardError.write(Data("usage: Gateway [SERVICE CHARACTERISTIC], as in: Gateway 180D 2A37\n".utf8))
    exit(2)
}
let gateway = Gateway(source: source)
withExtendedLifetime(gateway) { RunLoop.main.run() }
