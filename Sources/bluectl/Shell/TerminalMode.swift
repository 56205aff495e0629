import Foundation

/// How the terminal of standard input hands on what is typed.
struct TerminalMode {
    private let saved: termios

    /// Hands on each key at once, unechoed, until ``restore()``.
    ///
    /// - Returns: nil where standard input is no terminal.
    init?() {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
        saved = mode
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { return nil }
    }

    /// The mode that was before.
    func restore() {
        var mode = saved
        // Where the terminal has gone there is nothing to restore.
        _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }
}
