import Foundation

// drafts-before: the first version of the app. Each line of standard input becomes a draft, in Foundation's
// `UserDefaults`, in the file that `XDG_CONFIG_HOME` leads to.

guard let defaults = UserDefaults(suiteName: "com.example.drafts") else { exit(1) }
var drafts = defaults.stringArray(forKey: "draft_posts") ?? []
while let line = readLine() { drafts.append(line) }
defaults.set(drafts, forKey: "draft_posts")
exit(defaults.synchronize() ? 0 : 1)
