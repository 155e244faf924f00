// MARK: - P14 blob-without-external-storage

private let p14 = RuleID(id: "P14", name: "blob-without-external-storage", level: .warning)

extension Rule {
  /// `Data` of models that is likely to be large and is kept in the row.
  ///
  /// How large it gets isn't in the source, so the property's name decides between a warning, a
  /// note and nothing.
  static let blobWithoutExternalStorage = Rule(
    p14, isFixable: true,
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
            p14,
            "Each fetch reads the bytes of `\(property.name)`; give it `@Attribute(.externalStorage)`.",
            at: property.place, level: isFetchedForBytes(model) ? .note : level, fix: fix(property))
        }
      }
    })
}

/// Words for what is usually large. They count at the beginning and at the end of a name.
private let content: Set<String> = [
  "image", "images", "photo", "picture", "audio", "video", "thumbnail", "pdf", "avatar", "artwork",
  "recording", "cover",
  "screenshot", "attachment", "file", "media", "sound", "drawing", "poster", "snapshot",
  "wallpaper", "icon", "logo",
  "document", "portrait", "scan", "value", "content", "contents", "bytes", "blob", "body",
  "payload", "binary",
]
/// Words for what is always small. One of them anywhere in a name is enough.
private let small: Set<String> = [
  "key", "hash", "token", "salt", "signature", "bookmark", "id", "ids", "identifier", "digest",
  "checksum", "nonce",
  "iv", "color", "colour", "url", "date", "archive", "fingerprint",
]

/// How likely it is that the data is large; nil if it is small.
///
/// A name that says neither is a note: `options` may be a few bytes or a plist of megabytes.
private func likelihood(of property: PropertyFact) -> Level? {
  var words = NameWords(property.name)
  // An encoded value, such as the metadata of media.
  // Before the words for content: `mediaRaw` isn't media.
  if words.contains(anyOf: ["raw", "json", "encoded", "archived", "metadata", "info"]) {
    return .note
  }
  // `photoData` is a photo. The word says nothing about the size.
  if let last = words.words.last, ["data", "bytes"].contains(last), words.words.count > 1 {
    words = words.dropLast()
  }
  // `imageHash` is a hash, whatever it is of.
  if words.words.contains(where: small.contains) { return nil }
  if words.words == ["data"] { return .warning }
  return words.words.last.map(content.contains) == true
    || words.words.first.map(content.contains) == true ? .warning : .note
}

/// Whether a model is a cache's by its name, or has only one blob, identifiers and dates.
///
/// Whoever fetches such an object wants the bytes, so keeping them in the row costs nothing extra.
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

/// The edit that adds `.externalStorage`: as the first argument of an `@Attribute`, or as a new
/// one. Nil for an attribute without parentheses.
///
/// An option has no label, so it may be before all other arguments.
private func fix(_ property: PropertyFact) -> Fix? {
  if let attribute = property.attribute("Attribute") {
    return attribute.argumentsStart.map { start in
      Fix(
        "Store it outside of the row",
        [
          .init(
            offset: start, length: 0,
            replacement: attribute.arguments.isEmpty ? ".externalStorage" : ".externalStorage, ")
        ])
    }
  }
  return Fix(
    "Store it outside of the row",
    [.init(offset: property.start, length: 0, replacement: "@Attribute(.externalStorage) ")])
}

// MARK: - P15 unique-with-cloudkit

private let p15 = RuleID(id: "P15", name: "unique-with-cloudkit", level: .error)

