/// Changes that are applied or refused together.
package struct Transaction: Hashable, Sendable {
  /// Its number among its client's transactions: 1, 2, 3 and so on, without gaps.
  package var number: Int64
  /// The last transaction that a page had included or refused when the client made this one. This transaction may
  /// build on each later one.
  package var basis: Int64
  package var mutations: [Mutation]

  package init(number: Int64, basis: Int64, mutations: [Mutation]) {
    self.number = number
    self.basis = basis
    self.mutations = mutations
  }

  /// The records that it changes.
  package var ids: Set<RecordID> { Set(recordIDs) }
  /// The record of each mutation.
  var recordIDs: [RecordID] { mutations.map(\.id) }

  /// Whether it only brings back what a server has forgotten.
  var isRestore: Bool {
    mutations.allSatisfy { if case .restore = $0 { true } else { false } }
  }
}

extension Transaction: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "transaction")
    self.init(
      number: try reader.count("number"), basis: try reader.count("basis"),
      mutations: try reader.coded("mutations"))
  }

  package var syncValue: SyncValue {
    .members([
      "number": .int(number), "basis": .int(basis), "mutations": mutations.syncValue,
    ])
  }
}
