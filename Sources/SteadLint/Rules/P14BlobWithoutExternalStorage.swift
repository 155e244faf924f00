private let flaw = RuleID(id: "P14", name: "blob-without-external-storage", level: .warning)

extension Rule {
  static let blobWithoutExternalStorage = Rule(
    flaw, isFixable: true,
    summary:
      "A `@Model` class has the bytes of images, sound, documents or other content without `.externalStorage`.",
    why: """
      The bytes are in the row, so each fetch of the object reads them, and each change writes them again. A few \
      hundred pictures make a list of names slow.
      """,
    bad: """
      @Model final class Person {
        var name = ""
        var photo: Data?
      }
      """,
    good: """
      @Model final class Person {
        var name = ""
        @Attribute(.externalStorage) var photo: Data?
      }
      """,
    avoids: [
      "Keys, hashes, tokens and bookmarks, which are small.",
      "Encoded values, such as `optionsData`: a note at most.",
      "Models that are fetched for their bytes: a cache, by its name, or one blob with nothing but identifiers, dates and hashes: a note.",
      "Copies of models in earlier schemas, which must stay as they were.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.compactMap { property in
          guard property.isStored, property.type?.elementType == "Data",
            property.type?.isListType == false,
            property.attribute("Attribute")?.text.contains("externalStorage") != true,
            property.attribute("Attribute")?.text.contains("transformable") != true,
            let level = likelihood(of: property)
          else { return nil }
          return Finding(
            flaw,
            "Each fetch reads the bytes of `\(property.name)`; give it `@Attribute(.externalStorage)`.",
            at: property.place, level: isFetchedForBytes(model) ? .note : level, fix: fix(property))
        }
      }
    })
}

private let content: Set<String> = [
  "image", "images", "photo", "picture", "audio", "video", "thumbnail", "pdf", "avatar", "artwork",
  "recording", "cover",
  "screenshot", "attachment", "file", "media", "sound", "drawing", "poster", "snapshot",
  "wallpaper", "icon", "logo",
  "document", "portrait", "scan", "value", "content", "contents", "bytes", "blob", "body",
  "payload", "binary",
]
private let small: Set<String> = [
  "key", "hash", "token", "salt", "signature", "bookmark", "id", "ids", "identifier", "digest",
  "checksum", "nonce",
  "iv", "color", "colour", "url", "date", "archive", "fingerprint",
]

/// How likely it is that the data is large; nil if it is small.
private func likelihood(of property: PropertyFact) -> Level? {
  var words = NameWords(property.name)
  // An encoded value, such as the metadata of media.
  if words.contains(anyOf: ["raw", "json", "encoded", "archived", "metadata", "info"]) {
    return .note
  }
  if let last = words.words.last, ["data", "bytes"].contains(last), words.words.count > 1 {
    words = words.dropLast()
  }
  if words.words.contains(where: small.contains) { return nil }
  if words.words == ["data"] { return .warning }
  return words.words.last.map(content.contains) == true
    || words.words.first.map(content.contains) == true ? .warning : .note
}

/// Whether a model is a cache's by its name, or has only one blob, identifiers and dates.
private func isFetchedForBytes(_ model: TypeFact) -> Bool {
  if NameWords(model.name).contains(anyOf: ["cache", "cached"]) { return true }
  let stored = model.properties.filter(\.isStored)
  let others = stored.filter { $0.type?.elementType != "Data" }
  return !others.isEmpty && stored.count == others.count + 1
    && others.allSatisfy { property in
      ["UUID", "Date"].contains(property.type?.elementType ?? "")
        || ["id", "identifier", "hash", "digest", "key", "date"].contains(
          NameWords(property.name).words.last ?? "")
    }
}

private func fix(_ property: PropertyFact) -> Fix? {
  if let attribute = property.attribute("Attribute") {
    return attribute.argumentsStart.map { start in
      Fix(
        "Store it outside of the row",
        [.init(offset: start, length: 0, replacement: ".externalStorage, ")])
    }
  }
  return Fix(
    "Store it outside of the row",
    [.init(offset: property.start, length: 0, replacement: "@Attribute(.externalStorage) ")])
}
