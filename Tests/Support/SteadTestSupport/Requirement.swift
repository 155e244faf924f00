import Foundation

/// What some tests need of the machine, of its user or of the build.
///
/// A test states it as `@Test(.needs(.keyring))`. See ``Needs``.
package struct Requirement: Sendable {
  /// Why it cannot be had here and what to do about it; nil where it can be had.
  package let lack: String?
  /// Whether another user of the same machine has it. `Scripts/test` then runs the tests as that user.
  package let isOfAnotherUser: Bool

  package init(lack: String?, isOfAnotherUser: Bool = false) {
    self.lack = lack
    self.isOfAnotherUser = isOfAnotherUser
  }

  package init(_ isMet: Bool, orElse lack: String) { self.init(lack: isMet ? nil : lack) }
}

extension Requirement {
  package static let superuser = Requirement(
    geteuid() == 0, orElse: "only the superuser can give files away: run the tests as root")
  /// Permissions do not bind the superuser.
  package static let ordinaryUser = Requirement(
    lack: geteuid() == 0
      ? "the superuser may write everywhere: run the tests as another user" : nil,
    isOfAnotherUser: true)
  package static let smallDisk = Requirement(
    SmallDisk.isAvailable,
    orElse:
      "a small file system cannot be mounted: run the tests as root of a Linux that lets it mount")
  package static let keyring = Requirement(lack: KeyringSession.missing)
  package static let prompter = Requirement(
    KeyringPrompter.isAvailable,
    orElse:
      "nobody answers a keyring's prompts: install python3 and libgcr, which gnome-keyring needs")
  package static let tracing = Requirement(
    ToolRun.canTrace, orElse: "strace cannot follow processes: install it, and let it use ptrace")
  package static let noThreadSanitizer = Requirement(
    !isThreadSanitized, orElse: "the thread sanitizer does not survive a fork: build without it")

  /// A program of `PATH`.
  package static func program(_ name: String) -> Requirement {
    Requirement(ToolRun.exists(name), orElse: "there is no \(name): install it")
  }

  /// A file that the system has, such as one of Linux's `/proc`.
  package static func file(_ path: String) -> Requirement {
    Requirement(access(path, R_OK) == 0, orElse: "there is no \(path): run the tests on Linux")
  }
}

#if STEAD_THREAD_SANITIZER
  /// Set by Scripts/sanitize. Sanitized processes take ten times as long.
  package let isThreadSanitized = true
#else
  package let isThreadSanitized = false
#endif
