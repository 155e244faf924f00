#if !canImport(Darwin)
  import Foundation
  import SwiftData
  import Testing

  @Suite("d5 transformable values") struct D5TransformableTests {
    private static let register: Void = ValueTransformer.setValueTransformer(
      TintTransformer(), forName: NSValueTransformerName("TintByName"))

    @Test("P8 a transformer by class or by name, and nil", arguments: StorePlace.allCases)
    func transformable(_ place: StorePlace) throws {
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
  }
#endif