extension Rule {
  /// Unique attributes in models that sync with CloudKit.
  ///
  /// An error, since the container doesn't open. It depends on the entitlements and configurations
  /// of the whole project, which ``ProjectIndex/cloudModels`` answers.
  static let uniqueWithCloudKit = Rule(
    p15,
    summary: "A model that syncs with CloudKit has a unique attribute.",
    why: """
      CloudKit can't keep values unique across devices, so a container with such a model fails to load. The app \
      starts without its data.
      """,
    bad: """
      @Model final class Note {
        @Attribute(.unique) var id = UUID()
      }
      let container = try ModelContainer(
        for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
    good: """
      @Model final class Note {
        var id = UUID()  // The app merges notes with the same ID after each sync.
      }
      """,
    avoids: [
      "Models of containers without CloudKit: `cloudKitDatabase: .none`, no entitlement, or an entitlement without a container.",
      "Containers in memory, and those of tests and previews.",
    ],
    inProject: { index in
      guard let (models, reason) = index.cloudModels else { return [] }
      return models.flatMap { model in
        let attributes = model.properties.filter {
          $0.attribute("Attribute")?.text.contains(".unique") == true
        }
        // A macro among the members names several properties, so its finding is at the class.
        let macro = model.macros.contains { $0.hasPrefix("#Unique") }
        return attributes.map { property in
          Finding(
            p15,
            "CloudKit refuses a unique attribute (\(reason)); remove it, and merge duplicates in code.",
            at: property.place)
        }
          + (macro
            ? [
              Finding(
                p15, "CloudKit refuses `#Unique` (\(reason)); merge duplicates in code.",
                at: model.place)
            ] : [])
      }
    })
}

// MARK: - P16 cloudkit-needs-default

private let p16 = RuleID(id: "P16", name: "cloudkit-needs-default", level: .error)

extension Rule {
  /// Properties that CloudKit refuses in a model that syncs.
  ///
  /// An error, as P15: the container doesn't open.
  static let cloudKitNeedsDefault = Rule(
    p16, isFixable: true,
    summary:
      "A model that syncs with CloudKit has a required property without a default, or something else that CloudKit refuses.",
    why: """
      Records arrive from other devices in parts, so CloudKit requires that each property has a default or is \
      optional, that relationships are optional, and that none has the delete rule `.deny`. Otherwise the container \
      fails to load.
      """,
    bad: """
      @Model final class Note {
        var title: String
        init(title: String) { self.title = title }
      }
      let container = try ModelContainer(
        for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
    good: """
      @Model final class Note {
        var title: String = ""
        init(title: String) { self.title = title }
      }
      """,
    avoids: [
      "Optional, transient and computed properties.",
      "Models of containers without CloudKit.",
    ],
    inProject: { index in
      guard let (models, reason) = index.cloudModels else { return [] }
      return models.flatMap { model in
        model.properties.filter(\.isStored).flatMap {
          findings(on: $0, of: model, in: index, reason: reason)
        }
      }
    })
}

/// What CloudKit refuses about a property. Each cause has its own finding.
private func findings(
  on property: PropertyFact, of model: TypeFact, in index: ProjectIndex, reason: String
) -> [Finding] {
  var findings: [Finding] = []
  let isRelationship = index.destination(of: property, in: model) != nil
  if property.attribute("Relationship")?.text.contains(".deny") == true {
    findings.append(
      Finding(
        p16, "CloudKit refuses the delete rule `.deny` (\(reason)); choose another one.",
        at: property.place))
  }
  // Without a type in the source nothing is certain; an optional is what CloudKit wants.
  guard let type = property.type, !type.isOptionalType else { return findings }
  if isRelationship {
    findings.append(
      Finding(
        p16, "CloudKit requires an optional relationship: `\(type)?` (\(reason)).",
        at: property.place))
  } else if property.defaultValue == nil {
    findings.append(
      Finding(
        p16, "CloudKit requires a default value or an optional (\(reason)).", at: property.place,
        fix: fix(property, type: type)))
  }
  return findings
}

/// Default values by type, as a person would write them; a type without an entry gets no fix.
private let defaults = [
  "String": "\"\"", "Bool": "false", "Int": "0", "Int64": "0", "Int32": "0", "Int16": "0",
  "Double": "0", "Float": "0",
  "CGFloat": "0", "Decimal": "0", "Date": "Date.now", "UUID": "UUID()", "Data": "Data()",
  "TimeInterval": "0",
]

/// The edit that adds a default value after the property's type; nil for a type without a usual
/// value.
///
/// Calls of the model's initializer stay as they are.
private func fix(_ property: PropertyFact, type: String) -> Fix? {
  let value = defaults[type] ?? (type.hasPrefix("[") ? (type.contains(":") ? "[:]" : "[]") : nil)
  return value.map {
    Fix(
      "Give it a default value", [.init(offset: property.end, length: 0, replacement: " = \($0)")])
  }
}

// MARK: - P17 relationship-without-inverse

private let p17 = RuleID(id: "P17", name: "relationship-without-inverse", level: .warning)

extension Rule {
  /// Lists of models whose inverse is missing, ambiguous, or named on both sides.
  ///
  /// SwiftData finds an inverse that nobody names if exactly one property leads back. The rule
  /// repeats that search on the facts.
  static let relationshipWithoutInverse = Rule(
    p17, isFixable: true,
    summary: "A list of models has no inverse, or both sides name one.",
    why: """
      Without an inverse an object doesn't know which lists it is in, and CloudKit refuses the model. If several \
      properties of the other model could be the inverse, it isn't defined which one is used. If both sides name it, \
      the macro expands in a circle and the file doesn't compile.
      """,
    bad: """
      @Model final class Folder { var notes: [Note] = [] }
      @Model final class Note { var title = "" }
      """,
    good: """
      @Model final class Folder { @Relationship(inverse: \\Note.folder) var notes: [Note] = [] }
      @Model final class Note { var title = ""; var folder: Folder? }
      """,
    avoids: [
      "An inverse that the other side names, or that is found because only one property leads back.",
      "Lists of values that aren't models.",
      "Copies of models in earlier schemas, which must stay as they were.",
      "Models that are `Codable`, as copies of server data are, unless the app syncs with CloudKit: a note.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.filter(\.isStored).compactMap {
          inverseFinding(on: $0, of: model, in: index)
        }
      }
    })
}

