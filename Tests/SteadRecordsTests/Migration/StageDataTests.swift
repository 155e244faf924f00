import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// What custom stages do to values whose property gets another type or goes.
///
/// A stage that had fetched any object of a class could drop all of its columns: `rating: Int` became
/// `@Attribute(originalName: "rating") var stars: Double?` in a stage that only trimmed titles, and each object lost its
/// value without an error.
@Suite(.serialized) struct StageDataTests {
  private let directory: TemporaryDirectory
  private let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("rated.store")
    ratedLooks.withLock { $0 = [] }
  }

  private func fill(_ ratings: [Int] = [1, 2, 3]) throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: Rated1.self), configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    for (place, rating) in ratings.enumerated() {
      let item = place == 0 ? Rated1.Special(" s ", rating) : Rated1.Item(" i\(place) ", rating)
      context.insert(item)
      item.half = place == 1 ? nil : place
      item.size = place == 2 ? .large : .small
      item.code = 40 + place
      item.isDone = place == 2
      (item as? Rated1.Special)?.level = 9
    }
    context.insert(Rated1.Loose("loose"))
    try context.save()
  }

  private func open(
    _ plan: any RatedPlan.Type, discarding discarded: Set<String> = []
  ) throws -> ModelContainer {
    var configuration = ModelConfiguration(url: url)
    configuration.discardedData = discarded
    return try ModelContainer(
      for: Schema(versionedSchema: plan.target), migrationPlan: plan,
      configurations: configuration)
  }

  private func refusal(_ plan: any RatedPlan.Type) -> String {
    let error = #expect(throws: SwiftDataError.self) { try open(plan) }
    return error?.message ?? ""
  }

  @Test func `values that the stage does not read are converted to the new types`() throws {
    try fill()
    for _ in 0..<2 {
      let context = ModelContext(try open(RatedPlan2.self))
      let items = try context.fetch(FetchDescriptor<Rated2.Item>(sortBy: [SortDescriptor(\.code)]))
      #expect(items.map(\.title) == ["s", "i1", "i2"])
      #expect(items.map(\.stars) == [1, 2, 3])
      // What had no value has none, and not the default value of a new object.
      #expect(items.map(\.halves) == [0, nil, 2])
      #expect(items.map(\.weight) == [1, 1, 7])
      #expect(items.map(\.code) == ["40", "41", "42"])
      #expect(items.map(\.count) == [0, 0, 1])
      #expect(try context.fetch(FetchDescriptor<Rated2.Special>()).map(\.rank) == ["9"])
    }
  }

  @Test func `a value that the new type cannot hold refuses the stage, and names its property`()
    throws
  {
    try fill([1, (1 << 53) + 1, 3])
    #expect(refusal(RatedPlan2.self).contains("Item.rating (2)"))
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: Rated1.self), configurations: ModelConfiguration(url: url)))
    let items = try context.fetch(FetchDescriptor<Rated1.Item>(sortBy: [SortDescriptor(\.code)]))
    #expect(items.map(\.rating) == [1, (1 << 53) + 1, 3])
    #expect(items.map(\.title) == [" s ", " i1 ", " i2 "])
  }

  /// A property that the stage only wrote counted as read, and so did one of which it asked for nothing but a number.
  @Test(arguments: RatedLook.allCases)
  func `a property without a conversion must have been read itself`(look: RatedLook) throws {
    try checkReplaced([look])
  }

  /// What the closure had read, for whatever purpose, was not converted but nil in all rows.
  @Test(arguments: RatedLook.allCases)
  func `values are converted whatever the stage looks at, and didMigrate sets over them`(
    look: RatedLook
  ) throws {
    try checkConverted([look])
  }

  /// A model counted as fetched once its objects were counted, or one was inserted.
  @Test(arguments: RatedLook.allCases)
  func `a model that goes must have had objects fetched`(look: RatedLook) throws {
    try checkGone([look])
  }

  @Test(arguments: 0..<Effort.times(12))
  func `any mixture of looks keeps, converts or refuses as each of them says`(seed: Int) throws {
    var random = SplitMix(seed: UInt64(seed))
    let looks = Set(
      RatedLook.allCases.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
    switch seed % 3 {
    case 0: try checkReplaced(looks)
    case 1: try checkConverted(looks)
    default: try checkGone(looks)
    }
  }

  private func checkReplaced(_ looks: Set<RatedLook>) throws {
    try fill()
    ratedLooks.withLock { $0 = looks }
    if looks.isDisjoint(with: RatedLook.readingRatings) {
      let message = refusal(RatedPlan3.self)
      #expect(message.contains("Item.rating (2), Special.rating (1)"), "\(looks) \(message)")
      #expect(message.contains("`discardedData` of the container's ModelConfiguration"))
      #expect(message.contains(".backup"))
    } else {
      let context = ModelContext(try open(RatedPlan3.self))
      let items = try context.fetch(FetchDescriptor<Rated3.Item>(sortBy: [SortDescriptor(\.code)]))
      #expect(items.map(\.day) == [nil, nil, nil] && items.map(\.title) == ["s", "i1", "i2"])
    }
  }

  private func checkConverted(_ looks: Set<RatedLook>) throws {
    try fill()
    ratedLooks.withLock { $0 = looks }
    let context = ModelContext(try open(RatedPlan2.self))
    let items = try context.fetch(FetchDescriptor<Rated2.Item>(sortBy: [SortDescriptor(\.code)]))
    #expect(items.map(\.stars) == [1, looks.contains(.sets) ? 100 : 2, 3], "\(looks)")
    #expect(items.map(\.code) == ["40", "41", "42"])
  }

  private func checkGone(_ looks: Set<RatedLook>) throws {
    try fill()
    ratedLooks.withLock { $0 = looks }
    if looks.contains(.fetchesLoose) {
      let context = ModelContext(try open(RatedPlan4.self))
      #expect(try context.fetchCount(FetchDescriptor<Rated4.Item>()) == 3)
    } else {
      let message = refusal(RatedPlan4.self)
      #expect(message.contains("Loose (1)"), "\(looks) \(message)")
    }
  }

  // MARK: Dropping on purpose

  /// The only remedy was a property of the plan that SwiftData does not have, so a published plan had to be changed.
  @Test func `a configuration names what a stage may drop, and the backup has it`() throws {
    try fill()
    let message = refusal(RatedPlan4.self)
    #expect(message.contains("Loose (1)") && message.contains("ModelConfiguration"))
    let container = try open(RatedPlan4.self, discarding: ["Loose"])
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Rated4.Item>()) == 3)
    let backup = try #require(container.migrations.first?.backup)
    let old = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: Rated1.self), configurations: ModelConfiguration(url: backup)))
    #expect(try old.fetch(FetchDescriptor<Rated1.Loose>()).map(\.text) == ["loose"])
  }

  @Test(arguments: [["Item.rating", "Special.rating"], ["Item", "Special"]])
  func `a configuration names properties and models, for a dry run too`(names: [String]) throws {
    try fill()
    var configuration = ModelConfiguration(url: url)
    configuration.discardedData = Set(names)
    let run = try ModelContainer.dryRun(
      for: Schema(versionedSchema: Rated3.self), migrationPlan: RatedPlan3.self,
      configurations: [configuration])
    #expect(run.count == 1)
    let context = ModelContext(try open(RatedPlan3.self, discarding: Set(names)))
    #expect(try context.fetch(FetchDescriptor<Rated3.Item>()).allSatisfy { $0.day == nil })
  }
}
