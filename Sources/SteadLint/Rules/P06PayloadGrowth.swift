private let flaw = RuleID(id: "P06", name: "payload-growth", level: .error)

extension Rule {
  static let payloadGrowth = Rule(
    flaw,
    summary:
      "A stored Codable type has a required field that it lacked when the baseline was written.",
    why: """
      What users have stored was encoded without the field, so decoding it throws `keyNotFound`. A default value \
      doesn't help: the `init(from:)` that Swift synthesizes requires every field that isn't optional. The app then \
      shows nothing, or starts over and overwrites what was stored.
      """,
    bad: """
      struct Entry: Codable {
        var text: String
        var isPinned = false  // since version 2
      }
      """,
    good: """
      struct Entry: Codable {
        var text: String
        var isPinned: Bool?
      }
      """,
    avoids: [
      "Optional fields, and constants with a value, which aren't decoded.",
      "Types with their own `init(from:)`.",
      "Types that only go into a request or a keychain, and types that are newer than the baseline.",
      "Runs without a baseline or `--since`: nothing then shows what earlier versions stored.",
    ],
    inProject: { index in
      Payloads(index).additions(since: index.earlierPayloads).map { type, field in
        Finding(
          flaw,
          "Stored values of `\(type)` lack `\(field.name)` and don't decode; make it optional, or write "
            + "an `init(from:)` with `decodeIfPresent`.",
          at: field.place)
      }
    })
}
