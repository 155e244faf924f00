// A load and a save of the same bytes are usually two functions, in two files. So the rule works on the index: it
// pairs decodings and encodings by what names the bytes (`identity`), and reports a decoding whose failure is
// discarded if an encoding of the same identity exists. Most of the code below is about loads that look the same
// and lose nothing. Each exception is one that a real project needed (Documentation/LintCases.md).
private let p04 = RuleID(id: "P04", name: "swallowed-decode-overwrites", level: .warning)

extension Rule {
  /// Decodings whose failure is discarded, of bytes that some encoding writes.
  ///
  /// A finding needs both halves, so a load without a save anywhere is never reported. Costs a pass
  /// over all codings for each decoding that gets past the cheap questions.
  static let swallowedDecode = Rule(
    p04,
    summary:
      "Stored data that doesn't decode is treated as absent, and the next save overwrites it.",
    why: """
      After an update of the app, or a bug, the stored bytes may not decode. Code that continues with an empty value then \
      saves that value under the same key: the user's data is gone, though it was only unreadable.
      """,
    bad: """
      init() {
        let data = UserDefaults.standard.data(forKey: "items") ?? Data()
        items = (try? JSONDecoder().decode([Item].self, from: data)) ?? []
      }

      func save() throws {
        UserDefaults.standard.set(try JSONEncoder().encode(items), forKey: "items")
      }
      """,
    good: """
      init() {
        guard let data = UserDefaults.standard.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          UserDefaults.standard.set(data, forKey: "items.corrupt")
          self.error = error
        }
      }
      """,
    avoids: [
      "Code that keeps the bytes: a copy, a backup, another key.",
      "Errors that are thrown, handed to the caller, or kept where the app can show them: in a property, a list of errors, a value such as `.failed(error)`.",
      "An error that no `catch` around the decoding gets, since all of them are for other types, and `try!`, which ends the program.",
      "A result of `try?` that is compared with nil, or bound, where that branch throws.",
      "Data that is only read, and caches: code that names a cache, an indexer, a snapshot or a temporary file.",
      "Data that the same function has just written.",
      "A function that changes what is stored, and ends without a value where it doesn't decode.",
      "Debugging data by its name, such as diagnostics and logs; leases; search indexes, and indexes of a type with a `rebuild` or `reindex`.",
      "Data that a widget or an intent reads, since the app writes it again.",
      "Files that the user chose in a panel, and the state of a sync engine, which starts over without it.",
      "A `catch` that removes the bytes on purpose.",
      "An attempt that isn't the last: a later one decodes the bytes in another form, or throws. The last one has the finding.",
      "Lists of strings, numbers, bytes and identifiers, whose shape no version changes: a note.",
      "One value that the user can choose again: a case of an enumeration with raw values, or a structure of at most three values: a note.",
      "What was last or recent, legacy, a position, progress, a status, counts and statistics, by their names: a note.",
      "A copy of a server's data, where the project decodes the same type from an answer of `URLSession`, or saves only what it has fetched: a note.",
      "A type whose `init(from:)` reads each field with `try?`: a note.",
    ],
    inProject: { index in
      // `saved`: what any encoding writes. `made`: what the program makes itself; the rest can be fetched again.
      let savings = index.codings.filter { !$0.isDecoding }
      let saved = Set(savings.compactMap { identity(of: $0, in: index) })
      let made = Set(
        savings.filter { !$0.isFromServer }.compactMap { identity(of: $0, in: index) })
      // The types that the project decodes from a server's answer. A stored value of such a type is
      // a copy.
      let answers = Set(
        index.codings.filter { $0.isDecoding && $0.isFromServer }.compactMap {
          payload(of: $0, in: index)
        })
      let losses = index.codings.compactMap { use -> Loss? in
        // The cheap questions come first: those about other codings look through all of them.
        guard use.isDecoding, use.failure != .thrown, !use.keepsBytes,
          let identity = identity(of: use, in: index),
          saved.contains(identity), !isCache(use, identity), !index.isAppExtension(use.place.path),
          !readsBack(use, identity, in: index), !leavesBeforeSaving(use, identity, in: index)
        else { return nil }
        // A note and not silence: whether the data matters can't be seen in the source, only that it often doesn't.
        let isMinor =
          isHarmless(use, in: index) || !made.contains(identity) || isShortLived(use, in: index)
          || payload(of: use, in: index).map(answers.contains) == true
        return Loss(use: use, identity: identity, isMinor: isMinor)
      }
      // Of several attempts the last one is reported, and what the first one would have decoded counts.
      let retried = losses.filter { $0.use.isRetried && !$0.isMinor }.map(\.attempts)
      return losses.filter { !$0.use.isRetried }.map { loss in
        Finding(
          p04,
          "If this doesn't decode, the next save overwrites it; keep a copy of the bytes and report the error.",
          at: loss.use.place,
          level: loss.isMinor && !retried.contains(loss.attempts) ? .note : nil)
      }
    })
}

