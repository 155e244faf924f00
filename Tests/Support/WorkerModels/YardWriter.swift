import Foundation
public import SwiftData

/// Writes to a store of yards by a container and a context of its own, in the tests' process and in others.
public final class YardWriter {
  private struct NotOpen: Error {}
  private struct Missing: Error {
    let name: String
    let number: Int
  }

  private var opened: ModelContext?
  public var context: ModelContext {
    get throws { if let opened { opened } else { throw NotOpen() } }
  }

  public init() {}

  public static let schema = Schema([Yard.self, Barrel.self, Seal.self, Permit.self])

  public func perform(_ command: YardCommand) throws {
    switch command {
    case .open(let path, let keepsOldValues):
      let configuration = ModelConfiguration(
        url: URL(filePath: path), history: keepsOldValues ? .withOldValues : .on)
      opened = ModelContext(
        try ModelContainer(for: Self.schema, configurations: configuration))
    case .save(let author, let edits):
      let context = try context
      context.author = author
      for edit in edits { try apply(edit, in: context) }
      try context.save()
    case .deletePermits(let author, let limit):
      let context = try context
      context.author = author
      try context.delete(model: Permit.self, where: #Predicate { $0.number < limit })
    case .deleteHistory(let number):
      let context = try context
      let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      guard let token = history.first(where: { $0.transactionIdentifier == number })?.token else {
        throw Missing(name: "transaction", number: Int(number))
      }
      try context.deleteHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= token }))
    }
  }

  private func apply(_ edit: YardEdit, in context: ModelContext) throws {
    switch edit {
    case .insertYard(let number, let name): context.insert(Yard(number: number, name: name))
    case .insertBarrel(let number, let litres, let yard):
      let barrel = Barrel(number: number, litres: litres)
      context.insert(barrel)
      if let yard { barrel.yard = try self.yard(yard) }
    case .insertSeal(let number): context.insert(Seal(number: number))
    case .putPermit(let number, let text): context.insert(Permit(number: number, text: text))
    case .setName(let number, let name): try yard(number).name = name
    case .setNote(let number, let note): try yard(number).note = note
    case .setLitres(let number, let litres): try barrel(number).litres = litres
    case .setYard(let number, let yard): try barrel(number).yard = try yard.map(self.yard)
    case .appendBarrel(let number, let barrel):
      try yard(number).barrels.append(try self.barrel(barrel))
    case .addSeal(let number, let seal): try barrel(number).seals.append(try self.seal(seal))
    case .removeSeal(let number, let seal):
      try barrel(number).seals.removeAll { $0.number == seal }
    case .deleteYard(let number): context.delete(try yard(number))
    case .deleteBarrel(let number): context.delete(try barrel(number))
    case .deleteSeal(let number): context.delete(try seal(number))
    case .deletePermit(let number):
      context.delete(try only(#Predicate<Permit> { $0.number == number }, number))
    }
  }

  private func yard(_ number: Int) throws -> Yard {
    try only(#Predicate { $0.number == number }, number)
  }

  private func barrel(_ number: Int) throws -> Barrel {
    try only(#Predicate { $0.number == number }, number)
  }

  private func seal(_ number: Int) throws -> Seal {
    try only(#Predicate { $0.number == number }, number)
  }

  private func only<T: PersistentModel>(_ predicate: Predicate<T>, _ number: Int) throws -> T {
    guard let model = try context.fetch(FetchDescriptor(predicate: predicate)).first else {
      throw Missing(name: "\(T.self)", number: number)
    }
    return model
  }
}
