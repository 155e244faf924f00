import Foundation

/// A user who answers the keyring's prompts: GNOME's own prompter for tests, which is part of the library
/// that gnome-keyring needs.
package final class KeyringPrompter: Sendable {
  /// What the user does at one prompt.
  package enum Answer: Sendable {
    case password(String)
    case cancel
  }

  /// Whether the library and a Python to call it are here.
  package static let isAvailable: Bool =
    ((try? ToolRun(["python3", "-c", libraries]))?.status ?? 1) == 0

  private let process = Process()
  private let lifeline = Pipe.closedByOthers()

  /// - Parameters:
  ///   - answers: One for each prompt; a prompt beyond them is an error.
  ///   - delay: How long the user thinks about each.
  ///   - session: A session whose daemon is started again after this, so that it sees the prompter.
  package init(_ answers: [Answer], delay: Duration = .zero, in session: KeyringSession) throws {
    let output = Pipe.closedByOthers()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["timeout", "240", "python3", "-c", Self.libraries + Self.program]
      + ["\(delay.components.seconds * 1000)"]
      + answers.map { answer in
        switch answer {
        case .password(let password): "password \(password)"
        case .cancel: "cancel"
        }
      }
    process.environment = session.environment
    try process.start(input: lifeline, output: output)
    let name = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    try Data(name.utf8).write(to: session.bus.directory.file("prompter"))
  }

  deinit {
    try? lifeline.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  private static let libraries = """
    import ctypes, sys
    def load():
        for name in ("libgcr-base-3.so.1", "libgcr-4.so.4"):
            try:
                return ctypes.CDLL(name)
            except OSError:
                pass
        sys.exit(1)
    gcr = load()

    """

  private static let program = """
    gcr.gcr_mock_prompter_start.restype = ctypes.c_char_p
    name = gcr.gcr_mock_prompter_start()
    gcr.gcr_mock_prompter_set_delay_msec(int(sys.argv[1]))
    for answer in sys.argv[2:]:
        kind, _, password = answer.partition(" ")
        if kind == "cancel":
            gcr.gcr_mock_prompter_expect_password_cancel()
        else:
            gcr.gcr_mock_prompter_expect_password_ok(password.encode(), None)
    sys.stdout.write(name.decode())
    sys.stdout.flush()
    sys.stdin.read()

    """
}
