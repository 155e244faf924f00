import SteadAdvice
import SteadLint

/// What code keeps, where it keeps it, and what should change.
///
/// It says only what the source shows. What it doesn't show, such as how many records there will
/// be, counts as the usual answer.
///
/// As JSON it is what `stead advise --from-code PATH --json` writes; `version` changes if a member
/// changes its meaning.
struct CodeReview: Encodable {
  let version = 1
  /// The worst first; within a verdict, in the order of their places.
  let judgements: [Judgement]
  /// How many Swift files were read.
  private let fileCount: Int
  /// The findings on lines that keep nothing, as text.
  private let others: [String]

  private enum CodingKeys: String, CodingKey {
    case version
    case judgements = "items"
    case fileCount = "files"
    case others
  }

  init(_ survey: Survey) {
    let all = survey.items.map { Judgement($0, findings: survey.findings(about: $0)) }
    // Filtered three times and not sorted, so that the order of the places stays within a verdict.
    judgements = [Judgement.Verdict.move, .change, .stay].flatMap { verdict in
      all.filter { $0.verdict == verdict }
    }
    fileCount = survey.report.fileCount
    others = survey.otherFindings.map { finding in
      "\(finding.place.path):\(finding.place.line): \(finding.ruleID) \(finding.message)"
    }
  }

  /// The review as text for people.
  var text: String {
    var text = judgements.map { $0.text + "\n" }.joined()
    if !others.isEmpty {
      text += "Other findings\n" + others.map { "  \($0)\n" }.joined() + "\n"
    }
    return text + summary + "\n"
  }

  /// The last line: how many things there are, and how many of each verdict.
  private var summary: String {
    func count(_ verdict: Judgement.Verdict) -> Int {
      judgements.count { $0.verdict == verdict }
    }
    let files = fileCount == 1 ? "1 file keeps" : "\(fileCount) files keep"
    let things = judgements.count == 1 ? "1 thing" : "\(judgements.count) things"
    return "\(files) \(things): \(count(.move)) to move, "
      + "\(count(.change)) to change, \(count(.stay)) fine where they are."
  }
}

// MARK: - What a program keeps

extension KeptItem {
  /// The store that the code uses today.
  ///
  /// A list in preferences counts as preferences: whether it is a history of this package isn't
  /// looked at.
  var today: Store {
    switch kind {
    case .preference, .cloudValue: .preferences
    case .model: shape?.externalData.isEmpty == false ? .recordsWithFiles : .records
    case .managedObject: .coreData
    case .secret: .secrets
    // A file whose type can rebuild it counts as a cache, wherever it lies.
    case .file: isFleeting ? (directory == "temporary" ? .temporaryFile : .diskCache) : .file
    }
  }

  /// What the code and the rules' findings show about the data.
  ///
  /// What the source doesn't show stays nil, so the advisor assumes its usual answer.
  func situation(_ findings: [Finding]) -> Situation {
    var situation = described(by: findings)
    situation.today = today
    // Only a yes: that nothing syncs it today doesn't say that one device is enough.
    if isSynced { situation.devices = .several }
    return situation
  }

  /// What the item's kind, form and findings say of the data, without where it is today.
  ///
  /// What is in a keychain counts as a secret, whatever it is.
  private func described(by findings: [Finding]) -> Situation {
    switch kind {
    case .secret: Situation(kind: .secret)
    case .managedObject: Situation(kind: .records, access: .parts, ground: .coreData)
    case .model:
      Situation(
        kind: .records, access: .parts,
        // Just large enough for external storage, so that a model which has it stays where it is.
        size: today == .recordsWithFiles ? Threshold.recordValue.comfortable + 1 : nil)
    case .preference, .cloudValue: preference(findings)
    case .file: file
    }
  }

  /// A key's data. A rule's finding decides before the form does: a secret is one, whatever its type is.
  private func preference(_ findings: [Finding]) -> Situation {
    func isFlagged(_ rule: String) -> Bool {
      // A note isn't certain enough to advise another store.
      findings.contains { $0.ruleID == rule && $0.level >= .warning }
    }
    // First, since a secret must leave whatever its form is.
    if isFlagged("P01") { return Situation(kind: .secret) }
    // As a warning P08 is about images; a list that grows is a note.
    if isFlagged("P08") { return Situation(kind: .media, access: .whole) }
    return isHistory ? history : Situation(kind: .setting, size: plainSize)
  }

  /// A file's data, by its directory first.
  private var file: Situation {
    if directory == "temporary" {
      // Data in a temporary file is assumed to be too large for memory.
      return Situation(kind: .cache, lifetime: .run, size: Threshold.memoryValue.limit + 1)
    }
    if isFleeting { return Situation(kind: .cache, origin: .again, lifetime: .launches) }
    if form == .media { return Situation(kind: .media, access: .whole) }
    // A list in its own file counts as a document unless it grows without limit and is searched.
    return form == .encodedList && isUnlimited && isSearched
      ? Situation(kind: .records, access: .parts) : Situation(kind: .document)
  }

  /// Whether a list grows, with a limit or without one. Any other list is a value that the user edits.
  var isHistory: Bool { form == .encodedList && (isUnlimited || limit != nil) }

  /// A list under a key. A short one is searched in memory without a loss.
  ///
  /// Short is up to ``Threshold/historyCount``, which a history reads in a few milliseconds.
  private var history: Situation {
    let isShort = limit.map { $0 <= Threshold.historyCount.comfortable } ?? false
    return Situation(
      // The limit is the largest number that there can be.
      kind: .payloads, access: isSearched && !isShort ? .parts : .whole, count: limit)
  }

  /// The size of a value in bytes, if its type determines it.
  private var plainSize: Int? {
    switch type {
    case "Bool": 1
    case "Int", "Double", "Float", "Date", "Int64", "UInt", "TimeInterval": 8
    default: nil
    }
  }

  /// Limits of the present store that matter if the type doesn't determine the size.
  ///
  /// A `String` names none, although its size isn't known either.
  var limits: [Threshold] {
    switch kind {
    case .preference:
      if isHistory { return [.historyCount, .historyEntry] }
      return plainSize == nil && type != "String" ? [.preferenceValue] : []
    case .cloudValue: return [.keyValueSync]
    case .model: return shape?.inlineData.isEmpty == false ? [.recordValue] : []
    case .secret: return [.secret]
    case .file, .managedObject: return []
    }
  }
}
