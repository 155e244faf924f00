extension RuleSamples {
  static let p14 = RuleSamples(
    rule: "P14",
    flagged: [
      "@Model class A { var mediaRaw: Data? } // ?",
      """
      @Model class Person {
        var photo: Data? // !
      }
      """,
      """
      @Model class Person {
        @Attribute(.unique) var thumbnailData: Data // !
        init(d: Data) { thumbnailData = d }
      }
      """,
      """
      @Model class Note {
        var audioRecording = Data() // !
        var options: Data? // ?
      }
      """,
      "@Model class Item { var value: Data? } // !",
      """
      @Model class Scan {
        public var pdf: Data? = nil // !
      }
      """,
      """
      @Model class Clip {
        @Attribute(originalName: "picture") var image: Data? // !
      }
      """,
      #"""
      @Model final class CachedImage {
        var name = ""
        var image: Data? // ?
      }
      """#,
      #"""
      @Model final class Transcript {
        @Attribute(.unique) var youtubeId: String
        var data: Data // ?
        var updated: Date
      }
      """#,
    ],
    silent: [
      "@Model class A { var mediaMetadata: String = \"\"; var photoKey: Data? }",
      "@Model class A { @Attribute(.externalStorage) var photo: Data? }",
      "@Model class A { var publicKey: Data?; var hash = Data(); var fileBookmark: Data? }",
      "@Model class A { @Transient var photo: Data? }",
      "class A { var photo: Data? }",
      "@Model class A { var photo: String?; var imageName = \"\" }",
      "@Model class A { var photo: Data? { nil } }",
      "@Model class A { @Attribute(.transformable(by: T.self)) var image: Data? }",
    ])
}
