import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// What the models of a version are, which several versions of a plan may have.
private protocol RepeatedForm: SendableMetatype {
  associatedtype Item: PersistentModel
  static func make(_ values: [Int]) -> Item
  static func values(of item: Item) -> [Int]
  static func add(_ amount: Int, to item: Item)
}

extension RepeatedForm {
  fileprivate static func add(_ amount: Int, toAllIn context: ModelContext) throws {
    for item in try context.fetch(FetchDescriptor<Item>()) { add(amount, to: item) }
  }
}

private enum RepeatedShort: RepeatedForm {
  @Model final class Item {
    var a: Int = 0
    init(_ a: Int) { self.a = a }
  }

  static func make(_ values: [Int]) -> Item { Item(values[0]) }
  static func values(of item: Item) -> [Int] { [item.a] }
  static func add(_ amount: Int, to item: Item) { item.a += amount }
}

private enum RepeatedLong: RepeatedForm {
  @Model final class Item {
    var a: Int = 0
    var b: Int = 0
    init(_ a: Int, _ b: Int) { (self.a, self.b) = (a, b) }
  }

  static func make(_ values: [Int]) -> Item { Item(values[0], values[1]) }
  static func values(of item: Item) -> [Int] { [item.a, item.b] }
  static func add(_ amount: Int, to item: Item) { item.a += amount }
}

/// The names of the other one with two properties, swapped.
private enum RepeatedSwapped: RepeatedForm {
  @Model final class Item {
    @Attribute(originalName: "b") var a: Int = 0
    @Attribute(originalName: "a") var b: Int = 0
    init(_ a: Int, _ b: Int) { (self.a, self.b) = (a, b) }
  }

  static func make(_ values: [Int]) -> Item { Item(values[0], values[1]) }
  static func values(of item: Item) -> [Int] { [item.a, item.b] }
  static func add(_ amount: Int, to item: Item) { item.a += amount }
}

private protocol RepeatedNumber: SendableMetatype { static var number: Int { get } }
private enum RepeatedFirst: RepeatedNumber { static let number = 1 }
private enum RepeatedSecond: RepeatedNumber { static let number = 2 }
private enum RepeatedThird: RepeatedNumber { static let number = 3 }
private enum RepeatedFourth: RepeatedNumber { static let number = 4 }

/// A form as a version of the plan.
private enum Repeated<Form: RepeatedForm, Number: RepeatedNumber>: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(Number.number, 0, 0) }
  static var models: [any PersistentModel.Type] { [Form.Item.self] }
}

/// The versions of a test, each of some form, and a custom stage between each and the next.
private enum RepeatingPlan: SchemaMigrationPlan {
  @TaskLocal static var forms: [any RepeatedForm.Type] = []

  static var schemas: [any VersionedSchema.Type] {
    let forms = forms
    return forms.indices.map { index -> any VersionedSchema.Type in
      let form = forms[index]
      return version(form, index + 1)
    }
  }

  static var stages: [MigrationStage] {
    let versions = schemas
    let forms = forms
    return versions.indices.dropLast().map { index in
      .custom(
        fromVersion: versions[index], toVersion: versions[index + 1], willMigrate: nil,
        didMigrate: { context in try forms[index + 1].add(amount(index), toAllIn: context) })
    }
  }

  /// What a stage adds, by its place: each has a decimal digit of its own.
  static func amount(_ stage: Int) -> Int { [10, 100, 1_000][stage] }

  private static func version<Form: RepeatedForm>(
    _ form: Form.Type, _ number: Int
  ) -> any VersionedSchema.Type {
    switch number {
    case 1: return Repeated<Form, RepeatedFirst>.self
    case 2: return Repeated<Form, RepeatedSecond>.self
    case 3: return Repeated<Form, RepeatedThird>.self
    default: return Repeated<Form, RepeatedFourth>.self
    }
  }
}

/// A store that versions of one app open, and what it should have.
private struct RepeatedStore {
  /// The forms of the versions, by their number from 0: 0 is short, 1 long, 2 swapped.
  let forms: [Int]
  let file: RecordsTestSupport.StoreFile
  private(set) var version: Int
  private(set) var values: [Int]

  static let types: [any RepeatedForm.Type] = [
    RepeatedShort.self, RepeatedLong.self, RepeatedSwapped.self,
  ]

  /// Makes a store by a version of a plan.
  ///
  /// - Parameter listsClasses: Whether the container's schema is a list of classes, for which the version has to be the
  ///   last one of its form.
  init(_ forms: [Int], at version: Int, listsClasses: Bool) throws {
    self.forms = forms
    self.version = version
    file = try StoreFile()
    values = forms[version] == 0 ? [1] : [1, 2]
    try Self.types[forms[version]].insert(values, in: container(version, listsClasses))
  }

