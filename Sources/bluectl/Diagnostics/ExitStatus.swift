/// What the process ends with.
///
/// Scripts rely on the numbers.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case usage = 2
    case timedOut = 3
}
