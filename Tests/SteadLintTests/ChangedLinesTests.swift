import Testing

@testable import SteadLintCommand

/// Which lines `stead lint --since` takes for changed.
@Suite struct ChangedLinesTests {
  /// A removed SQL comment in a string was taken for the header of another file, whose lines the next hunks then were.
  @Test func `a line of a hunk is no header of a file`() {
    let diff = """
      diff --git a/Store.swift b/Store.swift
      --- a/Store.swift
      +++ b/Store.swift
      @@ -1,2 +1,2 @@
      --- a/Ghost.swift
      -x
      +++ b/Other.swift
      +y
      @@ -9 +9 @@ func save() {
      -old
      +new
      diff --git a/Gone.swift b/Gone.swift
      --- a/Gone.swift
      +++ /dev/null
      @@ -1 +0,0 @@
      -last
      """
    let changed = ChangedLines((diff, ["New.swift"]))
    #expect(changed.paths == ["Store.swift", "Gone.swift", "New.swift"])
  }

  /// Its findings were all left out: git ends such a header with a tab.
  @Test func `a path may have spaces`() {
    let diff = """
      diff --git a/My App.swift b/My App.swift
      --- a/My App.swift\t
      +++ b/My App.swift\t
      @@ -9 +9 @@ func save() {
      -old
      +new
      """
    #expect(ChangedLines((diff, [])).paths == ["My App.swift"])
  }
}
