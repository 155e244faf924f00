#if !canImport(Darwin)
  @testable import SteadRecords

  /// A value that is neither Codable nor data.
  struct Caption: Equatable { var text = "" }

  /// Turns labels into data, and declares nothing.
  class CaptionWriter: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? Caption).map { Data($0.text.utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { Caption(text: String(decoding: $0, as: UTF8.self)) }
    }
  }
  final class CaptionWriterOfData: CaptionWriter {
    override class func transformedValueClass() -> AnyClass { NSData.self }
  }
  final class CaptionWriterOfStrings: CaptionWriter {
    override class func transformedValueClass() -> AnyClass { NSString.self }
  }

  /// Turns data into labels, and declares nothing.
  class CaptionReader: CaptionWriter {
    override func transformedValue(_ value: Any?) -> Any? { super.reverseTransformedValue(value) }
    override func reverseTransformedValue(_ value: Any?) -> Any? { super.transformedValue(value) }
  }
  final class CaptionReaderOfData: CaptionReader {
    override class func transformedValueClass() -> AnyClass { NSData.self }
  }
  final class CaptionReaderOfStrings: CaptionReader {
    override class func transformedValueClass() -> AnyClass { NSString.self }
  }
  /// It can turn back, and says that it can't.
  final class CaptionReaderWithoutReverse: CaptionReader {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { false }
  }

  /// Between data and data: forward it adds a byte at the front, in reverse it removes it.
  class DataSealer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { Data([0xAA]) + $0 }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).flatMap { $0.first == 0xAA ? Data($0.dropFirst()) : nil }
    }
  }
  final class DataOpener: DataSealer {
    override func transformedValue(_ value: Any?) -> Any? { super.reverseTransformedValue(value) }
    override func reverseTransformedValue(_ value: Any?) -> Any? { super.transformedValue(value) }
  }

  /// What it writes it can't read.
  final class CaptionShredder: CaptionWriter {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
  }

  @Model final class Captioned {
    @Attribute(.transformable(by: CaptionWriter.self)) var a: Caption
    @Attribute(.transformable(by: CaptionWriterOfData.self)) var b: Caption?
    @Attribute(.transformable(by: CaptionWriterOfStrings.self)) var c: Caption
    @Attribute(.transformable(by: CaptionReader.self)) var d: Caption?
    @Attribute(.transformable(by: CaptionReaderOfData.self)) var e: Caption
    @Attribute(.transformable(by: CaptionReaderOfStrings.self)) var f: Caption?
    @Attribute(.transformable(by: DataSealer.self)) var g: Data
    @Attribute(.transformable(by: DataOpener.self)) var h: Data?

    init(_ text: String) {
      let label = Caption(text: text)
      (a, b, c, d, e, f) = (label, label, label, label, label, label)
      (g, h) = (Data(text.utf8), Data(text.utf8))
    }

    var labels: [Caption?] { [a, b, c, d, e, f] }
  }

  @Model final class Shredded {
    @Attribute(.transformable(by: CaptionShredder.self)) var label: Caption?
    var name = ""
    init() {}
  }

  /// A class that declares data as its values, and turns data into values, could not be saved: the class was believed,
  /// and its method was asked to turn a value into data.
  @Suite("which way a transformer works") struct TransformerWayTests {
    @Test(arguments: StorePlace.allCases)
    func `a value comes back, whatever the class declares`(_ place: StorePlace) throws {
      let store = try TestStore(place, Captioned.self)
      let context = store.context()
      for text in ["first", "", "third"] { context.insert(Captioned(text)) }
      try context.save()
      let again = try store.reopened()
      let stored = try again.all(Captioned.self)
      #expect(Set(stored.map(\.a.text)) == ["first", "", "third"])
      for object in stored {
        let label = object.a
        #expect(object.labels == Array(repeating: label, count: 6))
        #expect(object.g == Data(label.text.utf8) && object.h == Data(label.text.utf8))
        (object.b, object.d, object.f, object.h) = (nil, nil, nil, nil)
        object.e.text += "!"
      }
      try again.save()
      for object in try store.reopened().all(Captioned.self) {
        #expect(object.e.text == object.a.text + "!")
        #expect(object.labels.compactMap(\.self).count == 3 && object.h == nil)
      }
    }

    @Test(
      arguments: [
        CaptionWriter.self, CaptionWriterOfData.self, CaptionWriterOfStrings.self,
        CaptionReader.self,
        CaptionReaderOfData.self, CaptionReaderOfStrings.self, CaptionReaderWithoutReverse.self,
      ] as [CaptionWriter.Type])
    func `values that are read first decide as well as values that are stored first`(
      _ type: CaptionWriter.Type
    ) {
      let transformer = type.init()
      for isFirstRead in [true, false] {
        let (value, data) = (Caption(text: "x"), Data("x".utf8))
        if isFirstRead {
          #expect(transformer.storedValue(of: data, as: Caption?.self) == value)
          #expect(transformer.storedData(of: Optional(value)) == data)
        } else {
          #expect(transformer.storedData(of: value) == data)
          #expect(transformer.storedValue(of: data, as: Caption.self) == value)
        }
        #expect(transformer.storedData(of: 7) == nil)
        #expect(transformer.storedValue(of: data, as: Int.self) == nil)
      }
    }

    @Test func `a value that does not come back is not stored`() throws {
      let store = try TestStore(Shredded.self)
      let context = store.context()
      let object = Shredded()
      object.label = Caption(text: "secret")
      context.insert(object)
      let error = try refusal(of: context)
      #expect(error.code == .modelValidationFailure && error.message.contains("Shredded.label"))
      #expect(!"\(error)".contains("secret"))
      object.label = nil
      try context.save()
      #expect(try store.reopened().only(Shredded.self).label == nil)
    }
  }
#endif
