import Foundation
import SteadFiles
import SteadFormats

extension PayloadHistory {
  /// Imports the array that the app, or an older version of it, has stored under the key.
  ///
  /// The entries and a digest of the array are one record, which is flushed before the array is removed. So a
  /// process may be killed at any point: the digest tells the next opening that only the removal is left. An
  /// array is removed only if it is still the one that was imported.
  func takeOver() throws {
    while let found = preferences.writtenDomain.value(forKey: key) {
      guard case .data(let array) = found else {
        return report(
          "The key's value isn't data, and is left as it is. Give the "
            + "history another key.")
      }
      let digest = SHA256.digest(of: array)
      let header = read { $0.header }
      if header.isWritten(digest) { return }
      guard !preferences.plan.options.isReadOnly else {
        return report(
          "The key has entries that the history has not imported yet. Open it for writing once.")
      }
      if digest != header.taken {
        guard let elements = JSONArraySplitter.elements(of: array) else {
          if try preferences.keepAside(
            found, replacingWith: nil, forKey: key, cause: Self.notAnArray)
          {
            return
          }
          continue
        }
        let drafts = elements.reversed().map { coder.draft(takenOver: $0) }
        try commit([.takeOver(drafts, digest: digest)])
        reportUndecodable(drafts)
      }
      try store.flush()
      let isRemoved = try preferences.apply(
        [DomainEdit(key: key, value: nil)], ifStill: [DomainEdit(key: key, value: found)])
      if isRemoved { return }
    }
  }

  private func reportUndecodable(_ drafts: [HistoryOperation.Draft]) {
    report(drafts.reversed().compactMap(\.content.cause))
  }

  private func report(_ message: String) {
    problems.add(
      PreferencesError(
        code: .doesNotDecode, message: message, domain: preferences.domain, key: key))
  }

  private static var notAnArray: PreferencesError {
    PreferencesError(code: .doesNotDecode, message: "The stored value isn't a JSON array.")
  }
}
