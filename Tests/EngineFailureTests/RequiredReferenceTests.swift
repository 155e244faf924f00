@testable import SteadRecords

@Suite("Required references") struct RequiredReferenceTests {
  private func store() throws -> TestStore {
    try TestStore(.memory, Invoice.self, Buyer.self, Company.self)
  }

  private func invoice(_ store: TestStore) throws {
    let context = store.context()
    context.insert(Invoice(number: 1, buyer: Buyer(number: 1)))
    context.insert(Buyer(number: 2))
    try context.save()
  }

  /// How the destination of a required reference is deleted.
  enum Deletion: CaseIterable, CustomTestStringConvertible {
    case ownerUnknown, ownerLoaded, ownerEdited, ownerAndReferenceLoaded, byPredicate, byModel

    var testDescription: String { "\(self)" }
  }

  /// The deletion of an object that a required to-one relationship without an inverse led to was saved. The reference
  /// was then that of an empty object, and each later edit of its owner was refused.
  @Test(arguments: Deletion.allCases)
  func `a save is refused that would leave a required reference without its object`(
    deletion: Deletion
  ) throws {
    let store = try store()
    try invoice(store)
    let context = store.context()
    let buyer = try context.only(Buyer.self, where: #Predicate { $0.number == 1 })
    let owner: Invoice? = deletion == .ownerUnknown ? nil : try context.only(Invoice.self)
    if deletion == .ownerEdited { owner?.amount = 7 }
    if deletion == .ownerAndReferenceLoaded { #expect(owner?.buyer === buyer) }
    switch deletion {
    case .byPredicate:
      #expect(throws: SwiftDataError.modelValidationFailure) {
        try context.delete(model: Buyer.self, where: #Predicate { $0.number == 1 })
      }
    case .byModel:
      #expect(throws: SwiftDataError.modelValidationFailure) {
        try context.delete(model: Buyer.self)
      }
    default:
      context.delete(buyer)
      let error = try refusal(of: context)
      #expect(error == .modelValidationFailure)
      #expect(error.message.contains("Invoice.buyer"))
      #expect(buyer.isDeleted)
      #expect(context.hasChanges)
    }
    #expect(owner?.buyer === (owner == nil ? nil : buyer))
    #expect(try store.context().only(Invoice.self).buyer.number == 1)
    #expect(try store.container.check().isSound)

    // With another buyer, or none to have one, the save succeeds.
    let found = try context.only(Invoice.self)
    found.buyer = try context.only(Buyer.self, where: #Predicate { $0.number == 2 })
    context.delete(buyer)
    try context.save()
    #expect(try store.context().only(Invoice.self).buyer.number == 2)
    let other = found.buyer
    context.delete(other)
    context.delete(found)
    try context.save()
    #expect(try store.context().all(Buyer.self).isEmpty)
  }

  /// A new object that was never saved refers to one that is deleted here or elsewhere.
  @Test(arguments: [false, true])
  func `a new object with a required reference to a deleted one is refused`(
    isDeletedElsewhere: Bool
  ) throws {
    let store = try store()
    try invoice(store)
    let context = store.context()
    let buyer = try context.only(Buyer.self, where: #Predicate { $0.number == 2 })
    let invoice = Invoice(number: 2, buyer: buyer)
    context.insert(invoice)
    if isDeletedElsewhere {
      let other = store.context()
      other.delete(try other.twin(of: buyer))
      try other.save()
    } else {
      context.delete(buyer)
    }
    #expect(try refusal(of: context) == .modelValidationFailure)
    // What another context has deleted reads as an empty object.
    #expect((invoice.buyer === buyer) != isDeletedElsewhere)
    invoice.buyer = try context.only(Buyer.self, where: #Predicate { $0.number == 1 })
    try context.save()
    #expect(try store.context().count(Invoice.self) == 2)
    #expect(try store.container.check().isSound)
  }

  /// Stores from before have such rows.
  @Test func `a check finds required references that lead nowhere`() throws {
    let store = try TestStore(Invoice.self, Buyer.self, Company.self)
    try invoice(store)
    #expect(try store.container.check().isSound)
    try SteadRecords.StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
      .execute("UPDATE Invoice SET buyer = NULL")
    let problem = try #require(try store.container.check().problems.first)
    #expect(problem.kind == .missingReference)
    #expect(problem.entity == "Invoice" && problem.rows == [1])
    #expect(problem.description.contains("Invoice.buyer"))
  }

  /// Another program can delete a row without asking for what refers to it.
  @Test
  func `an edit is refused of an object whose required reference another program has emptied`()
    throws
  {
    let store = try TestStore(Invoice.self, Buyer.self, Company.self)
    try invoice(store)
    let context = store.context()
    let found = try context.only(Invoice.self)
    found.amount = 7
    try SteadRecords.StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
      .execute("DELETE FROM Buyer WHERE number = 1")
    #expect(try refusal(of: context).message.contains("Invoice.buyer"))
    found.buyer = try context.only(Buyer.self)
    try context.save()
    #expect(try store.context().only(Invoice.self).amount == 7)
    #expect(try store.container.check().isSound)
  }

  /// What the save of an edit knows of the reference.
  enum Knowledge: CaseIterable { case ownerUnread, ownerRead, referenceRead }

  /// The row was gone before the context looked, so it had no news of it. The save was accepted, and the owner kept a
  /// reference that leads nowhere.
  @Test(arguments: Knowledge.allCases, [false, true])
  func `an edit is refused of an object whose required reference leads to a row that is gone`(
    knowledge: Knowledge, isOpenedAgain: Bool
  ) throws {
    let store = try TestStore(Invoice.self, Buyer.self, Company.self)
    try invoice(store)
    func deleteRow() throws {
      try SteadRecords.StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
        .execute("DELETE FROM Buyer WHERE number = 1")
    }
    if isOpenedAgain { try deleteRow() }
    let context = try isOpenedAgain ? store.reopened() : store.context()
    var found = knowledge == .ownerUnread ? nil : try context.only(Invoice.self)
    if knowledge == .referenceRead { _ = found?.buyer }
    if !isOpenedAgain { try deleteRow() }
    if knowledge == .ownerUnread { found = try context.only(Invoice.self) }
    found?.amount = 7
    let error = try refusal(of: context)
    #expect(error == .modelValidationFailure)
    #expect(
      error.message.contains("Invoice.buyer is required but has no Buyer, in the Invoice of row 1"))
    found?.buyer = try context.only(Buyer.self)
    try context.save()
    #expect(try store.reopened().only(Invoice.self).amount == 7)
    #expect(try store.container.check().isSound)
  }

  /// Two contexts delete, lead elsewhere and insert at random; the reference is a dictionary of buyers by invoice.
  @Test(arguments: 0..<4)
  func `random deletions and references never leave an invoice without its buyer`(
    seed: UInt64
  ) async throws {
    for place in 0..<Effort.times(20) {
      var trial = try Trial(seed: seed * 1_000 + UInt64(place), store())
      for _ in 0..<8 { try trial.round() }
      await Task.yield()
    }
  }

  /// What one context has changed and not saved.
  private struct Changes {
    var invoices: [Int: Int] = [:]
    var deletedInvoices: Set<Int> = []
    var deletedBuyers: Set<Int> = []
  }

  /// A store, and what it holds: the buyer of each invoice.
  private struct Trial {
    var random: SplitMix
    let store: TestStore
    let seed: UInt64
    var invoices: [Int: Int] = [:]
    var buyers: Set<Int> = []
    var next = 1

    init(seed: UInt64, _ store: TestStore) throws {
      (random, self.seed, self.store) = (SplitMix(seed: seed), seed, store)
      let context = store.context()
      for number in 1...4 {
        context.insert(number.isMultiple(of: 2) ? Company(number: number) : Buyer(number: number))
        buyers.insert(number)
      }
      try context.save()
    }

    mutating func round() throws {
      let (context, other) = (store.context(), store.context())
      var (mine, others) = (Changes(), Changes())
      for _ in 0..<Int.random(in: 1...3, using: &random) { try change(context, &mine) }
      if Bool.random(using: &random) {
        for _ in 0..<2 { try change(other, &others) }
        try save(other, others)
      }
      try save(context, mine)
    }

    private func buyer(_ number: Int, _ context: ModelContext) throws -> Buyer? {
      try context.fetch(FetchDescriptor<Buyer>(predicate: #Predicate { $0.number == number })).first
    }

    private func invoice(_ number: Int, _ context: ModelContext) throws -> Invoice? {
      try context.fetch(FetchDescriptor<Invoice>(predicate: #Predicate { $0.number == number }))
        .first
    }

    private mutating func change(_ context: ModelContext, _ changes: inout Changes) throws {
      let alive = buyers.subtracting(changes.deletedBuyers).sorted()
      let known = Set(invoices.keys).union(changes.invoices.keys)
        .subtracting(changes.deletedInvoices).sorted()
      guard let number = alive.randomElement(using: &random) else { return }
      let found = known.randomElement(using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        guard let buyer = try buyer(number, context) else { return }
        context.insert(Invoice(number: next, buyer: buyer))
        changes.invoices[next] = number
        next += 1
      case 2, 3:
        guard let found, let invoice = try invoice(found, context),
          let buyer = try buyer(number, context)
        else { return }
        if Bool.random(using: &random) { _ = invoice.buyer.number }
        invoice.buyer = buyer
        // Setting what is there is no change.
        if changes.invoices[found] ?? invoices[found] != number { changes.invoices[found] = number }
      case 4:
        guard let found, let invoice = try invoice(found, context) else { return }
        context.delete(invoice)
        changes.deletedInvoices.insert(found)
      case 5:
        guard let found, let invoice = try invoice(found, context) else { return }
        invoice.amount += 1
      default:
        guard let buyer = try buyer(number, context) else { return }
        context.delete(buyer)
        changes.deletedBuyers.insert(number)
      }
    }

    private mutating func save(_ context: ModelContext, _ changes: Changes) throws {
      let inserted = changes.invoices.keys.filter { !known.contains($0) }
      var after = invoices.filter { !changes.deletedInvoices.contains($0.key) }
      for (invoice, buyer) in changes.invoices where !changes.deletedInvoices.contains(invoice) {
        if invoices[invoice] != nil || inserted.contains(invoice) { after[invoice] = buyer }
      }
      let staying = buyers.subtracting(changes.deletedBuyers)
      let isAllowed = after.values.allSatisfy(staying.contains)
      do {
        try context.save()
        #expect(isAllowed, "seed \(seed): saved")
      } catch let error as SwiftDataError {
        #expect(!isAllowed && error == .modelValidationFailure, "seed \(seed): \(error)")
        context.rollback()
      }
      if isAllowed {
        known.formUnion(after.keys)
        (invoices, buyers) = (after, staying)
      }
      let reader = store.context()
      let found = try reader.all(Invoice.self).map { ($0.number, $0.buyer.number) }
      #expect(
        Dictionary(found) { one, _ in one } == invoices, "seed \(seed): the store's invoices")
      #expect(Set(try reader.all(Buyer.self).map(\.number)) == buyers, "seed \(seed)")
    }

    /// The invoices that were ever saved.
    private var known: Set<Int> = []
  }
}
