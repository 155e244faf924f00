import SteadAdvice
import SteadLint

/// What code keeps, where it keeps it, and what should change.
struct CodeReview: Encodable {
  let version = 1
  /// The worst first; within a verdict, in the order of their places.
  let judgements: [Judgement]
  private let fileCount: Int
  private let others: [String]

  private enum CodingKeys: String, CodingKey {
    case version
    case judgements = "items"
    case fileCount = "files"
    case others
  }

  init(_ survey: Survey) {
    let all = survey.items.map { Judgement($0, findings: survey.findings(about: $0)) }
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
