#if !canImport(Darwin)
  import Foundation
  import SwiftData
  import Testing

  @testable import SteadRecords

  @Suite("transformable values") struct TransformableTests {
    private static let register: Void = ValueTransformer.setValueTransformer(
      TintTransformer(), forName: NSValueTransformerName("TintByName"))

    @Test(arguments: StorePlace.allCases)
    func `P8 a transformer by class or by name, and nil`(_ place: StorePlace) throws {
      Self.register
      let store = try TestStore(place, Swatch.self)
      let context = store.context()
      let swatch = Swatch(name: "sea", tint: Tint(red: 1, green: 2, blue: 3))
      context.insert(swatch)
      try context.save()
      var stored = try store.reopened().only(Swatch.self)
      #expect(stored.tint == Tint(red: 1, green: 2, blue: 3))
      #expect(stored.other == nil)
      swatch.other = Tint(red: 4, green: 5, blue: 6)
      swatch.tint.red = 255
      try context.save()
      stored = try store.reopened().only(Swatch.self)
      #expect(stored.tint.red == 255)
      #expect(stored.other == Tint(red: 4, green: 5, blue: 6))
      swatch.other = nil
      try context.save()
      #expect(try store.reopened().only(Swatch.self).other == nil)
      let attribute = store.schema.entitiesByName["Swatch"]?.attributesByName["tint"]
      #expect(attribute?.isTransformable == true)
    }

    // `.transformable(by: NSSecureUnarchiveFromDataTransformer.self)` could not save: that class turns
    // data into values, and was asked to turn values into data.
    @Test(arguments: StorePlace.allCases)
    func `P8 transformers that unarchive`(_ place: StorePlace) throws {
      let store = try TestStore(place, Itinerary.self)
      let context = store.context()
      let itinerary = Itinerary(stops: ["A", "B"])
      itinerary.object = NSArray(array: ["C"])
      itinerary.named = ["D"]
      itinerary.route = Route(stops: ["E", "F"])
      itinerary.settings = Settings(volume: 3, tags: ["G"])
      context.insert(itinerary)
      try context.save()
      var stored = try store.reopened().only(Itinerary.self)
      #expect(stored.stops == ["A", "B"])
      #expect(stored.object == NSArray(array: ["C"]))
      #expect(stored.named == ["D"])
      #expect(stored.route?.stops == ["E", "F"])
      #expect(stored.settings == Settings(volume: 3, tags: ["G"]))
      itinerary.route = nil
      itinerary.stops = []
      try context.save()
      stored = try store.reopened().only(Itinerary.self)
      #expect(stored.route == nil)
      #expect(stored.stops == [])
    }

    @Test func `P8 the direction follows from what the class says`() {
      let settings = Settings(volume: 1, tags: [])
      for transformer in [SettingsTransformer(), LabelledTransformer(), ReadingTransformer()] {
        let data = transformer.storedData(of: settings)
        #expect(data == (try? Settings.encoder.encode(settings)))
        #expect(data.flatMap { transformer.storedValue(of: $0, as: Settings?.self) } == settings)
        #expect(transformer.storedData(of: "something else") == nil)
        #expect(transformer.storedValue(of: Data([0]), as: Settings.self) == nil)
      }
    }
  }
#endif
