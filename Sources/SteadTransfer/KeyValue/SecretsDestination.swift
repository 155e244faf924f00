import Foundation
import SteadFiles
public import SteadSecrets

extension TransferDestination where Element == SecretEntry {
  /// Secrets of a service's accounts, such as a token that an app kept in preferences.
  ///
  /// ```swift
  /// Transfer("token", from: .preference("access_token", of: String.self), to: try .secrets(secrets)) {
  ///   SecretEntry(account: "token", secret: $0)
  /// }
  /// ```
  ///
  /// A secret store can't write several items in one transaction. So an account is only created,
  /// never overwritten, unless the transfer's options allow it. An account that has the same secret
  /// already counts as written, so a run after a crash duplicates nothing. Secrets that a run wrote
  /// before it failed stay, and the next run finds them.
  ///
  /// The receipt has digests of secrets, so it is a secret itself, of the service
  /// `SERVICE.transfers`.
  ///
  /// - Throws: `SecretError` `.invalidName` if the service's name is too long to be extended by
  ///   `.transfers`.
  public static func secrets(_ secrets: Secrets) throws -> Self {
    Self(try SecretsDestination(secrets))
  }
}

/// A service's accounts as the destination of secrets.
struct SecretsDestination: ItemDestination {
  /// The suffix of the service that has the receipts.
  static let receiptSuffix = ".transfers"

  /// The secrets of the service itself.
  private let secrets: Secrets
  /// The secrets of the service that has the receipts.
  private let receipts: Secrets

  /// The accounts of a service.
  ///
  /// - Throws: `SecretError` `.invalidName` if the service's name is too long to be extended by
  ///   ``receiptSuffix``.
  init(_ secrets: Secrets) throws {
    self.secrets = secrets
    receipts = try Secrets(service: secrets.service + Self.receiptSuffix, store: secrets.store)
  }

  /// `secrets of` and the service.
  var name: String { "secrets of \(secrets.service)" }