/// A load whose failure a later save makes final.
///
/// Losses of one function and one identity are attempts at the same bytes.
private struct Loss {
  let use: CodingUse
  /// The key or file that has the bytes.
  let identity: String
  /// Whether it is a note, since the data most likely matters little or comes again.
  let isMinor: Bool

  /// What the attempts to decode the same bytes have in common.
  var attempts: [String] { [use.place.path, "\(use.scope)", identity] }
}

/// The full name of the type that is decoded, or of its elements.
///
/// A type that the project doesn't declare has the name that the source writes.
private func payload(of use: CodingUse, in index: ProjectIndex) -> String? {
  guard let type = use.type?.payloadType else { return nil }
  return index.declarations(of: type, in: use.scopeType).first?.name ?? type
}

/// Identifies the key or the file that has the bytes, so that saving and loading the same bytes have the same
/// identity.
///
/// Nil if the source doesn't show it. Then nothing is reported: two unknown keys are most likely different ones.
private func identity(of use: CodingUse, in index: ProjectIndex) -> String? {
  switch use.target {
  case .preference(let key):
    if let value = index.value(of: key) { return "key " + value }
    switch key {
    // A key that both functions compute in the same way.
    case .other(let text): return "computed " + use.scopeType + " " + text
    // A key that the type keeps in a property.
    case .reference(let name, _) where index.type(of: name, in: use.scopeType) != nil:
      return "kept " + use.scopeType + " " + name
    default: return nil
    }
  // `url` in another type or file is most likely another file.
  case .file(let name): return "file " + use.place.path + " " + use.scopeType + " " + name
  case .cloud, .secret, .unknown: return nil
  }
}

/// Whether the function has just written what it reads.
///
/// What it has just encoded decodes, unless something else wrote in between.
private func readsBack(_ use: CodingUse, _ target: String, in index: ProjectIndex) -> Bool {
  index.codings.contains { other in
    !other.isDecoding && other.scope == use.scope && other.place.path == use.place.path
      // Only a write before the read: one after it is the overwrite that the rule looks for.
      && other.place.precedes(use.place) && identity(of: other, in: index) == target
  }
}

/// Whether the function saves the value after a change, and returns earlier if the value doesn't decode.
///
/// `guard var items = try? decode(…) else { return }`, a change, and an encoding: what can't be
/// read is left as it is.
private func leavesBeforeSaving(_ use: CodingUse, _ target: String, in index: ProjectIndex)
  -> Bool
{
  use.leaves
    && index.codings.contains { other in
      !other.isDecoding && other.scope == use.scope && other.place.path == use.place.path
        && use.place.precedes(other.place) && identity(of: other, in: index) == target
    }
}