/// Whether a model is decoded, so that it is probably a copy of data from elsewhere.
///
/// Such a copy is usually replaced as a whole, so a missing inverse is a note.
private func isCopy(_ model: TypeFact) -> Bool {
  !Set(model.inherited).isDisjoint(with: ["Codable", "Decodable"])
}

/// The finding about a relationship's inverse; nil if one is named, or found without doubt.
///
/// The cases in their order: both sides name each other; one side names the other; nothing leads back; several
/// properties do.
private func inverseFinding(on property: PropertyFact, of model: TypeFact, in index: ProjectIndex)
  -> Finding?
{
  guard let destination = index.destination(of: property, in: model) else { return nil }
  let back = destination.properties.filter {
    // A relationship of a model with itself isn't its own inverse.
    $0.isStored && index.destination(of: $0, in: destination)?.name == model.name
      && !(destination.name == model.name && $0.name == property.name)
  }
  let named = property.attribute("Relationship")?.arguments["inverse"]
  let namedBack = back.filter {
    $0.attribute("Relationship")?.arguments["inverse"]?.lastComponent == property.name
  }
  if let named, let other = namedBack.first, named.lastComponent == other.name {
    // Only one side is reported: the one whose names come later in the alphabet.
    guard (model.name, property.name) > (destination.name, other.name) else { return nil }
    return Finding(
      p17, "Both sides name the inverse, which doesn't compile; remove it from one.",
      at: property.place,
      fix: property.attribute("Relationship")?.removals["inverse"].map {
        Fix("Leave the inverse out", [$0])
      })
  }
  // A relationship to one object may well be a one-way reference, so only lists are reported.
  guard property.type?.isListType == true, named == nil, namedBack.isEmpty else { return nil }
  // A property that is the inverse of another one isn't a candidate.
  let candidates = back.filter { candidate in
    candidate.attribute("Relationship")?.arguments["inverse"] == nil
      && !model.properties.contains {
        $0.name != property.name
          && $0.attribute("Relationship")?.arguments["inverse"]?.lastComponent == candidate.name
      }
  }
  if candidates.isEmpty {
    return Finding(
      p17,
      "`\(destination.name)` has no property that leads back; add an optional one, and name it as the inverse.",
      at: property.place, level: isCopy(model) && index.cloudModels == nil ? .note : nil)
  }
  guard candidates.count > 1 else { return nil }
  let names = candidates.map { "`\($0.name)`" }.joined(separator: ", ")
  return Finding(
    p17, "Several properties could be the inverse (\(names)); name it.", at: property.place)
}