  /// The receipt of a transfer, which is a secret.
  func receipt(named id: String) throws -> TransferReceipt? {
    try receipts.value(TransferReceipt.self, for: id)
  }

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    guard let whole = try receipts.value(WholeReceipt.self, for: receipt.id) else {
      throw receipt.superseded(nil)
    }
    return try whole.chunk(at: index)
  }

  /// Writes the accounts one by one, then the receipt.
  ///
  /// If the process ends in between, the next run finds the same secrets under the accounts, and
  /// writes the receipt.
  func write(
    _ batch: ElementBatch<SecretEntry>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report, entries: (WrittenElements) throws -> ReceiptChunk
  ) throws {
    // Before the first account is written, although it is checked again with the receipt: what
    // another process has moved must not be overwritten.
    try receipt.checkFollows(self.receipt(named: receipt.id))
    let found = try plan(for: batch)
    let placements = batch.elements.map { element in
      TransferPlacement(
        location: element.account,
        digest: found.lastElements[element.account].map { digest(batch.elements[$0].secret) } ?? "")
    }
    let chunk = try entries(.init(placements: placements, replacedCount: found.replacedCount))
    for (index, element) in batch.elements.enumerated()
    where found.lastElements[element.account] == index {
      try progress(.init(phase: .writing, completed: index, total: batch.elements.count))
      try write(element, index, replacing: found.current[element.account])
    }
    // Last, so that the receipt lists nothing that isn't there.
    try replace(receipt, adding: chunk)
    let count = batch.elements.count
    try progress(.init(phase: .writing, completed: count, total: count))
  }

  /// Compares the batch with the present secrets.
  func checkConflicts(_ batch: ElementBatch<SecretEntry>) throws -> Int {
    try plan(for: batch).replacedCount
  }

  /// Reads the secrets back, and returns the placements that have others.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    var missing: [TransferPlacement] = []
    for (index, placement) in placements.enumerated() {
      try progress(.init(phase: .verifying, completed: index, total: placements.count))
      let found = try secrets.bytes(for: placement.location)
      if found.map(digest) != placement.digest { missing.append(placement) }
    }
    return missing
  }

  /// Replaces the receipt by compare and swap on its bytes.
  func replace(_ receipt: TransferReceipt) throws { try replace(receipt, adding: nil) }

  private func replace(_ receipt: TransferReceipt, adding chunk: ReceiptChunk?) throws {
    // The bytes are kept for the compare and swap below.
    let old = try receipts.bytes(for: receipt.id)
    let new = try SecretBytes(
      encoding: WholeReceipt.succeeding(
        old?.decoded(as: WholeReceipt.self), receipt, adding: chunk))
    let label = "\(secrets.service): what was moved here"
    do throws(SecretError) {
      // Compare and swap in both cases: the receipt is still the one that was read, or there is
      // still none.
      if let old {
        try receipts.replace(old, with: new, for: receipt.id, label: label)
      } else {
        try receipts.insert(new, for: receipt.id, label: label)
      }
    } catch {
      // The receipt was created or replaced since it was read: another process is moving, too.
      guard error.code == .changed || error.code == .duplicateItem else { throw error }
      throw TransferError(
        code: .changed,
        message: "Another process has moved items in the meantime. Run again.", cause: error)
    }
  }

  // MARK: - Conflicts

  /// The present secrets of a batch's accounts, and the elements to write to them.
  private struct WritePlan {
    /// The present secrets, by account.
    var current: [String: SecretBytes] = [:]
    /// The index of the element that each account gets.
    var lastElements: [String: Int] = [:]
    /// How many elements replace a secret, that of an earlier element included.
    var replacedCount = 0
  }

  /// Plans the write of a batch; throws the conflicts that the rule doesn't resolve.
  private func plan(for batch: ElementBatch<SecretEntry>) throws -> WritePlan {
    var plan = WritePlan()
    var conflicts: [ElementConflict] = []
    for (index, element) in batch.elements.enumerated() {
      let account = element.account
      let earlier = plan.lastElements[account]
      // What the account will have when it is this element's turn.
      let current = try earlier.map { batch.elements[$0].secret } ?? secrets.bytes(for: account)
      if let current, current != element.secret {
        guard batch.rule == .replace else {
          conflicts.append(
            .init(
              element: index, occupant: earlier.map { .element($0) } ?? .stored(account),
              failure: conflictFailure(element)))
          continue
        }
        plan.replacedCount += 1
      }
      // Only the store's secret: for a later element `current` is an earlier element's.
      if earlier == nil { plan.current[account] = current }
      // Of equal secrets for one account the first is written, with its label.
      if earlier == nil || current != element.secret { plan.lastElements[account] = index }
    }
    guard conflicts.isEmpty else { throw conflict(conflicts) }
    return plan
  }

  private func write(_ element: SecretEntry, _ index: Int, replacing old: SecretBytes?) throws {
    // Nothing to write, and the label stays as the user may have changed it.
    if old == element.secret { return }
    do throws(SecretError) {
      if let old {
        try secrets.replace(old, with: element.secret, for: element.account, label: element.label)
      } else {
        try secrets.insert(element.secret, for: element.account, label: element.label)
      }
    } catch {
      // Another process has written the account since the plan was made.
      guard error.code == .duplicateItem || error.code == .changed else { throw error }
      // It may be the same secret, written by another process that runs the same transfer.
      guard try secrets.bytes(for: element.account) != element.secret else { return }
      // Another process created it after all accounts were checked.
      if old != nil {
        throw TransferError(
          code: .changed,
          message:
            "Another process has changed a secret of \(secrets.service) in the meantime. Run again.",
          cause: error)
      }
      var failure = conflictFailure(element)
      failure.cause = error
      throw conflict([
        .init(element: index, occupant: .stored(element.account), failure: failure)
      ])
    }
  }

  /// The failure of an element whose account has another secret.
  private func conflictFailure(_ element: SecretEntry) -> TransferFailure {
    TransferFailure(item: "account \(element.account)", reason: "The account has another secret.")
  }

  /// The error for accounts with other secrets.
  private func conflict(_ conflicts: [ElementConflict]) -> TransferError {
    .conflict(
      "Accounts of \(secrets.service) hold other secrets, which were left as they are. Remove them, "
        + "move to other accounts, or say in the transfer's options what becomes of these items.",
      conflicts)
  }

  /// The digest of a secret.
  private func digest(_ secret: SecretBytes) -> String {
    ItemDigest.text(of: secret.withBytes { bytes in Data(bytes) })
  }
}

// MARK: - Entries

/// A secret for an account of a secret store.
public struct SecretEntry: Sendable {
  /// The user or the purpose; unique within the service.
  public var account: String
  /// The secret itself.
  public var secret: SecretBytes
  /// The label in a password manager; nil means "SERVICE: ACCOUNT".
  public var label: String?

  /// Makes an entry.
  ///
  /// - Parameters:
  ///   - account: The user or the purpose.
  ///   - secret: A string, `Data`, `[UInt8]` or `SecretBytes`. The original, such as a property
  ///     list in memory, is not zeroed.
  ///   - label: The label in a password manager; nil means "SERVICE: ACCOUNT".
  public init(account: String, secret: some SecretContent, label: String? = nil) {
    self.account = account
    self.secret = secret.secretBytes
    self.label = label
  }
}
