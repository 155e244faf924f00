/// The store for a situation, and why.
///
/// Two decisions are equal if store, reasons and limits are: ``Advisor`` asks only what makes a
/// difference between decisions.
///
/// It is a decision table in code: one function for each kind of data, in which the first case that
/// holds decides. It is pure, since the advisor makes thousands of decisions for one question. A
/// text that depended on an exact number would make each number a different decision, so reasons
/// have none.
struct Decision: Hashable, Sendable {
  /// Where the data belongs.
  var store: Store
  /// Why, in sentences of constant text.
  var reasons: [String]
  /// Limits of the store that the data comes near or exceeds.
  var thresholds: [Threshold] = []

  /// Decides from the answers given. Without an answer, the usual one is assumed: harmless, made only here, small, few,
  /// read as a whole, for one device, in a new program, needed at the next start.
  init(_ situation: Situation) {
    self = Self.decide(situation, situation.kind ?? .setting)
  }

  /// Makes a decision with its reasons and the limits that matter.
  private init(_ store: Store, _ reasons: String..., thresholds: [Threshold] = []) {
    (self.store, self.reasons, self.thresholds) = (store, reasons, thresholds)
  }

  /// The decision for a kind of data. Kinds that lead to the same stores share a function.
  private static func decide(_ situation: Situation, _ kind: Situation.Kind) -> Decision {
    switch kind {
    case .managed:
      Decision(
        .managedPreferences,
        "An administrator's value overrides the user's, and programs can't change it.")
    case .secret: secret(situation)
    case .response: response(situation)
    case .cache: cache(situation)
    case .setting: setting(situation)
    case .payloads: payloads(situation)
    case .records:
      stored(
        situation,
        "A store of records searches, sorts and relates them, and changes one without the others.")
    case .queue:
      stored(
        situation, "Work must be added and taken in transactions, even by several processes.")
    case .document: document(situation)
    case .media: media(situation)
    }
  }

  // MARK: What must not be read

  /// Data that gives access. Up to its limit a keychain keeps it, beyond that only its key.
  ///
  /// Without a size it counts as small, as tokens and passwords are.
  private static func secret(_ situation: Situation) -> Decision {
    // Its size and not its number: a keychain has an item for each.
    if (situation.size ?? 0) > Threshold.secret.limit {
      return Decision(
        .encryptedFile,
        "It is too large for a keychain, so the secret is a key, which encrypts the file.",
        thresholds: [.secret])
    }
    return Decision(
      .secrets, "Anyone who can read the disk or a backup can read preferences and files.",
      thresholds: (situation.size ?? 0) > Threshold.secret.comfortable ? [.secret] : [])
  }

  /// Data that others must not read, and that is too much or too large for a keychain.
  ///
  /// No size is too large for a file, so no threshold is named.
  private static func hidden(_ situation: Situation) -> Decision {
    Decision(
      .encryptedFile,
      "Stores of records and preferences aren't encrypted. A key in the keychain encrypts the file.",
      thresholds: [])
  }

  // MARK: What can be made again

  /// A server's responses, for which HTTP has rules of its own.
  ///
  /// Its size, number and lifetime don't matter: the headers and the cache's own limits decide.
  private static func response(_ situation: Situation) -> Decision {
    if situation.exposure == .harmful {
      return Decision(
        .httpCache,
        "HTTP's own headers state what may be kept and for how long.",
        "Keep nothing harmful on disk: give the cache no directory.")
    }
    return Decision(.httpCache, "HTTP's own headers state what may be kept and for how long.")
  }

  /// Data that can be made again. The order of the cases matters: harmful data is never on disk unencrypted, whatever
  /// its size.
  private static func cache(_ situation: Situation) -> Decision {
    let isTooLarge = (situation.size ?? 0) > Threshold.memoryValue.limit
    // A file would hold harmful data unencrypted.
    if situation.lifetime == .run, isTooLarge, situation.exposure != .harmful {
      return Decision(
        .temporaryFile, "It is too large for memory, and useless once the program ends.",
        thresholds: [.memoryValue])
    }
    if situation.lifetime == .run {
      return Decision(
        .memoryCache, "It is needed while the program runs, and can be made again.",
        thresholds: isTooLarge ? [.memoryValue] : [])
    }
    if situation.exposure == .harmful {
      return Decision(.memoryCache, "It can be made again, and a cache on disk isn't encrypted.")
    }
    return Decision(
      .diskCache,
      "It can be made again, so it belongs where the system may remove it and backups skip it.")
  }

  // MARK: What is small

