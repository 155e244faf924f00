import Foundation
import SteadFiles
public import SteadSecrets

extension TransferDestination where Element == SecretEntry {
  /// Secrets of accounts of a service: for a token found in preferences.
  ///
  /// A secret store cannot write several items in one transaction. So an account is only created, never overwritten,
  /// unless the transfer's options allow it. An account that already has the same secret counts as written, so a run
  /// after a kill duplicates nothing. Secrets that a run wrote before it failed stay, and the next run finds them.
  ///
  /// The receipt holds digests of secrets, so it is a secret itself, of the service `SERVICE.transfers`.
  ///
  /// - Throws: `SecretError`: `.invalidName` when the service's name is too long to be extended by
  ///   `.transfers`.
  public static func secrets(_ secrets: Secrets) throws -> Self {
    Self(try SecretsDestination(secrets))
  }
}

/// A destination that keeps each element as the secret of an account: for a token found in preferences.
struct SecretsDestination: ItemDestination {
  /// The suffix of the service that keeps the receipts.
  static let receiptSuffix = ".transfers"

  private let secrets: Secrets
  private let receipts: Secrets

  /// The accounts of a service.
  ///
  /// - Throws: `SecretError`: `.invalidName` when the service's name is too long to be extended by
  ///   ``receiptSuffix``.
  init(_ secrets: Secrets) throws {
    self.secrets = secrets
    receipts = try Secrets(service: secrets.service + Self.receiptSuffix, store: secrets.store)
  }

  var name: String { "secrets of \(secrets.service)" }

  func receipt(named id: String) throws -> TransferReceipt? {
    try receipts.value(TransferReceipt.self, for: id)
  }

  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    guard let whole = try receipts.value(WholeReceipt.self, for: receipt.id) else {
      throw receipt.superseded(nil)
    }
    return try whole.chunk(at: index)
  }

  func write(
    _ batch: ElementBatch<SecretEntry>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report, entries: (WrittenElements) throws -> ReceiptChunk
  ) throws {
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
    try replace(receipt, adding: chunk)
    let count = batch.elements.count
    try progress(.init(phase: .writing, completed: count, total: count))
  }

  func checkConflicts(_ batch: ElementBatch<SecretEntry>) throws -> Int {
    try plan(for: batch).replacedCount
  }

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

  func replace(_ receipt: TransferReceipt) throws { try replace(receipt, adding: nil) }

  private func replace(_ receipt: TransferReceipt, adding chunk: ReceiptChunk?) throws {
    let old = try receipts.bytes(for: receipt.id)
    let new = try SecretBytes(
      encoding: WholeReceipt.succeeding(
        old?.decoded(as: WholeReceipt.self), receipt, adding: chunk))
    let label = "\(secrets.service): what was moved here"
    do throws(SecretError) {
      if let old {
        try receipts.replace(old, with: new, for: receipt.id, label: label)
      } else {
        try receipts.insert(new, for: receipt.id, label: label)
      }
    } catch {
      guard error.code == .changed || error.code == .duplicateItem else { throw error }
      throw TransferError(
        code: .changed,
        message: "Another process has moved items in the meantime. Run again.", cause: error)
    }
  }

  // MARK: - Conflicts

  /// The present secrets of a batch's accounts, and the elements to write to them.
  private struct WritePlan {
    /// The secrets of the accounts.
    var current: [String: SecretBytes] = [:]
    /// The element that is written to each account.
    var lastElements: [String: Int] = [:]
    var replacedCount = 0
  }

  /// Nothing is written if an account has another secret, or if two elements have the same account, unless they may
  /// be replaced.
  private func plan(for batch: ElementBatch<SecretEntry>) throws -> WritePlan {
    var plan = WritePlan()
    var conflicts: [ElementConflict] = []
    for (number, element) in batch.elements.enumerated() {
      let account = element.account
      let earlier = plan.lastElements[account]
      let current = try earlier.map { batch.elements[$0].secret } ?? secrets.bytes(for: account)
      if let current, current != element.secret {
        guard batch.rule == .replace else {
          conflicts.append(
            .init(
              element: number, occupant: earlier.map { .element($0) } ?? .stored(account),
              failure: conflictFailure(element)))
          continue
        }
        plan.replacedCount += 1
      }
      if earlier == nil { plan.current[account] = current }
      // An equal one is written once, with the first one's label.
      if earlier == nil || current != element.secret { plan.lastElements[account] = number }
    }
    guard conflicts.isEmpty else { throw conflict(conflicts) }
    return plan
  }

  private func write(_ element: SecretEntry, _ number: Int, replacing old: SecretBytes?) throws {
    if old == element.secret { return }
    do throws(SecretError) {
      if let old {
        try secrets.replace(old, with: element.secret, for: element.account, label: element.label)
      } else {
        try secrets.insert(element.secret, for: element.account, label: element.label)
      }
    } catch {
      guard error.code == .duplicateItem || error.code == .changed else { throw error }
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
        .init(element: number, occupant: .stored(element.account), failure: failure)
      ])
    }
  }

  private func conflictFailure(_ element: SecretEntry) -> TransferFailure {
    TransferFailure(item: "account \(element.account)", reason: "The account has another secret.")
  }

  private func conflict(_ conflicts: [ElementConflict]) -> TransferError {
    .conflict(
      "Accounts of \(secrets.service) hold other secrets, which were left as they are. Remove them, "
        + "move to other accounts, or say in the transfer's options what becomes of these items.",
      conflicts)
  }

  private func digest(_ secret: SecretBytes) -> String {
    ItemDigest.text(of: secret.withBytes { bytes in Data(bytes) })
  }
}

// MARK: - Entries

/// A secret on its way to a secret store.
public struct SecretEntry: Sendable {
  /// The user or the purpose, unique within the service.
  public var account: String
  /// The secret itself.
  public var secret: SecretBytes
  /// The label in a password manager; nil means "SERVICE: ACCOUNT".
  public var label: String?

  /// A secret for an account.
  ///
  /// - Parameters:
  ///   - account: The user or the purpose.
  ///   - secret: A string, `Data`, `[UInt8]` or `SecretBytes`. Its source, such as a property list in memory, is not
  ///     zeroed.
  ///   - label: The label in a password manager; nil means "SERVICE: ACCOUNT".
  public init(account: String, secret: some SecretContent, label: String? = nil) {
    self.account = account
    self.secret = secret.secretBytes
    self.label = label
  }
}
