import Foundation
import RecordsTestSupport
import SwiftData
import Testing

struct RawBytes: RawRepresentable, Codable, Hashable { var rawValue: Data }

enum Shown: Codable, Equatable { case nothing, text(String) }

@Model final class ExternalShape {
  typealias Photo = Data

  @Attribute(.externalStorage) var photo: Photo = Data()
  @Attribute(.externalStorage) var maybe: Data?
  @Attribute(.externalStorage) var inferred = Data()
  @Attribute(.externalStorage) var list: [Int] = []
  @Attribute(.externalStorage) var maybeList: [Int]?
  @Attribute(.externalStorage) var photos: [Data] = []
  @Attribute(.externalStorage) var bytes: [UInt8] = []
  @Attribute(.externalStorage) var text: String = ""
  @Attribute(.externalStorage) var maybeText: String?
  @Attribute(.externalStorage) var counts: [String: Int] = [:]
  @Attribute(.externalStorage) var postal: Postal?
  @Attribute(.externalStorage) var stage: Stage = Stage.open
  @Attribute(.externalStorage) var maybeStage: Stage?
  @Attribute(.externalStorage) var shown: Shown = Shown.nothing
  @Attribute(.externalStorage) var raw: RawBytes?
  @Attribute(.externalStorage) let fixed: [String]

  init(fixed: [String] = []) { self.fixed = fixed }
}

/// The option means something for data alone; every other type was taken for data, and NULL was stored.
@Suite struct ExternalShapes {
  @Test(arguments: [3, 200_000])
  func `each type is stored with the option`(count: Int) throws {
    let model = ExternalShape(fixed: ["a", "b"])
    let data = Data(repeating: 7, count: count)
    (model.photo, model.maybe, model.inferred) = (data, data, data)
    model.list = Array(0..<count)
    model.maybeList = [1]
    model.photos = [data, Data()]
    model.bytes = Array(data)
    model.text = String(repeating: "t", count: count)
    model.maybeText = "maybe"
    model.counts = ["a": count]
    model.postal = Postal(city: "Oslo")
    (model.stage, model.maybeStage) = (.done, .done)
    model.shown = .text("shown")
    model.raw = RawBytes(rawValue: data)

    try reread(model) { twin in
      #expect(twin.photo == data && twin.maybe == data && twin.inferred == data)
      #expect(twin.list == model.list && twin.maybeList == [1])
      #expect(twin.photos == [data, Data()] && twin.bytes == model.bytes)
      #expect(twin.text == model.text && twin.maybeText == "maybe")
      #expect(twin.counts == ["a": count] && twin.postal?.city == "Oslo")
      #expect(twin.stage == .done && twin.maybeStage == .done && twin.shown == .text("shown"))
      #expect(twin.raw?.rawValue == data)
      #expect(twin.fixed == ["a", "b"])
    }
  }

  @Test func `nothing is stored as nothing`() throws {
    try reread(ExternalShape()) { twin in
      #expect(twin.maybe == nil && twin.maybeList == nil && twin.maybeText == nil)
      #expect(twin.postal == nil && twin.maybeStage == nil && twin.raw == nil)
      #expect(twin.photo.isEmpty && twin.list.isEmpty && twin.fixed.isEmpty)
    }
  }

  @Test func `predicates find values that are no data`() throws {
    let context = ModelContext(
      try ModelContainer(
        for: ExternalShape.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let model = ExternalShape()
    (model.text, model.list, model.stage) = ("found", [4], .done)
    context.insertAll(model, ExternalShape())
    try context.save()
    let done = Stage.done
    let predicate = #Predicate<ExternalShape> {
      $0.text == "found" && $0.list.contains(4) && $0.stage == done
    }
    #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 1)
  }
}
