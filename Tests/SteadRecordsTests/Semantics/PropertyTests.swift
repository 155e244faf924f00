import Foundation
import SwiftData
import Testing

@Suite("properties") struct PropertyTests {
  @Test(arguments: StorePlace.allCases)
  func `P1 scalars come back exactly`(_ place: StorePlace) throws {
    let store = try TestStore(place, Scalars.self)
    let context = store.context()
    var values = ScalarValues()
    values.url = try #require(URL(string: "https://example.com/a%20b?q=1#x"))
    context.insert(Scalars(values))
    try context.save()
    let stored = try store.reopened().only(Scalars.self)
    #expect(stored.text == values.text)
    #expect(stored.flag)
    #expect(stored.int == .max)
    #expect(stored.int8 == .min)
    #expect(stored.int16 == .max)
    #expect(stored.int32 == .min)
    #expect(stored.int64 == .min)
    #expect(stored.uint8 == .max)
    #expect(stored.uint16 == .max)
    #expect(stored.uint32 == .max)
    #expect(stored.uint64 == .max)
    #expect(stored.float == .greatestFiniteMagnitude)
    #expect(stored.double == .pi)
    #expect(stored.decimal == values.decimal)
    #expect(stored.date == values.date)
    #expect(stored.data == values.data)
    #expect(stored.uuid == values.uuid)
    #expect(stored.url == values.url)
    #expect(stored.cgFloat == CGFloat(Double.pi))
  }

  @Test(arguments: StorePlace.allCases)
  func `P1 extremes come back exactly`(_ place: StorePlace) throws {
    let store = try TestStore(place, Scalars.self)
    let context = store.context()
    var cases: [ScalarValues] = []
    for text in ["", "a\0b", "Zürich \u{1F469}\u{200D}\u{1F680} e\u{301}", "'; DROP TABLE x; --"] {
      cases.append(ScalarValues(text: text))
    }
    for double in [0.0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, 1 / 3, -1e300] {
      cases.append(ScalarValues(float: Float(double), double: double))
    }
    for number: UInt64 in [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1] {
      cases.append(ScalarValues(int: Int(truncatingIfNeeded: number), uint64: number))
    }
    for text in ["0", "-0.1", "123456789012345678901234567890.12345678", "1e-20"] {
      cases.append(ScalarValues(decimal: try #require(Decimal(string: text))))
    }
    // A date column has no negative zero; the date that it has instead is equal.
    let zero = Date(timeIntervalSinceReferenceDate: -0.0)
    for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 0.1), .now, zero] {
      cases.append(ScalarValues(date: date))
    }
    cases.append(ScalarValues(data: Data()))
    for values in cases { context.insert(Scalars(values)) }
    try context.save()
    let stored = try store.reopened().all(Scalars.self)
    #expect(stored.count == cases.count)
    for values in cases {
      let row = try #require(stored.first { $0.uuid == values.uuid })
      #expect(Array(row.text.utf8) == Array(values.text.utf8))
      // With the sign of zero.
      #expect(row.double.bitPattern == values.double.bitPattern)
      #expect(row.float.bitPattern == values.float.bitPattern)
      #expect(row.uint64 == values.uint64)
      #expect(row.int == values.int)
      #expect(row.decimal == values.decimal)
      #expect(row.date == values.date)
      #expect(row.data == values.data)
    }
  }

  @Test(arguments: StorePlace.allCases)
  func `P1 NaN comes back as NaN`(_ place: StorePlace) throws {
    let store = try TestStore(place, Scalars.self)
    let context = store.context()
    context.insert(Scalars(ScalarValues(float: .nan, double: .nan, decimal: .nan)))
    try context.save()
    let stored = try store.reopened().only(Scalars.self)
    #expect(stored.double.isNaN)
    #expect(stored.float.isNaN)
    #expect(stored.decimal.isNaN)
  }