  func container(_ version: Int, _ listsClasses: Bool = false) throws -> ModelContainer {
    try RepeatingPlan.$forms.withValue(forms.map { Self.types[$0] }) {
      let type = RepeatingPlan.schemas[version]
      return try ModelContainer(
        for: listsClasses ? Schema(type.models) : Schema(versionedSchema: type),
        migrationPlan: RepeatingPlan.self, configurations: ModelConfiguration(url: file.url))
    }
  }

  /// What the rows of one form become in the tables of another.
  private static func moved(_ values: [Int], from old: Int, to new: Int) -> [Int] {
    switch (old, new) {
    case (_, 0): [values[0]]
    case (0, 1): [values[0], 0]
    // The new `b` was `a`.
    case (0, _): [0, values[0]]
    case (1, 2): [values[1], values[0]]
    default: values
    }
  }

  /// Opens the store as a version, and compares what is read with what the stages do.
  mutating func open(_ next: Int, listsClasses: Bool, _ comment: Comment) throws {
    guard next >= version else {
      let store = self
      let error = #expect(throws: SwiftDataError.self, comment) { _ = try store.container(next) }
      #expect(error?.code == .backwardMigration, comment)
      return
    }
    let stages = version..<next
    for stage in stages {
      values = Self.moved(values, from: forms[stage], to: forms[stage + 1])
      values[0] += RepeatingPlan.amount(stage)
    }
    version = next
    let opened = try self.container(next, listsClasses)
    #expect(opened.migrations.flatMap(\.stages).count == stages.count, comment)
    #expect(opened.migrations.isEmpty == stages.isEmpty, comment)
    let found = try Self.types[forms[next]].read(opened)
    #expect(found == [values], comment)
  }
}

extension RepeatedForm {
  fileprivate static func insert(_ values: [Int], in container: ModelContainer) throws {
    let context = ModelContext(container)
    context.insert(make(values))
    try context.save()
  }

  fileprivate static func read(_ container: ModelContainer) throws -> [[Int]] {
    try ModelContext(container).fetch(FetchDescriptor<Item>()).map { values(of: $0) }
  }
}

/// Two versions of a plan had the same models. A container of the lower one took its own store through the stages up to
/// the higher one, each time that it was opened: a value 1 read as 111.
@Suite(.hangLimit) struct RepeatedVersionTests {
  @Test(arguments: [[0, 1, 0], [1, 2, 1, 2]], [false, true])
  func `a store that is opened again as it was made is as it was`(
    forms: [Int], listsClasses: Bool
  ) throws {
    for version in forms.indices
    where !listsClasses || forms.lastIndex(of: forms[version]) == version {
      var store = try RepeatedStore(forms, at: version, listsClasses: listsClasses)
      for _ in 1...2 {
        try store.open(version, listsClasses: listsClasses, "\(forms) at \(version)")
      }
    }
  }

  @Test func `a random plan leads each version to the others as its stages say`() async throws {
    var (repeated, refused, moved) = (0, 0, 0)
    for seed in 1...UInt64(Effort.times(60)) {
      var random = SplitMix(seed: seed)
      let forms = (0..<Int.random(in: 2...4, using: &random)).map { _ in
        Int.random(in: 0..<3, using: &random)
      }
      repeated += Set(forms).count < forms.count ? 1 : 0
      let first = Int.random(in: forms.indices, using: &random)
      // A list of classes means the last version of its form. Where only one version has it, the store keeps the number
      // 1.0.0, and a version with other models and a higher number never counts as an earlier one.
      let isLast = forms.lastIndex(of: forms[first]) == first
      let isRepeated = forms.filter { $0 == forms[first] }.count > 1
      var store = try RepeatedStore(
        forms, at: first, listsClasses: isLast && isRepeated && Bool.random(using: &random))
      for _ in 1...6 {
        let next = Int.random(in: forms.indices, using: &random)
        let listsClasses =
          next >= store.version && forms.lastIndex(of: forms[next]) == next
          && Bool.random(using: &random)
        if next < store.version { refused += 1 }
        if next > store.version { moved += 1 }
        let comment: Comment =
          "seed \(seed), \(forms) from \(first), at \(store.version) opened as \(next), \(listsClasses)"
        try store.open(next, listsClasses: listsClasses, comment)
      }
      await Task.yield()
    }
    #expect(
      repeated > 20 && refused > 20 && moved > 20 || !Effort.isRepresentative,
      "\(repeated), \(refused), \(moved)")
  }
}
