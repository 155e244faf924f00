import Foundation

extension Journal {
  /// When a record was written, as compared with the records of all files that had the journal's name.
  ///
  /// Every file has a greater generation than those that its maker knew, and it isn't less than the time. So records of
  /// two files are compared correctly even if neither file's writers knew the other, unless the clock was set back.
  @usableFromInline
  package struct Stamp: Sendable, Hashable, Comparable {
    /// The generation of the file into which the record was written first.
    @usableFromInline package var generation: UInt64
    /// Where the record begins in that file.
    @usableFromInline package var offset: UInt64

    @inlinable
    package init(generation: UInt64, offset: UInt64) {
      (self.generation, self.offset) = (generation, offset)
    }

    /// Before every record.
    package static let none = Stamp(generation: 0, offset: 0)

    @usableFromInline package static func < (left: Stamp, right: Stamp) -> Bool {
      (left.generation, left.offset) < (right.generation, right.offset)
    }
  }

  /// The stamp of the next record, if this process appends it.
  ///
  /// Another program may overwrite the file at any moment, with zeros or an older copy. So the greatest generation that
  /// was ever seen counts.
  @inlinable @inline(__always)
  package var nextStamp: Stamp {
    let own = Self.credible(file.word(at: JournalLayout.generation))
    return Stamp(generation: max(own, generation), offset: position)
  }

  /// The stamp of a record that was read, by the place where it begins.
  package func stamp(ofRecordAt offset: UInt64) -> Stamp {
    let stamp = JournalOrigins.stamp(ofRecordAt: offset, in: file)
    // Checked after: if the file has other contents by now, those have other origins, and a stamp of theirs would make the
    // record newer than what was set since.
    if file.word(at: JournalLayout.salt) == salt {
      return stamp ?? Stamp(generation: nextStamp.generation, offset: offset)
    }
    return origins.stamp(ofRecordAt: offset) ?? Stamp(generation: generation, offset: offset)
  }

  /// Later than all records that the checkpoint may contain, and not later than any record behind it.
  ///
  /// As of the opening: the file may have other contents by now.
  package var checkpointStamp: Stamp {
    Stamp(generation: origins.spans.first?.generation ?? origins.generation, offset: 0)
  }

  /// The generation for a file that replaces another one, or is written by this process although it is a copy.
  func nextGeneration(after old: UInt64 = 0) -> UInt64 {
    // Microseconds, since two files can't be made within one.
    let now = UInt64(max(0, Date().timeIntervalSince1970) * 1_000_000)
    return max(max(generation, Self.credible(old)) + 1, now)
  }

  /// A greater generation is damage: it counts microseconds, and this is in the year 2255.
  @usableFromInline static let generationLimit: UInt64 = 1 << 53

  /// A generation as it was read from a file; 0 if it is damaged.
  ///
  /// No checksum covers it. With a damaged one all later files would count as older, and the greatest number has none
  /// behind it.
  @inlinable @inline(__always)
  static func credible(_ generation: UInt64) -> UInt64 {
    generation < generationLimit ? generation : 0
  }

  /// Gives the records that will be appended to a file a greater generation than those that this process has seen.
  /// Requires the lock.
  func raiseGeneration(of file: MappedFile, tail: Int) {
    let old = Self.credible(file.word(at: JournalLayout.generation))
    var origins = JournalOrigins(file)
    origins.add(JournalOrigins.Span(end: UInt64(tail), generation: old, shift: 0))
    origins.store(in: file)
    generation = nextGeneration(after: old)
    file.setWord(generation, at: JournalLayout.generation)
  }
}
