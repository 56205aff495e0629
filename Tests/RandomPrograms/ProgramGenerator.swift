import BluetoothSupport

/// A generator of steps that make progress: discoveries mostly follow connections, operations come in bursts and mostly
/// on the last connection, and time advances.
struct ProgramGenerator {
    private var focus = (manager: 0, device: 0)

    mutating func next(_ random: inout SeededGenerator) -> [ProgramStep] {
        let other = (manager: random.below(2), device: random.below(3))
        switch random.below(24) {
        case 0...4:
            focus = other
            return Self.approach(other.manager, other.device, &random)
        case 5...13:
            let (manager, device) = random.isTrue(in: 4) ? other : focus
            return (0...random.below(6)).map { _ in Self.operation(manager, device, &random) }
        case 14...17: return [.wait(milliseconds: [0, 1, 30, 200, 1_000, 6_000, 31_000][random.below(7)])]
        case 18, 19: return [Self.ofDevice(random.isTrue(in: 3) ? random.below(2) : focus.device % 2, &random)]
        case 20...22: return (0...random.below(3)).map { _ in Self.ofPeripheral(&random) }
        default: return Self.ofHost(other.manager, &random)
        }
    }

    private static func approach(_ manager: Int, _ device: Int, _ random: inout SeededGenerator) -> [ProgramStep] {
        var steps: [ProgramStep] = [.connect(manager, device), .wait(milliseconds: 2_000)]
        if device == 2 { steps = [.publish(true), .advertise(true), .wait(milliseconds: 300)] + steps }
        if !random.isTrue(in: 6) { steps += [.services(manager, device), .wait(milliseconds: 1_000)] }
        if !random.isTrue(in: 6) { steps += [.characteristics(manager, device), .wait(milliseconds: 1_000)] }
        return steps
    }

    private static func operation(_ manager: Int, _ device: Int, _ random: inout SeededGenerator) -> ProgramStep {
        let characteristic = random.below(5)
        switch random.below(16) {
        case 0, 1: return .services(manager, device)
        case 2: return .characteristics(manager, device)
        case 3: return .descriptors(manager, device, characteristic)
        case 4...6: return .read(manager, device, characteristic)
        case 7, 8: return .write(manager, device, characteristic, count: [0, 1, 20, 182, 512, 513][random.below(6)])
        case 9: return .command(manager, device, characteristic, count: [1, 20, 200][random.below(3)])
        case 10...12: return .subscribe(manager, device, characteristic, !random.isTrue(in: 3))
        case 13: return .rssi(manager, device)
        case 14: return random.isTrue(in: 2) ? .cancel(manager, device) : .forget(manager, device)
        default: return random.isTrue(in: 2) ? .scan(manager, duplicates: random.isTrue(in: 2)) : .stopScan(manager)
        }
    }

    private static func ofDevice(_ device: Int, _ random: inout SeededGenerator) -> ProgramStep {
        switch random.below(12) {
        case 0...4: .value(device, 2 + random.below(2), count: random.below(30))
        case 5: .disconnect(device)
        case 6: .crash(device)
        case 7: .range(device, random.isTrue(in: 2))
        case 8: .onAir(device, random.isTrue(in: 2))
        case 9: .hold(device, random.isTrue(in: 2))
        case 10: random.isTrue(in: 2) ? .addService(device) : .removeService(device)
        default: .rename(device)
        }
    }

    private static func ofPeripheral(_ random: inout SeededGenerator) -> ProgramStep {
        switch random.below(8) {
        case 0: .publish(random.isTrue(in: 2))
        case 1: .advertise(random.isTrue(in: 2))
        case 2: .answer([.atOnce, .refuse, .later][random.below(3)])
        case 3: .answerHeld
        default: .update(2, count: random.below(30))
        }
    }

    private static func ofHost(_ manager: Int, _ random: inout SeededGenerator) -> [ProgramStep] {
        switch random.below(5) {
        case 0: [.power(false), .wait(milliseconds: random.below(500)), .power(true), .wait(milliseconds: 500)]
        case 1: [.reset, .wait(milliseconds: 2_000)]
        case 2: [.authorize(false), .wait(milliseconds: 100), .authorize(true), .wait(milliseconds: 100)]
        case 3: [.plug(false), .wait(milliseconds: 100), .plug(true), .wait(milliseconds: 500)]
        default: [.remake(manager)]
        }
    }
}
