import Foundation
import SteadFiles
public import SteadSecrets

extension TransferDestination where Element == SecretEntry {
  /// Secrets of accounts of a service: for a token found in preferences.
  ///
  /// A secret store cannot write several items as one. So each account is made only where there is none,
  /// and one that holds the very secret already counts as written: a run that follows a kill doubles
  /// nothing. What a run wrote before it failed stays, and the next run finds it.
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
  /// What follows the service's name in the name of the service that keeps receipts.
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
      throw receipt.overtaken(nil)
    }
    return try whole.chunk(at: index)
  }

  func write(
    _ elements: [SecretEntry], _ receipt: TransferReceipt, _ progress: TransferProgress.Report,
    entries: ([TransferPlacement]) throws -> ReceiptChunk
  ) throws {
    let chunk = try entries(elements.map(placement))
    try receipt.checkFollows(self.receipt(named: receipt.id))
    try refuseConflicts(in: elements)
    for (index, element) in elements.enumerated() {
      try progress(.init(phase: .writing, completed: index, total: elements.count))
      try insert(element, index)
    }
    try replace(receipt, adding: chunk)
    try progress(.init(phase: .writing, completed: elements.count, total: elements.count))
  }

  func checkFree(_ elements: [SecretEntry]) throws { try refuseConflicts(in: elements) }

  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    var missing: [TransferPlacement] = []
    for (index, placement) in placements.enumerated() {
      try progress(.init(phase: .verifying, completed: index, total: placements.count))
      let found = try secrets.bytes(for: placement.place)
      if found.map(digest) != placement.digest { missing.append(placement) }
    }
    return missing
  }

  func replace(_ receipt: TransferReceipt) throws { try replace(receipt, adding: nil) }

  private func replace(_ receipt: TransferReceipt, adding chunk: ReceiptChunk?) throws {
    let old = try receipts.bytes(for: receipt.id)
    let new = try SecretBytes(
      encoding: WholeReceipt.following(
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
        message: "Another process has moved something meanwhile. Run again.", cause: error)
    }
  }
}

extension SecretsDestination {
  /// Nothing is written while one account holds something else, or two elements want the same.
  private func refuseConflicts(in elements: [SecretEntry]) throws {
    var wanted: [String: SecretBytes] = [:]
    var failures: [(element: Int, TransferFailure)] = []
    for (number, element) in elements.enumerated() {
      let there = try wanted[element.account] ?? secrets.bytes(for: element.account)
      if let there, there != element.secret {
        failures.append((number, taken(element)))
      } else {
        wanted[element.account] = element.secret
      }
    }
    guard failures.isEmpty else { throw conflict(failures) }
  }

  private func insert(_ element: SecretEntry, _ number: Int) throws {
    do throws(SecretError) {
      try secrets.insert(element.secret, for: element.account, label: element.label)
    } catch {
      guard error.code == .duplicateItem else { throw error }
      guard try secrets.bytes(for: element.account) != element.secret else { return }
      // Somebody was quicker, after the look at all accounts.
      var failure = taken(element)
      failure.cause = error
      throw conflict([(number, failure)])
    }
  }

  private func taken(_ element: SecretEntry) -> TransferFailure {
    TransferFailure(item: "account \(element.account)", reason: "There is another secret for it.")
  }

  private func conflict(_ failures: [(element: Int, TransferFailure)]) -> TransferError {
    .conflict(
      "Accounts of \(secrets.service) hold other secrets, which were left as they are. Remove them, "
        + "move to other accounts, or leave these items out by the transfer's options.", failures)
  }

  private func placement(_ element: SecretEntry) -> TransferPlacement {
    TransferPlacement(place: element.account, digest: digest(element.secret))
  }

  private func digest(_ secret: SecretBytes) -> String {
    ItemDigest.text(of: secret.withBytes { bytes in Data(bytes) })
  }
}