  @Test(arguments: StorePlace.allCases)
  func `P1 optionals hold nil and values`(_ place: StorePlace) throws {
    let store = try TestStore(place, Optionals.self)
    let context = store.context()
    let empty = Optionals()
    let full = Optionals()
    full.text = ""
    full.flag = false
    full.int = 0
    full.uint64 = .max
    full.double = 0
    full.float = -1
    full.decimal = 0
    full.date = Date(timeIntervalSinceReferenceDate: 0)
    full.data = Data()
    full.uuid = UUID()
    full.url = URL(string: "mailto:a@b.c")
    full.mood = .happy
    full.shape = .circle(radius: 2)
    full.address = Address(street: "Main", city: "Bern")
    full.numbers = []
    full.maybe = [1, nil, 3]
    context.insert(empty)
    context.insert(full)
    try context.save()
    let reader = try store.reopened()
    let first = try #require(reader.model(for: empty.persistentModelID) as? Optionals)
    #expect(first.text == nil && first.flag == nil && first.int == nil && first.uint64 == nil)
    #expect(first.double == nil && first.float == nil && first.decimal == nil && first.date == nil)
    #expect(first.data == nil && first.uuid == nil && first.url == nil && first.mood == nil)
    #expect(first.shape == nil && first.address == nil && first.numbers == nil)
    #expect(first.maybe.isEmpty)
    let second = try #require(reader.model(for: full.persistentModelID) as? Optionals)
    #expect(second.text == "")
    #expect(second.flag == false)
    #expect(second.int == 0)
    #expect(second.uint64 == .max)
    #expect(second.double == 0)
    #expect(second.float == -1)
    #expect(second.decimal == 0)
    #expect(second.date == full.date)
    #expect(second.data == Data())
    #expect(second.uuid == full.uuid)
    #expect(second.url == full.url)
    #expect(second.mood == .happy)
    #expect(second.shape == .circle(radius: 2))
    #expect(second.address == full.address)
    #expect(second.numbers == [])
    #expect(second.maybe == [1, nil, 3])
    second.text = nil
    second.mood = nil
    second.address = nil
    second.numbers = nil
    try reader.save()
    let again = try #require(
      try store.reopened().model(for: full.persistentModelID) as? Optionals)
    #expect(again.text == nil && again.mood == nil && again.address == nil && again.numbers == nil)
  }

  @Test(arguments: StorePlace.allCases)
  func `P1 enums, structs and collections come back`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    let model = Composites(
      mood: .angry, shape: .rectangle(width: 1.5, height: 2), either: .second("two"),
      address: Address(
        street: "Main", city: "Bern", number: 7, note: "back door", kind: .work,
        place: Point(x: 1, y: 2)),
      tags: ["a", "quote \" and \\", "", "ü\n"])
    model.rank = .high
    model.flags = [.read, .starred]
    model.numbers = [.min, 0, .max]
    model.doubles = [0.1, -0.0, 1e300]
    model.dates = [Date(timeIntervalSinceReferenceDate: 0.1), .distantPast]
    model.moods = [.happy, .calm]
    model.places = [Point(x: 0.1, y: 0.2)]
    model.maybes = ["a", nil]
    model.byName = ["one": 1, "two": 2]
    model.unique = [3, 1, 2]
    context.insert(model)
    try context.save()
    let stored = try store.reopened().only(Composites.self)
    #expect(stored.mood == .angry)
    #expect(stored.rank == .high)
    #expect(stored.shape == .rectangle(width: 1.5, height: 2))
    #expect(stored.either == .second("two"))
    #expect(stored.address == model.address)
    #expect(stored.preferences.theme == "dark")
    #expect(stored.preferences.sizes == [1, 2])
    #expect(stored.flags == [.read, .starred])
    #expect(stored.tags == ["a", "quote \" and \\", "", "ü\n"])
    #expect(stored.numbers == [.min, 0, .max])
    #expect(stored.doubles == [0.1, -0.0, 1e300])
    #expect(stored.dates == model.dates)
    #expect(stored.moods == [.happy, .calm])
    #expect(stored.places == [Point(x: 0.1, y: 0.2)])
    #expect(stored.maybes == ["a", nil])
    #expect(stored.byName == ["one": 1, "two": 2])
    #expect(stored.unique == [1, 2, 3])
    stored.tags.append("more")
    stored.address.city = "Basel"
    stored.byName["three"] = 3
    #expect(stored.hasChanges)
  }

  /// The save threw: JSON has neither NaN nor infinities.
  @Test(arguments: StorePlace.allCases)
  func `P1 numbers that are not finite come back in arrays and structs`(_ place: StorePlace) throws
  {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    let model = Composites(
      shape: .circle(radius: .infinity),
      address: Address(street: "inf", city: "nan", place: Point(x: .nan, y: -.infinity)),
      tags: ["inf", "nan"])
    model.doubles = [.infinity, -.infinity, .nan, 1]
    model.dates = [Date(timeIntervalSinceReferenceDate: .infinity)]
    context.insert(model)
    try context.save()
    let stored = try store.reopened().only(Composites.self)
    #expect(stored.shape == .circle(radius: .infinity))
    #expect(stored.address.street == "inf" && stored.address.city == "nan")
    #expect(stored.address.place?.x.isNaN == true && stored.address.place?.y == -Double.infinity)
    #expect(stored.tags == ["inf", "nan"])
    #expect(stored.doubles.count == 4 && stored.doubles[2].isNaN)
    #expect(stored.doubles.filter { !$0.isNaN } == [.infinity, -.infinity, 1])
    #expect(stored.dates == model.dates)
  }

  @Test(arguments: StorePlace.allCases)
  func `P1 numbers in arrays that are not finite compare as in Swift`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    let lists: [[Double]] = [
      [], [1, 5], [.nan, 5], [5, .nan], [.infinity, 2], [-.infinity], [.nan],
    ]
    for list in lists {
      let model = Composites()
      model.doubles = list
      context.insert(model)
    }
    try context.save()
    let (infinity, none) = (Double.infinity, Double.nan)
    let predicates: [Predicate<Composites>] = [
      #Predicate { $0.doubles.contains(infinity) }, #Predicate { $0.doubles.contains(none) },
      #Predicate { $0.doubles.contains { $0 > 3 } }, #Predicate { $0.doubles.contains { $0 < 3 } },
      #Predicate { $0.doubles.allSatisfy { $0 != 5 } }, #Predicate { $0.doubles.max() == 5 },
      #Predicate { $0.doubles.min() == 5 }, #Predicate { ($0.doubles.max() ?? 0) > 4 },
      #Predicate { $0.doubles.first == -infinity },
    ]
    let reader = try store.reopened()
    let all = try reader.all(Composites.self)
    for (index, predicate) in predicates.enumerated() {
      let found = try reader.fetch(FetchDescriptor(predicate: predicate))
      let expected = try all.filter { try predicate.evaluate($0) }
      #expect(
        Set(found.map(\.persistentModelID)) == Set(expected.map(\.persistentModelID)),
        "predicate \(index)")
    }
  }

  /// It was saved as text that is no JSON, and the object could never be read again.
  @Test(arguments: StorePlace.allCases)
  func `P1 a Decimal in JSON that is not a number is refused`(_ place: StorePlace) throws {
    let store = try TestStore(place, Prices.self)
    let context = store.context()
    context.insert(Prices([1, .nan]))
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(error?.message.contains("Prices.values") == true)
    #expect(error?.message.contains("not a number (NaN)") == true)
  }

  @Test(arguments: StorePlace.allCases)
  func `P2 a struct's fields can be changed, queried and sorted by`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    for (city, number) in [("Bern", 3), ("Basel", 1), ("Bern", nil)] {
      context.insert(Composites(address: Address(street: "Main", city: city, number: number)))
    }
    try context.save()
    let reader = try store.reopened()
    let inBern = FetchDescriptor<Composites>(predicate: #Predicate { $0.address.city == "Bern" })
    #expect(try reader.fetch(inBern).count == 2)
    let small = FetchDescriptor<Composites>(
      predicate: #Predicate { $0.address.number ?? 0 >= 1 && $0.address.number ?? 0 < 3 })
    #expect(try reader.fetch(small).map(\.address.city) == ["Basel"])
    let unnumbered = FetchDescriptor<Composites>(
      predicate: #Predicate { $0.address.number == nil })
    #expect(try reader.fetchCount(unnumbered) == 1)
    let sorted = FetchDescriptor<Composites>(
      sortBy: [SortDescriptor(\.address.city), SortDescriptor(\.address.number)])
    #expect(try reader.fetch(sorted).map(\.address.number) == [1, nil, 3])
    let first = try reader.fetch(inBern)[0]
    first.address.city = "Chur"
    #expect(try reader.fetch(inBern).count == 1)
    try reader.save()
    #expect(try store.reopened().fetch(inBern).count == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `P2 a Codable class is one value`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    let model = Composites()
    context.insert(model)
    try context.save()
    model.preferences = Preferences(theme: "light", sizes: [])
    try context.save()
    let stored = try store.reopened().only(Composites.self)
    #expect(stored.preferences.theme == "light")
    #expect(stored.preferences.sizes.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `P3 optional members of a struct keep nil and values`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    let model = Composites(address: Address(street: "s", city: "c", number: 0, note: ""))
    context.insert(model)
    try context.save()
    var stored = try store.reopened().only(Composites.self)
    #expect(stored.address.number == 0)
    #expect(stored.address.note == "")
    #expect(stored.address.place == nil)
    model.address.number = nil
    model.address.note = nil
    model.address.place = Point(x: -1, y: 0)
    try context.save()
    stored = try store.reopened().only(Composites.self)
    #expect(stored.address.number == nil)
    #expect(stored.address.note == nil)
    #expect(stored.address.place == Point(x: -1, y: 0))
  }

  @Test(arguments: StorePlace.allCases)
  func `P4 an array of values can be searched with contains`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self)
    let context = store.context()
    let (first, second) = (Composites(tags: ["red", "blue"]), Composites(tags: []))
    first.numbers = [1, 2]
    second.numbers = [2, 3]
    context.insert(first)
    context.insert(second)
    try context.save()
    let reader = try store.reopened()
    let red = FetchDescriptor<Composites>(predicate: #Predicate { $0.tags.contains("red") })
    #expect(try reader.fetch(red).map(\.tags) == [["red", "blue"]])
    let two = FetchDescriptor<Composites>(predicate: #Predicate { $0.numbers.contains(2) })
    #expect(try reader.fetchCount(two) == 2)
    let untagged = FetchDescriptor<Composites>(predicate: #Predicate { $0.tags.isEmpty })
    #expect(try reader.fetch(untagged).map(\.numbers) == [[2, 3]])
    let large = FetchDescriptor<Composites>(
      predicate: #Predicate { $0.numbers.contains(where: { $0 > 2 }) })
    #expect(try reader.fetch(large).map(\.numbers) == [[2, 3]])
  }

  @Test(arguments: StorePlace.allCases)
  func `P5 transient properties stay on the instance`(_ place: StorePlace) throws {
    let store = try TestStore(place, Picture.self)
    let context = store.context()
    let picture = Picture(title: "One")
    context.insert(picture)
    try context.save()
    picture.isOpen = true
    picture.cached = []
    #expect(!context.hasChanges)
    #expect(try context.only(Picture.self).isOpen)
    let other = try store.reopened().only(Picture.self)
    #expect(!other.isOpen)
    #expect(other.cached == [1, 2, 3])
    #expect(other.description == "Picture One")
    let entity = try #require(store.schema.entitiesByName["Picture"])
    #expect(entity.storedPropertiesByName["isOpen"] == nil)
    #expect(entity.storedPropertiesByName["cached"] == nil)
    #expect(entity.storedPropertiesByName["description"] == nil)
    #expect(entity.storedPropertiesByName["title"] != nil)
  }

  @Test func `P6 large external data lies in a file of its own`() throws {
    let store = try TestStore(.file, Picture.self)
    let context = store.context()
    let (small, large) = (Data(repeating: 1, count: 1_000), Data(repeating: 2, count: 300_000))
    let first = Picture(title: "small", image: small)
    let second = Picture(title: "large", image: large)
    context.insert(first)
    context.insert(second)
    try context.save()
    #expect(externalFiles(store).map(\.count) == [300_000])
    let reader = try store.reopened()
    let sorted = FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.title)])
    #expect(try reader.fetch(sorted).map(\.image) == [large, small])
    #expect(try reader.fetch(sorted).map(\.thumbnail) == [Data(), Data()])

    second.image = Data(repeating: 3, count: 200_000)
    context.rollback()
    #expect(second.image == large)
    #expect(externalFiles(store).map(\.count) == [300_000])
    second.image = Data(repeating: 3, count: 200_000)
    try context.save()
    #expect(externalFiles(store).map(\.count) == [200_000])
    first.image = Data(repeating: 3, count: 200_000)
    try context.save()
    context.delete(second)
    try context.save()
    // Two rows may have the same content; the file goes with the last of them.
    #expect(try store.reopened().only(Picture.self).image == Data(repeating: 3, count: 200_000))
    first.image = nil
    try context.save()
    #expect(externalFiles(store).isEmpty)
    #expect(try store.reopened().only(Picture.self).image == nil)
  }

  @Test func `P6 external data works in memory, too`() throws {
    let store = try TestStore(.memory, Picture.self)
    let context = store.context()
    context.insert(Picture(title: "large", image: Data(repeating: 2, count: 300_000)))
    try context.save()
    #expect(try store.context().only(Picture.self).image?.count == 300_000)
  }

  /// The contents of all files in the store's directory that are not the database's own.
  private func externalFiles(_ store: TestStore) -> [Data] {
    guard let paths = FileManager.default.enumerator(atPath: store.directory.path) else {
      return []
    }
    return paths.compactMap { $0 as? String }.filter { !$0.hasPrefix("test.store") }.compactMap {
      try? Data(contentsOf: store.directory.appendingPathComponent($0))
    }
  }

  @Test(arguments: StorePlace.allCases)
  func `P7 defaults are evaluated for each object`(_ place: StorePlace) throws {
    let store = try TestStore(place, InitialValues.self)
    let context = store.context()
    let (first, second) = (InitialValues(), InitialValues())
    #expect(first.id != second.id)
    context.insert(first)
    context.insert(second)
    try context.save()
    let stored = try store.reopened().all(InitialValues.self)
    #expect(Set(stored.map(\.id)) == [first.id, second.id])
    #expect(stored.allSatisfy { $0.name == "standard" && $0.limit == 20 && $0.mood == .happy })
    #expect(stored.allSatisfy { $0.tags == ["new"] && $0.point == Point(x: 1, y: 2) })
    #expect(stored.allSatisfy { $0.optional == 3 && $0.kind == "constant" && $0.revision == 0 })
    #expect(stored[0].created.timeIntervalSinceNow < 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `P7 didSet and private(set) work as in any class`(_ place: StorePlace) throws {
    let store = try TestStore(place, InitialValues.self)
    let context = store.context()
    let model = InitialValues()
    context.insert(model)
    model.counter = 1
    model.counter = 2
    model.touch()
    #expect(model.revision == 12)
    try context.save()
    let stored = try store.reopened().only(InitialValues.self)
    #expect(stored.revision == 12)
    #expect(stored.counter == 2)
  }

  @Test(arguments: StorePlace.allCases)
  func `P9 an ephemeral change leaves the object clean`(_ place: StorePlace) throws {
    let store = try TestStore(place, Picture.self)
    let context = store.context()
    let picture = Picture(title: "One")
    context.insert(picture)
    try context.save()
    picture.viewCount += 1
    #expect(picture.viewCount == 1)
    #expect(!picture.hasChanges)
    #expect(!context.hasChanges)
  }

  @Test func `P9 options stay visible in the schema`() throws {
    let entity = try #require(Schema([Picture.self]).entitiesByName["Picture"])
    #expect(entity.attributesByName["serial"]?.options.contains(.preserveValueOnDeletion) == true)
    #expect(entity.attributesByName["secret"]?.options.contains(.allowsCloudEncryption) == true)
    #expect(entity.attributesByName["image"]?.options.contains(.externalStorage) == true)
    #expect(entity.attributesByName["viewCount"]?.options.contains(.ephemeral) == true)
    #expect(entity.attributesByName["detail"]?.isCodable == true)
    #expect(entity.attributesByName["caption"]?.originalName == "caption_text")
    #expect(entity.attributesByName["title"]?.options.isEmpty == true)
  }

  @Test(arguments: StorePlace.allCases)
  func `an opaque value comes back`(_ place: StorePlace) throws {
    let store = try TestStore(place, Picture.self)
    let context = store.context()
    let picture = Picture(title: "One")
    picture.detail = Point(x: 3, y: 4)
    context.insert(picture)
    try context.save()
    #expect(try store.reopened().only(Picture.self).detail == Point(x: 3, y: 4))
  }
}