  /// Small data. The order of the cases matters: harm, one value's size, the kind of access, and then the sum of all.
  private static func setting(_ situation: Situation) -> Decision {
    if situation.exposure == .harmful { return secret(situation) }
    let size = situation.size ?? 0
    // Before the access and the sum: one value of that size is too large, however few there are.
    if size > Threshold.preferenceValue.limit {
      return Decision(
        .file,
        "It is too large for a preference: every program that uses the domain loads all its values.",
        "Keep the file's relative path in the preferences.",
        thresholds: [.preferenceValue])
    }
    // Of a single value nothing is searched or sorted.
    if situation.access == .parts, (situation.count ?? 1) > 1 {
      return Decision(
        .records, "Data that is searched, sorted or changed one by one needs a store of records.")
    }
    // Only if the number and the size are both known: one alone says nothing about the total.
    if let total = situation.totalSize, total > Threshold.preferenceDomain.limit {
      return Decision(
        .records, "Its total size is too much for preferences.",
        thresholds: [.preferenceDomain])
    }
    // After the limit of the domain, which is higher and holds without a sync, too.
    if situation.devices == .several, total(situation) > Threshold.keyValueSync.limit {
      return records(
        situation, "Its total size is too much for a key-value sync.",
        thresholds: [.keyValueSync])
    }
    var decision = Decision(
      .preferences, "It is small, and is read more often than it is written.")
    // Near a limit the store stays, and the advice names the limit.
    if size > Threshold.preferenceValue.comfortable { decision.thresholds.append(.preferenceValue) }
    if situation.devices == .several, total(situation) > Threshold.keyValueSync.comfortable {
      decision.thresholds.append(.keyValueSync)
    } else if total(situation) > Threshold.preferenceDomain.comfortable {
      decision.thresholds.append(.preferenceDomain)
    }
    return decision
  }

  /// The size of all of it, or of one where the number isn't known.
  private static func total(_ situation: Situation) -> Int {
    situation.totalSize ?? situation.size ?? 0
  }

  /// A list of recent things, which is a history up to a number and a size, and records beyond.
  ///
  /// The order of the cases matters: what a history can't do at all comes before what it does
  /// slowly.
  private static func payloads(_ situation: Situation) -> Decision {
    if situation.exposure == .harmful { return hidden(situation) }
    if situation.access == .parts {
      return records(
        situation, "Entries that are searched, sorted or related need a store of records.")
    }
    if situation.devices == .several {
      // A store of records can be synced, and a history can't.
      return records(situation, "A history belongs to one device.")
    }
    // Unknown numbers count as few and small, as the usual answers say.
    let count = situation.count ?? 0
    let size = situation.size ?? 0
    if count >= Threshold.historyCount.limit {
      return records(
        situation, "That many entries take too long to load.", thresholds: [.historyCount])
    }
    if size > Threshold.historyEntry.limit {
      return records(
        situation, "Entries that large don't belong under one key.",
        thresholds: [.historyEntry])
    }
    var decision = Decision(
      .payloadHistory, "A few hundred entries that are read as a whole need no schema.",
      "If they become more, they can move into records, and nothing is lost.")
    if count > Threshold.historyCount.comfortable { decision.thresholds.append(.historyCount) }
    if size > Threshold.historyEntry.comfortable { decision.thresholds.append(.historyEntry) }
    return decision
  }

  // MARK: What is many

  /// Records and work to be done, which an existing Core Data stack may hold.
  ///
  /// Only here is the ground asked for. Core Data isn't advised for other data, even where a stack
  /// exists.
  private static func stored(_ situation: Situation, _ reason: String) -> Decision {
    guard situation.ground == .coreData else { return records(situation, reason) }
    return Decision(
      .coreData, "SwiftData needs iOS 17 or macOS 14; a Core Data stack that works may stay.",
      "`SteadTransfer` reads Core Data's stores when you move.")
  }

  /// Records; large values are in files next to the store.
  ///
  /// Harmful data stays a record, with its values elsewhere: a secret can't be searched, and the
  /// rest of the record has to be.
  private static func records(
    _ situation: Situation, _ reason: String, thresholds: [Threshold] = []
  ) -> Decision {
    var decision = Decision(.records, reason, thresholds: thresholds)
    let size = situation.size ?? 0
    // SQLite's measurement for values in a row and in a file:
    // https://www.sqlite.org/intern-v-extern-blob.html
    if size > Threshold.recordValue.comfortable {
      decision.store = .recordsWithFiles
      decision.thresholds.append(.recordValue)
    }
    if situation.exposure == .harmful {
      decision.reasons.append(
        "A store isn't encrypted: keep harmful values in secrets, and in the record only the name of the secret's account."
      )
    }
    return decision
  }

  // MARK: What is large

  /// What the user knows as a file.
  ///
  /// Of any size and number: a person finds and opens one at a time.
  private static func document(_ situation: Situation) -> Decision {
    if situation.exposure == .harmful { return hidden(situation) }
    return Decision(
      .file, "The user looks for it among their documents, and other programs open it.")
  }

  /// Large data of the program's own. Its size counts as too large for a record if it isn't known.
  private static func media(_ situation: Situation) -> Decision {
    if situation.exposure == .harmful { return hidden(situation) }
    // Before the access: a thumbnail that belongs to a record is still a cache if it can be made
    // again.
    if situation.origin == .again { return cache(situation) }
    if situation.access == .parts {
      // An unknown size counts as too large, since a file is right for small media, too.
      if (situation.size ?? .max) > Threshold.recordValue.limit {
        return Decision(
          .file, "It is too large for a store; keep its relative path in the record.",
          thresholds: [.recordValue])
      }
      return records(situation, "It belongs to a record, which is searched and sorted.")
    }
    return Decision(.file, "A file can be read in parts, and takes no memory.")
  }
}