// MARK: - P18 implicit-delete-rule

private let p18 = RuleID(id: "P18", name: "implicit-delete-rule", level: .warning)

extension Rule {
  /// Lists whose deletion clears what isn't optional, and relationships that a deletion leaves
  /// dangling.
  ///
  /// A list for which no rule is written and nothing required is cleared is a note: keeping its
  /// objects may be meant.
  static let implicitDeleteRule = Rule(
    p18,
    summary:
      "Deleting an object clears a property that isn't optional, or leaves references to nothing.",
    why: """
      Without a delete rule, a deletion clears the other side. If that side isn't optional, the save fails or the \
      next read crashes the program. `.noAction` leaves references to an object that is gone. A list without a \
      delete rule can also leave orphans that nobody wanted, so it gets a note: the code should state what is meant.
      """,
    bad: """
      @Model final class Order { var lines: [Line] = [] }
      @Model final class Line { var order: Order; init(order: Order) { self.order = order } }
      """,
    good: """
      @Model final class Order {
        @Relationship(deleteRule: .cascade, inverse: \\Line.order) var lines: [Line] = []
      }
      """,
    avoids: [
      "Lists with `.cascade` or `.deny`, and with `.nullify` where it clears an optional property.",
      "Relationships to one object, unless they have `.noAction`, and lists of values.",
      "Copies of models in earlier schemas, which must stay as they were.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.filter(\.isStored).compactMap {
          deleteRuleFinding(on: $0, of: model, in: index)
        }
      }
    })
}

/// The finding about what a deletion does to the other side; nil where the rule is written, or only an optional is
/// cleared.
private func deleteRuleFinding(
  on property: PropertyFact, of model: TypeFact, in index: ProjectIndex
)
  -> Finding?
{
  guard let destination = index.destination(of: property, in: model) else { return nil }
  let rule = property.attribute("Relationship")?.arguments["deleteRule"]?.lastComponent
  // Of a relationship to one object, too: the reference to the deleted one stays in either case.
  if rule == "noAction" {
    return Finding(
      p18, "`.noAction` leaves references to deleted objects; choose `.cascade` or `.nullify`.",
      at: property.place)
  }
  // `.cascade` and `.deny` leave nobody with a cleared property.
  guard property.type?.isListType == true, rule == nil || rule == "nullify" else { return nil }
  let inverse = property.attribute("Relationship")?.arguments["inverse"]?.lastComponent
  let back = destination.properties.filter { candidate in
    // Of a list on the other side one element is removed, and nothing required is missing.
    candidate.isStored && candidate.type?.isListType == false
      && index.destination(of: candidate, in: destination)?.name == model.name
      && (inverse == nil || inverse == candidate.name)
  }
  // Several properties could be the inverse, and which of them a deletion clears is unknown here.
  if let required = back.first, back.count == 1, required.type?.isOptionalType == false {
    return Finding(
      p18,
      "Deleting `\(model.name)` objects clears `\(destination.name).\(required.name)`, which isn't optional; "
        + "use `.cascade` or make it optional.",
      at: property.place)
  }
  guard rule == nil else { return nil }
  return Finding(
    p18,
    "Deleting this leaves its `\(destination.name)` objects behind; state that with `deleteRule: .nullify`, or use `.cascade`.",
    at: property.place, level: .note)
}