/// Whether the bytes can be made again, by the names around them.
///
/// The names are those of the key or file, the function and the type. Words for logs and for what a
/// widget shows are here, too, and `lease`, which is a lock that expires.
private func isCache(_ use: CodingUse, _ identity: String) -> Bool {
  let words: Set = [
    "cache", "cached", "caches", "snapshot", "widget", "tmp", "temporary", "temp", "indexer",
    "spotlight", "debug", "observability", "diagnostics", "telemetry", "breadcrumbs", "lease",
    "logger",
  ]
  // Without its state the sync engine fetches all records again.
  if let type = use.type, type.hasPrefix("CKSyncEngine.") || type == "CKServerChangeToken" {
    return true
  }
  let names = [identity, use.function, use.scopeType].map { NameWords($0) }
  return use.isFleeting
    || names.contains { $0.contains(anyOf: words) || $0.words.containsRun(["search", "index"]) }
}

/// Whether what is stored matters little, by its names: it's soon replaced, or only read to move it.
///
/// Only the names of the key or file, the function and the decoded type count. The type around the
/// function doesn't: a `StatusBarController` keeps more than a status.
private func isShortLived(_ use: CodingUse, in index: ProjectIndex) -> Bool {
  let words: Set = [
    "last", "recent", "recents", "recently", "position", "progress", "status", "statistics",
    "stats", "counts", "legacy",
  ]
  let place: String? =
    switch use.target {
    case .preference(let key): index.value(of: key)
    case .file(let name): name
    case .cloud, .secret, .unknown: nil
    }
  return [place, use.function, use.type].contains { name in
    name.map { NameWords($0).contains(anyOf: words) } == true
  }
}

/// Whether no version changes the type's shape, or the value is one choice, which the next choice replaces anyway.
///
/// A list isn't a choice: its entries were made one by one.
private func isHarmless(_ use: CodingUse, in index: ProjectIndex) -> Bool {
  guard let type = use.type else { return false }
  // What Swift and Foundation encode stays readable, whatever version of the app wrote it.
  if isFixedShape(type) { return true }
  guard !type.isListType else { return false }
  let declarations = index.declarations(of: type, in: use.scopeType)
  // Such an initializer keeps what it can read, so a changed field doesn't make the whole value fail.
  if declarations.contains(where: \.decodesLeniently) { return true }
  // A case with a raw value is stored as that, and a missing case costs one choice. Cases with
  // values have fields that change.
  return declarations.contains { $0.kind == .enum && $0.hasRawValues }
    || isChoice(declarations, in: index)
}

/// Whether a structure is one choice: few values, none of which is a list or has parts.
private func isChoice(_ declarations: [TypeFact], in index: ProjectIndex) -> Bool {
  guard let type = declarations.first(where: { $0.kind == .struct }) else { return false }
  let values = declarations.flatMap(\.properties).filter { !$0.isStatic && !$0.isComputed }
  return (1...valuesOfChoice).contains(values.count)
    && values.allSatisfy { value in
      // A list or a generic type has a size that grows with use.
      guard let kind = value.type, !kind.hasPrefix("["), !kind.contains("<") else { return false }
      let parts = index.declarations(of: kind, in: type.name)
      // Bytes may be anything, such as the strokes of a drawing.
      let isBytes = kind.hasPrefix("Data")
      return isFixedShape(kind) && !isBytes
        || parts.contains { $0.kind == .enum && $0.hasRawValues }
    }
}

/// The maximum number of values in a structure that counts as one choice: enough for a shortcut or
/// a range, and not for an address.
private let valuesOfChoice = 3

extension TypeFact {
  /// Whether an enumeration has raw values, by the two types that nearly all have.
  fileprivate var hasRawValues: Bool { !Set(inherited).isDisjoint(with: ["String", "Int"]) }
}

/// Whether a type consists only of standard types, including sizes, points and rectangles.
///
/// The source of the type is taken apart into names, so `[String: [UUID]]` and `Set<Int>?` need no
/// parser.
private func isFixedShape(_ type: String) -> Bool {
  let known: Set = [
    "String", "Int", "Double", "Bool", "UUID", "Date", "URL", "Float", "Data", "Set", "Array",
    "Dictionary", "CGSize", "CGPoint", "CGRect", "NSSize", "NSPoint", "NSRect",
  ]
  let names = type.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  return !names.isEmpty && names.allSatisfy(known.contains)
}
